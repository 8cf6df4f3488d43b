"""The test functions, one declaration each. All are maximized."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, flag, one_each, whole
from gpbandits_env.display import counted
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.rewards.functions import formulas as f

# A stated maximum is exact up to the 16 digits of its constants, relative to max(1, |maximum|).
ROUNDING = 1e-9


@dataclass(frozen=True)
class TestFunction:
    """A test function with its domain and its maximum.

    Attributes:
        formula: maps points (n, d) to values (n,).
        low: the lower end of the usual domain, a number or one per coordinate.
        high: the upper end of the usual domain.
        best: a maximizer: a number for all coordinates, an array (d,), or a function ``best(d)``.
        maximum: the value at the maximizer, or a function ``maximum(d)``.
        dim: the number of coordinates; None for any.
        everywhere: whether ``maximum`` bounds the formula in all of R^d. If not, a point outside
            the usual domain has the value of the nearest point inside.
    """

    __test__ = False  # for pytest, which collects classes of this name

    formula: Callable[[Array], Array]
    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    best: float | tuple[float, ...] | Callable[[int], Array]
    maximum: float | Callable[[int], float]
    dim: int | None = None
    everywhere: bool = True

    def box(self, dim: int) -> Box:
        """The usual domain."""
        return Box(np.broadcast_to(self.low, (dim,)), np.broadcast_to(self.high, (dim,)))

    def maximizer(self, dim: int) -> Array:
        """A maximizer (d,)."""
        best = self.best(dim) if callable(self.best) else self.best
        return np.array(np.broadcast_to(best, (dim,)), dtype=np.float64)

    def peak(self, dim: int) -> float:
        """The maximum."""
        return float(self.maximum(dim) if callable(self.maximum) else self.maximum)

    def accuracy(self, dim: int) -> float:
        """How far values may exceed the maximum, by rounding."""
        return ROUNDING * max(1.0, abs(self.peak(dim)))

    def values(self, points: Array) -> Array:
        """The values (n,) at any points (n, d), also outside the usual domain."""
        if not self.everywhere:
            usual = self.box(points.shape[1])
            points = np.clip(points, usual.low, usual.high)
        return self.formula(points)


TEST_FUNCTIONS: dict[str, TestFunction] = {
    "example": TestFunction(f.example, -10.0, 10.0, f.BEST_EXAMPLE, f.MOST_EXAMPLE, 1, False),
    "rosenbrock": TestFunction(f.rosenbrock, (-2.0, -1.0), (2.0, 3.0), 1.0, 0.0, dim=2),
    "rosenbrock-10": TestFunction(f.rosenbrock_10, (-2.0, -1.0), (2.0, 3.0), 1.0, 0.0, dim=2),
    "camelback": TestFunction(
        f.camelback, (-3.0, -2.0), (3.0, 2.0), f.BEST_CAMELBACK, 1.0316284534898774, dim=2
    ),
    "branin": TestFunction(
        f.branin, (-5.0, 0.0), (10.0, 15.0), (np.pi, 2.275), -10.0 / (8.0 * np.pi), dim=2
    ),
    "bird": TestFunction(f.bird, -2.0 * np.pi, 2.0 * np.pi, f.BEST_BIRD, 106.76453674926468, dim=2),
    "hartmann-6": TestFunction(f.hartmann, 0.0, 1.0, f.BEST_HARTMANN, 3.3223680114155147, dim=6),
    "ackley": TestFunction(f.ackley, -32.768, 32.768, 0.0, 0.0),
    "levy": TestFunction(f.levy, -10.0, 10.0, 1.0, 0.0),
    "hyper-ellipsoid": TestFunction(f.hyper_ellipsoid, -65.536, 65.536, 0.0, 0.0),
    "schwefel-1.2": TestFunction(f.schwefel, -65.536, 65.536, 0.0, 0.0),
    "griewank": TestFunction(f.griewank, -600.0, 600.0, 0.0, 0.0),
    "michalewicz": TestFunction(
        f.michalewicz, 0.0, np.pi, f.best_michalewicz, f.most_michalewicz, everywhere=False
    ),
}


def function_named(name: str) -> TestFunction:
    """A test function by name.

    Raises:
        UnknownName: there is no such function.
    """
    return TEST_FUNCTIONS[one_of(name, TEST_FUNCTIONS, "test function")]


def add_test_function(name: str, function: TestFunction) -> None:
    """Register a function of your own for every environment that takes a test function.

    Worker processes must import the module that calls this. A lambda cannot be pickled.

    Raises:
        InvalidInput: the name is no text, or taken; low, high or best has several entries, but not
            ``dim``; the formula does not return one finite value per point; its value at ``best``
            is not ``maximum``; or one at 256 points of the box is above that.
    """
    if not isinstance(name, str) or not isinstance(function, TestFunction):
        given = f"{shown(name)} and {shown(function)}"
        raise InvalidInput(f"a name and a TestFunction are needed, got {given}")
    if name in TEST_FUNCTIONS:
        raise InvalidInput(f"a function named {name!r} exists already; use another name")
    for entries in (function.low, function.high, function.best):
        if (d := np.size(entries)) not in (1, function.dim):  # type: ignore[arg-type]
            raise InvalidInput(
                f"{name!r} has entries for {d} coordinates, but dim={function.dim}: state dim={d}"
            )
    dim = function.dim or 2
    best = np.stack([function.maximizer(dim)] * 3)
    values = one_each(function.formula(best), best, f"the formula of {name!r}")
    top, stated, slack = float(values[0]), function.peak(dim), function.accuracy(dim)
    if not abs(top - stated) <= slack:
        raise InvalidInput(f"{name!r} is {top!r} at its maximizer, but its maximum is {stated!r}")
    box = function.box(dim)
    points = box.sample(np.random.default_rng(0), 256)
    for point, value in zip(points.tolist(), function.formula(points).tolist(), strict=True):
        if not -np.inf < value <= stated + slack:
            raise InvalidInput(
                f"{name!r} is {value!r} at {point}, but its maximum is stated to be {stated!r}; "
                "negate a function that is minimized"
            )
    TEST_FUNCTIONS[name] = function


def dimension(name: str, *dims: int | None) -> int:
    """The number of coordinates on which the function and ``dims`` agree; 2 if none is given.

    Raises:
        InvalidInput: they do not agree.
    """
    given = function_named(name)
    wanted = [whole(d, "dim") for d in (given.dim, *dims) if d is not None]
    size = wanted[0] if wanted else 2
    for d in wanted:
        if d != size:
            here, sizes = "" if given.dim else " here", counted(size, "dimension")
            raise InvalidInput(
                f"{name!r} has {sizes}{here}, not {d}: state dim, active, grid, arms or box for "
                f"{sizes}, or leave it out"
            )
    return size


@dataclass(frozen=True, eq=False)
class BenchmarkFunction:
    """A test function that is called with a point, as an optimizer calls it.

    Attributes:
        name: its name.
        bounds: a pair (low, high) for each coordinate: the usual domain.
        x_best: an optimal point (d,).
        optimum: the value there: the minimum, or the maximum if ``maximize``.
        maximize: whether it is to be maximized.
    """

    name: str
    bounds: list[tuple[float, float]]
    x_best: Array
    optimum: float
    maximize: bool

    def __call__(self, x: ArrayLike) -> Any:
        """The value at a point (d,), a float; or the values (n,) at points (n, d).

        Raises:
            InvalidInput: the points have another shape, or are not finite.
        """
        points = finite_array(x, "x")
        if points.ndim not in (1, 2) or points.shape[-1] != len(self.bounds):
            d = len(self.bounds)
            raise InvalidInput(f"x must have shape ({d},) or (n, {d}), got {points.shape}")
        values = function_named(self.name).formula(np.atleast_2d(points))
        values = values if self.maximize else 0.0 - values
        return values if points.ndim == 2 else float(values[0])


def benchmark_function(
    name: str, dim: int | None = None, *, maximize: bool = False
) -> BenchmarkFunction:
    """A test function with its bounds and its optimum, for `minimize` and for comparisons.

        f = benchmark_function("hartmann-6")
        found = minimize(f, f.bounds, n_calls=40, seed=0)
        print(found.fun - f.optimum)

    Args:
        name: one of `TEST_FUNCTIONS`; ``gpbandits tasks`` lists them.
        dim: the number of coordinates, for functions of any dimension; by default 2.
        maximize: whether it is to be maximized. The functions of this library are; by default their
            negatives are returned, as in the literature.
    Raises:
        UnknownName: there is no such function.
        InvalidInput: the function does not have this dimension.
    """
    given, size = function_named(name), dimension(name, dim)
    bounds = [(low, high) for low, high in given.box(size).span.T.tolist()]
    optimum = given.peak(size) if flag(maximize, "maximize") else 0.0 - given.peak(size)
    return BenchmarkFunction(name, bounds, given.maximizer(size), optimum, maximize)
