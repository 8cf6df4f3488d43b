"""An agent as a policy: observations in, actions out, as RL tooling calls it."""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.errors import InvalidInput

if TYPE_CHECKING:
    from gpbandits_env.agents.base import Agent

KEYS = ("actions", "rewards", "round")


class Policy:
    """Reads {"actions", "rewards", "round"}, tells its agent, and asks it.

    Round 0 is a new episode and resets the agent. With a leading axis (vector environments) each
    world has an agent of its own: the first is the agent itself, the others copies with streams
    spawned from its generator.

    Args:
        agent: whose policy this is.
    """

    def __init__(self, agent: "Agent") -> None:
        self._agents = [agent]

    def __call__(
        self, observation: Mapping[str, ArrayLike], episode_start: ArrayLike | None
    ) -> NDArray[Any]:
        """The next actions, (m, ...) or (B, m, ...).

        Raises:
            InvalidInput: an observation of another form.
        """
        if not isinstance(observation, Mapping) or any(key not in observation for key in KEYS):
            raise InvalidInput(f"an observation is a dict with {KEYS}; is the env wrapped?")
        actions, rewards, rounds = (np.asarray(observation[key]) for key in KEYS)
        if rewards.ndim == 1:
            return self._act(0, actions, rewards, int(rounds.reshape(-1)[0]))
        starts = np.zeros(len(rewards), bool) if episode_start is None else np.ravel(episode_start)
        counts = np.where(starts, 0, rounds.reshape(len(rewards), -1)[:, 0])
        return np.stack(
            [
                self._act(i, a, r, int(t))
                for i, (a, r, t) in enumerate(zip(actions, rewards, counts, strict=True))
            ]
        )

    def _act(
        self, world: int, actions: NDArray[Any], rewards: NDArray[Any], round_: int
    ) -> NDArray[Any]:
        while len(self._agents) <= world:
            self._agents.append(self._another())
        agent = self._agents[world]
        if round_ == 0:
            agent.reset()
        elif round_ > agent.round:
            agent.tell(actions, rewards)
        return agent.ask()

    def _another(self) -> "Agent":
        first = self._agents[0]
        agents, self._agents = self._agents, []
        try:
            twin = copy.deepcopy(first)
        finally:
            self._agents = agents
        twin.rng = first.rng.spawn(1)[0]
        twin.reset()
        return twin
