"""The agents that are not told how the function drifts, re-derived at every step."""

import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

NOISE_VAR, ROUNDS = 0.025, 60


def score(t, mean, var):
    """beta_t = 0.8 log(4 t): bogunovic2016, Section 5."""
    return mean + np.sqrt(0.8 * np.log(4 * t) * var)


def moved(world, t):
    """A function that jumps twice, at all arms."""
    x = world.arms.coordinates[:, 0]
    return world.prior_mean + (1.2, -1.3, 0.9)[t // 20] * np.cos(5 * x + t // 20)


def noisy(world, arms, t):
    noise = math.sqrt(NOISE_VAR) * world.noise.standard_normal(len(arms))
    return moved(world, t)[arms] + noise


def test_et_gp_ucb_replays_the_event_trigger(world, batch_size):
    agent = agents.make("et-gp-ucb", world.problem(), seed=0, batch_size=batch_size, delta=0.2)
    dense, start, events = world.dense(), 1, 0
    for t in range(1, ROUNDS):
        arms, mean = agent.ask(), dense.mean()
        for i, arm in enumerate(arms):
            scores = score(t, mean, dense.var(also=arms[:i]))
            assert scores[arm] == pytest.approx(scores.max(), abs=1e-8)
        rewards = noisy(world, arms, t)
        pi = math.pi**2 * (t - start + 1) ** 2 / 6
        root = math.sqrt(2 * math.log(2 * pi / 0.2))
        bound = root * np.sqrt(dense.var()[arms]) + root * math.sqrt(NOISE_VAR)
        surprising = (np.abs(rewards - mean[arms]) > bound).any()
        agent.tell(arms, rewards)
        if surprising:
            dense.forget(before=t)
            start, events = t, events + 1
        dense.tell(arms, rewards, t)
        assert agent.keep.events == events
        np.testing.assert_allclose(agent.belief()[0], dense.mean(), atol=1e-8)
    assert events >= 2


def weighted(world, arms, ages, rewards, discount):
    """Weighted GP regression: the noise variance s^2 / gamma^age on each observation."""
    x = world.arms.coordinates
    gram = np.exp(-0.5 * ((x - x.T) / 0.2) ** 2)
    inner = gram[np.ix_(arms, arms)] + np.diag(NOISE_VAR / discount ** np.asarray(ages, float))
    solved = np.linalg.solve(inner, gram[arms])
    mean = world.prior_mean + (rewards - world.prior_mean[arms]) @ solved
    return mean, 1.0 - (solved * gram[arms]).sum(axis=0)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_wgp_ucb_replays_weighted_regression(world, batch_size, discount):
    settings = {"batch_size": batch_size, "discount": discount}
    agent = agents.make("wgp-ucb", world.problem(), seed=0, **settings)
    told, times, values = [], [], []
    for t in range(1, ROUNDS):
        arms = agent.ask()
        ages = t - np.array(times)
        mean, _ = weighted(world, told, ages, np.array(values), discount)
        for i, arm in enumerate(arms):
            also = [*told, *arms[:i]]
            pending = [*ages, *[0] * i], np.zeros(len(also))
            _, var = weighted(world, also, pending[0], pending[1], discount)
            scores = score(t, mean, var)
            assert scores[arm] == pytest.approx(scores.max(), abs=1e-8)
        rewards = noisy(world, arms, t)
        agent.tell(arms, rewards)
        told += arms.tolist()
        times += [t] * len(arms)
        values += rewards.tolist()
        mean, var = weighted(world, told, t + 1 - np.array(times), np.array(values), discount)
        np.testing.assert_allclose(agent.belief(), [mean, np.sqrt(var)], atol=1e-8)


def test_ui_tvbo_replays_uncertainty_injection(replay, world):
    dense = world.dense(time=lambda t, s: 1.0 + 0.03 * (np.minimum.outer(t, s) - 1.0))
    replay("ui-tvbo", lambda t, mean, var, _: mean + np.sqrt(2.0 * var), dense=dense)


class Averaged:
    """The mixture of bma-gp-ucb over dense posteriors, one for each epsilon."""

    def __init__(self, world, epsilons, switching, trigger):
        self.models = [world.dense(epsilon=epsilon) for epsilon in epsilons]
        self.weights = np.full(len(epsilons), 1 / len(epsilons))
        self.switching, self.trigger, self.restarts = switching, trigger, 0

    def moments(self, t, also=()):
        means = np.array([model.mean(now=t) for model in self.models])
        variances = np.array([model.var(also=also, now=t) for model in self.models])
        mean = self.weights @ means
        return mean, self.weights @ (variances + means**2) - mean**2

    def tell(self, arms, rewards, t):
        for i, model in enumerate(self.models):
            gap = rewards - model.mean(now=t)[arms]
            covariance = np.empty((len(arms),) * 2)
            for j, arm in enumerate(arms):
                covariance[:, j] = self._covariance(model, arms, arm, t)
            covariance += NOISE_VAR * np.eye(len(arms))
            density = -0.5 * gap @ np.linalg.solve(covariance, gap)
            density -= 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
            self.weights[i] *= math.exp(density)
            far = (np.abs(gap) > self.trigger * np.sqrt(covariance.diagonal())).any()
            if far and model.epsilon == 0.0:
                model.forget(before=t)
                self.restarts += 1
            model.tell(arms, rewards, t)
        self.weights /= self.weights.sum()
        self.weights = (1 - self.switching) * self.weights + self.switching / len(self.weights)

    @staticmethod
    def _covariance(model, arms, arm, t):
        x = model.points
        prior = np.exp(-0.5 * ((x[arms, 0] - x[arm, 0]) / 0.2) ** 2)
        if not model.arms:
            return prior
        solved, cross = model._weights(model.arms, model.times, t)
        return prior - cross[:, arms].T @ solved[:, arm]


def test_bma_gp_ucb_replays_the_mixture(world, batch_size):
    given = {"epsilons": [0.0, 0.05, 0.4], "switching": 0.02, "trigger": 3.0}
    agent = agents.make("bma-gp-ucb", world.problem(), seed=0, batch_size=batch_size, **given)
    dense = Averaged(world, **given)
    for t in range(1, 45):
        arms, (mean, _) = agent.ask(), dense.moments(t)
        np.testing.assert_allclose(agent.weights, dense.weights, atol=1e-8)
        for i, arm in enumerate(arms):
            scores = mean + np.sqrt(4.0 * dense.moments(t, also=arms[:i])[1])
            assert scores[arm] == pytest.approx(scores.max(), abs=1e-7)
        rewards = noisy(world, arms, t)
        agent.tell(arms, rewards)
        dense.tell(arms, rewards, t)
        mean, var = dense.moments(t + 1)
        np.testing.assert_allclose(agent.belief(), [mean, np.sqrt(var)], atol=1e-8)
    assert agent.posterior.restarts == dense.restarts >= 1


def test_late_rewards_are_learned_in_their_round(world):
    for name in ("wgp-ucb", "bma-gp-ucb", "et-gp-ucb"):
        late = agents.make(name, world.problem(max_delay=4), seed=0)
        prompt = agents.make(name, world.problem(), seed=0)
        for agent in (late, prompt):
            agent.tell([1], [0.3])
        late.expect([4])
        prompt.tell([4], [0.7])
        for agent in (late, prompt):
            agent.tell([20], [0.1])
        late.tell_late([4], [0.7], [2])
        np.testing.assert_allclose(late.belief(), prompt.belief(), atol=1e-10)


@pytest.mark.parametrize("name", ["et-gp-ucb", "wgp-ucb", "bma-gp-ucb"])
def test_other_ways_to_forget_are_refused(world, name):
    for settings in ({"epsilon": 0.1}, {"window": 5}, {"learn": ["epsilon"]}):
        with pytest.raises(InvalidInput, match=r"forgets by a rule of its own|give at most one of"):
            agents.make(name, world.problem(), **settings)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ui-tvbo", {"temporal": {"type": "wiener", "rate": 0.1}}, "has a temporal of its own"),
        ("ui-tvbo", {"window": 5}, "give at most one of"),
        ("et-gp-ucb", {"delta": 0.0}, "delta must be"),
        ("et-gp-ucb", {"delta": 1.5}, "delta"),
        ("wgp-ucb", {"discount": 0.0}, "a discount needs .* a number in"),
        ("wgp-ucb", {"discount": 0.9, "noise_var": 0.0}, "a discount needs noise"),
        ("wgp-ucb", {"posterior": "rows"}, "with a discount"),
        ("wgp-ucb", {"posterior": "nystrom"}, "does not support discount"),
        ("ui-tvbo", {"rate": 0.0}, "rate"),
        ("bma-gp-ucb", {"epsilons": []}, "at least one part"),
        ("bma-gp-ucb", {"epsilons": [0.1, 2.0]}, "epsilon must lie"),
        ("bma-gp-ucb", {"trigger": -1.0}, "trigger"),
        ("bma-gp-ucb", {"posterior": "nystrom"}, "exact posterior"),
    ],
)
def test_mistakes_are_named(world, name, settings, message):
    with pytest.raises(InvalidInput, match=message):
        agents.make(name, world.problem(), **settings)


def test_every_agent_takes_a_discount(world):
    """In a box it then chooses among candidates."""
    ours, theirs = (
        agents.make(name, world.problem(), seed=0, beta=4.0, discount=0.9)
        for name in ("gp-ucb", "wgp-ucb")
    )
    for t in range(8):
        for agent in (ours, theirs):
            agent.tell([5 * t], [np.sin(t)])
    np.testing.assert_array_equal(ours.belief(), theirs.belief())
    box = Problem(Box([0.0], [1.0]), SquaredExponential(0.3), 0.05)
    assert agents.make("ei", box, seed=0, discount=0.9).posterior.domain.size == 1024


@pytest.mark.parametrize("name", ["wgp-ucb", "ui-tvbo", "bma-gp-ucb"])
def test_in_a_box_they_choose_among_candidates(name):
    problem = Problem(Box([0.0], [1.0]), SquaredExponential(0.3), 0.05)
    agent = agents.make(name, problem, seed=0, candidates=16)
    for _ in range(5):
        agent.tell(x := agent.ask(), np.sin(9 * x[:, 0]))
    assert agent.posterior.domain.size == 16
