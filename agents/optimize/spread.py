"""The suggestions of a campaign that are spread over its space: a shifted Sobol sequence."""

import numpy as np

from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.records import CampaignLog
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.arrays import Plain, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.seeding import stream

# Spread points that are tried until one is not recorded yet.
MOST_TRIED = 64


def usual_initial(space: Space) -> int:
    """The default number of suggestions spread over a space of d dimensions: 2 d + 2."""
    return 2 * len(space.dimensions) + 2


def n_initial_for(space: Space, given: int | None) -> int:
    """The number of spread suggestions, at most half of the combinations if they can be listed."""
    count = usual_initial(space) if given is None else whole(given, "n_initial", 0)
    return min(count, len(space.domain.span) // 2) if space.domain.finite else count


def spread_params(space: Space, seed: int, index: int) -> Plain:
    """The parameters of the suggestion ``index``: a point of a shifted Sobol sequence."""
    count, cube, rng = 1 << max(index, 7).bit_length(), space.cube, stream("campaign", seed)
    if cube.linear is None or space.domain.finite:
        return space.actual(spread(cube, count, rng)[index])
    # Of more points, those that satisfy linear constraints come first, then repaired ones.
    for tried in (8 * count, 512 * count):
        points = spread(cube, tried, rng)
        rounded = cube.snap(points)
        possible = cube.linear.proposable(rounded)
        if possible.any():
            break
    else:
        raise InvalidInput(
            "no spread point satisfies the linear constraints after its integers and choices were "
            "rounded: use wider constraints, or compute one of the values in the function"
        )
    moved = (np.abs(rounded - points) > 1e-12).any(axis=1) if cube.free is None else ~possible
    order = np.argsort(moved | ~possible, kind="stable")[: int(possible.sum())]
    return space.actual(rounded[order[index % len(order)]])


def next_spread(log: CampaignLog, seed: int, context: Params) -> Plain:
    """The next spread point that is not recorded yet; any if all of a few are.

    Args:
        log: the log.
        seed: the seed of the sequence.
        context: checked values of some dimensions, which the point has instead of its own.
    """
    space, first = log.space, len(log.records)
    for index in range(first, first + MOST_TRIED):
        params = spread_params(space, seed, index)
        params = space.joined(params, context) if context else params
        if not log.has(params):
            break
    return params
