"""Findings about all rounds of a trial, not only the last: regret, model order and time."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.scenarios.findings.finding import (
    FINDINGS,
    CellResults,
    Check,
    Finding,
    mean_and_error,
    one_instance,
    paired,
)


def _claim(limits: Mapping[str, float | None]) -> str:
    return " and ".join(f"{words} {v:g}" for words, v in limits.items() if v is not None)


@FINDINGS.register("never-below")
@dataclass(frozen=True)
class NeverBelow(Finding):
    """From some round on, no agent beats one that cannot be beaten in expectation.

    The mean over those rounds and every single round are checked. A single round has a wider
    margin: among hundreds of rounds, some lie 3 standard errors below by chance.

    Args:
        bound: the agent that cannot be beaten.
        agents: the other agents.
        first: the first round that counts, from 1.
        errors: how many paired standard errors the mean may lie below.
        round_errors: how many a single round may lie below.
    """

    bound: str
    agents: tuple[str, ...]
    first: int = 2
    errors: float = 3.0
    round_errors: float = 4.5

    agent_fields = ("bound", "agents")

    @property
    def statement(self) -> str:
        return (
            f"no agent below {self.bound} from round {self.first} on: by {self.errors:g} standard "
            f"errors in the mean, by {self.round_errors:g} in any one round"
        )

    @property
    def rounds(self) -> int:
        return self.first

    def judge(self, results: CellResults) -> Check:
        regret = {k: v[:, self.first - 1 :] for k, v in results.regret(self.labels).items()}
        floor = regret[self.bound]
        numbers, holds, lowest = {self.bound: float(floor.mean())}, True, np.inf
        for label in self.agents:
            above = regret[label] - floor
            lowest_here = float(_in_errors(above).min())
            holds &= bool(_in_errors(above.mean(axis=1)) >= -self.errors)
            holds &= lowest_here >= -self.round_errors
            numbers[f"{label} above it by"] = float(above.mean())
            lowest = min(lowest, lowest_here)
        return self.check(holds, {**numbers, "lowest round, in standard errors": lowest})


@FINDINGS.register("oscillates")
@dataclass(frozen=True)
class Oscillates(Finding):
    """An agent that resets does worse right after a reset than right before it; another does not.

    The statistic of a trial is the mean regret over the rounds after its resets, minus that over
    equally many rounds before them. That number of rounds is a share of the shortest time between
    two resets. A reset is a round after which the posterior is empty. ``steady`` is another agent
    in the same rounds.
    """

    agent: str
    steady: str
    share: float = 0.25

    agent_fields = ("agent", "steady")

    @property
    def statement(self) -> str:
        return (
            f"{self.agent} oscillates: more regret in the first {self.share:g} of a block than in "
            f"the last of the one before, by 2 standard errors and by more than {self.steady}"
        )

    def judge(self, results: CellResults) -> Check:
        regret = results.regret(self.labels)
        horizon = regret[self.agent].shape[1]
        ends = resets(results.model_order(self.agent))
        ends = ends[ends < horizon]
        width = max(1, int(self.share * np.diff(ends, prepend=0).min())) if len(ends) else 1
        ends = ends[ends + width <= horizon]
        if not len(ends):
            return self.check(None, note="too few rounds after a reset")
        after = (ends[:, None] + np.arange(width)).ravel()
        numbers: dict[str, float] = {"resets": float(len(ends)), "rounds": float(width)}
        swing = {}
        for label in (self.agent, self.steady):
            late, early = (regret[label][:, rows].mean(axis=1) for rows in (after, after - width))
            swing[label] = late - early
            numbers[f"{label} after"] = float(late.mean())
            numbers[f"{label} before"] = float(early.mean())
        error = float(mean_and_error(swing[self.agent])[1])
        more = paired(swing[self.agent], swing[self.steady])
        holds = swing[self.agent].mean() > 2 * error and more.difference > 2 * more.se
        return self.check(bool(holds), {**numbers, "SE": error})


@FINDINGS.register("below-at")
@dataclass(frozen=True)
class BelowAt(Finding):
    """Agent a has the smaller average regret at an earlier horizon, by 2 paired standard errors.

    R_t/t is compared at round ``horizon``, and also reported at those of the rounds ``also`` that
    were run.
    """

    a: str
    b: str
    horizon: int
    also: tuple[int, ...] = ()

    @property
    def statement(self) -> str:
        return f"{self.a} below {self.b} at round {self.horizon} by more than 2 standard errors"

    @property
    def rounds(self) -> int:
        return self.horizon

    def judge(self, results: CellResults) -> Check:
        a, b = (results.regret(self.labels)[label] for label in (self.a, self.b))
        numbers: dict[str, float] = {}
        shown = sorted(t for t in {self.horizon, *self.also} if t <= a.shape[1])
        at = {t: paired(a[:, :t].mean(axis=1), b[:, :t].mean(axis=1)) for t in shown}
        for t, p in at.items():
            numbers |= {f"{self.a} at {t}": p.mean_a, f"{self.b} at {t}": p.mean_b}
            numbers[f"SE at {t}"] = p.se
        decisive = at[self.horizon]
        note = one_instance({self.a: a, self.b: b})
        return self.check(decisive.difference < -2 * decisive.se, numbers, note)


@FINDINGS.register("share-of")
@dataclass(frozen=True)
class ShareOf(Finding):
    """The regret of a as a share of b's, from round ``first`` (counted from 1) to ``last``."""

    a: str
    b: str
    first: int
    last: int
    at_least: float | None = None
    at_most: float | None = None

    @property
    def statement(self) -> str:
        claim = _claim({"at least": self.at_least, "at most": self.at_most})
        return f"in rounds {self.first}-{self.last} {self.a} has {claim} of the regret of {self.b}"

    @property
    def rounds(self) -> int:
        return self.last

    def judge(self, results: CellResults) -> Check:
        regret = results.regret(self.labels)
        a, b = (float(regret[k][:, self.first - 1 : self.last].mean()) for k in (self.a, self.b))
        share = a / b if b else np.inf
        holds = self.at_least is None or share >= self.at_least
        holds &= self.at_most is None or share <= self.at_most
        return self.check(holds, {self.a: a, self.b: b, "share": share})


@FINDINGS.register("model-order")
@dataclass(frozen=True)
class ModelOrder(Finding):
    """How fast the model order still grows in the last part of a trial, in points per round.

    The slope is that of a line fitted to the mean over the trials. The round of the first
    observation that was not informative, in the first trial that has one, is reported too.

    Args:
        agent: the agent whose posterior it is.
        at_most: the largest slope at which the model order has settled, if that is the claim.
        above: the slope that a growing model order exceeds, if that is the claim.
        part: the share of the rounds that counts, at the end of a trial.
    """

    agent: str
    at_most: float | None = None
    above: float | None = None
    part: float = 0.5

    agent_fields = ("agent",)
    least_trials = 0

    @property
    def statement(self) -> str:
        claim = _claim({"settles: at most": self.at_most, "grows: more than": self.above})
        return f"the model order of {self.agent} {claim} points a round in the last {self.part:.0%}"

    def judge(self, results: CellResults) -> Check:
        order = results.model_order(self.agent)
        first = round((1.0 - self.part) * len(order))
        if len(order) - first < 2:
            return self.check(None, note="needs more rounds: a slope needs at least two")
        slope = float(np.polyfit(np.arange(first, len(order)), order[first:], 1)[0])
        numbers = {"slope": slope, "last": float(order[-1])}
        refused = first_refusal(order)
        numbers |= {} if refused is None else {"first refusal": float(refused)}
        holds = self.at_most is None or slope <= self.at_most
        holds &= self.above is None or slope > self.above
        return self.check(holds, numbers)


@FINDINGS.register("less-time")
@dataclass(frozen=True)
class LessTime(Finding):
    """Agent a needs less clock time than b for ``ask``, ``tell`` and its evaluations.

    ``paper`` is the paper's ratio of a to b, if it states one. ``evaluation`` is the number of
    seconds that an evaluation would take, where the environment looks it up in a table.
    """

    a: str
    b: str
    paper: float | None = None
    evaluation: float = 0.0

    least_trials = 0

    @property
    def statement(self) -> str:
        paper = "" if self.paper is None else f" (the paper: {self.paper:.2f} of it)"
        counted = f", at {1e3 * self.evaluation:g} ms an evaluation" if self.evaluation else ""
        return f"{self.a} takes less time than {self.b}{paper}{counted}"

    def judge(self, results: CellResults) -> Check:
        total, numbers = [], {}
        for label in (self.a, self.b):
            own = float(results.seconds(label).sum(axis=1).mean())
            evaluations = float(results.evaluations(label)[:, -1].mean())
            total.append(own + self.evaluation * evaluations)
            numbers[f"seconds of {label}"] = total[-1]
            if self.evaluation:
                numbers |= {f"its evaluations, {label}": evaluations, f"its own, {label}": own}
        ratio = total[0] / total[1] if total[1] else np.inf
        return self.check(ratio < 1.0, {"ratio": ratio, **numbers})


def resets(model_order: Array) -> IntArray:
    """The rounds, from 1, after which a posterior was empty: (T,) model orders -> (k,)."""
    empty = np.flatnonzero(np.asarray(model_order) == 0.0) + 1
    return empty if model_order.any() else empty[:0]


def first_refusal(order: Array) -> int | None:
    """The first round >= 2 after which the mean model order (T,) had not grown by one, if any."""
    refused = np.flatnonzero(np.diff(order) < 1.0 - 1e-9)
    return int(refused[0]) + 2 if len(refused) else None


def _in_errors(values: Array) -> Array:
    """The mean over the trials (first axis) in standard errors; infinite if the error is 0."""
    mean, error = (np.asarray(part) for part in mean_and_error(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled: Array = mean / error
    return np.where(mean == 0.0, 0.0, scaled)
