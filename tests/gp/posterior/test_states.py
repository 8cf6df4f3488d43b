"""The posterior in space and time against the dense formula, for every temporal kernel."""

import pickle
import re

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import ConstantKernel, Empirical, Matern32, SquaredExponential
from gpbandits_env.gp.posterior import choose, posterior_for
from gpbandits_env.gp.temporal import (
    MarkovTime,
    PeriodicTime,
    TemporalProduct,
    TermsInTime,
    WienerTime,
)

SEASON = PeriodicTime(6.5, 0.9, harmonics=2)
READINGS = np.random.default_rng(5).standard_normal((40, 12))
SPACES = {
    "line": (Arms.grid(25), SquaredExponential(0.2, variance=1.5)),
    "grid": (Arms.grid((6, 5)), SquaredExponential(0.4)),
    "empirical": (Arms(np.arange(12.0)), Empirical(np.cov(READINGS.T))),
    "rough": (Arms.grid(15), Matern32(0.3)),
}
NOISE = 0.03


class Dense:
    """The formula in the data, with numpy.linalg alone; epsilon is a further Markov factor."""

    def __init__(self, arms, kernel, temporal, prior_mean):
        both = isinstance(temporal, TermsInTime)
        pairs = zip(kernel.terms, temporal.kernels, strict=True) if both else [(kernel, temporal)]
        self.terms = [(own(arms.coordinates), in_time) for own, in_time in pairs]
        self.prior_mean = prior_mean
        self.arms, self.rewards, self.times, self.ages = [], [], [], []
        self.now, self.age = 0.0, 0.0

    def condition(self, arms, rewards):
        self.arms += list(arms)
        self.rewards += list(rewards)
        self.times += [self.now] * len(arms)
        self.ages += [self.age] * len(arms)

    def advance(self, epsilon, dt):
        self.now += dt
        self.age -= 0.5 * dt * np.log1p(-epsilon)

    def prior(self):
        now = np.array([self.now])
        return sum(space * temporal(now, now) for space, temporal in self.terms)

    def moments(self, extra=()):
        seen = np.array([*self.arms, *extra], dtype=int)
        times = np.array([*self.times, *[self.now] * len(extra)])
        ages = np.array([*self.ages, *[self.age] * len(extra)])
        now, prior = np.array([self.now]), self.prior()
        if not len(seen):
            return self.prior_mean, prior
        gram = sum(
            space[np.ix_(seen, seen)] * temporal(times, times) for space, temporal in self.terms
        )
        gram = gram * np.exp(-np.abs(ages[:, None] - ages)) + NOISE * np.eye(len(seen))
        cross = sum(space[seen] * temporal(times, now) for space, temporal in self.terms)
        cross = cross * np.exp(ages - self.age)[:, None]
        k = len(self.arms)
        gap = np.array(self.rewards) - self.prior_mean[seen[:k]]
        mean = self.prior_mean + cross[:k].T @ np.linalg.solve(gram[:k, :k], gap)
        return mean, prior - cross.T @ np.linalg.solve(gram, cross)


def pair(space, temporal):
    arms, kernel = SPACES[space]
    mean = np.random.default_rng(1).standard_normal(arms.size)
    if isinstance(temporal, TermsInTime):
        kernel = kernel + ConstantKernel(0.8)
    return posterior_for(arms, kernel, NOISE, mean, temporal=temporal), Dense(
        arms, kernel, temporal, mean
    )


def play(rng, both, rounds, epsilons=(0.0,), gaps=(0.0, 0.3, 1.0, 1.0, 9.7)):
    """Random batches at random times, with gaps and empty rounds."""
    n = both[0].arms.size
    for _ in range(rounds):
        k = int(rng.integers(0, 4))
        arms, rewards = rng.integers(0, n, k), 3.0 * rng.standard_normal(k)
        epsilon, dt = float(rng.choice(epsilons)), float(rng.choice(gaps))
        for one in both:
            one.condition(arms, rewards)
            one.advance(epsilon, dt)


def assert_equal(posterior, dense, extra=()):
    mean, covariance = dense.moments(extra)
    atol = 1e-8 * max(1.0, dense.prior().max())
    np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=atol)
    np.testing.assert_allclose(posterior.var, covariance.diagonal(), rtol=0, atol=atol)
    arms = np.arange(0, len(mean), 3)
    found = posterior.covariance(arms)
    np.testing.assert_allclose(found, covariance[np.ix_(arms, arms)], rtol=0, atol=atol)


@pytest.mark.parametrize("space", SPACES)
def test_it_is_the_dense_formula(space, temporal, gaps):
    rng, both = np.random.default_rng(7), pair(space, temporal)
    assert_equal(*both)
    for _ in range(5):
        play(rng, both, 8, gaps=gaps)
        assert_equal(*both)
        extra = rng.integers(0, both[0].arms.size, 3)
        for arm in extra:
            both[0].hallucinate([arm])
        assert_equal(*both, extra)
        both[0].rollback()
        assert_equal(*both)
    both[0].condition(extra, [1.0, 2.0, 3.0])
    both[1].condition(extra, [1.0, 2.0, 3.0])
    assert_equal(*both)


@pytest.mark.parametrize("temporal", ["common shift", "walking shift"], indirect=True)
@pytest.mark.parametrize("space", SPACES)
def test_a_shift_of_all_arms_is_in_the_dense_formula(space, temporal, gaps):
    test_it_is_the_dense_formula(space, temporal, gaps)


@pytest.mark.parametrize(
    "temporal", ["matern32", "wiener", "quasi-periodic", "common shift"], indirect=True
)
def test_a_further_decay_multiplies_the_kernel(temporal):
    rng, both = np.random.default_rng(3), pair("line", temporal)
    play(rng, both, 25, epsilons=(0.0, 0.1, 0.3))
    assert_equal(*both)


def test_a_markov_kernel_is_epsilon():
    arms, kernel = SPACES["line"]
    here = posterior_for(arms, kernel, NOISE, temporal=MarkovTime(0.05))
    there = posterior_for(arms, kernel, NOISE)
    rng = np.random.default_rng(0)
    for _ in range(60):
        points, rewards = rng.integers(0, 25, 2), rng.standard_normal(2)
        here.condition(points, rewards)
        there.condition(points, rewards)
        here.advance(0.0)
        there.advance(0.05)
    np.testing.assert_allclose(here.mean, there.mean, atol=1e-9)
    np.testing.assert_allclose(here.var, there.var, atol=1e-9)
    assert here.information_gain == pytest.approx(there.information_gain, abs=1e-8)


@pytest.mark.parametrize("temporal", ["sum"], indirect=True)
def test_many_observations_of_one_time_are_folded(temporal):
    rng, both = np.random.default_rng(2), pair("grid", temporal)
    play(rng, both, 5)
    for size in (1, 70, 1, 64, 30):
        arms, rewards = rng.integers(0, 30, size), rng.standard_normal(size)
        for one in both:
            one.condition(arms, rewards)
    assert_equal(*both)
    both[0].hallucinate(arms)
    assert_equal(*both, arms)


@pytest.mark.parametrize("temporal", ["product"], indirect=True)
def test_draws_have_the_moments_of_the_posterior(temporal):
    rng, both = np.random.default_rng(4), pair("rough", temporal)
    play(rng, both, 20)
    both[0].condition([3, 9], [1.0, -2.0])
    both[1].condition([3, 9], [1.0, -2.0])
    mean, covariance = both[1].moments()
    both[0].hallucinate([0, 6])  # which draws ignore
    draws = both[0].sample(rng, 20_000)
    sd = np.sqrt(covariance.diagonal())
    assert np.abs((draws.mean(axis=0) - mean) / sd).max() < 5.0 / np.sqrt(len(draws))
    off = np.abs(np.cov(draws.T) - covariance) / np.outer(sd, sd)
    assert off.max() < 5.0 * np.sqrt(2.0 / len(draws))


@pytest.mark.parametrize("temporal", ["matern52", "wiener", "sum"], indirect=True)
def test_the_same_calls_give_the_same_bits(temporal, same):
    """Also after others, with hallucinated points in between, and in a pickled posterior."""
    arms, kernel = SPACES["grid"]
    first, other = (posterior_for(arms, kernel, NOISE, temporal=temporal) for _ in range(2))
    play(np.random.default_rng(0), (other,), 3)
    other.forget()
    for one in (first, other):
        play(np.random.default_rng(8), (one,), 20)
        one.condition([1, 2], [0.5, 0.1])
    first.hallucinate([4])
    copy = pickle.loads(pickle.dumps(first))
    same(copy, first)
    for one in (first, other, copy):
        play(np.random.default_rng(9), (one,), 12)
    same(first, other)
    same(first, copy)
    first.forget()
    same(first, posterior_for(arms, kernel, NOISE, temporal=temporal))


@pytest.mark.parametrize("temporal", ["quasi-periodic", "sum", "product"], indirect=True)
def test_it_stays_exact_for_long(temporal):
    """After 1500 rounds it is the formula over the rounds that still matter."""
    faster = TemporalProduct((temporal, MarkovTime(0.15)))
    rng, (posterior, dense) = np.random.default_rng(6), pair("line", faster)
    for t in range(1500):
        arm, reward = rng.integers(0, 25, 1), rng.standard_normal(1)
        posterior.condition(arm, reward)
        if t >= 1100:
            dense.condition(arm, reward)
        posterior.advance(0.0)
        dense.advance(0.0, 1.0)
    assert_equal(posterior, dense)


@pytest.mark.parametrize("noise_var", [0.0, 0.01])
def test_the_least_noise_follows_a_variance_that_grows(noise_var, same):
    """Otherwise the noise falls below the rounding of the variances, and the mean explodes."""
    arms, kernel = Arms.grid(9), SquaredExponential(0.3)

    def new():
        return posterior_for(arms, kernel, noise_var, temporal=WienerTime(1e6))

    posterior, rng = new(), np.random.default_rng(0)
    for _ in range(5):
        posterior.advance(0.0, 1e9)
        for arm in rng.permutation(18) % 9:
            posterior.condition([arm], [np.sin(arm)])
        np.testing.assert_allclose(posterior.mean, np.sin(np.arange(9.0)), atol=1e-3)
    assert posterior.jitter == pytest.approx(2e-12 * 5e15, rel=1e-4)

    posterior.forget()
    same(posterior, new())
    posterior.condition([1], [0.5])
    assert posterior.jitter == pytest.approx(0.0 if noise_var else 2e-12)


def test_a_variance_that_would_grow_without_bound_is_refused(same):
    posterior = posterior_for(*SPACES["line"], NOISE, temporal=WienerTime(1e100))
    posterior.condition([1], [0.5])
    before = same.of(posterior)
    with pytest.raises(InvalidInput, match=r"after 1e\+60 more rounds .*'wiener'.* lower rate"):
        posterior.advance(0.0, 1e60)
    same(before, posterior)
    posterior.advance(0.0, 1e40)
    assert np.isfinite([posterior.mean, posterior.var]).all()


def test_a_large_state_omits_the_stated_variance(monkeypatch):
    arms, kernel = Arms.grid(30), Matern32(0.3)
    monkeypatch.setattr(choose, "MOST_STATES", 10 * SEASON.states)
    with pytest.warns(UserWarning, match=r"one of rank \d+ is used, without up to"):
        posterior = posterior_for(arms, kernel, NOISE, temporal=SEASON)
    omitted = 1.0 - posterior.var
    assert omitted.min() >= 0.0
    assert 0.01 < omitted.max() <= 0.03
    dense, rng = Dense(arms, kernel, SEASON, np.zeros(30)), np.random.default_rng(8)
    for _ in range(25):
        arm, reward = rng.integers(0, 30, 2), rng.standard_normal(2)
        for one in (posterior, dense):
            one.condition(arm, reward)
        posterior.advance(0.0)
        dense.advance(0.0, 1.0)
    mean, covariance = dense.moments()
    assert np.abs(posterior.var - covariance.diagonal()).max() < 0.04
    assert np.abs(posterior.mean - mean).mean() < 0.2 * mean.std()


def test_each_term_has_its_own_share_of_the_largest_state(monkeypatch):
    """All 30 coefficients of a rough kernel and one of a constant: no variance is omitted."""
    monkeypatch.setattr(choose, "MOST_STATES", 31)
    in_time = TermsInTime((MarkovTime(0.1), MarkovTime(0.3)))
    kernel = Matern32(0.3) + ConstantKernel(0.8)
    posterior = posterior_for(Arms.grid(30), kernel, NOISE, temporal=in_time)
    np.testing.assert_allclose(posterior.var, 1.8)


def test_a_large_state_on_a_grid_says_what_all_axes_omit_together(monkeypatch):
    monkeypatch.setattr(choose, "MOST_STATES", 100 * SEASON.states)
    arms, kernel = Arms.grid((16, 16)), SquaredExponential(0.12)
    with pytest.warns(UserWarning, match="without up to") as caught:
        posterior = posterior_for(arms, kernel, NOISE, temporal=SEASON)
    (stated,) = re.findall(r"([\d.]+)%", str(caught[0].message))
    omitted = 100.0 * (1.0 - posterior.var.min())
    assert float(stated) == pytest.approx(omitted, rel=0.3)
    assert float(stated) >= 0.95 * omitted


def test_a_state_that_is_too_large_is_refused():
    independent = Empirical(np.eye(400))
    with pytest.raises(InvalidInput, match=r"13 states.*400 arms.*4096"):
        posterior_for(Arms(np.arange(400.0)), independent, NOISE, temporal=PeriodicTime(10.0))
    for kind in ("rows", "coefficients", "nystrom"):
        with pytest.raises(InvalidInput, match=f"must be 'auto', got '{kind}'"):
            posterior_for(Arms.grid(5), Matern32(0.2), NOISE, 0.0, kind, temporal=SEASON)


def test_arms_that_never_varied_stay_at_their_mean():
    """The covariance of constant readings is 0, and its factor has no column."""
    arms = Arms(np.arange(2.0))
    posterior = posterior_for(arms, Empirical(np.zeros((2, 2))), NOISE, temporal=SEASON)
    posterior.condition([0], [3.0])
    posterior.advance(0.1, 2.0)
    assert posterior.mean.tolist() == posterior.var.tolist() == [0.0, 0.0]
    assert not posterior.sample(np.random.default_rng(0), 3).any()


def test_a_log_is_learned_at_once(temporal):
    """After some time without data; the information is that of one observation after another."""
    rng, both, (slow, _) = np.random.default_rng(1), pair("grid", temporal), pair("grid", temporal)
    gaps = [(1, 1.0), (3, 0.0), (2, 0.4), (1, 0.0), (4, 9.0), (2, 0.3)]
    log = [(rng.integers(30, size=k), rng.standard_normal(k), dt) for k, dt in gaps]
    for one in (*both, slow):
        one.advance(0.0, 2.5)
    both[0].replay(log)
    for points, rewards, dt in log:
        for one in (both[1], slow):
            one.condition(points, rewards)
            one.advance(0.0, dt)
    assert_equal(*both)
    assert both[0].information_gain == pytest.approx(slow.information_gain)
    assert both[0].size == 13
    np.testing.assert_array_equal(both[0].observed, slow.observed)
    play(rng, both, 8)
    assert_equal(*both)
