"""Evaluating a batch of which some actions may be skipped, and functions with noise inside.

Skipping saves an evaluation in the field. Here the regret still counts what a skipped action would
have been worth, so it is evaluated none the less, off the clock, unless that is refused.
"""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Arms
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.functions import Function
from gpbandits_env.seeding import child

BoolArray = NDArray[np.bool_]

# Skipped points whose values are remembered: an agent that learns nothing asks for the same one.
REMEMBERED = 1024


class Evaluator:
    """Evaluates the actions of one world, round by round.

    Args:
        world: what is played.
        skipped: whether skipped actions are evaluated for the regret; without, their values are
            NaN (on arms too, where all values are there).

    Attributes:
        seconds: wall-clock time spent on evaluations that were observed, since `begin`.
        inside: whether the functions have noise of their own.
    """

    __slots__ = ("_looked_up", "_memo", "_moves", "_skipped", "inside", "seconds")

    def __init__(self, world: World, skipped: bool = True) -> None:
        self._looked_up = isinstance(world.problem.domain, Arms)
        self._moves = world.source.moves
        self._skipped = skipped
        self._memo: dict[bytes, float] = {}
        self.seconds = 0.0
        self.inside = False

    def begin(self, function: Function) -> None:
        """An episode begins with this function."""
        self._memo = {}
        self.seconds = 0.0
        self.inside = hasattr(function, "noisy")

    def values(
        self, function: Function, actions: NDArray[Any], observed: BoolArray | None
    ) -> Array:
        """The noiseless values (m,) of checked actions; those observed (None: all) on the clock."""
        if observed is None or self._looked_up or observed.all():
            started = perf_counter()
            values = function(actions)
            if not self.inside:
                self.seconds += perf_counter() - started
            return values if observed is None else self._kept(values, observed)
        values = np.full(len(actions), np.nan)
        if observed.any():
            started = perf_counter()
            values[observed] = function(actions[observed])
            if not self.inside:
                self.seconds += perf_counter() - started
        if self._skipped:
            for i in np.flatnonzero(~observed).tolist():
                values[i] = self._alone(function, actions[i : i + 1])
        return values

    def noisy(
        self,
        function: Any,
        actions: NDArray[Any],
        observed: BoolArray | None,
        rng: np.random.Generator,
    ) -> Array:
        """The rewards (m,) of a function with noise inside; 0 where not observed.

        Every action has a stream of its own, drawn for it whether or not it is observed: what one
        gets does not depend on which others are skipped.
        """
        rewards = np.zeros(len(actions))
        for i in range(len(actions)):
            own = child(rng)
            if observed is None or observed[i]:
                started = perf_counter()
                rewards[i] = function.noisy(actions[i : i + 1], own)[0]
                self.seconds += perf_counter() - started
        return rewards

    def _kept(self, values: Array, observed: BoolArray) -> Array:
        if not self._skipped:
            values[~observed] = np.nan
        return values

    def _alone(self, function: Function, point: NDArray[Any]) -> float:
        """The value of one skipped point (1, d).

        Evaluated by itself, so that a remembered value is the very one that evaluating again
        would give, and forgetting (after a snapshot, say) changes nothing.
        """
        if self._moves:
            return float(function(point)[0])
        key = point.tobytes()
        value = self._memo.get(key)
        if value is None:
            if len(self._memo) >= REMEMBERED:
                self._memo.clear()
            value = self._memo[key] = float(function(point)[0])
        return value


def pair_of(action: Any) -> tuple[Any, Any]:
    """The actions and the mask of a selective environment's action.

    Raises:
        InvalidInput: not a pair.
    """
    if not isinstance(action, (tuple, list)) or len(action) != 2:
        raise InvalidInput(
            "a selective environment's step takes a pair (actions, observe), the second of them "
            f"one 0 or 1 an action, got {type(action).__name__}"
        )
    return action[0], action[1]


def check_mask(mask: ArrayLike, shape: tuple[int, ...]) -> BoolArray:
    """Which actions to observe, as a boolean array: the caller's own, if it is one.

    Raises:
        InvalidInput: another shape, or anything but booleans and whole numbers 0 and 1.
    """
    if type(mask) is np.ndarray and mask.dtype == np.bool_ and mask.shape == shape:
        return mask
    try:
        given = np.asarray(mask)
    except ValueError:
        given = np.asarray(None)
    fits = given.shape == shape and given.dtype.kind in "bui"
    if not fits or not ((given == 0) | (given == 1)).all():
        raise InvalidInput(
            f"the mask of actions to observe must be booleans (or 0 and 1) of shape {shape}, got "
            f"{shown(mask)}"
        )
    return given.astype(np.bool_)
