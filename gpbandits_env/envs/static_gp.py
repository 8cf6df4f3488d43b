"""gpbandits/StaticGP-v0: a function drawn from a Gaussian process at each reset, then fixed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import finite_array, listed, positive, whole
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.drift import Drift, MarkovDrift
from gpbandits_env.envs.declared import DeclaredEnv, DeclaredVectorEnv
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.functions import DriftingSource, GPOnArms, GPOnBox, StillSource
from gpbandits_env.kernels import Kernel, kernel_from_dict
from gpbandits_env.problem import Problem

DEFAULT_KERNEL = {"type": "se", "lengthscale": 0.2}
DEFAULT_GRID = (50, 50)


def static_gp_world(
    kernel: Mapping[str, Any] | Kernel | None = None,
    grid: int | Sequence[int] | Arms | None = None,
    arms: ArrayLike | Arms | None = None,
    box: Sequence[ArrayLike] | Box | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    noise_var: float = 0.025,
    batch_size: int = 1,
    sampler: str = "auto",
    features: int = 1024,
) -> World:
    """The world of `StaticGP`; see there for the arguments."""
    domain = (grid, arms, box, low, high)
    return gp_world(kernel, domain, noise_var, batch_size, sampler, features)


def gp_world(
    kernel: Mapping[str, Any] | Kernel | None,
    place: tuple[Any, ...],
    noise_var: float,
    batch_size: int,
    sampler: str,
    features: int,
    drift: Drift | None = None,
    epsilon: float | None = None,
) -> World:
    """A world of GP draws, at rest or drifting.

    Args:
        kernel: see `StaticGP`.
        place: the arguments of `domain_of`.
        noise_var: see `StaticGP`.
        batch_size: see `StaticGP`.
        sampler: see `StaticGP`.
        features: see `StaticGP`.
        drift: how the function moves; None for a static one.
        epsilon: what learners are told of it; by default that of a Markov drift.
    """
    variance = positive(noise_var, "noise_var", zero=True)
    whole(features, "features")
    domain = domain_of(*place)
    covariance = kernel_from_dict(DEFAULT_KERNEL if kernel is None else kernel)
    if epsilon is None and isinstance(drift, MarkovDrift):
        epsilon = drift.epsilon
    problem = Problem(domain, covariance, variance, batch_size, epsilon=epsilon)
    source: GPOnArms | GPOnBox
    if isinstance(domain, Arms):
        covariance.check_points(domain.coordinates)
        source = GPOnArms(domain, covariance, sampler)
    else:
        assert isinstance(domain, Box)
        covariance.check_points(np.stack([domain.low, domain.high]))
        source = GPOnBox(domain, covariance, sampler, features)
    course = StillSource(source) if drift is None else DriftingSource(source, drift)
    return World(problem, course, variance)


def domain_of(
    grid: int | Sequence[int] | Arms | None = None,
    arms: ArrayLike | Arms | None = None,
    box: Sequence[ArrayLike] | Box | None = None,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> Domain:
    """The domain that an environment's arguments describe (see `StaticGP`).

    Raises:
        InvalidInput: more than one of grid, arms and box, or low and high without a grid.
    """
    given = [name for name, value in _pairs(grid=grid, arms=arms, box=box) if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"give one of grid, arms and box, got {' and '.join(given)}")
    if given not in ([], ["grid"]) and not (low is None and high is None):
        raise InvalidInput(f"low and high belong to a grid, but {given[0]} was given")
    if box is not None:
        return _box(box)
    if arms is not None:
        return arms if isinstance(arms, Arms) else Arms(finite_array(arms, "arms"))
    if isinstance(grid, Arms):
        return grid
    shape = DEFAULT_GRID if grid is None else grid
    shape = listed(shape, "grid") if isinstance(shape, np.ndarray) else shape
    return Arms.grid(shape, 0.0 if low is None else low, 1.0 if high is None else high)


def _pairs(**values: object) -> list[tuple[str, object]]:
    return list(values.items())


def _box(corners: Any) -> Box:
    if isinstance(corners, Box):
        return corners
    pair = isinstance(corners, (list, tuple)) or (
        isinstance(corners, np.ndarray) and corners.ndim > 0
    )
    if not pair or len(corners) != 2:
        raise InvalidInput(f"box must be its two corners (low, high), got {shown(corners)}")
    return Box(corners[0], corners[1])


class StaticGP(DeclaredEnv):
    """A static GP bandit: f ~ GP(0, k), drawn anew at each reset; noise N(0, noise_var).

    The domain is a grid, any set of arms, or a box; a grid of 50 x 50 on [0, 1]^2 if none is
    given. In a box the maximum is found by search (`BoxMaximum`), which costs tens of
    milliseconds a reset, and k is met to the box sampler's stated error.

    Args:
        render_mode: None, "ansi" or "rgb_array".
        kernel: a kernel, or its plain dict; squared exponential of lengthscale 0.2 by default.
        grid: points per axis of a product grid on [low, high].
        arms: (n, d) points.
        box: its two corners, (d,) each.
        low: the grid's lower ends, a number or one per axis.
        high: the grid's upper ends.
        noise_var: the variance of the noise on a reward, at least 0.
        batch_size: the number of actions m in a round.
        sampler: how functions are drawn: "auto", or a name of `sampler_for` or `box_sampler_for`.
        features: the number of random features in a box, where they are used.
    Raises:
        InvalidInput: several domains, or a value out of range.
        UnknownName: an argument, kernel or sampler that does not exist.
    Source: srinivas2010, Section 2.
    """

    builder = staticmethod(static_gp_world)


class StaticGPVector(DeclaredVectorEnv):
    """B of `StaticGP` side by side; see there and `BanditVectorEnv`."""

    builder = staticmethod(static_gp_world)
