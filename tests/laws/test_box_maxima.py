"""In a box regret is never negative: nothing beats the stated maximum, or no function is drawn."""

import re

import gymnasium as gym
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import (
    KERNELS,
    ConstantKernel,
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    OnCoordinates,
    Product,
    SphericalLinear,
    SquaredExponential,
    Sum,
)
from gpbandits_env.rewards.drift import MarkovDrift
from gpbandits_env.rewards.functions import ContextProcess, Contexts, DriftProcess, GPOnBox

STATIONARY = [
    SquaredExponential,
    Matern12,
    Matern32,
    Matern52,
    lambda ell, variance: Matern(ell, variance, nu=1.1),
]


def random_kernel(rng, name, dim):
    """A kernel of a registered type, with lengthscales from 0.03 to 3."""
    ell = np.exp(rng.uniform(np.log(0.03), np.log(3.0), dim)).tolist()
    variance = float(np.exp(rng.normal()))

    def base(coordinates=range(dim)):
        kind = STATIONARY[rng.integers(len(STATIONARY))]
        own = tuple(ell[j] for j in coordinates)
        return kind(own if rng.random() < 0.5 else ell[0], variance)

    own = tuple(range(int(rng.integers(1, dim + 1))))
    makers = {
        "se": lambda: SquaredExponential(tuple(ell), variance),
        "matern12": lambda: Matern12(tuple(ell), variance),
        "matern32": lambda: Matern32(tuple(ell), variance),
        "matern52": lambda: Matern52(tuple(ell), variance),
        "matern": lambda: Matern(tuple(ell), variance, nu=float(rng.uniform(0.4, 4.0))),
        "linear": lambda: Linear(variance),
        "constant": lambda: ConstantKernel(variance),
        "sum": lambda: Sum((base(), base())),
        "product": lambda: Product((base(), OnCoordinates(own, base(own)))),
        "on": lambda: OnCoordinates(own, base(own)),
        "spherical-linear": lambda: SphericalLinear(tuple(ell), variance, low=-6.0, high=6.0),
    }
    # A new kernel is tried with its first hyper-parameter alone.
    return makers.get(name, lambda: KERNELS.members[name](ell[0]))()


# A point of an empirical kernel is the index of an arm, so there are no boxes.
NAMES = sorted(set(KERNELS.members) - {"empirical"})
# One-dimensional kernels that are not stationary.
UNEVEN = [SquaredExponential(0.2) * Linear(), Linear() + 0.1 * SquaredExponential(0.1), Linear()]


def best_elsewhere(f, box, power=17):
    """The best of 2^power even points and of points near the maximizer, after an ascent."""
    rng, width = np.random.default_rng(7), box.high - box.low
    even = qmc.Sobol(box.dim, rng=rng).random_base2(power)
    scales = 10.0 ** rng.uniform(-6.0, -0.5, (10000, 1))
    near = (f.best_action - box.low) / width + scales * rng.normal(size=(10000, box.dim))
    best = -np.inf
    for unit in (even, np.clip(near, 0.0, 1.0)):
        points = np.clip(box.low + width * unit, box.low, box.high)
        blocks = np.array_split(points, 1 + len(points) * f.sampler.rank // 2**22)
        values = np.concatenate([f.sampler.values(b, f.coefficients[None])[0] for b in blocks])
        for start in points[np.argsort(-values)[:6]]:
            best = max(best, *f(np.stack([start, ascent(f, box, start)])))
    return best


def ascent(f, box, start):
    width = box.high - box.low

    def fall(unit):
        point = (box.low + width * unit)[None]
        return -f(point)[0], -(f.coefficients @ f.sampler.gradient(point)[0]) * width

    end = minimize(fall, (start - box.low) / width, jac=True, bounds=[(0.0, 1.0)] * box.dim)
    return np.clip(box.low + width * end.x, box.low, box.high)


def check(source, seed, power=17):
    """Nothing is better than the stated maximum, at the start and after a drift."""
    box = source.domain
    sd = np.sqrt(source.kernel.diagonal(box.span).max())
    path = DriftProcess(source, MarkovDrift(0.1)).begin(np.random.default_rng(seed))
    for _ in range(2):
        f = path.function
        assert f.accuracy <= 1e-6 * sd
        assert f(f.best_action[None])[0] == f.optimum
        assert best_elsewhere(f, box, power) <= f.optimum + f.accuracy
        path.advance()


def random_box(rng, dim):
    low = rng.uniform(-3.0, 3.0, dim)
    return Box(low, low + np.exp(rng.uniform(np.log(0.3), np.log(3.0), dim)))


ROUGH = [
    (Matern12(0.2), 1),
    (Matern12(0.2), 2),
    (Matern32(0.05), 2),
    (SquaredExponential(0.5), 6),
    *((kernel, 1) for kernel in UNEVEN),
]


@pytest.mark.parametrize(("kernel", "dim"), ROUGH)
def test_nothing_beats_the_maximum_in_a_box(kernel, dim):
    check(GPOnBox(Box(np.zeros(dim), np.ones(dim)), kernel), 0, power=14)


def test_every_kind_of_kernel_is_drawn():
    for name in NAMES:
        assert random_kernel(np.random.default_rng(0), name, 2).type_name == name


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_nothing_beats_the_maximum_in_a_random_box(seed):
    rng = np.random.default_rng([2024, seed])
    dim = int(rng.integers(1, 7))
    kernel = random_kernel(rng, NAMES[seed % len(NAMES)], dim)
    box = random_box(rng, dim)
    try:
        source = GPOnBox(box, kernel)
        _ = source.maximum
    except InvalidInput as error:
        refusal = str(error)
        # Random features need a spectral density; in one or two dimensions each search is possible.
        assert re.search("use arms", refusal, re.IGNORECASE)
        assert dim > 2 or isinstance(kernel, Linear | SphericalLinear)
    else:
        check(source, seed)


@pytest.mark.parametrize(("kernel", "dim"), [(Matern12(0.2), 4), (SquaredExponential(0.05), 6)])
def test_environments_refuse_a_box_whose_maximum_cannot_be_found(kernel, dim):
    box = [[0.0] * dim, [1.0] * dim]
    for name in ("StaticGP", "MarkovGP", "Drifting")[:: 1 if dim < 6 else 3]:
        with pytest.raises(InvalidInput, match="Use arms"):
            gym.make(f"gpbandits/{name}-v0", box=box, kernel=kernel.to_dict())


@pytest.mark.parametrize("contexts", [Arms([[0.1], [0.8]]), Box([0.0], [1.0])], ids=["arms", "box"])
@pytest.mark.parametrize("kernel", [Matern12(0.2), SquaredExponential(0.2)])
def test_nothing_beats_the_maximum_in_a_context(kernel, contexts):
    box = Box([0.0], [1.0])
    path = ContextProcess(box, Contexts(contexts), kernel).begin(np.random.default_rng(1))
    for _ in range(2):
        f = path.function
        assert best_elsewhere(f, box, power=13) <= f.optimum + f.accuracy
        path.advance()


def test_draws_of_contexts_are_refused_where_the_maximum_cannot_be_found():
    box, contexts = Box(np.zeros(4), np.ones(4)), Contexts(Arms.grid(3))
    with pytest.raises(InvalidInput, match="Use arms"):
        ContextProcess(box, contexts, Matern12(0.2))
    # The search is over the actions only.
    ContextProcess(Box([0.0], [1.0]), Contexts(box), Matern12(0.2))
