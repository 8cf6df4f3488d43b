"""What a vector environment is made and reset with, in the forms that Gymnasium allows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpbandits_env.arrays import whole
from gpbandits_env.envs.evaluation import BoolArray
from gpbandits_env.errors import InvalidInput, shown


def horizon_of(max_episode_steps: int | None) -> int | None:
    """The rounds of an episode; None for no end.

    Raises:
        InvalidInput: not at least 1.
    """
    # Gymnasium's make() reads -1 as "no limit"; so do we.
    if max_episode_steps is None or max_episode_steps == -1:
        return None
    return whole(max_episode_steps, "max_episode_steps")


def seeds_of(seed: int | Sequence[int | None] | None, worlds: int) -> list[int | None]:
    """A seed for each world; None leaves its generator as it is.

    Raises:
        InvalidInput: not as many seeds as worlds.
    """
    if seed is None:
        return [None] * worlds
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(worlds)]
    if not isinstance(seed, Sequence) or len(seed) != worlds:
        raise InvalidInput(f"seed must be one per world ({worlds}), got {shown(seed)}")
    return list(seed)


def reset_mask_of(mask: Any, worlds: int) -> BoolArray:
    """(B,) which worlds to reset; all if no mask is given.

    Raises:
        InvalidInput: no boolean array of one a world, or none of them is true.
    """
    if mask is None:
        return np.ones(worlds, dtype=np.bool_)
    try:
        array = np.asarray(mask)
    except ValueError as error:
        raise InvalidInput(f"reset_mask must be a boolean array: {error}") from None
    if array.dtype != np.bool_ or array.shape != (worlds,) or not array.any():
        raise InvalidInput(
            f"reset_mask must be a boolean array of shape ({worlds},) with at least "
            f"one True, got {array.dtype} of shape {array.shape}"
        )
    return array
