"""Findings about many dimensions: who comes nearest to the optimum.

Registered beside those of `findings`, when reports are imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.findings.finding import FINDINGS, Check, FinalFinding
from gpbandits_env.scenarios.statistics import paired


@FINDINGS.register("nearly-best")
@dataclass(frozen=True)
class NearlyBest(FinalFinding):
    """An agent is the best, or within so many paired standard errors of the best.

    Args:
        agent: its label.
        rivals: the labels of the others, at least one.
        errors: standard errors of the difference to the best rival.
        metric: see `metrics.KNOWN`.
    Raises:
        InvalidInput: no rivals.
    """

    agent: str
    rivals: tuple[str, ...]
    errors: float = 1.0
    metric: str = "log10_simple_regret"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rivals", tuple(self.rivals))
        if not self.rivals or self.agent in self.rivals:
            raise InvalidInput(f"{self.agent!r} needs rivals other than itself")

    @property
    def statement(self) -> str:
        return (
            f"{self.agent} is the best of {', '.join((self.agent, *self.rivals))}, or within "
            f"{self.errors:g} standard error of the best"
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.agent, *self.rivals)

    def judge(self, final: Mapping[str, Array]) -> Check:
        means = {label: float(np.mean(final[label])) for label in self.labels}
        best = min(self.rivals, key=means.__getitem__)
        p = paired(final[self.agent], final[best])
        rank = sorted(means.values()).index(means[self.agent]) + 1
        numbers = {
            self.agent: p.mean_a,
            f"best rival ({best})": p.mean_b,
            "difference": p.difference,
            "SE": p.se,
            "rank": float(rank),
        }
        return Check(bool(p.difference <= self.errors * p.se), self.statement, numbers)
