"""BKB's posterior against its formulas, with every point and every eigenvalue written out."""

import math
import pickle

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern32, SquaredExponential
from gpbandits_env.gp.posterior import NystromPosterior, posterior_for
from gpbandits_env.gp.posterior.nystrom import nystrom_features

ARMS = Arms.grid(50)
X = ARMS.coordinates
PRIOR_MEAN = 0.4 * np.cos(5 * X[:, 0])
KERNELS = {"se": SquaredExponential(0.2), "matern32": Matern32(0.3, variance=1.7)}


def formulas(kernel, noise_var, arms, rewards, dictionary):
    """mu~ and lambda sigma~^2 at all arms; and their posterior covariance.

    ``arms`` and ``dictionary`` list points with their repeats.
    """
    gram = kernel(X)
    values, vectors = np.linalg.eigh(gram[np.ix_(dictionary, dictionary)])
    # Eigenvalues below rounding are 0, and so are they in the pseudo-inverse of the root.
    inverse = np.where(values > 1e-13 * values.max(), 1 / np.sqrt(np.abs(values) + 1e-300), 0.0)
    z = (vectors * inverse) @ vectors.T @ gram[dictionary]  # (K_S^(1/2))^+ k_S(x)
    big_z = z[:, arms].T
    a = big_z.T @ big_z + noise_var * np.eye(len(z))
    mean = PRIOR_MEAN + z.T @ np.linalg.solve(a, big_z.T @ (rewards - PRIOR_MEAN[arms]))
    covariance = gram - z.T @ big_z.T @ big_z @ np.linalg.solve(a, z)
    return mean, covariance.diagonal(), covariance


def data(count, seed=0):
    """Pulls with many repeats."""
    rng = np.random.default_rng(seed)
    arms = rng.choice(rng.choice(50, 12, replace=False), count)
    return arms, np.sin(6 * X[arms, 0]) + 0.1 * rng.standard_normal(count)


def made(kernel, noise_var=0.1, prior_mean=PRIOR_MEAN, **given):
    return NystromPosterior(
        ARMS, kernel, noise_var, prior_mean, rng=np.random.default_rng(3), **given
    )


def with_repeats(posterior):
    return np.repeat(np.arange(50), posterior.state()["_copies"].astype(int))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("noise_var", [0.3, 0.025, 0.001])
@pytest.mark.parametrize("qbar", [0.7, 2.0])
def test_mean_and_variance_are_those_of_the_formulas(kernel, noise_var, qbar):
    posterior = made(kernel, noise_var, qbar=qbar)
    arms, rewards = data(60)
    for start in range(0, 60, 5):
        part = slice(start, start + 5)
        posterior.condition(arms[part], rewards[part])
        assert set(posterior.dictionary) <= set(arms[: start + 5])
        assert posterior.size == len(with_repeats(posterior))
        seen = slice(0, start + 5)
        mean, var, covariance = formulas(
            kernel, noise_var, arms[seen], rewards[seen], with_repeats(posterior)
        )
        assert np.abs(posterior.mean - mean).max() < 1e-8
        assert np.abs(posterior.var - var).max() < 1e-8
        some = [3, 3, 17, 40]
        assert np.allclose(posterior.covariance(some), covariance[np.ix_(some, some)], atol=1e-8)
    assert posterior.observed.tolist() == sorted(set(arms.tolist()))
    assert posterior.size < 60


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("noise_var", [0.3, 0.025, 0.001])
def test_with_a_full_dictionary_it_is_the_exact_posterior(kernel, noise_var):
    posterior = made(kernel, noise_var, qbar=1e9)
    exact = posterior_for(ARMS, kernel, noise_var, PRIOR_MEAN, kind="rows")
    arms, rewards = data(60)
    for start in range(0, 60, 10):
        part = slice(start, start + 10)
        posterior.condition(arms[part], rewards[part])
        exact.condition(arms[part], rewards[part])
        assert posterior.size == len(np.unique(arms[: start + 10]))
        assert np.abs(posterior.mean - exact.mean).max() < 1e-8
        assert np.abs(posterior.var - exact.var).max() < 1e-8
        assert posterior.information_gain == pytest.approx(exact.information_gain, rel=1e-8)
    gram = kernel(X)
    dense = gram - gram[:, arms] @ np.linalg.solve(
        gram[np.ix_(arms, arms)] + noise_var * np.eye(60), gram[arms]
    )
    assert np.allclose(posterior.covariance(np.arange(50)), dense, atol=1e-8)


@pytest.mark.parametrize("per", ["arm", "pull"])
def test_the_dictionary_is_redrawn_from_the_whole_history(per):
    """Arms or pulls independently, with qbar sigma~^2 of the round before, times pulls for arms."""
    kernel, noise_var, qbar = KERNELS["se"], 0.3, 1.2 if per == "pull" else 0.4
    posterior = made(kernel, noise_var, qbar=qbar, per=per)
    arms = np.array([4, 4, 4, 4, 4, 9, 9, 20, 20, 20, 37, 49])
    rewards = np.sin(np.arange(12.0))
    posterior.condition(arms[:11], rewards[:11])
    before = formulas(kernel, noise_var, arms[:11], rewards[:11], with_repeats(posterior))[1]
    posterior.condition(arms[11:], rewards[11:])
    pulls = np.bincount(arms, minlength=50)
    times = pulls if per == "pull" else np.minimum(pulls, 1)
    chance = np.minimum(1.0, qbar * before / noise_var * (pulls if per == "arm" else 1))
    assert (chance[[4, 9, 20, 37]] < 0.95).all()
    assert chance[49] == 1.0
    draws = []
    for _ in range(6000):
        posterior.redraw()
        draws.append(posterior.state()["_copies"])
        assert posterior.size == np.count_nonzero(draws[-1]) >= posterior.rank
    draws = np.array(draws)
    assert (draws[:, pulls == 0] == 0).all()
    assert (draws[:, 49] == 1).all()
    seen = [4, 9, 20, 37]
    expected = times[seen] * chance[seen]
    spread = np.sqrt(expected * (1 - chance[seen]))
    assert (np.abs(draws[:, seen].mean(axis=0) - expected) < 5 * spread / math.sqrt(6000)).all()
    # Independent points: the variance of their number is the sum of their variances.
    assert np.allclose(draws[:, seen].std(axis=0), spread, rtol=0.06)
    correlation = np.corrcoef(draws[:, seen].T)
    assert np.abs(correlation - np.eye(4)).max() < 5 / math.sqrt(6000)


@pytest.fixture
def posterior():
    posterior = made(KERNELS["se"], qbar=1.0)
    for seed in range(3):
        posterior.condition(*data(8, seed))
    return posterior


def test_hallucinated_points_condition_the_covariance(posterior):
    covariance = posterior.covariance(np.arange(50))
    before, mean = posterior.var.copy(), posterior.mean.copy()
    points = [7, 31, 7]
    for k in (1, 2, 3):
        posterior.hallucinate(points[k - 1 : k])
        some = points[:k]
        inner = covariance[np.ix_(some, some)] + 0.1 * np.eye(k)
        expected = before - np.einsum(
            "ij,ji->i", covariance[:, some], np.linalg.solve(inner, covariance[some])
        )
        assert np.allclose(posterior.var, expected, atol=1e-12)
        assert np.allclose(posterior.covariance(np.arange(50)).diagonal(), expected, atol=1e-12)
    assert np.array_equal(posterior.mean, mean)
    posterior.rollback()
    assert np.array_equal(posterior.var, before)


def test_draws_have_the_mean_and_the_covariance(posterior):
    draws = posterior.sample(np.random.default_rng(0), 20_000)
    assert np.abs(draws.mean(axis=0) - posterior.mean).max() < 5 / math.sqrt(20_000)
    covariance = posterior.covariance(np.arange(50))
    assert np.abs(np.cov(draws.T) - covariance).max() < 0.05


def test_before_any_data_it_is_the_prior():
    posterior = made(KERNELS["matern32"])
    for _ in range(2):
        assert np.array_equal(posterior.mean, PRIOR_MEAN)
        assert np.array_equal(posterior.var, np.full(50, 1.7))
        assert np.array_equal(posterior.sd, np.sqrt(posterior.var))
        assert posterior.size == posterior.information_gain == len(posterior.observed) == 0
        posterior.condition([], [])
        posterior.condition([2, 2], [1.0, 2.0])
        assert posterior.size == posterior.rank == 1
        posterior.forget()


def test_what_is_read_cannot_be_written(posterior):
    for part in (posterior.mean, posterior.var):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1.0
    posterior.observed[:] = 0
    assert len(posterior.observed) > 1


@pytest.mark.parametrize(
    ("arms", "rewards"),
    [([50], [0.0]), ([-1], [0.0]), ([1.5], [0.0]), ([1], [np.nan]), ([1], [0.0, 1.0])],
)
def test_bad_data_are_refused_and_change_nothing(posterior, same, arms, rewards):
    posterior.hallucinate([3])
    before = same.of(posterior)
    with pytest.raises(InvalidInput):
        posterior.condition(arms, rewards)
    same(before, posterior)


def test_it_returns_to_a_drawn_state_and_a_bad_one_changes_nothing(posterior, same):
    state, before = pickle.loads(pickle.dumps(posterior.state())), same.of(posterior)
    for wrong in ({"_sums": np.zeros(3)}, {"_counts": np.full(50, np.nan)}, {"_copies": None}):
        with pytest.raises(InvalidInput):
            posterior.restore(state | wrong)
        same(before, posterior)
    other = made(KERNELS["se"], qbar=1.0)
    other.condition([3], [0.0])
    other.hallucinate([7])
    other.restore(state)
    same(other, posterior)
    for one in (posterior, other):
        one._rng = np.random.default_rng(3)
        one.condition(*data(8, 9))
    same(other, posterior)


def test_it_wants_noise_and_stands_still(posterior):
    for settings in ({"noise_var": 0.0}, {"noise_var": 0.1, "qbar": 0.0}):
        with pytest.raises(InvalidInput):
            made(KERNELS["se"], **settings)
    posterior.advance(0.0)
    with pytest.raises(InvalidInput, match="does not support drift"):
        posterior.advance(0.1)


def test_features_of_a_singular_dictionary():
    """Repeats add nothing, and products of features are those of the pseudo-inverse."""
    gram = KERNELS["se"](X)
    once, twice = np.array([3, 20, 41]), np.array([3, 3, 20, 41, 41])
    for dictionary in (once, twice):
        features = nystrom_features(gram[np.ix_(dictionary, dictionary)], gram[dictionary])
        assert features.shape == (3, 50)
        expected = gram[:, once] @ np.linalg.solve(gram[np.ix_(once, once)], gram[once])
        assert np.allclose(features.T @ features, expected, atol=1e-10)
    everything = nystrom_features(gram, gram)
    assert len(everything) < 50
    assert np.allclose(everything.T @ everything, gram, atol=1e-10)
    for unit in (1e-9, 1e9):  # of rewards squared
        assert len(nystrom_features(unit * gram, unit * gram)) == len(everything)
