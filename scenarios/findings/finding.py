"""A paper's findings, as checks on results.

A finding compares agents trial by trial: all agents of a trial face the same environment instance,
so a standard error is that of the paired difference.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from gpbandits_env.arrays import Array
from gpbandits_env.specs import Family


@dataclass(frozen=True)
class Check:
    """What became of a finding: ``holds`` is None where it cannot be checked.

    The statement says what was checked, and the numbers are those that decided.
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


class CellResults(Protocol):
    """The results of one cell, as findings look at them."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The agents that have been run."""

    def size(self, labels: tuple[str, ...]) -> tuple[int, int]:
        """How many trials all of the agents have run, and of how many rounds."""

    def final(self, metric: str, labels: tuple[str, ...]) -> Mapping[str, Array]:
        """Per agent, (trials,) a metric at the last round; one order of trials for all."""

    def regret(self, labels: tuple[str, ...]) -> Mapping[str, Array]:
        """Per agent, (trials, T) the regret of every round, summed over its actions."""

    def model_order(self, label: str) -> Array:
        """(T,) the mean number of data points in an agent's posterior after every round."""

    def seconds(self, label: str) -> Array:
        """(trials, T) clock time of asking and telling in every round."""

    def evaluations(self, label: str) -> Array:
        """(trials, T) evaluations spent up to and including every round."""


@dataclass(frozen=True)
class Finding(ABC):
    """One claim about the results of a scenario.

    Args:
        reason: why it does not hold here, where it does not: the heading of `docs/differences.md`
            that explains it. Results files do not keep it.
    """

    reason: str = field(default="", kw_only=True, compare=False)

    # The fields that hold agents' labels, and how many trials of them a check needs.
    agent_fields: ClassVar[tuple[str, ...]] = ("a", "b")
    least_trials: ClassVar[int] = 2

    @property
    @abstractmethod
    def statement(self) -> str:
        """The claim, with the numbers that make it precise."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The agents it speaks of."""
        given = (getattr(self, name) for name in self.agent_fields)
        each = ((one,) if isinstance(one, str) else one for one in given)
        return tuple(dict.fromkeys(label for labels in each for label in labels))

    @property
    def rounds(self) -> int:
        """The rounds that a trial must have for the claim to be about anything."""
        return 1

    def look(self, results: CellResults) -> Check:
        """Check the claim in the results of a cell."""
        missing = [label for label in self.labels if label not in results.labels]
        if missing:
            return self.check(None, note=f"not run: {', '.join(missing)}")
        trials, rounds = results.size(self.labels)
        if trials < self.least_trials:
            return self.check(None, note=f"needs {self.least_trials} trials or more")
        if rounds < self.rounds:
            return self.check(None, note=f"needs {self.rounds} rounds, not {rounds}")
        return self.judge(results)

    @abstractmethod
    def judge(self, results: CellResults) -> Check:
        """Check the claim, all its agents and rounds being there."""

    def check(
        self, holds: bool | None, numbers: Mapping[str, float] | None = None, note: str = ""
    ) -> Check:
        """What became of it."""
        return Check(holds, "; ".join(filter(None, (self.statement, note))), numbers or {})


FINDINGS: Family[Finding] = Family("finding")
