"""What an environment simulates, apart from the course of an episode."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.functions import CourseSource
from gpbandits_env.functions.base import NEVER_BEYOND
from gpbandits_env.problem import Problem

# The keyword arguments of every environment, whatever its world.
COMMON = ("render_mode", "selective", "evaluate_skipped")


@dataclass(frozen=True)
class World:
    """A source of functions, the noise on what is seen of them, and what a learner is told.

    Args:
        problem: what a learner is told; its noise variance may differ from the true one.
        source: what the functions of an episode are drawn from.
        noise_var: the variance of the noise on a reward, at least 0.
        unit: the unit of a reward, for pictures; "" if it has none.
        locations: (n, 2) where the arms are on a map, for pictures.
    """

    problem: Problem
    source: CourseSource
    noise_var: float
    unit: str = ""
    locations: Array | None = None

    def __post_init__(self) -> None:
        positive(self.noise_var, "noise_var", zero=True)

    def action_space(self, selective: bool = False) -> spaces.Space[Any]:
        """A batch of actions; of a selective environment, and which of them to observe."""
        m = self.problem.batch_size
        space = self.problem.domain.action_space(m)
        return spaces.Tuple((space, spaces.MultiBinary(m))) if selective else space

    def observation_space(self, selective: bool = False) -> spaces.Dict:
        """The last actions, their noisy rewards, and the round; and which were observed."""
        m = self.problem.batch_size
        low, high = self.source.bounds()
        low, high = min(low, 0.0), max(high, 0.0)  # a reset shows rewards of 0
        slack = NEVER_BEYOND * float(np.sqrt(self.noise_var)) + 1e-6 * (1.0 + high - low)
        seen: dict[str, spaces.Space[Any]] = {
            "actions": self.problem.domain.action_space(m),
            "rewards": spaces.Box(low - slack, high + slack, (m,), dtype=np.float64),
            "round": spaces.Box(0, 2**62, (1,), dtype=np.int64),
        }
        return spaces.Dict(seen | ({"observed": spaces.MultiBinary(m)} if selective else {}))


def build_world(builder: Callable[..., World], kwargs: Mapping[str, Any]) -> World:
    """The world that an environment's keyword arguments describe.

    Raises:
        UnknownName: an argument that the environment does not have.
        InvalidInput: an autoreset mode, of which there is one.
    """
    if "autoreset_mode" in kwargs:
        raise InvalidInput(
            "many worlds by vector_entry_point have one autoreset mode, NEXT_STEP: leave it out, "
            "or make them with vectorization_mode='sync' and "
            "vector_kwargs={'autoreset_mode': gymnasium.vector.AutoresetMode.SAME_STEP}"
        )
    names = inspect.signature(builder).parameters
    for key in kwargs:
        if key not in names:
            raise unknown("argument of this environment", key, [*names, *COMMON])
    return builder(**kwargs)
