"""Epsilon with unknown mean and covariance: restricted likelihood, maximum and interval."""

import numpy as np
import pytest

from gpbandits_env.gp.learning.unknown_moments import (
    EpsilonProfile,
    MomentsSearch,
    epsilon_profile,
    epsilons_for,
    markov_basis,
    signal_rank,
)

RNG = np.random.default_rng(0)
GAPS = RNG.choice([0.3, 1.0, 4.0], 29)
TIMES = np.concatenate([[0.0], np.cumsum(GAPS)])
ROOT = np.linalg.cholesky(np.exp(-(np.subtract.outer(*[np.arange(3.0)] * 2) ** 2)))
ARMS = np.arange(3.0)[:, None]


def drawn(times, epsilon, seed, noise_sd=0.2, root=ROOT, mean=5.0):
    """Readings of a function that drifts, around a mean."""
    rng, n = np.random.default_rng(seed), len(root)
    f, rows = root @ rng.standard_normal(n), []
    for gap in [*np.diff(times), 0.0]:
        rows.append(mean + f + noise_sd * rng.standard_normal(n))
        keep = (1 - epsilon) ** gap
        f = np.sqrt(keep) * f + np.sqrt(1 - keep) * (root @ rng.standard_normal(n))
    return np.array(rows)


def dense(values, times, epsilon, covariance, noise_var, mean=None):
    """The log restricted likelihood up to a constant, and the best means, by numpy.linalg alone."""
    count, n = values.shape
    decay = (1 - epsilon) ** (np.abs(times[:, None] - times) / 2)
    sigma = np.kron(decay, covariance) + noise_var * np.eye(count * n)
    design = np.kron(np.ones((count, 1)), np.eye(n))
    y, value = values.ravel(), -0.5 * np.linalg.slogdet(sigma)[1]
    if mean is None:
        inner = design.T @ np.linalg.solve(sigma, design)
        mean = np.linalg.solve(inner, design.T @ np.linalg.solve(sigma, y))
        value -= 0.5 * np.linalg.slogdet(inner)[1]
    gap = y - design @ mean
    return value - 0.5 * gap @ np.linalg.solve(sigma, gap), mean


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.7])
@pytest.mark.parametrize("known", ["nothing", "mean", "covariance"])
def test_the_value_is_the_dense_formula_and_nothing_near_is_more_likely(epsilon, known):
    values, rng = drawn(TIMES, 0.1, 1), np.random.default_rng(2)
    mean = np.array([5.0, 4.9, 5.2]) if known == "mean" else None
    covariance = ROOT @ ROOT.T if known == "covariance" else None
    search = MomentsSearch(values, mean, covariance)
    value = search.at(markov_basis(TIMES, epsilon))
    model = search.model(epsilon)
    found = model.kernel(ARMS)
    expected, means = dense(values, TIMES, epsilon, found, model.noise_var, mean)
    assert value == pytest.approx(expected, abs=1e-8)
    assert model.prior_mean == pytest.approx(means, abs=1e-8)
    if known == "covariance":
        assert found == pytest.approx(covariance)
    root = np.linalg.cholesky(found + 1e-12 * np.eye(3))
    for _ in range(50):
        other = root + 0.03 * rng.standard_normal((3, 3))
        near = found if known == "covariance" else other @ other.T
        noise = model.noise_var * np.exp(0.03 * rng.standard_normal())
        assert dense(values, TIMES, epsilon, near, noise, mean)[0] <= value + 1e-2


def test_a_long_series_is_a_sum_of_parts(monkeypatch):
    values = drawn(TIMES, 0.1, 3)
    monkeypatch.setattr("gpbandits_env.gp.learning.unknown_moments.LONGEST", 29)
    search = MomentsSearch(values, noise_var=0.04)
    value = search.at(markov_basis(TIMES, 0.2))
    found = search.model(0.2).kernel(ARMS)
    parts = [slice(0, 15), slice(15, 30)]
    expected = sum(dense(values[p], TIMES[p], 0.2, found, 0.04)[0] for p in parts)
    assert value == pytest.approx(expected, abs=1e-8)


def test_the_basis_of_far_and_near_rows_is_that_of_the_covariance_at_every_epsilon():
    """The method of LAPACK that SciPy 1.15 used does not converge for the last two."""
    times = np.cumsum(np.random.default_rng(0).choice([1.0, 20.0], p=[0.4, 0.6], size=150))
    lags = np.abs(times[:, None] - times)
    spread = 1.0 - 10.0 ** -np.linspace(0.3, 3.0, 20)
    for epsilon in (*spread, 0.825375464799838, 0.9391570130923357):
        basis = markov_basis(times, epsilon)
        (vectors,) = basis.parts
        found = vectors * basis.spread @ vectors.T
        assert found == pytest.approx((1.0 - epsilon) ** (lags / 2.0), abs=1e-9)


def test_repeated_times_are_allowed():
    times = np.array([0.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0])
    values = drawn(times, 0.1, 4)
    search = MomentsSearch(values, noise_var=0.04)
    value = search.at(markov_basis(times, 0.2))
    found = search.model(0.2).kernel(ARMS)
    assert value == pytest.approx(dense(values, times, 0.2, found, 0.04)[0], abs=1e-4)


def test_noise_alone_has_no_rank_and_signals_have_theirs():
    rng = np.random.default_rng(0)
    ranks = [signal_rank(rng.standard_normal((200, 20)))[1] for _ in range(30)]
    assert np.mean(np.array(ranks) == 0) > 0.9
    slow = np.cumsum(rng.standard_normal((200, 2)), axis=0) @ rng.standard_normal((2, 20))
    noise, rank = signal_rank(slow + 0.5 * rng.standard_normal((200, 20)))
    assert rank == 2
    assert noise == pytest.approx(0.25, rel=0.3)


@pytest.mark.parametrize("arms", [24, 60, 150])
def test_more_arms_than_rows_have_the_same_noise_and_rank(arms):
    rng = np.random.default_rng(0)
    slow = np.cumsum(rng.standard_normal((20, 2)), axis=0) @ rng.standard_normal((2, arms))
    noise, rank = signal_rank(slow + 0.5 * rng.standard_normal((20, arms)))
    assert rank == 2
    assert noise == pytest.approx(0.25, rel=0.4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ramp", [True, False])
def test_readings_that_need_no_noise_have_a_little(ramp):
    """Their likelihood has no maximum in the noise: it was 1e-40, or a division by it failed."""
    table = np.arange(40.0)[:, None] if ramp else np.random.default_rng(0).normal(size=(40, 1))
    search = MomentsSearch(table * [1.0, 2.0, 3.0])
    epsilon_profile(np.arange(40.0), search)
    variance = float(np.var(table * [1.0, 2.0, 3.0], axis=0, ddof=1).mean())
    assert search.model(0.1).noise_var >= 0.99e-10 * variance


def test_the_interval_of_a_profile():
    """A parabola in the logarithm of the rate, whose ends are known."""
    epsilons = -np.expm1(-np.geomspace(1e-4, 6.0, 40))
    rates = np.log(-np.log1p(-epsilons))
    profile = EpsilonProfile(epsilons, 100.0 - 0.5 * ((rates + 3.0) / 0.4) ** 2)
    ends = -np.expm1(-np.exp(-3.0 + 0.4 * 1.959964 * np.array([-1.0, 1.0])))
    assert profile.interval() == pytest.approx(ends, rel=0.02)
    assert profile.epsilon == pytest.approx(-np.expm1(-np.exp(-3.0)), rel=0.02)
    assert EpsilonProfile(epsilons, np.zeros(40)).interval() == (0.0, 0.999)
    assert EpsilonProfile(epsilons, -1e3 * epsilons).epsilon == 0.0
    wider = EpsilonProfile(epsilons, profile.values, drop=8.0)
    assert wider.interval()[0] < ends[0] < ends[1] < wider.interval()[1]


def test_more_values_of_epsilon_lie_around_the_best_one():
    times = np.arange(80.0)
    profile = epsilon_profile(times, MomentsSearch(drawn(times, 0.1, 2)))
    coarse = epsilons_for(times)
    assert set(coarse) < set(profile.epsilons.tolist())
    assert len(profile.epsilons) == len(coarse) + 8


def test_the_interval_of_a_long_series_is_that_of_its_likelihood():
    """It is narrower than the distance between the first values of epsilon."""
    times = np.arange(400.0)
    table = drawn(times, 0.1, 5)
    profile = epsilon_profile(times, MomentsSearch(table))
    search, ends = MomentsSearch(table), profile.interval()
    exact = [search.at(markov_basis(times, e)) for e in (profile.epsilon, *ends)]
    assert exact[0] >= profile.values.max() - 0.01
    np.testing.assert_allclose(exact[0] - np.array(exact[1:]), profile.drop, rtol=0.04)


def test_a_search_is_left_at_its_most_likely_epsilon():
    """Searches end with a new function in every row, from which there is no way back to noise."""
    times = np.arange(60.0)
    for seed in (1, 4):
        search = MomentsSearch(drawn(times, 0.1, seed, root=np.eye(3)))
        profile = epsilon_profile(times, search)
        value = search.at(markov_basis(times, profile.epsilon))
        assert value == pytest.approx(profile.values.max(), abs=0.01)
        assert search.model(profile.epsilon).noise_var == pytest.approx(0.04, rel=0.8)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.003, 0.03, 0.1])
def test_intervals_hold_the_truth(epsilon):
    """90 to 99% of them are to hold it; the bound is three standard errors below 90%."""
    times, arms = np.arange(240.0), np.linspace(0, 1, 12)
    space = np.exp(-(np.subtract.outer(arms, arms) ** 2) / (2 * 0.2**2))
    root = np.linalg.cholesky(space + 1e-9 * np.eye(12))
    tables = [drawn(times, epsilon, seed, np.sqrt(0.05), root) for seed in range(100)]
    profiles = [epsilon_profile(times, MomentsSearch(table)) for table in tables]
    held = [low <= epsilon <= high for low, high in (p.interval() for p in profiles)]
    assert np.mean(held) >= 0.81
