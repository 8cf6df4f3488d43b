"""A few steps of gradient ascent in a box, from several points together."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gpbandits_env.arrays import Array

# Points (k, d) -> values (k,) and gradients (k, d).
Slope: TypeAlias = Callable[[Array], tuple[Array, Array]]

# The first step, and the longest, as parts of the box's sides.
FIRST, LONGEST = 0.02, 0.2
# Of Adam: how much of the past its means of the slope and of its square keep.
KEPT, KEPT_SQUARE, TINY = 0.9, 0.999, 1e-8


def ascend(
    surface: Slope, points: Array, low: Array, high: Array, steps: int
) -> tuple[Array, Array]:
    """The points (k, d) after so many steps to a top, and their values (k,).

    The step along the gradient is that of Barzilai and Borwein (1988), which needs no memory; one
    that does not gain is not taken, and the next is shorter.

    Args:
        surface: values and gradients; asked steps + 1 times.
        points: (k, d) in the box.
        low: (d,) the lower corner.
        high: (d,) the upper corner, above it.
        steps: how many, at least 0.
    Returns:
        The points and values, none below its start.
    """
    sides = high - low
    at, (value, slope) = points, surface(points)
    # In coordinates of [0, 1]^d.
    slope = slope * sides
    length = FIRST / _largest(slope)
    for _ in range(steps):
        outside = ((at <= low) & (slope < 0.0)) | ((at >= high) & (slope > 0.0))
        uphill = np.where(outside, 0.0, slope)
        length = np.minimum(length, LONGEST / _largest(uphill))
        trial = np.clip(at + length[:, None] * uphill * sides, low, high)
        height, there = surface(trial)
        there = there * sides
        step = (trial - at) / sides
        fall = np.einsum("ij,ij->i", step, slope - there)
        size = np.einsum("ij,ij->i", step, step)
        secant = np.divide(size, fall, out=2.0 * length, where=fall > 0.0)
        better = height > value
        length = np.where(better, secant, np.minimum(secant, 0.25 * length))
        value = np.where(better, height, value)
        at, slope = np.where(better[:, None], trial, at), np.where(better[:, None], there, slope)
    return at, value


def adam(
    surface: Slope, points: Array, low: Array, high: Array, steps: int, rate: float
) -> tuple[Array, Array]:
    """The best points (k, d) on a way of so many steps of about equal length, and their values.

    Args:
        surface: values and gradients; asked steps + 1 times.
        points: (k, d) in the box.
        low: (d,) the lower corner.
        high: (d,) the upper corner, above it.
        steps: how many, at least 0.
        rate: the length of a step in each coordinate, in the units of x.
    Returns:
        The points and values, none below its start.
    Source: Kingma & Ba (2015), Algorithm 1, clipped to the box.
    """
    at, (value, slope) = points, surface(points)
    best = at
    mean, square = np.zeros_like(at), np.zeros_like(at)
    for step in range(1, steps + 1):
        mean = KEPT * mean + (1.0 - KEPT) * slope
        square = KEPT_SQUARE * square + (1.0 - KEPT_SQUARE) * slope**2
        typical = np.sqrt(square / (1.0 - KEPT_SQUARE**step)) + TINY
        at = np.clip(at + rate / (1.0 - KEPT**step) * mean / typical, low, high)
        height, slope = surface(at)
        better = height > value
        value, best = np.where(better, height, value), np.where(better[:, None], at, best)
    return best, value


def _largest(slope: Array) -> Array:
    size: Array = np.abs(slope).max(axis=1)
    return np.maximum(size, 1e-300)
