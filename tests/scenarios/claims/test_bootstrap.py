"""What docs/claims.md says of the verdicts with bootstrap intervals, judged by the kept values."""

import numpy as np

from gpbandits_env.scenarios.claims import yardsticks
from gpbandits_env.scenarios.claims.claim import paper
from gpbandits_env.scenarios.claims.judge import judge
from gpbandits_env.scenarios.registry import PAPERS


def bootstrap(a, b, logarithmic=False, usual=yardsticks.ratio):
    """The ratio of the means of a and b and the ends of its 90% interval, by resampled units."""
    value, low, high = usual(a, b, logarithmic)
    if logarithmic or min(a.mean(), b.mean()) <= 0.0 or len(a) < 2:
        return value, low, high
    drawn = np.random.default_rng(0).integers(len(a), size=(4000, len(a)))
    low, high = np.quantile(a[drawn].mean(axis=1) / b[drawn].mean(axis=1), [0.05, 0.95])
    return value, float(low), float(high)


def verdicts():
    claims = [claim for name in PAPERS for claim in paper(name).claims]
    return {claim.id: judge(claim).verdict for claim in claims}


def test_bootstrap_intervals_change_the_verdicts_that_the_manual_names(monkeypatch):
    usual = verdicts()
    monkeypatch.setattr(yardsticks, "ratio", bootstrap)
    changed = {id: verdict for id, verdict in verdicts().items() if verdict != usual[id]}
    assert changed == {
        "srinivas2010/at-least-on-par": "holds",
        "ren2024/gp-draws-hard-and-consistent": "does not hold",
    }
