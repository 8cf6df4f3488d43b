"""TuRBO against Section 2 of Eriksson et al. (2019), by numpy.linalg."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign
from gpbandits_env.agents.search.candidates import spread
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.problem import Problem

LOW, HIGH, NOISE = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 4.0, 3.0]), 1e-3
ELL = np.array([0.5, 3.0, 0.2])


def gram(a, b, ell):
    r = np.sqrt(5 * (((a[:, None] - b[None]) / ell) ** 2).sum(-1))
    return (1 + r + r**2 / 3) * np.exp(-r)


def dense(told, y, at, ell):
    solved = np.linalg.solve(gram(told, told, ell) + NOISE * np.eye(len(told)), gram(told, at, ell))
    cov = gram(at, at, ell) - gram(at, told, ell) @ solved
    return y @ solved, 0.5 * (cov + cov.T)


def reward(x):
    return -(((x - LOW) / (HIGH - LOW) - 0.3) ** 2).sum(axis=1)


class Region:
    """The trust region by the paper's text, from the rewards alone."""

    def __init__(self, d, m, first):
        self.first, self.patience = first, math.ceil(d / m)
        self.start()

    def start(self):
        self.length, self.wins, self.losses = 0.8, 0, 0
        self.x, self.y = [], []

    @property
    def starting(self):
        return len(self.y) < self.first

    def observe(self, x, y):
        judged, better = not self.starting, not self.y or y.max() > max(self.y)
        self.x.extend(x)
        self.y.extend(y)
        if not judged:
            return
        self.wins, self.losses = (self.wins + 1, 0) if better else (0, self.losses + 1)
        if self.wins == 3:
            self.length, self.wins = min(2 * self.length, 1.6), 0
        if self.losses == self.patience:
            self.length, self.losses = self.length / 2, 0
        if self.length < 2**-7:
            self.start()

    def box(self):
        x, y, side = np.array(self.x), np.array(self.y), HIGH - LOW
        mean = dense(x, y, x, ELL)[0]
        center = x[mean.argmax()]
        weights = ELL / side
        sides = side * self.length * weights / np.prod(weights) ** (1 / 3)
        return np.maximum(center - sides / 2, LOW), np.minimum(center + sides / 2, HIGH)


@pytest.mark.parametrize("acquisition", ["ts", "ei"])
@pytest.mark.parametrize(("m", "flat"), [(1, False), (2, False), (2, True)])
def test_replays_section_2(acquisition, m, flat):
    problem = Problem(Box(LOW, HIGH), Matern52(tuple(ELL)), NOISE, batch_size=m)
    agent = agents.make(
        "turbo", problem, seed=1, n_initial=4, acquisition=acquisition, candidates=64
    )
    region = Region(3, m, 4)
    lengths, ended = set(), 0
    for _ in range(40):
        ours = np.random.Generator(np.random.PCG64())
        ours.bit_generator.state = agent.rng.bit_generator.state
        actions = agent.ask()
        assert agent.search.length == region.length
        if not region.starting:
            lengths.add(region.length)
            low, high = region.box()
            at = spread(Box(low, high), 64, ours)
            mean, cov = dense(np.array(region.x), np.array(region.y), at, ELL)
            np.testing.assert_allclose(agent.search.low, low, atol=1e-9)
            np.testing.assert_allclose(agent.search.high, high, atol=1e-9)
            if acquisition == "ts":
                root = np.linalg.cholesky(cov + 1e-10 * np.eye(64))
                values = ours.standard_normal((m, 64)) @ root.T + mean
                np.testing.assert_allclose(actions, at[values.argmax(axis=1)], atol=1e-9)
            else:
                told = np.array(region.x)
                top = dense(told, np.array(region.y), told, ELL)[0].max()
                for action in actions:
                    sd = np.sqrt(np.diag(cov))
                    z = (mean - top) / sd
                    score = sd * (norm.pdf(z) + z * norm.cdf(z))
                    i = np.abs(at - action).sum(axis=1).argmin()
                    np.testing.assert_allclose(at[i], action, atol=1e-9)
                    assert score[i] >= score.max() * (1 - 1e-6)
                    cov = cov - np.outer(cov[i], cov[i]) / (cov[i, i] + NOISE)
        rewards = np.zeros(m) if flat else reward(actions)
        agent.tell(actions, rewards)
        before = len(region.y)
        region.observe(actions, rewards)
        ended += len(region.y) < before
        assert agent.search.regions == ended
        assert len(agent.posterior.observed) == len(region.y)
    assert len(lengths) > 2
    assert ended > 0 or not flat


def test_a_region_grows_after_every_three_successes_and_ends_in_another_place():
    agent = agents.make("turbo", Problem(Box(LOW, HIGH), Matern52(0.5), NOISE), seed=0)
    search, first = agent.search, agent.ask()
    for success, lengths in ((False, [0.8, 0.8, 0.4]), (True, [0.4, 0.4, 0.8, 0.8, 0.8, 1.6])):
        for length in lengths:
            search._judge(success, 9)
            assert search.length == length
    for _ in range(8 * 3):
        search._judge(False, 9)
    assert (search.regions, search.length, agent.keep.stage, agent.keep.stages) == (1, 0.8, 9.5, 1)
    assert not np.allclose(agent.ask(), first)


@pytest.mark.parametrize(("t", "failures"), [(3.0, 0), (4.0, 1)])
def test_a_late_reward_is_judged_if_its_action_was_chosen_since_the_length_changed(t, failures):
    agent = agents.make("turbo", Problem(Box(LOW, HIGH), Matern52(0.5), NOISE), seed=0, n_initial=3)
    for _ in range(3):
        agent.tell(agent.ask(), [1.0])
    late = SimpleNamespace(source="late", each_round=np.array([t]), rewards=np.zeros(1), round=5)
    agent.search.observe(late, SimpleNamespace(best_reward=1.0))
    assert agent.search._failures == failures


@pytest.mark.parametrize("rounds", [None, [5.0]])
def test_prior_data_are_no_success_and_no_failure(rounds):
    agent = agents.make("turbo", Problem(Box(LOW, HIGH), Matern52(0.5), NOISE), seed=0, n_initial=3)
    for _ in range(5):
        agent.tell(agent.ask(), [1.0])
    failures = agent.search._failures
    agent.prior_data(agent.ask(), [0.0], rounds=rounds)
    assert (agent.search._failures, agent.search.length) == (failures, 0.8)


def test_the_first_points_go_on_after_pending_ones():
    problem = Problem(Box(LOW, HIGH), Matern52(0.5), NOISE)
    agent, prompt = (agents.make("turbo", problem, seed=0) for _ in range(2))
    for _ in range(3):
        actions = agent.ask()
        np.testing.assert_array_equal(prompt.ask(), actions)
        agent.expect(actions)
        prompt.tell(actions, [0.0])


def test_few_coordinates_change_in_many_dimensions():
    d = 60
    problem = Problem(Box(np.zeros(d), np.ones(d)), Matern52(2.0), NOISE)
    agent = agents.make("turbo", problem, seed=0, n_initial=3, candidates=300)
    x = np.random.default_rng(0).random((3, d))
    agent.prior_data(x, [0.0, 1.0, 0.0])
    agent.ask()
    held = agent.search._candidates(agent.posterior).points
    changed = (held != x[1]).sum(axis=1)
    assert changed.min() >= 1
    assert changed.mean() == pytest.approx(20.0, abs=2.0)
    assert np.abs(held - x[1]).max() <= 0.4 + 1e-12


def test_known_points_count_and_the_first_points_are_spread():
    problem = Problem(Box(LOW, HIGH), Matern52(1.0), NOISE, batch_size=2)
    agent = agents.make("turbo", problem, seed=0)
    first = []
    for _ in range(3):
        first.append(agent.ask())
        agent.tell(first[-1], [0.0, 0.0])
    unit = (np.concatenate(first) - LOW) / (HIGH - LOW)
    assert len(np.unique(np.floor(unit[:4, 0] * 4))) == 4
    known = agents.make("turbo", problem, seed=0)
    known.prior_data(np.concatenate(first), np.zeros(6))
    assert known.search._seen == 6
    with pytest.raises(InvalidInput, match="leave out search"):
        agents.make("turbo", problem, search="round")
    with pytest.raises(InvalidInput):
        agents.make("turbo", Problem(Arms.grid(5), Matern52(1.0), NOISE))


@pytest.mark.parametrize(
    "settings", [{"window": 2}, {"reset_every": 2}, {"epsilon": 1.0}, {"compress": 3.4}], ids=str
)
def test_the_first_points_differ_also_if_data_are_discarded(settings):
    problem = Problem(Box(LOW, HIGH), Matern52(1.0), NOISE)
    plain, agent = (agents.make("turbo", problem, seed=0, **s) for s in ({}, settings))
    for _ in range(6):
        points = agent.ask()
        np.testing.assert_array_equal(points, plain.ask())
        for each in (agent, plain):
            each.tell(points, reward(points))


def test_without_data_a_restored_agent_goes_on_with_points_that_are_spread():
    problem = Problem(Box(LOW, HIGH), Matern52(1.0), NOISE, batch_size=2)
    agent, other = (agents.make("turbo", problem, seed=0, reset_every=4) for _ in range(2))
    for _ in range(4):
        points = agent.ask()
        agent.tell(points, reward(points))
    other.restore(agent.snapshot())
    assert agent.posterior.size == 0
    points = agent.ask()
    np.testing.assert_array_equal(points, other.ask())
    unit = (points - LOW) / (HIGH - LOW)
    assert np.abs(unit[0] - unit[1]).max() > 0.4


def test_a_campaign_recommends_its_best_point_when_a_region_has_just_ended():
    campaign = Campaign([(0.0, 1.0)] * 2, "turbo", seed=0, n_initial=4, maximize=False)
    regions = 0
    for _ in range(60):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, 1.0 + (suggestion.id % 7 > 0))
        if campaign.agent.search.regions > regions:
            regions = campaign.agent.search.regions
            assert not len(campaign.agent.posterior.observed)
            assert campaign.recommended == campaign.best.params
    assert regions > 0


def test_a_valley_in_twenty_dimensions():
    """At half of the distance that random points end at, with the same number of calls."""
    found = agents.minimize(
        lambda x: float(((x - 0.4) ** 2).sum()), [(0.0, 1.0)] * 20, "turbo",
        n_calls=60, seed=0, acquisition="ei", n_initial=20,
    )  # fmt: skip
    points = np.random.default_rng(0).random((60, 20))
    assert found.fun < 0.5 * ((points - 0.4) ** 2).sum(axis=1).min()
