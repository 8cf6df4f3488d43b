"""The same options for every reset."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from gpbandits_env.errors import InvalidInput, shown


class ResetOptions(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Gives every reset the same options, for libraries that reset without any.

    With ``{"draw": function}`` each episode has parameters of its own:

        ResetOptions(env, {"draw": lambda rng: {"epsilon": rng.uniform(0.0, 0.1)}})

    Args:
        env: an environment of this library.
        options: as of `gpbandits_env.envs.BanditEnv.reset`; those given to a reset come on top.
    Raises:
        InvalidInput: no dict.
    """

    def __init__(self, env: gym.Env[Any, Any], options: Mapping[str, Any]) -> None:
        if not isinstance(options, Mapping):
            raise InvalidInput(f"reset options are a dict, got {shown(options)}")
        RecordConstructorArgs.__init__(self, options=options)
        super().__init__(env)
        self.options = dict(options)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment with these options."""
        return self.env.reset(seed=seed, options={**self.options, **(options or {})})
