"""The same options for every reset."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from gpbandits_env.errors import InvalidInput, shown


class ResetOptions(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Passes the same options to every reset, for libraries that reset without options.

    With ``{"draw": function}`` each episode draws its own parameters:

        ResetOptions(env, {"draw": lambda rng: {"epsilon": rng.uniform(0.0, 0.1)}})

    Args:
        env: an environment of this library.
        options: those of `gpbandits_env.envs.BanditEnv.reset`; options given to a reset override
            them.
    Raises:
        InvalidInput: the options are not a dict.
    """

    def __init__(self, env: gym.Env[Any, Any], options: Mapping[str, Any]) -> None:
        if not isinstance(options, Mapping):
            raise InvalidInput(f"reset options must be a dict, got {shown(options)}")
        RecordConstructorArgs.__init__(self, options=options)
        super().__init__(env)
        self.options = dict(options)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment with these options."""
        return self.env.reset(seed=seed, options={**self.options, **(options or {})})
