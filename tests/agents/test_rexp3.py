import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

ARMS = 5


def problem(**changes):
    return Problem(Arms.grid(ARMS), SquaredExponential(0.2), 0.1, **{"horizon": 200, **changes})


def test_replays_algorithm_1():
    """Weights in the open, as the paper has them."""
    agent = agents.make("rexp3", problem(), seed=0, reset_every=30, low=-1.0, high=3.0)
    gamma = min(1.0, math.sqrt(ARMS * math.log(ARMS) / ((math.e - 1) * 30)))
    rng, weights = np.random.default_rng(1), np.ones(ARMS)
    for t in range(1, 101):
        p = (1 - gamma) * weights / weights.sum() + gamma / ARMS
        np.testing.assert_allclose(agent.probabilities, p, rtol=1e-12)
        arm, reward = rng.integers(ARMS), rng.uniform(-2.0, 4.0)
        agent.tell([arm], [reward])
        gain = min(max((reward + 1) / 4, 0.0), 1.0)
        weights[arm] *= math.exp(gamma * gain / p[arm] / ARMS)
        if t % 30 == 0:
            weights[:] = 1.0


def test_arms_are_drawn_with_their_probabilities():
    agent = agents.make("rexp3", problem(batch_size=20_000), seed=3, reset_every=50)
    agent.tell([1] * 5, [2.0] * 5)
    expected = agent.probabilities * 20_000
    counts = np.bincount(agent.ask(), minlength=ARMS)
    # Chi-squared with 4 degrees of freedom: above 24 with probability 1e-4.
    assert ((counts - expected) ** 2 / expected).sum() < 24
    assert agent.probabilities[1] > 1.5 / ARMS


def test_the_block_is_theorem_2s():
    agent = agents.make("rexp3", problem(), variation=4.0)
    assert agent.reset_every == math.ceil((5 * math.log(5)) ** (1 / 3) * 50 ** (2 / 3))
    unknown = agents.make("rexp3", problem(horizon=None))
    assert unknown.reset_every == math.ceil((5 * math.log(5)) ** (1 / 3) * 100)


def test_limits_are_the_priors():
    agent = agents.make("rexp3", problem(prior_mean=np.arange(5.0)))
    assert (agent.low, agent.high) == (-2.0, 6.0)
    with pytest.raises(InvalidInput, match="low must be below high"):
        agents.make("rexp3", problem(), low=3.0)


def test_it_plays_the_better_arm_more_often():
    agent = agents.make("rexp3", problem(), seed=0, reset_every=2000, low=0.0, high=1.0)
    played = []
    for _ in range(1500):
        arm = agent.ask()
        played.append(int(arm[0]))
        agent.tell(arm, [0.9 if arm[0] == 2 else 0.1])
    assert np.mean(np.array(played[1000:]) == 2) > 0.7


def test_what_is_refused_changes_nothing():
    agent = agents.make("rexp3", problem(), seed=0)
    agent.tell([1], [0.5])
    before = agent.probabilities
    for actions, rewards in (([1, 2], [0.5]), ([9], [0.5]), ([1], [np.nan])):
        with pytest.raises(InvalidInput):
            agent.tell(actions, rewards)
    assert (agent.probabilities == before).all()
    assert agent.round == 1


def test_in_a_box_it_plays_candidates():
    box = Problem(Box([0.0], [1.0]), SquaredExponential(0.2), 0.1, horizon=9)
    agent = agents.make("rexp3", box, seed=0, candidates=8)
    point = agent.ask()
    agent.tell(point, [1.0])
    assert agent.probabilities.max() > 1 / 8
    with pytest.raises(InvalidInput, match="not one of the agent's 8 candidates"):
        agent.tell([[0.123]], [1.0])


def test_snapshot_and_reset():
    agent = agents.make("rexp3", problem(), seed=0)
    agent.tell([1], [0.5])
    kept, before = agent.snapshot(), agent.probabilities
    agent.reset()
    assert (agent.probabilities == 1 / ARMS).all()
    agent.restore(kept)
    assert (agent.probabilities == before).all()


def test_a_late_reward_of_an_earlier_block_changes_no_weight():
    agent = agents.make("rexp3", problem(), seed=0, reset_every=5)
    for _ in range(6):
        agent.expect([2])
    agent.tell_late([2], [1.0], rounds=[5])  # the last round of the first block
    np.testing.assert_allclose(agent.probabilities, 1.0 / ARMS)
    agent.tell_late([2], [1.0], rounds=[6])
    assert agent.probabilities.argmax() == 2
