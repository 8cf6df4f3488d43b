"""The posterior on a box against the dense formula, finite differences and equal calls."""

import pickle

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import (
    Linear,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.posterior.whitening import Predictor

KERNELS = {
    "se-2": (2, SquaredExponential(0.5)),
    "matern12-60": (60, Matern12(3.0)),
    "matern32-ard-5": (5, Matern32((0.5, 0.7, 0.9, 1.1, 1.0), variance=2.0)),
    "matern52-6": (6, Matern52(1.0)),
    "bessel-3": (3, Matern(1.0, nu=1.7)),
    "linear-4": (4, Linear(0.5)),
    "sum-8": (8, Linear() + Matern52(2.0)),
    "product-4": (4, Linear() * SquaredExponential(2.0) * Matern32(1.0)),
}
NOISE, MEAN = 0.01, 0.3


def world(name):
    dim, kernel = KERNELS[name]
    box = Box(-np.ones(dim), np.ones(dim))
    return BoxPosterior(box, kernel, NOISE, MEAN), np.random.default_rng(3)


def learn(posterior, rng, rounds=8, batch=3, epsilon=0.0):
    """Rounds of a batch and some drift; the points, rewards and ages by now."""
    points, rewards, ages = [], [], []
    for _ in range(rounds):
        x, y = posterior.box.sample(rng, batch), rng.standard_normal(batch)
        posterior.condition(x, y)
        points, rewards = [*points, *x], [*rewards, *y]
        posterior.advance(epsilon, 0.5)
        ages = [age - 0.25 * np.log1p(-epsilon) for age in [*ages, *[0.0] * batch]]
    return np.array(points), np.array(rewards), np.array(ages)


def dense(kernel, data, x, extra=None, noise=NOISE):
    """Eqs. (7)-(8) of bogunovic2016 by numpy.linalg; extra points count in the covariance only."""
    points, rewards, ages = data
    gram = kernel(points) * np.exp(-np.abs(ages[:, None] - ages)) + noise * np.eye(len(points))
    cross = kernel(x, points) * np.exp(-ages)
    mean = MEAN + cross @ np.linalg.solve(gram, rewards - MEAN)
    if extra is not None:
        return mean, dense(kernel, _joined(data, extra), x, noise=noise)[1]
    return mean, kernel(x) - cross @ np.linalg.solve(gram, cross.T)


def _joined(data, extra):
    zeros = np.zeros(len(extra))
    return tuple(np.concatenate(pair) for pair in zip(data, (extra, zeros, zeros), strict=True))


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("name", KERNELS)
class TestDense:
    def test_moments_and_covariance(self, name, epsilon):
        posterior, rng = world(name)
        data = learn(posterior, rng, epsilon=epsilon)
        x = np.concatenate([posterior.box.sample(rng, 30), data[0][:6]])
        mean, covariance = dense(posterior.kernel, data, x)
        for found in (posterior.moments(x), posterior.gradients(x)[:2]):
            np.testing.assert_allclose(found[0], mean, rtol=0, atol=1e-8)
            np.testing.assert_allclose(found[1], covariance.diagonal(), rtol=0, atol=1e-8)
        np.testing.assert_allclose(posterior.mean_at(x), mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(posterior.covariance(x), covariance, rtol=0, atol=1e-8)
        told = dense(posterior.kernel, data, data[0])[0]
        np.testing.assert_allclose(posterior.mean_at_observed(), told, rtol=0, atol=1e-8)

    def test_hallucinated_points_count_in_the_variance_only(self, name, epsilon, var_given):
        posterior, rng = world(name)
        data = learn(posterior, rng, epsilon=epsilon)
        x, extra = posterior.box.sample(rng, 20), posterior.box.sample(rng, 5)
        before = posterior.moments(x)
        given = var_given(posterior, extra, x)
        for now, then in zip(posterior.moments(x), before, strict=True):
            np.testing.assert_array_equal(now, then)
        posterior.hallucinate(extra[:2])
        posterior.hallucinate(extra[2:])
        mean, covariance = dense(posterior.kernel, data, x, extra)
        found = posterior.gradients(x)
        np.testing.assert_allclose(found[0], mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found[1], covariance.diagonal(), rtol=0, atol=1e-8)
        np.testing.assert_allclose(given, covariance.diagonal(), rtol=0, atol=1e-8)
        np.testing.assert_allclose(posterior.covariance(x), covariance, rtol=0, atol=1e-8)
        assert len(posterior.observed) == len(data[0]) == len(posterior.mean_at_observed())
        assert len(posterior.conditioned) == len(data[0]) + 5
        posterior.rollback()
        for now, then in zip(posterior.moments(x), before, strict=True):
            np.testing.assert_array_equal(now, then)

    def test_gradients_against_finite_differences(self, name, epsilon):
        posterior, rng = world(name)
        learn(posterior, rng, epsilon=epsilon)
        posterior.hallucinate(posterior.box.sample(rng, 2))
        x, step = posterior.box.sample(rng, 6), 1e-5
        slopes = posterior.gradients(x)[2:]
        mean, slope = posterior.mean_gradient(x)
        np.testing.assert_allclose(mean, posterior.moments(x)[0], atol=1e-8)
        np.testing.assert_allclose(slope, slopes[0], atol=1e-8)
        for j, shift in enumerate(step * np.eye(posterior.box.dim)):
            up, down = posterior.moments(x + shift), posterior.moments(x - shift)
            for slope, high, low in zip(slopes, up, down, strict=True):
                np.testing.assert_allclose(slope[:, j], (high - low) / (2 * step), atol=2e-6)


def test_gradients_at_told_points():
    """At distance 0 the kernel is flat: no NaN, and the gradient of the other points is left."""
    posterior, rng = world("matern32-ard-5")
    points, _, _ = learn(posterior, rng)
    _, var, mean_slope, var_slope = posterior.gradients(points)
    assert np.isfinite(mean_slope).all()
    assert np.isfinite(var_slope).all()
    assert (var > 0).all()
    near = posterior.gradients(points + 1e-7)
    np.testing.assert_allclose(mean_slope, near[2], atol=1e-4)


def test_many_points_in_pieces():
    posterior, rng = world("matern52-6")
    learn(posterior, rng, rounds=60, batch=4)
    x = posterior.box.sample(rng, 3000)
    whole = posterior.gradients(x)
    for i in (0, 1091, 1092, 2999):
        for all_of_them, one in zip(whole, posterior.gradients(x[i : i + 1]), strict=True):
            np.testing.assert_allclose(all_of_them[i], one[0], atol=1e-12)


def test_clustered_data():
    """Points close together, far from the middle: distances must not cancel."""
    box = Box(np.zeros(10), 100 * np.ones(10))
    posterior = BoxPosterior(box, Matern12(1.0), NOISE, MEAN)
    rng = np.random.default_rng(0)
    points = 90.0 + 1e-3 * rng.standard_normal((30, 10))
    rewards = rng.standard_normal(30)
    posterior.condition(points, rewards)
    x = np.concatenate([points[:5], points[:5] + 1e-4, box.sample(rng, 400)])
    mean, covariance = dense(posterior.kernel, (points, rewards, np.zeros(30)), x)
    np.testing.assert_allclose(posterior.moments(x)[0], mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.moments(x)[1], covariance.diagonal(), atol=1e-8)


@pytest.mark.parametrize("noise", [0.0, 1e-14])
def test_repeats_without_noise(noise):
    box = Box(np.zeros(2), np.ones(2))
    posterior = BoxPosterior(box, Matern52(0.5), noise)
    rng = np.random.default_rng(1)
    points, rewards = box.sample(rng, 8), rng.standard_normal(8)
    assert posterior.jitter == 0.0
    posterior.condition(points, rewards)
    posterior.condition(points, rewards)
    assert 0.0 < posterior.jitter <= 1.001e-10
    for point, reward in zip(points, rewards, strict=True):
        posterior.condition(point[None], [reward])
    mean, var = posterior.moments(points)
    np.testing.assert_allclose(mean, rewards, atol=1e-5)
    np.testing.assert_allclose(
        posterior.mean_at_observed(), np.concatenate([rewards] * 3), atol=1e-5
    )
    assert (var < 1e-6).all()
    x = box.sample(rng, 10)
    once = BoxPosterior(box, Matern52(0.5), noise)
    once.condition(points, rewards)
    np.testing.assert_allclose(posterior.moments(x)[0], once.moments(x)[0], atol=1e-4)


def test_two_rewards_of_one_point_without_noise_meet_halfway():
    """The noise that was added counts: the mean there is neither of the rewards."""
    posterior = BoxPosterior(Box(np.zeros(2), np.ones(2)), Matern52(0.5), 0.0)
    posterior.condition([[0.3, 0.3], [0.3, 0.3], [0.8, 0.1]], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(posterior.mean_at_observed(), [0.5, 0.5, 2.0], atol=1e-4)
    np.testing.assert_allclose(posterior.mean_at_observed(), posterior.mean_at(posterior.observed))


def test_what_would_need_jitter_leaves_none(var_given, same):
    posterior = BoxPosterior(Box(np.zeros(2), np.ones(2)), Matern52(0.5), 0.0)
    before = same.of(posterior)
    var_given(posterior, [[0.3, 0.3], [0.3, 0.3]], [[0.5, 0.5]])
    assert posterior.jitter == 0.0
    same(posterior, before)


def test_pickled_posteriors_go_on_alike(same):
    posterior, rng = world("matern52-6")
    learn(posterior, rng, rounds=12, epsilon=0.03)
    posterior.hallucinate(posterior.box.sample(rng, 2))
    twin = pickle.loads(pickle.dumps(posterior))
    same(twin, posterior)
    for one in (twin, posterior):
        own = np.random.default_rng(7)
        one.rollback()
        for _ in range(5):
            batch = one.box.sample(own, 3)
            one.hallucinate(batch[:2])
            one.condition(batch, own.standard_normal(3))
            one.advance(0.1, 0.7)
    same(twin, posterior)


@pytest.mark.parametrize("noise", [0.0, NOISE])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_calls_give_the_same_bits(seed, noise, same):
    """Also with repeated points, which without noise need a new factor.

    Hallucinated points between them leave no trace, although they may need more storage.
    """
    rng, box = np.random.default_rng(seed), Box(-np.ones(2), np.ones(2))
    posterior, x = BoxPosterior(box, SquaredExponential(0.5), noise, MEAN), box.sample(rng, 70)
    calls = []

    def call(name, *given):
        calls.append((name, given))
        getattr(posterior, name)(*given)

    for _ in range(25):
        k = int(rng.choice([1, 1, 1, 2, 5, 67]))
        some, y = x[rng.choice(70, k)], rng.standard_normal(k)
        match rng.integers(6):
            case 0:
                posterior.hallucinate(some)
            case 1:
                call("advance", float(rng.choice([0.0, 0.01, 0.5])), 5.0)
            case 2:
                call("condition", some, y, np.where(rng.random(k) < 0.5, 0.1, np.nan))
            case 3 if seed % 2:
                call("forget")
                call("replay", [(some, y, 0.01), (some, y, 0.0)])
            case _:
                call("condition", some, y)
        again = BoxPosterior(box, SquaredExponential(0.5), noise, MEAN)
        for name, given in calls:
            getattr(again, name)(*given)
        if len(posterior.conditioned) == len(posterior.observed):
            same(again, posterior)
            for found, want in zip(again.gradients(x), posterior.gradients(x), strict=True):
                np.testing.assert_array_equal(found, want)
    posterior.rollback()
    same(again, posterior)


def test_faded_points_are_dropped_and_cost_stays_bounded():
    posterior, rng = world("se-2")
    counts = []
    x = posterior.box.sample(rng, 10)
    for t in range(600):
        posterior.condition(posterior.box.sample(rng, 1), rng.standard_normal(1))
        posterior.advance(0.1 if t % 2 else 0.6)
        counts.append(len(posterior.observed))
    assert posterior.size == 600
    assert max(counts[300:]) == max(counts[:300]) < 120
    # The dense formula keeps everything, and is none the wiser.
    again, rng = world("se-2")
    again.box.sample(rng, 10)
    points, rewards, ages = [], [], []
    for t in range(600):
        points.append(again.box.sample(rng, 1)[0])
        rewards.append(rng.standard_normal(1)[0])
        ages = [age - 0.5 * np.log1p(-(0.1 if t % 2 else 0.6)) for age in [*ages, 0.0]]
    data = np.array(points), np.array(rewards), np.array(ages)
    mean, covariance = dense(posterior.kernel, data, x)
    np.testing.assert_allclose(posterior.moments(x)[0], mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.moments(x)[1], covariance.diagonal(), atol=1e-8)


def test_long_standstill_brings_the_prior_back():
    posterior, rng = world("matern52-6")
    learn(posterior, rng)
    for _ in range(50):
        posterior.advance(0.999999, 100.0)
    x = posterior.box.sample(rng, 5)
    np.testing.assert_array_equal(posterior.moments(x)[0], MEAN)
    np.testing.assert_array_equal(posterior.moments(x)[1], 1.0)
    learn(posterior, rng)
    assert (posterior.moments(x)[1] < 1.0).all()


def test_epsilon_one_and_forget():
    posterior, rng = world("se-2")
    learn(posterior, rng)
    posterior.advance(1.0)
    assert len(posterior.observed) == 0
    assert posterior.size == 24
    posterior.forget()
    assert posterior.size == 0 == posterior.information_gain
    x = posterior.box.sample(rng, 3)
    mean, var, mean_slope, var_slope = posterior.gradients(x)
    np.testing.assert_array_equal(mean, MEAN)
    np.testing.assert_array_equal(var, 1.0)
    assert not mean_slope.any()
    assert not var_slope.any()
    assert posterior.mean_at_observed().shape == (0,)
    assert posterior.observed.shape == (0, 2)


def test_the_least_noise_is_a_part_of_the_largest_variance_in_the_box():
    """That of a linear kernel is at the corner farthest from 0, which the mirror image has too."""
    found = []
    for low, high in (([-1.0, -5.0], [3.0, 1.0]), ([-1.0, -1.0], [3.0, 5.0])):
        posterior = BoxPosterior(Box(low, high), Linear(), 0.0)
        posterior.condition([[0.5, 0.5]], [1.0])
        found.append(posterior.jitter)
    assert found[0] == found[1]


def test_nothing_to_learn(same, var_given):
    posterior, rng = world("se-2")
    learn(posterior, rng)
    before = same.of(posterior)
    posterior.condition(np.empty((0, 2)), [])
    posterior.hallucinate(np.empty((0, 2)))
    posterior.rollback()
    same(posterior, before)
    x = posterior.box.sample(rng, 4)
    np.testing.assert_array_equal(
        var_given(posterior, np.empty((0, 2)), x), posterior.moments(x)[1]
    )
    assert all(len(part) == 0 for part in posterior.gradients(np.empty((0, 2))))
    assert posterior.sample(rng, 3, np.empty((0, 2))).shape == (3, 0)


def test_information_gain():
    posterior, rng = world("matern52-6")
    points, _, _ = learn(posterior, rng)
    gram = np.eye(len(points)) + posterior.kernel(points) / NOISE
    want = 0.5 * np.linalg.slogdet(gram)[1]
    assert posterior.information_gain == pytest.approx(want, rel=1e-10)


def test_bad_input_changes_nothing(same):
    posterior, rng = world("se-2")
    learn(posterior, rng)
    posterior.hallucinate([[0.5, 0.5]])
    before = same.of(posterior)
    wrong = [
        lambda: posterior.condition([[0.0, 2.0]], [1.0]),
        lambda: posterior.condition([[0.0, 0.0]], [np.nan]),
        lambda: posterior.condition([[0.0, 0.0]], [1.0, 2.0]),
        lambda: posterior.hallucinate([0.0, 0.0]),
        lambda: posterior.var_at([[0.0]]),
        lambda: posterior.moments([[0.0]]),
        lambda: posterior.gradients([0.0, 0.0]),
        lambda: posterior.advance(1.5),
        lambda: posterior.advance(0.5, -1.0),
        lambda: BoxPosterior(posterior.box, Matern52((1.0, 2.0, 3.0)), 0.1),
        lambda: BoxPosterior(posterior.box, Matern52(1.0), -1.0),
        lambda: BoxPosterior(posterior.box, Matern52(1.0), 0.1, np.zeros(3)),
    ]
    for call in wrong:
        with pytest.raises(InvalidInput):
            call()
        same(posterior, before)


def test_products_by_strips_are_the_whole_products():
    rng, t = np.random.default_rng(0), 300  # Of strips of 128.
    white, beta = np.tril(rng.standard_normal((t, t))), rng.standard_normal(t)
    k = rng.standard_normal((7, t))
    prior = np.zeros(7), np.full(7, 1e9), np.zeros(k.shape), np.zeros(k.shape)
    predictor = Predictor(white, beta, None)
    _, var, _, slope = predictor.gradients(prior, lambda part: (k[part], lambda weights: weights))
    np.testing.assert_allclose(1e9 - var, ((k @ white.T) ** 2).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(-slope, 2.0 * k @ white.T @ white, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.9])
def test_a_replayed_log_is_the_same_data_under_another_model(epsilon):
    old, rng = world("matern52-6")
    points, rewards, ages = learn(old, rng, rounds=40, epsilon=1.0 - (1.0 - epsilon) ** 2)
    kernel = SquaredExponential((1.0, 2.0, 1.5, 1.0, 3.0, 1.0), variance=3.0)
    log = [(points[i : i + 3], rewards[i : i + 3], 1.0) for i in range(0, 120, 3)]
    one, other = (BoxPosterior(old.box, kernel, 0.5, 1.5) for _ in range(2))
    one.hallucinate(old.box.sample(rng, 2))
    version = one.version
    one.replay(log, epsilon)
    assert one.version > version
    for x, y, dt in log:
        other.condition(x, y)
        other.advance(epsilon, dt)
    assert one.size == other.size == 120
    x = old.box.sample(rng, 20)
    for found in (one, other):
        mean, covariance = dense(kernel, (points, rewards - 1.5 + MEAN, ages), x, noise=0.5)
        np.testing.assert_allclose(found.moments(x)[0], mean + 1.5 - MEAN, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.moments(x)[1], covariance.diagonal(), rtol=0, atol=1e-8)
    assert one.information_gain == pytest.approx(other.information_gain, rel=1e-10)
