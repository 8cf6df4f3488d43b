"""Batches one action after the other, the variance conditioned on those before."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from gpbandits_env.agents.batch.base import RULES, BatchRule, in_turn, needs_acquisition
from gpbandits_env.agents.round import AcquisitionRule, Round
from gpbandits_env.problem import Problem


@RULES.register("hallucinate")
@dataclass(frozen=True)
class Hallucinate(BatchRule):
    """After each choice the variance is conditioned on it as well; the mean is held.

    Source: Desautels, Krause & Burdick (2014), GP-BUCB, Algorithm 2.
    """

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        needs_acquisition(self, rule)

    def choose(self, now: Round) -> NDArray[Any]:
        acquisition = now.acquisition()
        return in_turn(now, lambda i: acquisition)
