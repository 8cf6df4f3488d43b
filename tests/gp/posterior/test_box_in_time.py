"""The posterior in a box under every temporal kernel, against the dense formula."""

import pickle

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import ConstantKernel, Kernel, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.posterior.subspaces import Subspaces
from gpbandits_env.gp.posterior.whitening import STRIP
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    PeriodicTime,
    TermsInTime,
    WienerTime,
)

NOISE, MEAN = 0.03, 0.3
SEASON = PeriodicTime(6.5, 0.9, harmonics=2)
USUAL = (0.0, 0.3, 1.0, 9.7)


class Dense:
    """The formula in the data, with numpy.linalg alone."""

    def __init__(self, kernel, temporal):
        both = isinstance(temporal, TermsInTime)
        pairs = zip(kernel.terms, temporal.kernels, strict=True) if both else [(kernel, temporal)]
        self.terms, self.now = list(pairs), 0.0
        self.points, self.rewards, self.times = [], [], []

    def condition(self, points, rewards):
        self.points += list(points)
        self.rewards += list(rewards)
        self.times += [self.now] * len(points)

    def gram(self, z, times):
        return sum(space(z) * temporal(times, times) for space, temporal in self.terms)

    def moments(self, x, extra=()):
        times = np.array([*self.times, *[self.now] * len(extra)])
        z, now = np.array([*self.points, *extra]), np.array([self.now])
        prior = sum(space(x) * temporal(now, now) for space, temporal in self.terms)
        gram = self.gram(z, times) + NOISE * np.eye(len(z))
        cross = sum(space(z, x) * temporal(times, now) for space, temporal in self.terms)
        k = len(self.points)
        mean = cross[:k].T @ np.linalg.solve(gram[:k, :k], np.array(self.rewards) - MEAN)
        return MEAN + mean, prior - cross.T @ np.linalg.solve(gram, cross)


def pair(temporal, kernel=None, dim=2):
    kernel, box = kernel or Matern52(0.6, variance=1.5), Box(-np.ones(dim), np.ones(dim))
    if isinstance(temporal, TermsInTime):
        kernel = kernel + ConstantKernel(0.8)
    return BoxPosterior(box, kernel, NOISE, MEAN, temporal), Dense(kernel, temporal)


def play(rng, both, rounds, gaps):
    """Random batches at random times, with gaps and empty rounds."""
    for _ in range(rounds):
        k, dt = int(rng.integers(0, 4)), float(rng.choice(gaps))
        x, y = both[0].box.sample(rng, k), 3.0 * rng.standard_normal(k)
        for one in both:
            one.condition(x, y)
        both[0].advance(0.0, dt)
        both[1].now += dt


def assert_equal(posterior, dense, x, extra=()):
    mean, covariance = dense.moments(x, extra)
    atol = 1e-8 * max(1.0, covariance.max())
    for found in (posterior.moments(x), posterior.gradients(x)[:2]):
        np.testing.assert_allclose(found[0], mean, rtol=0, atol=atol)
        np.testing.assert_allclose(found[1], covariance.diagonal(), rtol=0, atol=atol)
    np.testing.assert_allclose(posterior.mean_at(x), mean, rtol=0, atol=atol)
    np.testing.assert_allclose(posterior.covariance(x), covariance, rtol=0, atol=atol)


class TestDense:
    def test_moments_and_hallucinated_points(self, temporal, gaps):
        rng, both = np.random.default_rng(7), pair(temporal)
        posterior, dense = both
        x = posterior.box.sample(rng, 12)
        for _ in range(4):
            play(rng, both, 8, gaps)
            assert_equal(*both, x)
            points, scale = np.array(dense.points), dense.gram(x, np.full(12, dense.now)).max()
            kept = points[len(points) - len(posterior.observed) :]
            np.testing.assert_array_equal(posterior.observed, kept)
            told = dense.moments(kept)[0]
            np.testing.assert_allclose(posterior.mean_at_observed(), told, atol=1e-8 * scale)
            extra = posterior.box.sample(rng, 3)
            for point in extra:
                posterior.hallucinate([point])
            assert_equal(*both, x, extra)
            posterior.rollback()
            assert_equal(*both, x)

    def test_a_replayed_log_is_the_same(self, temporal, gaps):
        rng, both = np.random.default_rng(3), pair(temporal)
        log = []
        for _ in range(30):
            x, y, dt = both[0].box.sample(rng, 2), rng.standard_normal(2), rng.choice(gaps)
            log.append((x, y, float(dt)))
            both[1].condition(x, y)
            both[1].now += dt
        both[0].replay(log)
        assert_equal(*both, both[0].box.sample(rng, 12))
        assert_equal(pickle.loads(pickle.dumps(both[0])), both[1], both[0].box.sample(rng, 5))


@pytest.mark.parametrize("temporal", ["common shift", "walking shift"], indirect=True)
class TestDenseWithAShift(TestDense):
    """The same with a shift of all points, which has a kernel in time of its own."""


@pytest.mark.parametrize("temporal", ["matern52", "wiener", "sum"], indirect=True)
def test_gradients_against_finite_differences(temporal):
    rng, both = np.random.default_rng(5), pair(temporal)
    play(rng, both, 20, USUAL)
    posterior, step = both[0], 1e-5
    posterior.hallucinate(posterior.box.sample(rng, 2))
    x = posterior.box.sample(rng, 6)
    for j, shift in enumerate(step * np.eye(2)):
        up, down = posterior.moments(x + shift), posterior.moments(x - shift)
        for slope, high, low in zip(posterior.gradients(x)[2:], up, down, strict=True):
            np.testing.assert_allclose(slope[:, j], (high - low) / (2 * step), atol=2e-6)


def test_paths_have_the_moments_of_the_posterior(temporal):
    rng, both = np.random.default_rng(4), pair(temporal, SquaredExponential(0.5), dim=1)
    play(rng, both, 12, USUAL)
    x = np.concatenate([both[0].box.sample(rng, 5), both[0].observed[[0, -1]]])
    mean, covariance = both[1].moments(x)
    draws, var = both[0].paths(rng, 20_000)(x), covariance.diagonal()
    assert (np.abs(draws.mean(axis=0) - mean) <= 5.5 * np.sqrt(var / 20_000) + 1e-8).all()
    spread = np.sqrt((np.outer(var, var) + covariance**2) / 20_000)
    assert (np.abs(np.cov(draws.T) - covariance) <= 5.5 * spread + 1e-8).all()


@pytest.mark.parametrize("temporal", ["common shift", "walking shift"], indirect=True)
def test_paths_with_a_shift_have_the_moments_of_the_posterior(temporal):
    test_paths_have_the_moments_of_the_posterior(temporal)


def test_a_very_long_time_leaves_neither_data_nor_rounding():
    """Times near 1e17 would be rounded to multiples of 16."""
    (used, _), both = pair(Matern32Time(7.0)), pair(Matern32Time(7.0))
    play(np.random.default_rng(1), (used, both[1]), 20, USUAL)
    used.advance(0.0, 1e17)
    for first in (used, both[0]):
        play(np.random.default_rng(2), (first, both[1]), 20, USUAL)
    x = used.box.sample(np.random.default_rng(3), 10)
    np.testing.assert_allclose(used.moments(x), both[0].moments(x), atol=1e-12)


@pytest.mark.parametrize("temporal", ["matern32", "product", "static", "periodic"], indirect=True)
def test_what_has_no_effect_any_more_is_dropped(temporal):
    """A season returns, and so do its data; what wears off does not."""
    rng, both = np.random.default_rng(6), pair(temporal)
    play(rng, both, 60, (20.0,))
    kept, told = len(both[0].observed), len(both[1].points)
    assert kept == told if temporal.type_name in ("static", "periodic") else kept < told
    assert_equal(*both, both[0].box.sample(rng, 8))


@pytest.mark.parametrize("rounds", [40, 2 * STRIP + 2])
def test_observations_are_removed_one_by_one(rounds):
    rng = np.random.default_rng(1)
    both = posterior, dense = pair(SEASON)
    play(rng, both, rounds, USUAL)
    for i in (-1, -30, 0, 4, -7):
        n = len(dense.points)
        posterior.hallucinate(posterior.box.sample(rng, 3))  # which are rolled back
        assert posterior.remove(i % n - n)
        for column in (dense.points, dense.rewards, dense.times):
            del column[i]
        assert_equal(posterior, dense, posterior.box.sample(rng, 30))
        play(rng, both, 2, USUAL)
        z, times = np.array(dense.points), np.array(dense.times)
        gram = dense.gram(z, times) / NOISE + np.eye(len(z))
        assert posterior.information_gain == pytest.approx(0.5 * np.linalg.slogdet(gram)[1])
        assert posterior.size == len(z) == len(posterior.observed)
    assert not posterior.remove(-1 - len(z))


def test_nothing_is_removed_without_noise(same):
    posterior = BoxPosterior(Box([0.0], [1.0]), Matern52(0.6), 0.0)
    posterior.condition([[0.2], [0.7]], [1.0, 2.0])
    before = same.of(posterior)
    assert not posterior.remove(-1)
    same(before, posterior)


@pytest.mark.parametrize(
    "kernel", [Matern52(0.6), Matern52((0.6, 0.9)), Matern52(0.6) + SquaredExponential(0.4)]
)
def test_data_are_learned_anew_without_some_of_them(kernel):
    """The result has the digits of a posterior that never had the others."""
    rng = np.random.default_rng(0)
    used, _ = pair(SEASON, kernel)
    x, y = used.box.sample(rng, 90), rng.standard_normal(90)
    x[7], at = x[5], used.box.sample(rng, 20)
    for rows in (np.arange(70), np.r_[0:4, 5:70], np.r_[1:4, 5:20, 60:90], np.r_[80:90]):
        used.forget()
        fresh, _ = pair(SEASON, kernel)
        for posterior in (used, fresh):
            posterior.replay([(x[[i]], y[[i]], 0.1) for i in rows])
            posterior.condition(at[:2], np.ones(2))
            posterior.hallucinate(at[2:3])
        for found, expected in zip(used.moments(at), fresh.moments(at), strict=True):
            np.testing.assert_array_equal(found, expected)
        told = used.mean_at(used.observed)
        np.testing.assert_allclose(used.mean_at_observed(), told, rtol=0, atol=1e-12)


def test_a_markov_kernel_is_epsilon():
    here, there = pair(MarkovTime(0.05))[0], pair(None)[0]
    rng = np.random.default_rng(0)
    for _ in range(60):
        x, y = here.box.sample(rng, 2), rng.standard_normal(2)
        for posterior, epsilon in ((here, 0.0), (there, 0.05)):
            posterior.condition(x, y)
            posterior.advance(epsilon)
    for mine, theirs in zip(here.moments(x), there.moments(x), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    assert here.information_gain == pytest.approx(there.information_gain, abs=1e-8)


def test_subspaces_follow_a_variance_that_grows():
    rng, both = np.random.default_rng(1), pair(WienerTime(0.2), Matern32(1.0), dim=5)
    inside = Subspaces(both[0].box, np.array([1, 3]))
    inside.add(both[0].box.sample(rng, 4)[:, inside.inactive])
    for _ in range(3):
        play(rng, both, 4, USUAL)
        inside.follow(both[0])
        y, rows = rng.uniform(-1.0, 1.0, (4, 2)), np.arange(4)
        expected = both[0].moments(inside.points(y, rows))
        for found in (inside.moments(y, rows), inside.gradients(y, rows)[:2]):
            np.testing.assert_allclose(found, expected, atol=1e-10)


def test_what_is_refused():
    posterior = pair(SEASON)[0]
    with pytest.raises(InvalidInput, match="no epsilon beside it"):
        posterior.advance(0.1)

    class NoVariance(Kernel):
        def __call__(self, x, z=None):
            return np.exp(-np.abs(x - (x if z is None else z).T))

        def diagonal(self, x):
            return np.ones(len(x))

    with pytest.raises(InvalidInput, match="no field 'variance'"):
        pair(WienerTime(0.1), NoVariance(), dim=1)
    assert pair(SEASON, NoVariance(), dim=1)[0].present == NoVariance()
