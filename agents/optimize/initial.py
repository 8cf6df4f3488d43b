"""The suggestions that are spread over a space before the agent chooses."""

from typing import Any

import numpy as np

from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.arrays import whole
from gpbandits_env.domains import Arms
from gpbandits_env.seeding import stream


def usual_initial(space: Space) -> int:
    """The default number of suggestions spread over a space of d dimensions: 2 d + 2."""
    return 2 * len(space.dimensions) + 2


def n_initial_for(space: Space, given: int | None) -> int:
    """The number of spread suggestions, at most half of the combinations if they can be listed."""
    count = usual_initial(space) if given is None else whole(given, "n_initial", 0)
    return min(count, space.domain.size // 2) if isinstance(space.domain, Arms) else count


def spread_params(space: Space, seed: int, index: int) -> dict[str, Any]:
    """The parameters of the suggestion ``index``: a point of a shifted Sobol sequence."""
    count, cube, rng = 1 << max(index, 7).bit_length(), space.cube, stream("campaign", seed)
    if cube.limits is None or isinstance(space.domain, Arms):
        return space.actual(spread(cube, count, rng)[index])
    # Of more points, those that satisfy linear constraints come first, then repaired ones.
    points = spread(cube, 8 * count, rng)
    rounded = cube.snap(points)
    possible = cube.limits.proposable(rounded)
    moved = (np.abs(rounded - points) > 1e-12).any(axis=1) if cube.free is None else ~possible
    order = np.argsort(moved | ~possible, kind="stable")[: max(int(possible.sum()), 1)]
    return space.actual(rounded[order[index % len(order)]])
