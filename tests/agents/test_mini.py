"""Mini-GP-UCB and mini-EI against the rule of Calandriello et al. (2022)."""

import math

import gymnasium as gym
import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.algorithms.mini import MOST, repetitions
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios import registry

NOISE_VAR, ROUNDS = 0.025, 60


@pytest.mark.parametrize(("ratio", "times"), [(2.0, 10), (1.1, 1), (8.0, 70), (1.0, 1)])
def test_the_number_of_repetitions(ratio, times):
    assert repetitions(ratio - 1.0, 0.1, np.array([0.01])) == times
    assert repetitions(ratio - 1.0, 0.1, np.full(4, 0.0025)) == times


def test_a_known_point_is_repeated_and_noise_of_zero_repeats_nothing():
    assert repetitions(1.0, 0.1, np.zeros(1)) == MOST
    assert repetitions(1.0, 0.0, np.ones(1)) == repetitions(1.0, 0.0, np.zeros(1)) == 1


def scores_of(name, t, mean, var, dense, normal):
    if name == "mini-gp-ucb":
        beta = 2 * math.log(len(mean) * t**2 * math.pi**2 / (6 * 0.1)) / 5
        return mean + np.sqrt(beta * var)
    best = dense.mean()[dense.arms].max() if dense.arms else dense.prior_mean.max()
    return normal.log_improvement((mean - best) / np.sqrt(var)) + 0.5 * np.log(var)


@pytest.mark.parametrize("name", ["mini-gp-ucb", "mini-ei"])
@pytest.mark.parametrize("ratio", [1.0, 2.0, 6.0])
def test_replays_the_repetitions(world, normal, batch_size, name, ratio):
    agent = agents.make(name, world.problem(), seed=0, batch_size=batch_size, ratio=ratio)
    dense, left, decisions, arms = world.dense(), 0, 0, None
    for t in range(1, ROUNDS + 1):
        asked = agent.ask()
        if left:
            assert np.array_equal(asked, arms)
            left -= 1
        else:
            arms, mean, decisions = asked, dense.mean(), decisions + 1
            for i, arm in enumerate(arms):
                scores = scores_of(name, t, mean, dense.var(also=arms[:i]), dense, normal)
                assert scores[arm] == pytest.approx(scores.max(), abs=1e-8)
            wanted = (ratio - 1) * NOISE_VAR / dense.var()[arms].sum()
            left = max(1, math.floor(wanted + 1e-9)) - 1
        rewards = world.rewards(asked)
        agent.tell(asked, rewards)
        dense.tell(asked, rewards, t)
        assert (agent.repeats.left, agent.repeats.decisions) == (left, decisions)
        np.testing.assert_allclose(agent.belief()[0], dense.mean(), atol=1e-8)
    assert decisions == ROUNDS if ratio == 1.0 else decisions < ROUNDS


def test_other_actions_than_those_asked_for_begin_a_step(world):
    agent = agents.make("mini-gp-ucb", world.problem(), seed=0, ratio=8.0)
    for _ in range(20):
        agent.tell(asked := agent.ask(), world.rewards(asked))
    assert agent.repeats.left > 0
    decisions, other = agent.repeats.decisions, (agent.ask() + 30) % 60
    agent.tell(asked, [0.0], observed=[False])
    assert agent.repeats.decisions == decisions
    agent.tell(other, world.rewards(other))
    assert agent.repeats.decisions == decisions + 1
    assert agent.repeats.actions == other.tolist()


def test_part_of_a_batch_is_not_repeated(world):
    agent = agents.make("mini-gp-ucb", world.problem(), seed=0, batch_size=2, ratio=100.0)
    agent.tell(agent.ask(), world.rewards(agent.ask()), observed=[True, False])
    assert agent.repeats.left == 0
    assert len(agent.ask()) == 2


def test_a_ratio_below_one_is_refused(world):
    with pytest.raises(InvalidInput, match="ratio must be at least 1"):
        agents.make("mini-ei", world.problem(), ratio=0.5)


def test_on_average_it_decides_in_at_most_a_quarter_of_the_rounds():
    """In the instances of the scenario newer/repeats."""
    scenario = registry.get("newer/repeats")
    arguments = scenario.env_kwargs | {"max_episode_steps": scenario.horizon}
    decisions = 0
    for seed in range(8):
        env = gym.make(scenario.env, **arguments)
        agent = agents.make("mini-gp-ucb", env, seed=seed)
        env.reset(seed=seed)
        for _ in range(scenario.horizon):
            agent.observe(env.step(agent.ask())[0])
        decisions += agent.repeats.decisions
    assert decisions <= 8 * scenario.horizon / 4
