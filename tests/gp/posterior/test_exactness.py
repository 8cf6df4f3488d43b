"""Mean and variance equal the dense formula, whatever the representation, however data arrive."""

from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior, covariances, posterior_for
from gpbandits_env.gp.posterior.arms import ArmPosterior
from gpbandits_env.gp.posterior.box import LEAST_NOISE
from gpbandits_env.gp.posterior.representation import DenseRows

TOLERANCE = {"rtol": 0.0, "atol": 1e-8}


def assert_equal(posterior, dense, extra=()):
    mean, covariance = dense.moments(extra)
    np.testing.assert_allclose(posterior.mean, mean, **TOLERANCE)
    np.testing.assert_allclose(posterior.var, covariance.diagonal(), **TOLERANCE)
    np.testing.assert_allclose(posterior.sd**2, posterior.var, rtol=1e-12)


def data(rng, n, k):
    return rng.integers(n, size=k), rng.standard_normal(k)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("shifted", [False, True])
def test_static_data(make, dense_of, world, representation, batch, shifted):
    rng = np.random.default_rng(1)
    n = make(world, representation).arms.size
    posterior = make(world, representation, prior_mean=rng.standard_normal(n) if shifted else 0.0)
    dense = dense_of(posterior)
    assert_equal(posterior, dense)
    for t in range(60 // batch):
        batch_data = data(rng, n, batch)
        posterior.condition(*batch_data)
        dense.condition(*batch_data)
        if t % 7 == 0:
            assert_equal(posterior, dense)
    assert_equal(posterior, dense)
    assert posterior.size == len(dense.arms)
    assert posterior.jitter == 0.0


def test_covariances_and_batches_while_data_age(make, dense_of, world, representation):
    rng = np.random.default_rng(4)
    posterior = make(world, representation)
    dense, n = dense_of(posterior), posterior.arms.size
    for _ in range(5):
        batch = data(rng, n, 3)
        for thing in (posterior, dense):
            thing.condition(*batch)
            thing.advance(0.15)
        np.testing.assert_allclose(
            posterior.covariance(np.arange(n)), dense.moments(())[1], **TOLERANCE
        )
    assert_equal(posterior, dense)


def test_one_batch_equals_many_single_updates(make, world, representation):
    arms, rewards = data(np.random.default_rng(2), 12, 150)
    together, apart = make(world, representation), make(world, representation)
    together.condition(arms, rewards)
    for arm, reward in zip(arms, rewards, strict=True):
        apart.condition([arm], [reward])
    np.testing.assert_allclose(together.mean, apart.mean, **TOLERANCE)
    np.testing.assert_allclose(together.var, apart.var, **TOLERANCE)
    assert together.information_gain == pytest.approx(apart.information_gain, abs=1e-8)
    assert together.size == apart.size


def test_an_empty_batch_changes_nothing(make, representation, same):
    posterior = make("se", representation)
    posterior.condition([3], [1.0])
    before = same.of(posterior)
    posterior.condition([], [])
    posterior.condition(np.empty(0, np.int64), np.empty(0))
    same(before, posterior)


@pytest.mark.parametrize("epsilon", [0.001, 0.03, 0.5])
def test_300_drifting_rounds_with_repeats_and_batches(make, dense_of, representation, epsilon):
    """bogunovic2016, eqs. (7)-(8)."""
    rng = np.random.default_rng(3)
    posterior = make("matern52", representation, noise_var=0.01, prior_mean=0.5)
    dense = dense_of(posterior)
    for t in range(300):
        batch_data = data(rng, 8, rng.integers(4))  # Few arms: many repeats; some rounds skip.
        for thing in (posterior, dense):
            thing.condition(*batch_data)
            thing.advance(epsilon, dt=1.0 if t % 5 else 2.5)
        if t % 30 == 29:
            assert_equal(posterior, dense)
    assert posterior.size == len(dense.arms)


@pytest.mark.parametrize("epsilon", [0.01, 0.2])
def test_drift_on_more_arms_than_a_matrix_is_kept_for(dense_of, monkeypatch, epsilon):
    monkeypatch.setattr(covariances, "MATRIX_BYTES", 0)
    arms, kernel = Arms.grid(25), Matern32(lengthscale=0.2)
    prior = covariances.PriorCovariance(arms, kernel)
    representation = DenseRows(prior, 0.05, 16)
    posterior = ArmPosterior(arms, kernel, 0.05, 0.0, representation)
    dense = dense_of(posterior)
    rng = np.random.default_rng(4)
    for t in range(400):
        one = data(rng, 25, 1)
        for thing in (posterior, dense):
            thing.condition(*one)
            thing.advance(epsilon)
        if t % 50 == 49:
            assert_equal(posterior, dense)
    assert not prior.fits
    # What has died is dropped: 27.6 / epsilon rounds keep a variance above 1e-12.
    assert representation.count < 2 * 28 / epsilon


def test_refreshing_keeps_what_it_should(make, dense_of, monkeypatch, representation):
    monkeypatch.setattr("gpbandits_env.gp.posterior.arms.REFRESH_EVERY", 10)
    posterior = make("matern52", representation, noise_var=0.01, prior_mean=0.5)
    dense = dense_of(posterior)
    rng = np.random.default_rng(5)
    for _ in range(40):
        one = data(rng, 30, 1)
        for thing in (posterior, dense):
            thing.condition(*one)
            thing.advance(0.05)
        assert_equal(posterior, dense)


def test_epsilon_one_brings_the_prior_back(make, dense_of, representation):
    posterior = make("matern32", representation, prior_mean=1.0)
    posterior.condition([1, 2, 3], [0.0, 1.0, 2.0])
    posterior.advance(1.0, dt=0.0)
    assert posterior.mean[1] < 0.9  # no time has passed
    posterior.advance(1.0)
    assert_equal(posterior, dense_of(posterior))
    assert not len(posterior.observed)
    fresh = make("matern32", representation, prior_mean=1.0)
    draws = (one.sample(np.random.default_rng(0), 3) for one in (posterior, fresh))
    np.testing.assert_allclose(*draws, atol=1e-12)
    dense = dense_of(posterior)
    for thing in (posterior, dense):
        thing.condition([4, 4], [0.3, 0.5])
        thing.advance(0.1)
    assert_equal(posterior, dense)


def test_a_long_gap_at_a_low_rate(make, dense_of, representation):
    """The decay must be exact to 1e-12, as it is in a box, although 1 - epsilon is not."""
    posterior = make("matern32", representation)
    dense = dense_of(posterior)
    box = BoxPosterior(Box([0.0], [1.0]), posterior.kernel, posterior.noise_var)
    for arm in (3, 11, 17):
        for thing in (posterior, dense):
            thing.condition([arm], [1.0])
            thing.advance(3e-9, dt=1e9)
        box.condition(posterior.arms.coordinates[[arm]], [1.0])
        box.advance(3e-9, dt=1e9)
    mean, covariance = dense.moments()
    in_box = box.moments(posterior.arms.coordinates)
    for found in ((posterior.mean, posterior.var), in_box):
        np.testing.assert_allclose(found, (mean, covariance.diagonal()), rtol=0.0, atol=1e-12)


def test_a_very_long_silence(make, dense_of, representation):
    posterior = make("matern32", representation)
    dense = dense_of(posterior)
    for _ in range(4):
        for thing in (posterior, dense):
            thing.condition([1, 2, 7], [0.0, 1.0, 2.0])
            thing.advance(0.3, dt=500.0)
    for thing in (posterior, dense):
        thing.condition([1, 9], [0.5, 1.0])
    assert_equal(posterior, dense)


def test_information_gain_is_half_a_log_determinant(make, world, representation):
    posterior = make(world, representation)
    arms, rewards = data(np.random.default_rng(6), posterior.arms.size, 25)
    posterior.condition(arms[:9], rewards[:9])
    for arm, reward in zip(arms[9:], rewards[9:], strict=True):
        posterior.condition(np.array([arm]), np.array([reward]))
    points = posterior.arms.coordinates[arms]
    gram = posterior.kernel(points, points) / posterior.noise_var + np.eye(25)
    assert posterior.information_gain == pytest.approx(0.5 * np.linalg.slogdet(gram)[1], abs=1e-8)


def test_without_noise_readings_are_met_and_information_is_infinite(make, dense_of):
    posterior = make("matern32", "rows", noise_var=0.0)
    dense = dense_of(posterior)
    arms = [3, 17, 8, 29, 12]
    rewards = [0.5, -1.0, 0.2, 2.0, 0.0]
    for thing in (posterior, dense):
        thing.condition(arms, rewards)
    assert_equal(posterior, dense)
    np.testing.assert_allclose(posterior.mean[arms], rewards, atol=1e-9)
    assert posterior.jitter == pytest.approx(2e-12)
    assert posterior.information_gain == np.inf


@pytest.mark.parametrize("together", [False, True])
def test_repeated_arms_without_noise_do_no_harm(make, together):
    posterior, once = make("se", "rows", noise_var=0.0), make("se", "rows", noise_var=0.0)
    arms, rewards = [3, 17, 3, 3, 17], [0.5, -1.0, 0.5, 0.5, -1.0]
    if together:
        posterior.condition(arms, rewards)
    else:
        for arm, reward in zip(arms, rewards, strict=True):
            posterior.condition(np.array([arm]), np.array([reward]))
    once.condition([3, 17], [0.5, -1.0])
    assert once.jitter == posterior.jitter == pytest.approx(2e-12)
    np.testing.assert_allclose(posterior.mean, once.mean, **TOLERANCE)
    np.testing.assert_allclose(posterior.var, once.var, **TOLERANCE)
    assert posterior.var.min() >= 0.0


@pytest.mark.parametrize("together", [False, True])
def test_all_arms_without_noise_beyond_the_kernels_rank(together):
    """Residual covariances that are nothing but rounding do not grow."""
    arms, kernel = Arms.grid(60), SquaredExponential(lengthscale=0.2)
    truth = np.sin(6.0 * arms.coordinates[:, 0])
    posterior = posterior_for(arms, kernel, 0.0, kind="rows")
    box = BoxPosterior(Box([0.0], [1.0]), kernel, 0.0)
    for chosen in [np.arange(60)] if together else np.arange(60)[:, None]:
        posterior.condition(chosen, truth[chosen])
        box.condition(arms.coordinates[chosen], truth[chosen])
    np.testing.assert_allclose(posterior.mean, truth, rtol=0, atol=1e-6)
    mean, var = box.moments(arms.coordinates)
    np.testing.assert_allclose(mean, truth, rtol=0, atol=1e-5)
    assert posterior.var.max() < 1e-9
    # In a box the factor's inverse is kept, which has fewer digits than the factor.
    assert var.max() < 1e-6


@pytest.mark.parametrize("noise_var", [0.0, 1e-11, 1e-10])
def test_batches_with_hardly_any_noise(noise_var):
    """Rounding does not grow from one block of observations to the next, nor in a replayed log."""
    arms, kernel = Arms.grid(100), SquaredExponential(lengthscale=0.3)
    points, truth = arms.coordinates, np.sin(4.0 * arms.coordinates[:, 0])
    chosen = np.random.default_rng(0).integers(100, size=400)
    together, apart = (posterior_for(arms, kernel, noise_var) for _ in range(2))
    box, again = (BoxPosterior(Box([0.0], [1.0]), kernel, noise_var) for _ in range(2))
    together.condition(chosen, truth[chosen])
    for arm in chosen:
        apart.condition([arm], truth[[arm]])
    box.condition(points[chosen], truth[chosen])
    again.replay([(points[chosen], truth[chosen], 0.0)])
    for mean, var in [
        (together.mean, together.var),
        (apart.mean, apart.var),
        box.moments(points),
        again.moments(points),
    ]:
        np.testing.assert_allclose(mean, truth, rtol=0, atol=1e-5)
        assert 0.0 <= var.min() <= var.max() < 1e-8
    np.testing.assert_allclose(together.mean, apart.mean, rtol=0, atol=1e-7)
    np.testing.assert_allclose(together.var, apart.var, rtol=0, atol=0.01 * apart.var.max())
    assert max(p.jitter for p in (together, apart, box, again)) <= 1.001e-10
    before = box.moments(points)
    box.hallucinate(points[chosen[:80]])
    assert box.var_at(points).max() < 1e-8
    box.rollback()
    np.testing.assert_array_equal(box.moments(points), before)


def test_all_arms_many_times_with_almost_no_noise():
    """Far beyond the kernel's numerical rank: nothing blows up, no variance is negative."""
    arms, kernel = Arms.grid(200), SquaredExponential(lengthscale=0.3)
    truth = np.sin(5.0 * arms.coordinates[:, 0])
    posterior = posterior_for(arms, kernel, 0.0, kind="rows")
    for arm in np.random.default_rng(7).integers(200, size=600):
        posterior.condition([arm], truth[[arm]])
    assert posterior.var.min() >= 0.0
    assert posterior.var.max() < 1e-9
    np.testing.assert_allclose(posterior.mean, truth, atol=1e-5)
    draws = posterior.sample(np.random.default_rng(8), 5)
    np.testing.assert_allclose(draws, np.tile(truth, (5, 1)), atol=1e-4)


@pytest.mark.parametrize("noise_var", [1e-3, 1e-6])
def test_small_noise(make, dense_of, noise_var):
    posterior = make("matern32", "rows", noise_var=noise_var)
    dense = dense_of(posterior)
    rng = np.random.default_rng(8)
    for _ in range(100):
        one = rng.integers(30, size=1)
        for thing in (posterior, dense):
            thing.condition(one, np.cos(one))
    assert_equal(posterior, dense)
    assert posterior.jitter == 0.0


def test_folding_or_not_is_the_same(make, dense_of):
    folded, plain = make("sum", "folded"), make("sum", "rows")
    rng = np.random.default_rng(9)
    for _ in range(200):
        one = data(rng, 30, 1)
        for posterior in (folded, plain):
            posterior.condition(*one)
            posterior.advance(0.002)
    np.testing.assert_allclose(folded.mean, plain.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(folded.var, plain.var, rtol=0, atol=1e-10)


def test_observed_arms(make, representation):
    posterior = make("se", representation)
    assert posterior.observed.tolist() == []
    posterior.hallucinate([5])
    posterior.condition([7, 3, 7], [0.0, 1.0, 2.0])
    posterior.condition([1], [0.0])
    assert posterior.observed.tolist() == [1, 3, 7]
    posterior.forget()
    assert posterior.observed.tolist() == []


@cache
def exact_prior(kernel, shape):
    """The covariances of all arms in 50 digits."""
    with mp.workdps(50):
        x = [[mpf(float(c)) for c in row] for row in Arms.grid(shape).coordinates]
        prior = mp.matrix(len(x), len(x))
        for i, j in np.ndindex(len(x), len(x)):
            r = mp.norm(mp.matrix(x[i]) - mp.matrix(x[j])) / mpf(kernel.lengthscale)
            a = mp.sqrt(5) * r
            smooth = isinstance(kernel, SquaredExponential)
            prior[i, j] = mp.exp(-r * r / 2) if smooth else (1 + a + a * a / 3) * mp.exp(-a)
        return prior


def exact_moments(prior, noise_var, seen, samples):
    """The means for each sample of rewards, and the variances, by the dense formula."""
    with mp.workdps(50):
        cross = mp.matrix([[prior[i, j] for j in seen] for i in range(prior.rows)])
        gram = mp.matrix([[prior[i, j] for j in seen] for i in seen])
        weights = cross * mp.inverse(gram + mpf(noise_var) * mp.eye(len(seen)))
        means = [weights * mp.matrix(rewards.tolist()) for rewards in samples]
        var = [1 - mp.fdot(weights[i, :], cross[i, :]) for i in range(prior.rows)]
        return [np.array([float(m) for m in mean]) for mean in means], np.array(var, dtype=float)


@pytest.mark.parametrize("noise_var", [1e-5, 1e-9, 1e-10, 1e-11])
@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Matern52(0.2)])
@pytest.mark.parametrize("shape", [20, (5, 4)])
def test_how_exact_the_mean_is_with_little_noise(kernel, shape, noise_var):
    """For rewards of the model, and for those that contradict it; see `Posterior`."""
    arms, rng = Arms.grid(shape), np.random.default_rng(4)
    points = arms.coordinates
    seen = rng.integers(arms.size, size=30)
    f = np.linalg.cholesky(kernel(points) + 1e-13 * np.eye(arms.size)) @ rng.normal(size=arms.size)
    known = f[seen] + np.sqrt(noise_var) * rng.normal(size=30)
    samples, bounds = (known, rng.normal(size=30)), (1e-7, 1e-13 / noise_var)
    means, wanted_var = exact_moments(exact_prior(kernel, shape), noise_var, seen.tolist(), samples)
    for rewards, bound, wanted in zip(samples, bounds, means, strict=True):
        on_arms = posterior_for(arms, kernel, noise_var, kind="rows")
        in_box = BoxPosterior(Box(points.min(axis=0), points.max(axis=0)), kernel, noise_var)
        for arm, reward in zip(seen, rewards, strict=True):
            on_arms.condition([arm], [reward])
            in_box.condition(points[[arm]], [reward])
        found = [(on_arms.mean, on_arms.var)]
        if noise_var >= LEAST_NOISE:  # otherwise a box adds to the noise
            found.append(in_box.moments(points))
        size = max(1.0, np.abs(wanted).max())
        for mean, var in found:
            np.testing.assert_allclose(mean, wanted, rtol=0.0, atol=bound * size)
            np.testing.assert_allclose(var, wanted_var, rtol=0.0, atol=1e-8)
