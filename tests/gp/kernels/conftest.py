"""Every kernel, in each dimension where it makes sense: `kernel` and points `x`, `z` for it."""

import numpy as np
import pytest

from gpbandits_env.gp.kernels import (
    KERNELS,
    ConstantKernel,
    Empirical,
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    OnCoordinates,
    SphericalLinear,
    SquaredExponential,
)


def smooth_kernels(dim):
    """Kernels with a gradient everywhere, on R^dim."""
    ard = tuple(0.4 + 0.3 * j for j in range(dim))
    return {
        "se": SquaredExponential(0.7, 1.3),
        "se-ard": SquaredExponential(ard, 0.6),
        "matern32": Matern32(0.5, 2.0),
        "matern32-ard": Matern32(ard),
        "matern52": Matern52(0.8),
        "matern52-ard": Matern52(ard, 0.5),
        "matern-1.2": Matern(0.6, 1.5, nu=1.2),
        "matern-2": Matern(0.6, 1.5, nu=2.0),
        "matern-2.5": Matern(0.6, nu=2.5),
        "matern-3.7-ard": Matern(ard, nu=3.7),
        "matern-30": Matern(0.6, nu=30.0),
        "linear": Linear(0.9),
        "sum": SquaredExponential(0.3) + Matern52(ard, 0.4) + 0.2 * Linear(),
        "product": SquaredExponential(ard) * Matern32(0.9, 2.0) * Linear(),
        "constant": ConstantKernel(0.8),
        "spherical-linear": SphericalLinear(0.7, 1.3, 0.6, 1.5, low=-1.0),
        "spherical-linear-ard": SphericalLinear(ard, low=(-1.2,) * dim, high=1.1),
        "on": OnCoordinates((dim - 1,), SquaredExponential(0.5, 1.2)),
        "on-product": OnCoordinates(tuple(range(dim))[::-1], Matern52(ard))
        * OnCoordinates((0,), Matern32(0.6)),
        "on-sum": OnCoordinates((0,), Linear()) + OnCoordinates((dim - 1,), Matern52(0.4)),
        "nested": (Linear() + SquaredExponential(0.5)) * Matern(0.7, nu=4.0) * 3.0,
    }


def kinked_kernels(dim):
    """Kernels without a derivative at distance 0."""
    ard = tuple(0.4 + 0.3 * j for j in range(dim))
    return {
        "matern12": Matern12(0.5, 1.2),
        "matern12-ard": Matern12(ard),
        "matern-0.3": Matern(0.5, nu=0.3),
        "matern-0.5": Matern(0.5, nu=0.5),
        "matern-1": Matern(0.5, nu=1.0),
    }


DIMS = (1, 2, 5)
KERNELS_IN = {dim: {**smooth_kernels(dim), **kinked_kernels(dim)} for dim in DIMS}
SMOOTH = [(dim, name) for dim in DIMS for name in smooth_kernels(dim)]
KINKED = [(dim, name) for dim in DIMS for name in kinked_kernels(dim)]


def an_empirical():
    root = np.random.default_rng(3).normal(size=(12, 7))
    return Empirical(root @ root.T, 1.5)


def case(dim, name):
    """A kernel with 12 and 9 points for it."""
    rng = np.random.default_rng(dim)
    if name == "empirical":
        x = rng.permutation(12)[:, None].astype(float)
        return an_empirical(), x, x[:9].copy()
    return KERNELS_IN[dim][name], rng.uniform(-1, 1, (12, dim)), rng.uniform(-1, 1, (9, dim))


@pytest.fixture(params=SMOOTH, ids=lambda p: f"{p[1]}-{p[0]}d")
def smooth_case(request):
    return case(*request.param)


@pytest.fixture(params=[*SMOOTH, *KINKED], ids=lambda p: f"{p[1]}-{p[0]}d")
def vector_case(request):
    """(kernel, x, z) for a kernel of vectors: all but the empirical one."""
    return case(*request.param)


@pytest.fixture(params=[*SMOOTH, *KINKED, (1, "empirical")], ids=lambda p: f"{p[1]}-{p[0]}d")
def any_case(request):
    """(kernel, x, z) for every kernel."""
    return case(*request.param)


@pytest.fixture
def all_kernels():
    """Those that `any_case` runs over, and new ones with their first hyper-parameter alone."""
    listed = [*smooth_kernels(2).values(), *kinked_kernels(2).values(), an_empirical()]
    types = {type(kernel) for kernel in listed}
    return listed + [cls(0.7) for cls in KERNELS.members.values() if cls not in types]
