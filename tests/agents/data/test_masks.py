"""The posterior of an agent whose `Keep` masks rows is the dense formula on the rows that count."""

import numpy as np
import pytest

from gpbandits_env.agents.data.keep import Keep, Masked
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.problem import Problem

ARMS, BOX, NOISE, EPSILON, SCALE = Arms.grid(30), Box([0.0], [1.0]), 0.05, 0.1, 6.0


class Drops(Masked):
    """Drops rows at random, and takes some back."""

    REMEMBERS = (*Masked.REMEMBERS, "calls")

    def begin(self):
        super().begin()
        self.calls = 0

    def observe(self, seen, before):
        self.calls += 1
        rng = np.random.default_rng(self.calls)
        if rng.random() < 0.4:
            new = np.flatnonzero(rng.random(before.data.size) < 0.2).tolist()
            self.dropped = sorted({*self.dropped, *new} - {*self.dropped[::3]})


def make(domain, seed=0, **settings):
    problem = Problem(domain, Matern52(0.3), noise_var=NOISE, max_delay=9)
    agent_class = type("Dropping", (GPAgent,), {"PARTS": Parts(keep=Drops)})
    return agent_class(problem, np.random.default_rng(seed), **settings)


def correlations(settings, lags):
    if "epsilon" in settings:
        return (1.0 - EPSILON) ** (lags / 2.0)
    if "temporal" in settings:
        return (1.0 + np.sqrt(3.0) * lags / SCALE) * np.exp(-np.sqrt(3.0) * lags / SCALE)
    return np.ones_like(lags)


def dense(settings, points, times, rewards, at, now):
    """The moments at points (n, 1), by numpy.linalg alone."""

    def k(a, b):
        r = np.sqrt(5.0) * abs(a - b.T) / 0.3
        return (1.0 + r + r**2 / 3.0) * np.exp(-r)

    gram = k(points, points) * correlations(settings, abs(times[:, None] - times))
    cross = k(at, points) * correlations(settings, now - times)
    solved = np.linalg.solve(gram + NOISE * np.eye(len(times)), cross.T)
    return solved.T @ rewards, 1.0 - (cross * solved.T).sum(axis=1)


@pytest.mark.parametrize(
    "settings",
    [{}, {"epsilon": EPSILON}, {"temporal": {"type": "matern32", "lengthscale": SCALE}}],
    ids=["static", "epsilon", "temporal"],
)
@pytest.mark.parametrize("domain", [ARMS, BOX], ids=["arms", "box"])
@pytest.mark.parametrize("m", [1, 3])
def test_the_posterior_is_that_of_the_rows_that_count(domain, settings, m):
    if "temporal" in settings and isinstance(domain, Box):
        pytest.skip("a temporal kernel needs arms")
    agent, rng, sizes = make(domain, **settings), np.random.default_rng(m), []
    at = domain.sample(rng, 12)
    coordinates = domain.points(at)
    for t in range(40):
        actions = domain.sample(rng, m)
        kind = t % 7
        if kind == 3:
            agent.expect(actions)
        elif kind == 5 and agent.pending:
            late = agent.pending[: m + 1]
            agent.tell_late([p.action for p in late], rng.standard_normal(len(late)))
        elif kind == 6:
            agent.prior_data(actions, rng.standard_normal(m))
        else:
            agent.tell(actions, rng.standard_normal(m), observed=rng.random(m) < 0.8)
        if t % 9 == 4:
            agent.wait(0.7)
        if t % 11 == 8:  # a restored agent has the same posterior to the last bit
            other, state = make(domain, **settings), agent.snapshot()
            other.restore(state)
            for ours, theirs in zip(
                agent.posterior.moments(at), other.posterior.moments(at), strict=True
            ):
                np.testing.assert_array_equal(ours, theirs)
            agent = other
        data = agent.data
        counting = np.ones(data.size, dtype=bool)
        counting[agent.keep.dropped] = False
        sizes.append(counting.mean())
        assert agent.posterior.size == counting.sum()
        mean, var = agent.posterior.moments(at)
        want = dense(
            settings,
            domain.points(data.points[counting]),
            data.times[counting],
            data.rewards[counting],
            coordinates,
            agent.clock,
        )
        np.testing.assert_allclose(mean, want[0], atol=1e-8)
        np.testing.assert_allclose(var, want[1], atol=1e-8)
        now = agent.conditioned
        best = data.rewards[counting].max(initial=-np.inf)
        assert now.best_reward == now.best_received == best
        assert now.first_round == data.rounds[counting].min(initial=np.inf)
    assert min(sizes) < 0.7


@pytest.mark.parametrize("settings", [{}, {"epsilon": EPSILON}], ids=["static", "epsilon"])
def test_rows_that_were_removed_after_they_had_been_learned_one_by_one_are_so_once_restored(
    settings,
):
    agent, other = make(BOX, **settings), make(BOX, **settings)
    for one in (agent, other):
        one.keep.observe = lambda seen, before: None
    for t in range(11):
        agent.keep.dropped = [3, 6][: max(0, t - 6)]
        agent.tell([[t / 11]], [np.sin(t)])
    other.restore(agent.snapshot())
    assert other.posterior.size == 9
    points = np.linspace(0.0, 1.0, 5)[:, None]
    np.testing.assert_array_equal(other.belief(points), agent.belief(points))


def test_fits_use_the_rows_that_count():
    agent = make(ARMS, learn={"every": 30, "starts": 1, "first": 10})
    rng = np.random.default_rng(0)
    agent.keep.observe = lambda seen, before: setattr(agent.keep, "dropped", list(range(7, 20)))
    agent.prior_data(np.arange(29), rng.standard_normal(29))
    assert [fit["observations"] for fit in agent.learned] == [16]


def test_a_mask_combines_with_ageing_but_with_no_other_rule_of_rounds():
    for settings in ({"window": 4}, {"reset_every": 4}, {"learn": ["epsilon"]}):
        with pytest.raises(InvalidInput, match="forgets by a rule of its own"):
            make(ARMS, **settings)
    with pytest.raises(InvalidInput, match="at most one"):
        make(ARMS, epsilon=0.1, discount=0.9)


class LastNine(Keep):
    def counts(self, data, t):
        return self.usable(data) & (np.arange(data.size) >= data.size - 9)


class LastRounds(Keep):
    def first(self, t):
        return t - 9


class Nine:
    def first(self, t):
        return t - 9


class Mixed(Nine, Keep):
    """It overrides `first` by inheritance."""


@pytest.mark.parametrize("keep", [LastNine, LastRounds, Mixed])
@pytest.mark.parametrize("domain", [ARMS, BOX], ids=["arms", "box"])
def test_what_a_rule_overrides_is_enough_to_say_what_counts(domain, keep):
    agent, rng = make(domain, keep=keep), np.random.default_rng(0)
    for _ in range(20):
        agent.tell(domain.sample(rng, 1), rng.standard_normal(1))
    at = domain.sample(rng, 12)
    now = agent.data.times[-9:], agent.data.rewards[-9:], domain.points(at), agent.clock
    mean, var = dense({}, domain.points(agent.data.points[-9:]), *now)
    np.testing.assert_allclose(agent.posterior.moments(at), (mean, var), atol=1e-8)
    assert agent.forgets
    assert not agent.takes_noise


def test_a_mask_that_is_none_is_refused_when_the_agent_is_made():
    class Rows(Keep):
        def counts(self, data, t):
            return np.arange(data.size)[-9:]

    class Listed(Keep):
        def counts(self, data, t):
            return [True] * data.size

    for keep in (Rows, Listed):
        with pytest.raises(InvalidInput, match=rf"{keep.__name__}.counts must return a mask"):
            make(ARMS, keep=keep)
