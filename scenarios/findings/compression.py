"""Findings about bounded belief: how large a model grows, and what a learner's time comes to.

Registered beside those of `findings`, when reports are imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.findings.finding import (
    FINDINGS,
    Check,
    Evidence,
    FinalFinding,
    Finding,
)
from gpbandits_env.scenarios.statistics import paired


@FINDINGS.register("at-most")
@dataclass(frozen=True)
class AtMost(FinalFinding):
    """Agent a's mean is at most so many times b's.

    Args:
        a: one agent's label.
        b: the other's.
        factor: of b's mean.
        metric: see `metrics.METRICS`.
    """

    a: str
    b: str
    factor: float = 1.25
    metric: str = "average_regret"

    @property
    def statement(self) -> str:
        return f"{self.a} comes close to {self.b}: at most {self.factor:g} times its mean"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.a, self.b

    def judge(self, final: Mapping[str, Array]) -> Check:
        p = paired(final[self.a], final[self.b])
        ratio = p.mean_a / p.mean_b if p.mean_b else np.inf
        numbers = {self.a: p.mean_a, self.b: p.mean_b, "ratio": ratio, "SE of difference": p.se}
        return Check(bool(p.mean_a <= self.factor * p.mean_b), self.statement, numbers)


@FINDINGS.register("model-order")
@dataclass(frozen=True)
class ModelOrder(Finding):
    """How fast the model order still grows in the last part of a trial, in points a round.

    The slope is that of a line fitted to the mean over the trials. The round of the first
    observation that was not let in, in the first trial to refuse one, is reported beside it.

    Args:
        agent: whose posterior.
        at_most: it has settled: the largest slope, if any.
        above: it still grows: the smallest slope, if any.
        part: of the rounds, at the end.
    """

    agent: str
    at_most: float | None = None
    above: float | None = None
    part: float = 0.5

    @property
    def statement(self) -> str:
        claims = {"settles: at most": self.at_most, "grows: more than": self.above}
        claim = " and ".join(f"{k} {v:g}" for k, v in claims.items() if v is not None)
        return f"the model order of {self.agent} {claim} points a round in the last {self.part:.0%}"

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.agent,)

    def look(self, evidence: Evidence) -> Check:
        if self.agent not in evidence.labels:
            return Check(None, f"{self.statement}; not run: {self.agent}", {})
        return self.judge(evidence.model_order(self.agent))

    def judge(self, order: Array) -> Check:
        """Check the claim of a curve (T,)."""
        first = round((1.0 - self.part) * len(order))
        rounds = np.arange(first, len(order))
        slope = float(np.polyfit(rounds, order[first:], 1)[0])
        numbers = {"slope": slope, "last": float(order[-1])}
        refused = first_refusal(order)
        numbers |= {} if refused is None else {"first refusal": float(refused)}
        holds = self.at_most is None or slope <= self.at_most
        holds &= self.above is None or slope > self.above
        return Check(bool(holds), self.statement, numbers)


def first_refusal(order: Array) -> int | None:
    """The first round, from 2, after which a mean model order had not grown by one; None if none.

    Args:
        order: (T,) data points after each round, a mean over trials of one action a round.
    """
    refused = np.flatnonzero(np.diff(order) < 1.0 - 1e-9)
    return int(refused[0]) + 2 if len(refused) else None


@FINDINGS.register("less-time")
@dataclass(frozen=True)
class LessTime(Finding):
    """Agent a needs less clock time than b: asking, telling, and the evaluations it asked for.

    Args:
        a: the faster agent's label.
        b: the slower's.
        paper: the paper's ratio a to b, reported beside ours, if it has one.
        evaluation: seconds that an evaluation takes where the world looks it up in a table.
    """

    a: str
    b: str
    paper: float | None = None
    evaluation: float = 0.0

    @property
    def statement(self) -> str:
        paper = "" if self.paper is None else f" (the paper: {self.paper:.2f} of it)"
        counted = f", at {1e3 * self.evaluation:g} ms an evaluation" if self.evaluation else ""
        return f"{self.a} takes less time than {self.b}{paper}{counted}"

    @property
    def labels(self) -> tuple[str, ...]:
        return self.a, self.b

    def look(self, evidence: Evidence) -> Check:
        missing = [label for label in self.labels if label not in evidence.labels]
        if missing:
            return Check(None, f"{self.statement}; not run: {', '.join(missing)}", {})
        total, numbers = [], {}
        for label in self.labels:
            own = float(evidence.seconds(label).sum(axis=1).mean())
            evaluations = float(evidence.evaluations(label)[:, -1].mean())
            total.append(own + self.evaluation * evaluations)
            numbers[f"seconds of {label}"] = total[-1]
            if self.evaluation:
                numbers |= {f"its evaluations, {label}": evaluations, f"its own, {label}": own}
        ratio = total[0] / total[1] if total[1] else np.inf
        return Check(ratio < 1.0, self.statement, {"ratio": ratio, **numbers})
