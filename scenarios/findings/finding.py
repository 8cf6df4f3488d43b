"""A paper's findings, as checks on results.

A finding compares agents at the last round by a metric (smaller is better), trial by trial: all
agents of a trial face the same world, so the standard error is that of the paired difference.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gpbandits_env.arrays import Array, listed
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.scenarios.statistics import paired
from gpbandits_env.specs import Family


@dataclass(frozen=True)
class Check:
    """What became of a finding.

    Args:
        holds: whether it does; None when an agent it speaks of has not been run.
        statement: what was checked, in words.
        numbers: the figures that decided.
    """

    holds: bool | None
    statement: str
    numbers: Mapping[str, float]

    @property
    def mark(self) -> str:
        """Whether it holds, in words."""
        return {True: "holds", False: "DOES NOT HOLD", None: "not checked"}[self.holds]

    @property
    def figures(self) -> str:
        """The numbers, as text."""
        return ", ".join(f"{name} {value:.4g}" for name, value in self.numbers.items())


class Evidence(Protocol):
    """The results of one cell, as findings look at them: over the trials that all have played."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The agents that have been run."""

    def final(self, metric: str, labels: tuple[str, ...]) -> Mapping[str, Array]:
        """Per agent, (trials,) a metric at the last round."""

    def regret(self, labels: tuple[str, ...]) -> Mapping[str, Array]:
        """Per agent, (trials, T) the regret of every round, summed over its actions."""

    def model_order(self, label: str) -> Array:
        """(T,) the mean number of data points in an agent's posterior after every round."""

    def seconds(self, label: str) -> Array:
        """(trials, T) clock time of asking and telling in every round."""

    def evaluations(self, label: str) -> Array:
        """(trials, T) evaluations spent up to and including every round."""


class Finding(ABC):
    """One claim about the results of a scenario."""

    @property
    @abstractmethod
    def statement(self) -> str:
        """The claim, with the numbers that make it precise."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The agents it speaks of."""

    @abstractmethod
    def look(self, evidence: Evidence) -> Check:
        """Check the claim in the results of a cell."""

    def undecided(self, run: Collection[str], trials: int) -> Check | None:
        """That it cannot be checked, if an agent is missing or there is but one trial."""
        missing = [label for label in self.labels if label not in run]
        if missing:
            return Check(None, f"{self.statement}; not run: {', '.join(missing)}", {})
        if trials < 2:
            return Check(None, f"{self.statement}; needs 2 trials or more", {})
        return None


class FinalFinding(Finding):
    """A claim about the last round; `metric` names the figure it speaks of."""

    metric: str

    @abstractmethod
    def judge(self, final: Mapping[str, Array]) -> Check:
        """Check the claim, all its agents being there."""

    def check(self, final: Mapping[str, Array]) -> Check:
        """Check the claim.

        Args:
            final: per agent, (trials,) the metric at the horizon; one order of trials for all.
        """
        trials = min((len(v) for k, v in final.items() if k in self.labels), default=0)
        return self.undecided(final, trials) or self.judge(final)

    def look(self, evidence: Evidence) -> Check:
        return self.check(evidence.final(self.metric, self.labels))


FINDINGS: Family[Finding] = Family("finding")


@FINDINGS.register("below")
@dataclass(frozen=True)
class Below(FinalFinding):
    """Agent a has the smaller mean, clearly: by more than ``errors`` paired standard errors.

    Args:
        a: the better agent's label.
        b: the worse agent's label.
        metric: see `metrics.METRICS`.
        errors: how many standard errors of the paired difference count as clear.
    """

    a: str
    b: str
    metric: str = "average_regret"
    errors: float = 2.0

    @property
    def statement(self) -> str:
        return f"{self.a} below {self.b} by more than {self.errors:g} standard errors"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.a, self.b

    def judge(self, final: Mapping[str, Array]) -> Check:
        p = paired(final[self.a], final[self.b])
        numbers = {self.a: p.mean_a, self.b: p.mean_b, "difference": p.difference, "SE": p.se}
        return Check(bool(p.difference < -self.errors * p.se), self.statement, numbers)


@FINDINGS.register("level")
@dataclass(frozen=True)
class Level(FinalFinding):
    """Agents a and b do not differ much, seen on the scale of the paper's figure.

    The means differ by at most ``within`` times the gap between the best and the worst of
    ``scale``: what an eye calls level in a plot that shows them all. The ratio of the means is
    reported beside it, for it can be far from 1 when both are small.

    Args:
        a: one agent's label.
        b: the other's.
        scale: the labels whose means span the scale.
        within: the largest difference, as a fraction of the scale.
        one_sided: claim only that a does as well as b, or better.
        metric: see `metrics.METRICS`.
    """

    a: str
    b: str
    scale: tuple[str, ...]
    within: float = 0.1
    one_sided: bool = False
    metric: str = "average_regret"

    def __post_init__(self) -> None:
        labels = listed(self.scale, "scale")
        if len(labels) < 2 or not all(isinstance(label, str) for label in labels):
            raise InvalidInput(
                f"a finding's scale needs two agents or more, by label, got {shown(labels)}"
            )

    @property
    def statement(self) -> str:
        verb = "does as well as" if self.one_sided else "is level with"
        return (
            f"{self.a} {verb} {self.b}, to {self.within:.0%} of the gap "
            "between the best agent and the worst"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.a, self.b, *self.scale)))

    def judge(self, final: Mapping[str, Array]) -> Check:
        p = paired(final[self.a], final[self.b])
        means = [float(np.mean(final[label])) for label in self.scale]
        gap = max(means) - min(means)
        numbers = {
            self.a: p.mean_a,
            self.b: p.mean_b,
            "difference": p.difference,
            "SE": p.se,
            "gap": gap,
            "ratio": p.mean_a / p.mean_b if p.mean_b else float("inf"),
        }
        size = p.difference if self.one_sided else abs(p.difference)
        return Check(bool(size <= self.within * gap), self.statement, numbers)


def below(a: str, b: str, metric: str = "average_regret", errors: float = 2.0) -> Below:
    """The finding that a has a clearly smaller mean than b; see `Below`."""
    return Below(a, b, metric, errors)


def level(a: str, b: str, scale: tuple[str, ...], within: float = 0.1) -> Level:
    """The finding that a and b do not differ much; see `Level`."""
    return Level(a, b, scale, within)


def as_well_as(a: str, b: str, scale: tuple[str, ...], within: float = 0.1) -> Level:
    """The finding that a does no worse than b; see `Level`."""
    return Level(a, b, scale, within, one_sided=True)
