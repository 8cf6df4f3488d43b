"""Findings about a sweep of one setting: how results spread, how fast they get worse.

Registered beside those of `findings`, when reports are imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.findings.finding import FINDINGS, Check, FinalFinding
from gpbandits_env.scenarios.statistics import paired


@FINDINGS.register("wider")
@dataclass(frozen=True)
class Wider(FinalFinding):
    """Agent a's results spread wider over the worlds than b's.

    By a paired t test on the distances from the median (Brown and Forsythe 1974, paired).

    Args:
        a: the wider.
        b: the narrower.
        metric: see `metrics.METRICS`.
        errors: how many standard errors count as clear.
    """

    a: str
    b: str
    metric: str = "average_regret"
    errors: float = 2.0

    @property
    def statement(self) -> str:
        return (
            f"{self.a} spreads wider over the worlds than {self.b}, by more than {self.errors:g} "
            "standard errors"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return self.a, self.b

    def judge(self, final: Mapping[str, Array]) -> Check:
        a, b = (np.abs(final[k] - np.median(final[k])) for k in self.labels)
        p = paired(a, b)
        numbers = {f"SD of {k}": float(final[k].std(ddof=1)) for k in self.labels}
        return Check(bool(p.difference > self.errors * p.se), self.statement, numbers)


@FINDINGS.register("slower-rise")
@dataclass(frozen=True)
class SlowerRise(FinalFinding):
    """From a common start the metric rises more slowly one way than the other, per unit of way.

    Args:
        start: where both ways begin.
        slow: the end of the slow way.
        fast: the end of the fast way.
        ways: the lengths of the two ways, e.g. differences of the epsilon that is assumed.
        share: the largest share of the fast way's slope that the slow one may have.
        metric: see `metrics.METRICS`.
    """

    start: str
    slow: str
    fast: str
    ways: tuple[float, float]
    share: float = 0.2
    metric: str = "average_regret"

    @property
    def statement(self) -> str:
        return (
            f"from {self.start} the regret rises to {self.slow} at most {self.share:g} times as "
            f"fast, per unit, as to {self.fast}"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return self.start, self.slow, self.fast

    def judge(self, final: Mapping[str, Array]) -> Check:
        start, slow, fast = (float(final[label].mean()) for label in self.labels)
        slopes = (slow - start) / self.ways[0], (fast - start) / self.ways[1]
        numbers = {self.start: start, self.slow: slow, self.fast: fast}
        numbers |= {
            "slope to " + label: v for label, v in zip(self.labels[1:], slopes, strict=True)
        }
        return Check(slopes[1] > 0 and slopes[0] <= self.share * slopes[1], self.statement, numbers)
