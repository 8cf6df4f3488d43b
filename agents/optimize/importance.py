"""How much each dimension matters for the posterior mean of an agent.

Source: Saltelli et al. (2010), "Variance based sensitivity analysis of model output", Table 2 (b)
and (f), for the Sobol indices.
"""

from collections.abc import Callable

import numpy as np

from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.learning.scaling import binary_unit
from gpbandits_env.gp.samplers import sobol

# The number of points of each of the two samples from which Sobol indices are estimated.
COUNT = 2048


def importance(space: Space, mean: Callable[[Array], Array], total: bool) -> dict[str, float]:
    """The Sobol index of each dimension for a function of unit points; see `Campaign`.

    The indices are exact if the space has at most 4096 combinations. Otherwise they are estimated
    from ``COUNT (d + 2)`` points of a Sobol sequence, with an error of about 0.01, and of up to
    0.1 where a few points hold most of the variance.
    """
    estimate = _of_combinations if space.domain.finite else _of_samples
    return dict(zip(space.dimensions, estimate(space, mean, total), strict=True))


def _of_combinations(space: Space, mean: Callable[[Array], Array], total: bool) -> list[float]:
    points = space.domain.span
    f = mean(points)
    f = f / binary_unit(f)
    whole = float(f.var())
    if whole == 0.0:
        return [0.0] * len(space.dimensions)
    found = []
    for _, part in space.cube.parts:
        kept = np.delete(points, part, axis=1) if total else points[:, part]
        explained = float(_group_means(f, kept).var()) / whole
        found.append(1.0 - explained if total else explained)
    return found


def _group_means(f: Array, by: Array) -> Array:
    """For each value of f (n,), the mean over those with the same coordinates ``by`` (n, k)."""
    if not by.shape[1]:
        return np.full(len(f), f.mean())
    group: IntArray = np.unique(by, axis=0, return_inverse=True)[1].ravel()
    return (np.bincount(group, f) / np.bincount(group))[group]


def _of_samples(space: Space, mean: Callable[[Array], Array], total: bool) -> list[float]:
    both = sobol(2 * space.dim, COUNT, np.random.default_rng(0))
    a, b = space.cube.snap(both[:, : space.dim]), space.cube.snap(both[:, space.dim :])
    f_a, f_b = mean(a), mean(b)
    unit = binary_unit(np.concatenate([f_a, f_b]))
    f_a, f_b = f_a / unit, f_b / unit
    whole = float(np.concatenate([f_a, f_b]).var())
    found = []
    for _, part in space.cube.parts:
        mixed = a.copy()
        mixed[:, part] = b[:, part]
        f_mixed = mean(mixed) / unit
        if total:
            share = 0.5 * float(np.mean((f_a - f_mixed) ** 2))  # (f), Jansen
        else:
            share = float(np.mean((f_b - f_b.mean()) * (f_mixed - f_a)))  # (b), Saltelli
        found.append(min(max(share / whole, 0.0), 1.0) if whole > 0.0 else 0.0)
    return found
