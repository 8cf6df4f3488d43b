"""What reports and comparisons add to paired differences: p-values and ranks."""

from dataclasses import asdict, dataclass

from scipy import stats

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.findings.statistics import Paired, paired


@dataclass(frozen=True)
class PairedTest(Paired):
    """Two agents compared, with the two-sided p-value of Student's t test; 1 if all are equal."""

    p: float


def paired_test(a: Array, b: Array) -> PairedTest:
    """Compare two agents trial by trial; see `paired`."""
    found = paired(a, b)
    if found.se == 0.0:  # no spread, or rounding that looks like some
        p = 1.0 if found.difference == 0.0 else 0.0
    else:
        p = float(2.0 * stats.t.sf(abs(found.difference / found.se), found.trials - 1))
    return PairedTest(**asdict(found), p=p)


def mean_ranks(table: Array) -> Array:
    """Mean rank of each agent, 1 for the smallest and shared by ties: (n, trials) -> (n,)."""
    ranks: Array = stats.rankdata(table, axis=0).mean(axis=1)
    return ranks
