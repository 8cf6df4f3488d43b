"""Findings of ren2024: how near our figures come to the paper's."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, positive
from gpbandits_env.scenarios.findings.finding import FINDINGS, Check, FinalFinding


@FINDINGS.register("within-published")
@dataclass(frozen=True)
class WithinPublished(FinalFinding):
    """An agent's mean is at most so many times the paper's.

    Args:
        agent: its label.
        published: the paper's mean, above 0.
        factor: how many times.
        metric: see `metrics.KNOWN`.
    """

    agent: str
    published: float
    factor: float = 2.0
    metric: str = "simple_regret"

    def __post_init__(self) -> None:
        positive(self.published, "published")
        positive(self.factor, "factor")

    @property
    def statement(self) -> str:
        return f"{self.agent}: a mean of at most {self.factor:g} times the paper's"

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.agent,)

    def judge(self, final: Mapping[str, Array]) -> Check:
        mean = float(np.mean(final[self.agent]))
        numbers = {
            self.agent: mean,
            "the paper": self.published,
            "ratio": mean / self.published,
        }
        return Check(bool(mean <= self.factor * self.published), self.statement, numbers)
