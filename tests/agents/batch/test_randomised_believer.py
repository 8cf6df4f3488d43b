"""The randomised kriging believer: every choice and every believed reward, in dense algebra."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.batch.rule import rolled_back
from gpbandits_env.agents.batch.scored import believe
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

KERNEL, NOISE = SquaredExponential(0.3), 0.04


def moments(x, y, points):
    """The dense posterior at points, without a prior mean."""
    if not len(x):
        return np.zeros(len(points)), np.ones(len(points))
    gram, cross = KERNEL(x, x) + NOISE * np.eye(len(x)), KERNEL(points, x)
    solved = np.linalg.solve(gram, cross.T)
    return solved.T @ y, np.maximum(1.0 - np.sum(cross * solved.T, axis=1), 0.0)


def believed(x, y, point, rng):
    mean, var = moments(x, y, point[None])
    reward = mean + np.sqrt(var + NOISE) * rng.standard_normal(1)
    return np.vstack([x, point]), np.append(y, reward)


@pytest.mark.parametrize("m", [1, 4])
def test_replays_its_choices_with_the_same_draws(m):
    """GP-UCB with beta = 4 on arms; in every second round a reward is late, and pending."""
    arms = Arms.grid([7, 6])
    points, rng = arms.coordinates, np.random.default_rng(1)
    agent = agents.make(
        "gp-ucb",
        Problem(arms, KERNEL, NOISE, batch_size=m),
        seed=0,
        batch="randomised-believer",
        beta=4.0,
    )
    x, y, pending = np.empty((0, 2)), np.empty(0), []
    for t in range(12):
        draws = np.random.default_rng()
        draws.bit_generator.state = agent.rng.bit_generator.state
        chosen = agent.ask()
        at, given = x, y
        for arm in pending:
            at, given = believed(at, given, points[arm], draws)
        for i, arm in enumerate(chosen):
            mean, var = moments(at, given, points)
            score = mean + 2.0 * np.sqrt(var)
            assert score[arm] == pytest.approx(score.max(), abs=1e-8)
            if i + 1 < m:
                at, given = believed(at, given, points[arm], draws)
        assert draws.bit_generator.state == agent.rng.bit_generator.state
        rewards = np.sin(5.0 * points[chosen].sum(axis=1)) + 0.2 * rng.standard_normal(m)
        if t % 2:
            agent.expect(chosen)
            pending += chosen.tolist()
            continue
        agent.tell(chosen, rewards)
        x, y = np.vstack([x, points[chosen]]), np.append(y, rewards)
        if pending:
            late = pending.pop(0)
            agent.tell_late([late], [0.5])
            x, y = np.vstack([x, points[late]]), np.append(y, 0.5)


def test_in_a_box_each_choice_is_near_the_best_of_the_believed_posterior():
    rng = np.random.default_rng(0)
    problem = Problem(Box([0.0, 0.0], [1.0, 1.0]), KERNEL, NOISE, batch_size=3)
    agent = agents.make("gp-ucb", problem, seed=0, batch="randomised-believer", beta=4.0)
    x = rng.random((8, 2))
    y = np.sin(5.0 * x.sum(axis=1))
    agent.prior_data(x, y)
    before, draws = agent.belief(x), []
    agent.rng = Recorded(agent.rng, draws)
    chosen = agent.ask()
    grid = rng.random((3000, 2))
    for point, normal in zip(chosen, [*draws, None], strict=True):
        mean, var = moments(x, y, np.vstack([point, grid]))
        score = mean + 2.0 * np.sqrt(var)
        assert score[0] >= score.max() - 1e-3
        if normal is not None:
            y = np.append(y, mean[0] + np.sqrt(var[0] + NOISE) * normal)
            x = np.vstack([x, point])
    np.testing.assert_array_equal(agent.belief(x[:8]), before)  # nothing is believed afterwards


class Recorded:
    """A generator that notes single normal draws."""

    def __init__(self, rng, draws):
        self.rng, self.draws = rng, draws

    def __getattr__(self, name):
        return getattr(self.rng, name)

    def standard_normal(self, size=None):
        found = self.rng.standard_normal(size)
        if size == 1:
            self.draws.append(found[0])
        return found


def test_with_one_action_and_nothing_pending_it_is_the_acquisition_itself():
    problem = Problem(Arms.grid(30), KERNEL, NOISE)
    plain, random = (
        agents.make("ei", problem, seed=0, batch=rule)
        for rule in ("hallucinate", "randomised-believer")
    )
    for reward in (0.3, -0.2, 0.9):
        action = plain.ask()
        np.testing.assert_array_equal(action, random.ask())
        plain.tell(action, [reward])
        random.tell(action, [reward])


def test_failed_points_are_hallucinated_beside_what_is_believed():
    """Of two equal maxima of the bound, the one where an evaluation failed is not chosen."""
    agent = agents.make(
        "gp-ucb",
        Problem(Arms.grid(3, -1.0, 1.0), KERNEL, NOISE, batch_size=1),
        seed=0,
        batch="randomised-believer",
        beta=4.0,
    )
    agent.prior_data([1], [-1.0])
    for failed, other in ((0, 2), (2, 0)):
        agent.beside = np.array([1]), np.array([failed])  # one is pending
        with rolled_back(agent.posterior):
            agent.posterior.hallucinate([1, failed])
            assert agent.choose() == [other]


@pytest.mark.parametrize(("told", "best"), [(-9.0, None), (9.0, 9.0)])
def test_a_believed_reward_may_be_the_best_observed(told, best):
    problem = Problem(Arms.grid(3, -1.0, 1.0), KERNEL, NOISE)
    agent = agents.make("ei", problem, seed=0, incumbent="observed")
    agent.tell([0], [told])
    now = agent.next_round()
    now = replace(now, posterior=deepcopy(now.posterior), rng=np.random.default_rng(5))
    mean, var = now.posterior.moments(np.array([2]))
    reward = mean + np.sqrt(var + NOISE) * np.random.default_rng(5).standard_normal(1)
    believe(now, np.array([2]))
    assert now.acquisition().level == pytest.approx(best or reward.item())
