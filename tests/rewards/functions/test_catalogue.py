"""What is stated of the test functions is so."""

from functools import cache
from math import cos, exp, pi, prod, sin, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.rewards.functions import (
    TEST_FUNCTIONS,
    AnalyticProcess,
    TestFunction,
    add_test_function,
    formulas,
)
from gpbandits_env.rewards.functions.catalogue import function_named

CASES = [
    (name, dim)
    for name, given in TEST_FUNCTIONS.items()
    for dim in ([given.dim] if given.dim else [1, 2, 3, 10])
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}d")
def case(request):
    name, dim = request.param
    return TEST_FUNCTIONS[name], dim


@cache
def sobol(dim, power):
    return qmc.Sobol(dim, rng=1).random_base2(power)


def points(given, dim, power):
    box = given.box(dim)
    return box.low + (box.high - box.low) * sobol(dim, power)


def test_the_maximum_is_reached_where_it_is_stated(case):
    given, dim = case
    best = given.maximizer(dim)
    given.box(dim).check(best[None])
    assert given.formula(best[None])[0] == pytest.approx(given.peak(dim), rel=1e-9, abs=1e-9)


def test_nothing_beats_the_maximum(case):
    given, dim = case
    values = given.formula(points(given, dim, 17))
    assert np.isfinite(values).all()
    assert values.max() <= given.peak(dim)


def test_nothing_beats_the_maximum_elsewhere_either(case):
    """What a shift or a motion reads outside the usual domain."""
    given, dim = case
    box = given.box(dim)
    centre = (box.low + box.high) / 2
    far = centre + 3.0 * (points(given, dim, 14) - centre)
    if not given.everywhere:
        far = np.clip(far, box.low, box.high)
    assert given.formula(far).max() <= given.peak(dim) + 1e-12


def test_no_local_search_climbs_above_the_maximum(case):
    given, dim = case
    box, peak = given.box(dim), given.peak(dim)
    bounds = list(zip(box.low, box.high, strict=True))
    width = box.high - box.low
    rng = np.random.default_rng(0)
    starts = given.maximizer(dim) + 1e-3 * width * rng.uniform(-1, 1, (4, dim))
    for start in [given.maximizer(dim), *np.clip(starts, box.low, box.high)]:
        end = minimize(lambda x: -given.formula(x[None])[0], start, bounds=bounds)
        assert -end.fun <= peak + 1e-9 * max(1.0, abs(peak))


def branin(a, b):
    bowl = b - 5.1 * a**2 / (4 * pi**2) + 5 * a / pi - 6
    return -(bowl**2 + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10)


def bird(a, b):
    first, second = sin(a) * exp((1 - cos(b)) ** 2), cos(b) * exp((1 - sin(a)) ** 2)
    return -(first + second + (a - b) ** 2)


def ackley(*x):
    squares, waves = sum(v**2 for v in x), sum(cos(2 * pi * v) for v in x)
    return 20 * exp(-0.2 * sqrt(squares / len(x))) + exp(waves / len(x)) - 20 - exp(1)


def levy(*x):
    w = [1 + (v - 1) / 4 for v in x]
    total = sin(pi * w[0]) ** 2 + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2)
    for v in w[:-1]:
        total += (v - 1) ** 2 * (1 + 10 * sin(pi * v + 1) ** 2)
    return -total


def hartmann(*x):
    bumps = zip(
        formulas.HARTMANN_WEIGHTS, formulas.HARTMANN_SCALES, formulas.HARTMANN_CENTRES, strict=True
    )
    return sum(a * exp(-sum(s[j] * (x[j] - p[j]) ** 2 for j in range(6))) for a, s, p in bumps)


def griewank(*x):
    waves = prod(cos(v / sqrt(i)) for i, v in enumerate(x, 1))
    return -(sum(v**2 for v in x) / 4000 - waves + 1)


# The formulas once more, one point and one coordinate at a time.
BY_HAND = {
    "example": lambda a: sin(a) + cos(a) + a / 10,
    "rosenbrock": lambda a, b: -((1 - a) ** 2 + 100 * (b - a**2) ** 2),
    "rosenbrock-10": lambda a, b: -((1 - a) ** 2 + 10 * (b - a**2) ** 2),
    "camelback": lambda a, b: -(4 * a**2 - 2.1 * a**4 + a**6 / 3 + a * b - 4 * b**2 + 4 * b**4),
    "branin": branin,
    "bird": bird,
    "hartmann-6": hartmann,
    "ackley": ackley,
    "levy": levy,
    "hyper-ellipsoid": lambda *x: -sum(x[j] ** 2 for i in range(len(x)) for j in range(i + 1)),
    "schwefel-1.2": lambda *x: -sum(sum(x[: i + 1]) ** 2 for i in range(len(x))),
    "griewank": griewank,
    "michalewicz": lambda *x: sum(sin(v) * sin(i * v**2 / pi) ** 20 for i, v in enumerate(x, 1)),
}


def test_formulas_against_loops(case):
    given, dim = case
    name = next(key for key, value in TEST_FUNCTIONS.items() if value is given)
    if name not in BY_HAND:
        pytest.skip("a new function; its formula is not restated here")
    x = points(given, dim, 5)
    np.testing.assert_allclose(
        given.formula(x), [BY_HAND[name](*p) for p in x.tolist()], rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize(
    ("name", "dim", "published", "places"),
    [
        ("hartmann-6", 6, 3.32237, 5),
        ("branin", 2, -0.397887, 6),
        ("bird", 2, 106.764537, 6),
        ("camelback", 2, 1.0316, 4),
        ("michalewicz", 2, 1.8013, 4),
        ("michalewicz", 5, 4.687658, 6),
        ("michalewicz", 10, 9.66015, 5),
    ],
)
def test_published_maxima(name, dim, published, places):
    assert round(TEST_FUNCTIONS[name].peak(dim), places) == published


def test_each_coordinate_of_michalewicz_is_at_its_top():
    """Against a dense grid of every coordinate of 60, and of some far beyond."""
    given = TEST_FUNCTIONS["michalewicz"]
    best = given.maximizer(5000)
    for i in [*range(1, 61), 500, 4999, 5000]:
        grid = np.linspace(0.0, np.pi, 50_001 if i <= 60 else 400_001)
        sines, squares = np.sin(grid), grid**2 / np.pi
        fourth = (np.sin(i * squares) ** 2) ** 2
        heights = sines * (fourth**2) ** 2 * fourth  # ** 20 takes longer than all the rest
        at = best[i - 1]
        top = np.sin(at) * np.sin(i * at**2 / np.pi) ** 20
        assert heights.max() <= top + 1e-15
        assert top - heights.max() <= 2e-4


def test_both_maximisers_of_bird_are_worth_the_same():
    given = TEST_FUNCTIONS["bird"]
    other = given.maximizer(2) + 2 * np.pi
    given.box(2).check(other[None])
    np.testing.assert_allclose(other, [4.70104, 3.15294], atol=5e-5)
    assert given.formula(other[None])[0] == pytest.approx(given.peak(2), rel=1e-14)


def test_a_function_of_your_own(monkeypatch):
    monkeypatch.setattr(
        "gpbandits_env.rewards.functions.catalogue.TEST_FUNCTIONS", dict(TEST_FUNCTIONS)
    )

    def bowl(x):
        return -np.sum((x - 0.5) ** 2, axis=1)

    mine = TestFunction(bowl, -1.0, 1.0, 0.5, 0.0)
    add_test_function("bowl", mine)
    assert function_named("bowl") is mine
    function = AnalyticProcess("bowl", dim=3, cube=True).begin(np.random.default_rng(0)).function
    assert (function.optimum, function.best_action.tolist()) == (0.0, [0.5] * 3)
    with pytest.raises(InvalidInput, match="already"):
        add_test_function("bowl", mine)
    for wrong in ((3, mine), ("other", bowl)):
        with pytest.raises(InvalidInput, match="a name and a TestFunction are needed, got"):
            add_test_function(*wrong)
    with pytest.raises(InvalidInput, match=r"-0\.5 at its maximizer"):
        add_test_function("lies", TestFunction(bowl, -1.0, 1.0, 0.0, 0.0))
    column = TestFunction(lambda x: bowl(x)[:, None], -1.0, 1.0, 0.5, 0.0)
    with pytest.raises(InvalidInput, match=r"formula of 'column' must return .* shape \(3,\)"):
        add_test_function("column", column)
    with pytest.raises(UnknownName, match="ackley"):
        function_named("akley")


@pytest.mark.parametrize("best", [(0.0,) * 3, 0.0])
@pytest.mark.parametrize("dim", [None, 2])
def test_ends_of_several_coordinates_need_their_dimension(best, dim):
    ends = (-1.0, -2.0, -3.0), (1.0, 2.0, 3.0)
    bowl = TestFunction(lambda x: -(x**2).sum(axis=1), *ends, best, 0.0, dim)
    with pytest.raises(InvalidInput, match=rf"entries for 3 coordinates, but dim={dim}: state"):
        add_test_function("long", bowl)


@pytest.mark.parametrize(
    ("formula", "best", "maximum"),
    [
        (lambda x: (x**2).sum(axis=1), 0.0, 0.0),  # to be minimized
        (lambda x: -(x**2).sum(axis=1), 1.0, -2.0),  # not the maximum
        (lambda x: np.where(x[:, 0] < -0.5, np.nan, 0.0), 0.0, 0.0),
        (lambda x: np.where(x[:, 0] < -0.5, -np.inf, 0.0), 0.0, 0.0),
    ],
)
def test_a_wrong_maximum_of_your_own_function_is_refused(formula, best, maximum):
    with pytest.raises(InvalidInput, match=r"'wrong' is \S+ at \[.*its maximum is stated to be"):
        add_test_function("wrong", TestFunction(formula, -1.0, 1.0, best, maximum))
