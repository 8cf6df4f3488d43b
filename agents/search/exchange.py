"""Coordinate exchange in boxes with coordinates that no gradient moves: integers and choices.

Gradient ascent moves only the continuous coordinates, so a start keeps its integers and choices.
Here each of the best ends tries other values of one such coordinate at a time (all of them if they
are few) and takes the best, until none is better; then an ascent follows, and again an exchange,
until neither helps.

Source: Meyer & Nachtsheim (1995), "The coordinate-exchange algorithm for constructing exact optimal
experimental designs".
"""

from collections.abc import Callable

import numpy as np

from gpbandits_env.arrays import TIE, Array, descending, leading
from gpbandits_env.domains import Box

# The number of ends that are improved, and of exchanges in a row of each.
ENDS, MOST_EXCHANGES = 4, 12
# The number of times that an ascent follows; the gain that counts, if a score is a logarithm, and
# otherwise relative to the standard deviation of the scores of candidates.
ROUNDS, LEAST_GAIN = 4, 1e-3


def alternated(
    box: Box,
    score: Callable[[Array], Array],
    climb: Callable[[Array], tuple[Array, Array]],
    ends: Array,
    values: Array,
    least: float = LEAST_GAIN,
) -> tuple[Array, Array]:
    """Improve the best ends by exchanges and ascents in turn, the exchange last.

    Args:
        box: the searched box.
        score: maps points (k, d) to scores (k,).
        climb: maps starts (k, d) to the ends of ascents (k, d), and their scores (k,).
        ends: (n, d) points of the box.
        values: (n,) their scores.
        least: the gain that counts.
    Returns:
        The improved points, at most four, and their scores, which are not below those given.
    """
    top = descending(values)[:ENDS]
    points, scores = ends[top], values[top]
    moving = np.ones(len(top), dtype=np.bool_)
    for i in range(ROUNDS + 1):
        before = scores.copy()
        for row in np.flatnonzero(moving):
            points[row], scores[row] = _exchanged(box, score, points[row], scores.item(row), least)
        moving &= scores > before + least
        if i == ROUNDS or not moving.any():
            break
        points[moving], scores[moving] = climb(points[moving])
    return points, scores


def least_gain(scores: Array) -> float:
    """The gain that counts of scores that are no logarithms, given those of candidates, (n,)."""
    return max(LEAST_GAIN * float(np.std(scores)), TIE * float(np.abs(scores).max()))


def _exchanged(
    box: Box, score: Callable[[Array], Array], point: Array, value: float, least: float
) -> tuple[Array, float]:
    """The point after the best exchange of one coordinate at a time, and its score."""
    for _ in range(MOST_EXCHANGES):
        others = box.exchanges(point)
        if not len(others):
            break
        scores = score(others)
        best = int(leading(scores))
        if not scores[best] > value + least:
            break
        point, value = others[best], scores.item(best)
    return point, value
