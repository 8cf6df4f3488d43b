"""Findings about the course of a trial, not only its end: oscillation, horizons, lower bounds.

Registered beside those of `findings`, when reports are imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.scenarios.findings.finding import (
    FINDINGS,
    Check,
    Evidence,
    Finding,
)
from gpbandits_env.scenarios.statistics import mean_and_error, paired


class CourseFinding(Finding):
    """A claim about the regret of single rounds."""

    @property
    def rounds(self) -> int:
        """The rounds that a trial must have for the claim to be about anything."""
        return 1

    def look(self, evidence: Evidence) -> Check:
        regret = evidence.regret(self.labels)
        trials = min((len(values) for values in regret.values()), default=0)
        undecided = self.undecided(evidence.labels, trials) or self._too_short(regret)
        return undecided or self.judge(regret, evidence)

    def _too_short(self, regret: Mapping[str, Array]) -> Check | None:
        """That it cannot be checked in a study that was cut to fewer rounds."""
        played = min(values.shape[1] for values in regret.values())
        if played >= self.rounds:
            return None
        return Check(None, f"{self.statement}; needs {self.rounds} rounds, not {played}", {})

    def judge(self, regret: Mapping[str, Array], evidence: Evidence) -> Check:
        """Check the claim, all its agents being there.

        Args:
            regret: per agent, (trials, T); one order of trials for all.
            evidence: for what else it needs.
        """
        raise NotImplementedError


@FINDINGS.register("never-below")
@dataclass(frozen=True)
class NeverBelow(CourseFinding):
    """No agent beats one that cannot be beaten in expectation, from a round on.

    Checked of the mean over all those rounds, and of every round by itself: with hundreds of
    rounds and several agents, some round lies 3 standard errors below by chance alone.

    Args:
        bound: the agent that cannot be beaten.
        agents: the others.
        first: the first round that counts, from 1.
        errors: how many paired standard errors the mean may lie below.
        round_errors: the same for a single round.
    """

    bound: str
    agents: tuple[str, ...]
    first: int = 2
    errors: float = 3.0
    round_errors: float = 4.5

    @property
    def statement(self) -> str:
        return (
            f"no agent below {self.bound} from round {self.first} on: by {self.errors:g} standard "
            f"errors in the mean, by {self.round_errors:g} in any one round"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.bound, *self.agents)

    @property
    def rounds(self) -> int:
        return self.first

    def judge(self, regret: Mapping[str, Array], evidence: Evidence) -> Check:
        floor = regret[self.bound][:, self.first - 1 :]
        numbers, holds = {self.bound: float(floor.mean())}, True
        lowest = np.inf
        for label in self.agents:
            above = regret[label][:, self.first - 1 :] - floor
            overall = _in_errors(above.mean(axis=1))
            rounds = float(_in_errors(above).min())
            holds &= bool(overall >= -self.errors) and rounds >= -self.round_errors
            numbers[f"{label} above it by"] = float(above.mean())
            lowest = min(lowest, rounds)
        numbers["lowest round, in standard errors"] = lowest
        return Check(holds, self.statement, numbers)


@FINDINGS.register("oscillates")
@dataclass(frozen=True)
class Oscillates(CourseFinding):
    """An agent that resets does worse right after a reset than right before it; another does not.

    The statistic of a trial: mean regret over the rounds after its resets, less that over as many
    rounds before them; a share of the shortest time between two resets each. Resets are seen by
    the posterior becoming empty.

    Args:
        agent: resets.
        steady: another agent in the same rounds, for comparison.
        share: of the rounds between two resets.
    """

    agent: str
    steady: str
    share: float = 0.25

    @property
    def statement(self) -> str:
        return (
            f"{self.agent} oscillates: more regret in the first {self.share:g} of a block than in "
            f"the last of the one before, by 2 standard errors and by more than {self.steady}"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return self.agent, self.steady

    def judge(self, regret: Mapping[str, Array], evidence: Evidence) -> Check:
        horizon = regret[self.agent].shape[1]
        ends = resets(evidence.model_order(self.agent))
        ends = ends[ends < horizon]
        width = max(1, int(self.share * np.diff(ends, prepend=0).min())) if len(ends) else 1
        ends = ends[ends + width <= horizon]
        if not len(ends):
            return Check(None, f"{self.statement}; too few rounds after a reset", {})
        after, before = (
            np.concatenate([np.arange(e + s, e + s + width) for e in ends]) for s in (0, -width)
        )
        numbers: dict[str, float] = {"resets": float(len(ends)), "rounds": float(width)}
        swing = {}
        for label in self.labels:
            late, early = (regret[label][:, rows].mean(axis=1) for rows in (after, before))
            swing[label] = late - early
            numbers[f"{label} after"] = float(late.mean())
            numbers[f"{label} before"] = float(early.mean())
        error = float(mean_and_error(swing[self.agent])[1])
        more = paired(swing[self.agent], swing[self.steady])
        numbers["SE"] = error
        holds = swing[self.agent].mean() > 2 * error and more.difference > 2 * more.se
        return Check(bool(holds), self.statement, numbers)


@FINDINGS.register("below-at")
@dataclass(frozen=True)
class BelowAt(CourseFinding):
    """Agent a has the smaller average regret at an earlier horizon, by 2 paired standard errors.

    Args:
        a: the better agent's label.
        b: the worse agent's label.
        horizon: R_t/t is compared at this round.
        also: other rounds at which both are shown, where they were played.
    """

    a: str
    b: str
    horizon: int
    also: tuple[int, ...] = ()

    @property
    def statement(self) -> str:
        return f"{self.a} below {self.b} at round {self.horizon} by more than 2 standard errors"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.a, self.b

    @property
    def rounds(self) -> int:
        return self.horizon

    def judge(self, regret: Mapping[str, Array], evidence: Evidence) -> Check:
        numbers: dict[str, float] = {}
        played = regret[self.a].shape[1]
        for t in sorted(t for t in {self.horizon, *self.also} if t <= played):
            p = paired(*(regret[label][:, :t].mean(axis=1) for label in self.labels))
            numbers |= {
                f"{self.a} at {t}": p.mean_a,
                f"{self.b} at {t}": p.mean_b,
                f"SE at {t}": p.se,
            }
            if t == self.horizon:
                holds = p.difference < -2 * p.se
        return Check(bool(holds), self.statement, numbers)


@FINDINGS.register("share-of")
@dataclass(frozen=True)
class ShareOf(CourseFinding):
    """The regret of one agent over some rounds as a share of another's.

    Args:
        a: whose regret.
        b: compared with.
        first: the first round, from 1.
        last: the last round, included.
        at_least: the smallest share, if any.
        at_most: the largest share, if any.
    """

    a: str
    b: str
    first: int
    last: int
    at_least: float | None = None
    at_most: float | None = None

    @property
    def statement(self) -> str:
        limits = {"at least": self.at_least, "at most": self.at_most}
        claim = " and ".join(f"{k} {v:g}" for k, v in limits.items() if v is not None)
        return f"in rounds {self.first}-{self.last} {self.a} has {claim} of the regret of {self.b}"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.a, self.b

    @property
    def rounds(self) -> int:
        return self.last

    def judge(self, regret: Mapping[str, Array], evidence: Evidence) -> Check:
        a, b = (float(regret[k][:, self.first - 1 : self.last].mean()) for k in self.labels)
        share = a / b if b else np.inf
        low = -np.inf if self.at_least is None else self.at_least
        high = np.inf if self.at_most is None else self.at_most
        return Check(low <= share <= high, self.statement, {self.a: a, self.b: b, "share": share})


def resets(model_order: Array) -> IntArray:
    """The rounds after which a posterior was empty, counted from 1; (k,).

    Args:
        model_order: (T,) data points after each round.
    """
    empty = np.flatnonzero(np.asarray(model_order) == 0.0) + 1
    return empty if model_order.any() else empty[:0]


def _in_errors(values: Array) -> Array:
    """Mean over the trials in standard errors, along the first axis; infinite if there is none."""
    mean, error = (np.asarray(part) for part in mean_and_error(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled: Array = mean / error
    return np.where(mean == 0.0, 0.0, scaled)
