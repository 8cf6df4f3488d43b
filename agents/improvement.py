"""What EI and MPI share: the incumbent, the value to improve on."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import unknown
from gpbandits_env.problem import Problem

INCUMBENTS = ("posterior-mean", "observed", "max-mean")


class ImprovementAgent(GPAgent):
    """An agent that looks for improvement on the best so far.

    Args:
        problem: where it acts and what it knows beforehand.
        rng: its own randomness.
        incumbent: "posterior-mean", the largest posterior mean at an arm told of; "observed", the
            largest (noisy) reward told (and let in, if the agent is compressed); or "max-mean", the
            largest posterior mean at any arm. Before any data all are the largest prior mean; so is
            the first where all data have faded away.
        margin: how far above the incumbent an improvement starts, at least 0, in reward units.
        settings: those of `GPAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        incumbent: str = "posterior-mean",
        margin: float = 0.0,
        **settings: Any,
    ) -> None:
        if not isinstance(incumbent, str) or incumbent not in INCUMBENTS:
            raise unknown("incumbent", incumbent, INCUMBENTS)
        self._kind, self.margin = incumbent, positive(margin, "margin", zero=True)
        self._best_reward = -np.inf
        super().__init__(problem, rng, **settings)

    @abstractmethod
    def acquisition(self) -> Acquisition: ...

    @property
    def incumbent(self) -> float:
        """The value to improve on in this round."""
        if self._kind == "max-mean":
            return self.search.largest_mean(self.posterior)
        if self._kind == "observed" and self._best_reward > -np.inf:
            return self._best_reward
        told = self.posterior.mean_at_observed()  # nothing where all has faded
        return float(np.max(told if len(told) else self.posterior.prior_mean))

    def absorb(self, places: ArrayLike, rewards: ArrayLike) -> tuple[NDArray[Any], Array]:
        absorbed = super().absorb(places, rewards)
        self._best_reward = max(self._best_reward, float(absorbed[1].max(initial=-np.inf)))
        return absorbed

    def forget(self) -> None:
        super().forget()
        self._best_reward = -np.inf

    def snapshot(self) -> dict[str, Any]:
        return super().snapshot() | {"best_reward": self._best_reward}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self._best_reward = float(state["best_reward"])
