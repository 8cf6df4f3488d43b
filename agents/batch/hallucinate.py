"""Batches one action after the other, the variance conditioned on those before."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gpbandits_env.agents.batch.base import RULES, BatchRule, in_turn, needs_acquisition

if TYPE_CHECKING:
    from gpbandits_env.agents.gp_agent import GPAgent


@RULES.register("hallucinate")
@dataclass(frozen=True)
class Hallucinate(BatchRule):
    """After each choice the variance is conditioned on it as well; the mean is held.

    Source: Desautels, Krause & Burdick (2014), GP-BUCB, Algorithm 2.
    """

    def check(self, agent: "GPAgent") -> None:
        needs_acquisition(self, agent)

    def choose(self, agent: "GPAgent") -> NDArray[Any]:
        acquisition = agent.acquisition()
        return in_turn(agent, lambda i: acquisition)
