"""Seeds, masks and modes of a vector environment, and the info of some of its instances."""

from collections.abc import Sequence

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Info, as_array
from gpbandits_env.envs.episode import BoolArray
from gpbandits_env.errors import InvalidInput, shown


def seeds_of(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """A seed for each of the instances; None leaves a generator unchanged."""
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(count)]
    if not isinstance(seed, Sequence) or len(seed) != count:
        raise InvalidInput(f"seed must be a number or a list of {count}, got {shown(seed)}")
    return list(seed)


def mask_of(mask: ArrayLike | None, count: int) -> BoolArray:
    """The instances to reset, (count,) booleans; all if no mask is given."""
    if mask is None:
        return np.ones(count, dtype=np.bool_)
    array = as_array(mask, "reset_mask")
    if array.dtype != np.bool_ or array.shape != (count,) or not array.any():
        raise InvalidInput(
            f"reset_mask must be a boolean array of shape ({count},) with at least one True, got "
            f"{array.dtype} of shape {array.shape}"
        )
    return array


def autoreset_of(mode: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode of a name; raises `InvalidInput` if there is none."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = [each.value for each in AutoresetMode]
        raise InvalidInput(f"autoreset_mode must be one of {known}, got {shown(mode)}") from None


def of_some(info: Info, which: BoolArray) -> Info:
    """The info of some instances only, with their masks; changes the arrays of ``info``."""
    if not which.any():
        return {}
    if not which.all():
        for array in info.values():
            array[~which] = 0
    return info | {"_" + key: which.copy() for key in info}
