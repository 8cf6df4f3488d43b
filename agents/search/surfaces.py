"""Surfaces for climbs: an acquisition over points of the box that is searched."""

from collections.abc import Callable

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.embeddings.base import BoxMap
from gpbandits_env.agents.search.base import Region
from gpbandits_env.agents.search.lbfgs import Surface
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.posterior import BoxPosterior


def chained(
    acquisition: Acquisition, mean: Array, var: Array, mean_slope: Array, var_slope: Array
) -> tuple[Array, Array]:
    """The score (n,) and its gradient (n, d) by the chain rule; overwrites the two slopes."""
    values, in_mean, in_var = acquisition.score_and_gradient(mean, var)
    mean_slope *= in_mean[:, None]
    var_slope *= in_var[:, None]
    mean_slope += var_slope
    return values, mean_slope


def surface(acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None) -> Surface:
    """The acquisition and its gradient; -inf outside a region, so that nothing climbs there."""

    def climbed(x: Array, rows: IntArray) -> tuple[Array, Array]:
        values, slope = chained(acquisition, *posterior.gradients(x))
        if allowed is None:
            return values, slope
        inside = allowed(x)
        return np.where(inside, values, -np.inf), np.where(inside[:, None], slope, 0.0)

    return climbed


def score_at(
    acquisition: Acquisition, posterior: BoxPosterior, allowed: Region | None
) -> Callable[[Array], Array]:
    """The acquisition alone, -inf outside a region."""

    def score(x: Array) -> Array:
        found = acquisition.score(*posterior.moments(x))
        return found if allowed is None else np.where(allowed(x), found, -np.inf)

    return score


def pulled(climbed: Surface, through: BoxMap | None) -> Surface:
    """A surface over the large box of a map as one over its small box."""
    if through is None:
        return climbed

    def on_small(y: Array, rows: IntArray) -> tuple[Array, Array]:
        values, gradients = climbed(through.lift(y), rows)
        return values, through.pull(y, gradients)

    return on_small


def along(climbed: Surface, free: Array | None) -> Surface:
    """A surface that climbs move along some coordinates only."""
    if free is None:
        return climbed

    def moved(x: Array, rows: IntArray) -> tuple[Array, Array]:
        values, gradients = climbed(x, rows)
        return values, gradients * free

    return moved
