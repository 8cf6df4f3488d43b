"""Findings about the last round: how agents compare by a metric. Smaller is better."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from gpbandits_env.arrays import Array, listed, positive
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.scenarios.findings.finding import (
    FINDINGS,
    CellResults,
    Check,
    Finding,
    one_instance,
    paired,
)


class FinalFinding(Finding):
    """A claim about the last round, by the metric that ``metric`` names."""

    metric: str

    @property
    def measured(self) -> str:
        """By which metric, where it is not the usual one of such claims."""
        usual = next(f.default for f in fields(self) if f.name == "metric")
        return "" if self.metric == usual else f", in {self.metric.replace('_', ' ')}"

    def final(self, results: CellResults) -> Mapping[str, Array]:
        """The metric at the last round: agent -> (trials,)."""
        return results.final(self.metric, self.labels)


@FINDINGS.register("below")
@dataclass(frozen=True)
class Below(FinalFinding):
    """The mean of agent a is smaller, by more than ``errors`` paired standard errors.

    In all findings, agents are named by their labels, and ``metric`` is one of `metrics.KNOWN`.
    """

    a: str
    b: str
    metric: str = "average_regret"
    errors: float = 2.0

    @property
    def statement(self) -> str:
        errors = f"{self.errors:g} standard errors"
        return f"{self.a} below {self.b} by more than {errors}{self.measured}"

    def judge(self, results: CellResults) -> Check:
        final = self.final(results)
        p = paired(final[self.a], final[self.b])
        note = one_instance(results.final("average_regret", self.labels))
        return self.check(p.difference < -self.errors * p.se, p.numbers(self.a, self.b), note)


@FINDINGS.register("level")
@dataclass(frozen=True)
class Level(FinalFinding):
    """Agents a and b do not differ much on the scale of the paper's figure.

    The means differ by at most ``within`` times the gap between the best and the worst of
    ``scale``, so that they look level in a plot of all of them. The ratio of the means is reported
    too, because it can be far from 1 when both means are small.

    Args:
        scale: the agents whose means span the scale.
        within: the largest difference, as a fraction of the scale.
        one_sided: claim only that a does as well as b, or better.
    """

    a: str
    b: str
    scale: tuple[str, ...]
    within: float = 0.1
    one_sided: bool = False
    metric: str = "average_regret"

    agent_fields = ("a", "b", "scale")

    def __post_init__(self) -> None:
        labels = listed(self.scale, "scale")
        if len(labels) < 2 or not all(isinstance(label, str) for label in labels):
            raise InvalidInput(
                f"a finding's scale needs the labels of two or more agents, got {shown(labels)}"
            )

    @property
    def statement(self) -> str:
        verb = "does as well as" if self.one_sided else "is level with"
        return (
            f"{self.a} {verb} {self.b}, to {self.within:.0%} of the gap "
            "between the best agent and the worst"
        )

    def judge(self, results: CellResults) -> Check:
        final = self.final(results)
        p = paired(final[self.a], final[self.b])
        gap = float(np.ptp([np.mean(final[label]) for label in self.scale]))
        size = p.difference if self.one_sided else abs(p.difference)
        numbers = p.numbers(self.a, self.b) | {"gap": gap, "ratio": p.ratio}
        return self.check(size <= self.within * gap, numbers)


@FINDINGS.register("at-most")
@dataclass(frozen=True)
class AtMost(FinalFinding):
    """The mean of agent a is at most ``factor`` times that of b."""

    a: str
    b: str
    factor: float = 1.25
    metric: str = "average_regret"

    @property
    def statement(self) -> str:
        return f"{self.a} comes close to {self.b}: at most {self.factor:g} times its mean"

    def judge(self, results: CellResults) -> Check:
        final = self.final(results)
        p = paired(final[self.a], final[self.b])
        numbers = {self.a: p.mean_a, self.b: p.mean_b, "ratio": p.ratio}
        return self.check(p.mean_a <= self.factor * p.mean_b, {**numbers, "SE of difference": p.se})


@FINDINGS.register("within-published")
@dataclass(frozen=True)
class WithinPublished(FinalFinding):
    """An agent's mean is at most ``factor`` times ``published``, the paper's mean, which is > 0."""

    agent: str
    published: float
    factor: float = 2.0
    metric: str = "simple_regret"

    agent_fields = ("agent",)

    def __post_init__(self) -> None:
        positive(self.published, "published")
        positive(self.factor, "factor")

    @property
    def statement(self) -> str:
        return f"{self.agent}: a mean of at most {self.factor:g} times the paper's"

    def judge(self, results: CellResults) -> Check:
        mean = float(np.mean(self.final(results)[self.agent]))
        numbers = {self.agent: mean, "the paper": self.published, "ratio": mean / self.published}
        return self.check(mean <= self.factor * self.published, numbers)


@FINDINGS.register("nearly-best")
@dataclass(frozen=True)
class NearlyBest(FinalFinding):
    """An agent is the best, or within ``errors`` paired standard errors of its best rival.

    Raises:
        InvalidInput: there are no rivals.
    """

    agent: str
    rivals: tuple[str, ...]
    errors: float = 1.0
    metric: str = "log10_simple_regret"

    agent_fields = ("agent", "rivals")

    def __post_init__(self) -> None:
        object.__setattr__(self, "rivals", tuple(self.rivals))
        if not self.rivals or self.agent in self.rivals:
            raise InvalidInput(f"{self.agent!r} needs rivals other than itself")

    @property
    def statement(self) -> str:
        return (
            f"{self.agent} is the best of {', '.join((self.agent, *self.rivals))}, or within "
            f"{self.errors:g} standard error of the best{self.measured}"
        )

    def judge(self, results: CellResults) -> Check:
        final = self.final(results)
        means = {label: float(np.mean(final[label])) for label in self.labels}
        best = min(self.rivals, key=means.__getitem__)
        p = paired(final[self.agent], final[best])
        rank = 1.0 + sorted(means.values()).index(means[self.agent])
        numbers = p.numbers(self.agent, f"best rival ({best})") | {"rank": rank}
        return self.check(p.difference <= self.errors * p.se, numbers)


@FINDINGS.register("wider")
@dataclass(frozen=True)
class Wider(FinalFinding):
    """Over the instances, a's results spread wider than b's, by ``errors`` standard errors.

    The test is a paired t test on the distances from the median (Brown and Forsythe 1974, paired).
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

    def judge(self, results: CellResults) -> Check:
        final = self.final(results)
        p = paired(*(np.abs(final[k] - np.median(final[k])) for k in (self.a, self.b)))
        numbers = {f"SD of {k}": float(final[k].std(ddof=1)) for k in (self.a, self.b)}
        return self.check(p.difference > self.errors * p.se, numbers)


@FINDINGS.register("slower-rise")
@dataclass(frozen=True)
class SlowerRise(FinalFinding):
    """From a common start, the metric rises more slowly in one direction than in the other.

    Args:
        start: the agent at the common start.
        slow: the agent at the end of the slow direction.
        fast: the agent at the end of the fast direction.
        ways: the two distances, e.g. differences of the epsilon that is assumed.
        share: the largest ratio of the slow slope to the fast one; slopes are per unit of distance.
    """

    start: str
    slow: str
    fast: str
    ways: tuple[float, float]
    share: float = 0.2
    metric: str = "average_regret"

    agent_fields = ("start", "slow", "fast")

    @property
    def statement(self) -> str:
        return (
            f"from {self.start} the regret rises to {self.slow} at most {self.share:g} times as "
            f"fast, per unit, as to {self.fast}"
        )

    def judge(self, results: CellResults) -> Check:
        final = self.final(results)
        names = (self.start, self.slow, self.fast)
        start, *ends = (float(final[label].mean()) for label in names)
        slow, fast = ((end - start) / way for end, way in zip(ends, self.ways, strict=True))
        numbers = dict(zip(names, (start, *ends), strict=True))
        numbers |= {f"slope to {self.slow}": slow, f"slope to {self.fast}": fast}
        return self.check(fast > 0 and slow <= self.share * fast, numbers)
