"""A paper's findings, as checks on results.

A finding compares agents trial by trial. All agents of a trial face the same environment instance,
so standard errors are those of paired differences.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.specs import Family


@dataclass(frozen=True)
class Paired:
    """Agents a and b compared over the trials that both have run.

    ``se`` is the standard error of the mean of a - b, NaN for one trial.
    """

    mean_a: float
    mean_b: float
    difference: float
    se: float
    trials: int

    @property
    def ratio(self) -> float:
        """The mean of a over that of b; infinite if that is 0."""
        return self.mean_a / self.mean_b if self.mean_b else float("inf")

    def numbers(self, a: str, b: str) -> dict[str, float]:
        """The means, under the labels of the agents, the difference and its standard error."""
        return {a: self.mean_a, b: self.mean_b, "difference": self.difference, "SE": self.se}


def mean_and_error(values: Array, axis: int = 0) -> tuple[Array, Array]:
    """The mean over the trials along ``axis``, and its standard error (NaN for one trial)."""
    count = values.shape[axis]
    mean: Array = values.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan)
    error: Array = values.std(axis=axis, ddof=1) / np.sqrt(count)
    # Identical trials have no spread, but rounding of the mean would show one.
    return mean, np.where(np.ptp(values, axis=axis) == 0.0, 0.0, error)


def paired(a: Array, b: Array) -> Paired:
    """Compare two agents by their (trials,) figures of the same trials in the same order."""
    difference, se = mean_and_error(a - b)
    return Paired(float(a.mean()), float(b.mean()), float(difference), float(se), len(a))


def one_instance(regrets: Mapping[str, Array]) -> str:
    """A remark on agents whose trials are all identical; "" if there are none.

    Without noise and without randomness of its own, an agent repeats the same trial. Its standard
    error is then 0 because there is one environment instance, not because the result is certain.

    Args:
        regrets: agent -> its regret, (trials, ...).
    """
    alike = [
        label
        for label, values in regrets.items()
        if len(values) > 1 and values.any() and (values == values[0]).all()
    ]
    if not alike:
        return ""
    count = len(regrets[alike[0]])
    return f"all {count} trials of {' and of '.join(alike)} are identical: one environment instance"


@dataclass(frozen=True)
class Check:
    """The result of checking a finding: ``holds`` is None where it cannot be checked.

    The statement says what was checked, and the numbers are those that the result depends on.
    """

    holds: bool | None
    statement: str
    numbers: Mapping[str, float]

    @property
    def mark(self) -> str:
        """Whether the finding holds, in words."""
        return {True: "holds", False: "DOES NOT HOLD", None: "not checked"}[self.holds]

    @property
    def figures(self) -> str:
        """The numbers, as text."""
        return ", ".join(f"{name} {value:.4g}" for name, value in self.numbers.items())


class CellResults(Protocol):
    """What findings read from the results of one cell."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The agents that have been run."""

    def size(self, labels: tuple[str, ...]) -> tuple[int, int]:
        """The number of trials that all of the agents have run, and the number of their rounds."""

    def final(self, metric: str, labels: tuple[str, ...]) -> Mapping[str, Array]:
        """A metric at the last round: agent -> (trials,), in the same order of trials for all."""

    def regret(self, labels: tuple[str, ...]) -> Mapping[str, Array]:
        """The regret of every round, summed over its actions: agent -> (trials, T)."""

    def model_order(self, label: str) -> Array:
        """The mean number of data points in an agent's posterior after every round, (T,)."""

    def seconds(self, label: str) -> Array:
        """Clock time of ``ask`` and ``tell`` in every round, (trials, T) seconds."""

    def evaluations(self, label: str) -> Array:
        """Evaluations spent up to and including every round, (trials, T)."""


@dataclass(frozen=True)
class Finding(ABC):
    """One claim about the results of a scenario.

    Args:
        reason: if the claim does not hold here, the heading of `docs/differences.md` that explains
            why. Results files do not keep it.
    """

    reason: str = field(default="", kw_only=True, compare=False)

    # The fields that hold agents' labels, and the number of trials that a check needs.
    agent_fields: ClassVar[tuple[str, ...]] = ("a", "b")
    least_trials: ClassVar[int] = 2

    @property
    @abstractmethod
    def statement(self) -> str:
        """The claim, with the numbers that make it precise."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the agents that the claim is about."""
        given = (getattr(self, name) for name in self.agent_fields)
        each = ((one,) if isinstance(one, str) else one for one in given)
        return tuple(dict.fromkeys(label for labels in each for label in labels))

    @property
    def rounds(self) -> int:
        """The smallest number of rounds with which the claim can be checked."""
        return 1

    def look(self, results: CellResults) -> Check:
        """Check the claim in the results of a cell."""
        missing = [label for label in self.labels if label not in results.labels]
        if missing:
            return self.check(None, note=f"not run: {', '.join(missing)}")
        trials, rounds = results.size(self.labels)
        if trials < self.least_trials:
            return self.check(None, note=f"needs at least {self.least_trials} trials")
        if rounds < self.rounds:
            return self.check(None, note=f"needs {self.rounds} rounds, not {rounds}")
        return self.judge(results)

    @abstractmethod
    def judge(self, results: CellResults) -> Check:
        """Check the claim, given that all its agents and rounds are present."""

    def check(
        self, holds: bool | None, numbers: Mapping[str, float] | None = None, note: str = ""
    ) -> Check:
        """The result of the check."""
        return Check(holds, "; ".join(filter(None, (self.statement, note))), numbers or {})


FINDINGS: Family[Finding] = Family("finding")
