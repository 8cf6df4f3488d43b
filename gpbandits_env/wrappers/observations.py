"""Observations in a form that suits neural networks."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput

Env = gym.Env[Any, Any]


class ScaledRound(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """The observation's ``round`` as a share of the horizon, (1,) float32 in [0, 1].

    It is for neural networks, which need bounded inputs. The agents of this library need the number
    itself: give them the environment without this wrapper.

    Args:
        env: an environment of this library.
        horizon: the number of rounds; by default the environment's ``max_episode_steps``.
    Raises:
        InvalidInput: the horizon is unknown, or the observation has no round.
    """

    def __init__(self, env: Env, horizon: int | None = None) -> None:
        RecordConstructorArgs.__init__(self, horizon=horizon)
        super().__init__(env)
        if horizon is None:
            horizon = None if env.spec is None else env.spec.max_episode_steps
        if horizon is None or horizon == -1:
            raise InvalidInput("ScaledRound needs a horizon: ScaledRound(env, horizon=100)")
        self.horizon = whole(horizon, "horizon")
        space = env.observation_space
        if not isinstance(space, spaces.Dict) or "round" not in space.spaces:
            raise InvalidInput(f"ScaledRound needs an observation with a 'round', got {space}")
        share = spaces.Box(0.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Dict({**space.spaces, "round": share})

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """The observation with the scaled round, which stays 1 beyond the horizon."""
        share = np.minimum(observation["round"] / self.horizon, 1.0).astype(np.float32)
        return {**observation, "round": share}
