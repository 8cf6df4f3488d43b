import pickle

import numpy as np
import pytest
from scipy.stats import qmc

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.samplers import FourierFeatures, ProductFeatures, exact_features
from gpbandits_env.rewards.functions import (
    ArmFunction,
    FunctionBatch,
    GPOnArms,
    GPOnBox,
    TableProcess,
)

BOXES = {
    "se-1d": (1, SquaredExponential(0.1)),
    "se-2d": (2, SquaredExponential(0.2)),
    "matern-2d": (2, Matern52(0.2)),
    "matern-3d": (3, Matern52(0.3)),
}


@pytest.fixture(params=BOXES, scope="module")
def on_box(request):
    dim, kernel = BOXES[request.param]
    # Not the unit box: a mistake in scaling would show.
    box = Box(np.full(dim, -1.0), np.linspace(0.0, 0.5, dim))
    few = FourierFeatures(kernel, dim, 256, np.random.default_rng(0))
    return GPOnBox(box, kernel, exact_features(box, kernel) or few)


@pytest.fixture(scope="module")
def drawn(on_box):
    rng = np.random.default_rng(1)
    return [on_box.draw(rng) for _ in range(3)]


def test_an_arm_function_knows_its_maximum():
    f = ArmFunction(np.array([0.5, 2.0, 2.0, -1.0]))
    assert (f.optimum, f.best_action, f.accuracy) == (2.0, 1, 0.0)
    assert f(np.array([3, 0])).tolist() == [-1.0, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        f.values[0] = 9.0


def test_draws_on_arms_have_the_kernels_moments():
    arms, kernel = Arms.grid(6), SquaredExponential(0.3)
    source, rng = GPOnArms(arms, kernel), np.random.default_rng(0)
    draws = np.stack([source.draw(rng).values for _ in range(4000)])
    assert np.abs(draws.mean(0)).max() < 4 / np.sqrt(4000)
    assert np.abs(np.cov(draws.T) - kernel(arms.coordinates)).max() < 0.1
    low, high = source.bounds()
    assert low < draws.min() < draws.max() < high


def test_rows_are_drawn_uniformly():
    table = np.arange(12.0).reshape(4, 3)
    source, rng = TableProcess(Arms(np.arange(3.0)), table), np.random.default_rng(0)
    first = [source.draw(rng).values[0] for _ in range(4000)]
    counts = np.unique(first, return_counts=True)
    assert counts[0].tolist() == [0.0, 3.0, 6.0, 9.0]
    assert np.abs(counts[1] - 1000).max() < 4 * np.sqrt(750)
    assert source.bounds() == (0.0, 11.0)
    with pytest.raises(InvalidInput, match=r"shape \(rows, 3\), got \(4, 2\)"):
        TableProcess(Arms(np.arange(3.0)), table[:, :2])


def test_nothing_beats_the_maximum_in_a_box(on_box, drawn):
    """Quasi-random points, and several functions."""
    box = on_box.domain
    points = box.low + (box.high - box.low) * qmc.Sobol(box.dim, rng=2).random_base2(14)
    features = on_box.sampler.features(points)
    for f in drawn:
        assert f.accuracy <= 1e-7
        assert (features @ f.coefficients).max() <= f.optimum + f.accuracy
        assert box.check(f.best_action[None]) is not None
        assert f(f.best_action[None])[0] == f.optimum


def gradient(f, x):
    return np.einsum("nrd,r->nd", f.sampler.gradient(x), f.coefficients)


def test_the_maximum_is_a_stationary_point_or_on_the_edge(on_box, drawn):
    box = on_box.domain
    for f in drawn:
        slope, at = gradient(f, f.best_action[None])[0], f.best_action
        # The slope ``accuracy`` below the maximum; second derivatives are at least 40 there.
        tiny = np.sqrt(2 * 40 * f.accuracy)
        inside = (at > box.low) & (at < box.high)
        assert np.abs(slope[inside]).max(initial=0.0) < tiny
        assert (slope[at == box.low] < tiny).all()
        assert (slope[at == box.high] > -tiny).all()


def test_gradients_agree_with_finite_differences(on_box, drawn):
    f, box = drawn[0], on_box.domain
    x = box.sample(np.random.default_rng(4), 3) * 0.9
    for i, step in enumerate(1e-4 * np.eye(box.dim)):
        numeric = (f(x + step) - f(x - step)) / 2e-4
        assert np.allclose(gradient(f, x)[:, i], numeric, atol=2e-4)


def test_pickles_bring_functions_back(on_box, drawn):
    on_arms = GPOnArms(Arms.grid(9), Matern52(0.2))
    for source, f in ((on_box, drawn[0]), (on_arms, on_arms.draw(np.random.default_rng(5)))):
        x = source.domain.sample(np.random.default_rng(6), 4)
        again = pickle.loads(pickle.dumps(f))
        assert np.array_equal(again(x), f(x))
        assert again.optimum == f.optimum
        assert np.array_equal(again.best_action, f.best_action)
        assert again.accuracy == f.accuracy


def test_a_batch_knows_its_functions_and_gathers_tables(on_box, drawn):
    rng, on_arms = np.random.default_rng(7), GPOnArms(Arms.grid(9), Matern52(0.2))
    tables = [on_arms.draw(rng) for _ in range(3)]
    for source, functions in ((on_box, drawn), (on_arms, tables)):
        batch = FunctionBatch(source.domain, 3)
        for i, f in enumerate(functions):
            batch[i] = f
        assert batch.optimum.tolist() == [f.optimum for f in functions]
        assert np.array_equal(batch.best_action, [f.best_action for f in functions])
        x = np.stack([source.domain.sample(rng, 4) for _ in range(3)])
        values = batch.gathered(x)
        if source is on_box:
            assert values is None
            continue
        assert np.array_equal(values, [f(a) for f, a in zip(functions, x, strict=True)])
        again = pickle.loads(pickle.dumps(batch))
        again[0] = functions[1]
        assert np.array_equal(again.gathered(x)[0], functions[1](x[0]))
        assert np.array_equal(batch.gathered(x), values)


@pytest.mark.parametrize(
    ("dim", "kernel", "chosen"),
    [
        (1, SquaredExponential(0.2), ProductFeatures),
        (2, SquaredExponential(0.2), ProductFeatures),
        (3, SquaredExponential(0.15), FourierFeatures),
        (2, Matern52(0.2), FourierFeatures),
    ],
)
def test_boxes_get_exact_features_where_they_are_few(dim, kernel, chosen):
    assert type(GPOnBox(Box(np.zeros(dim), np.ones(dim)), kernel).sampler) is chosen
