"""The trigger of ET-GP-UCB against its formula."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.algorithms.et_gp_ucb import EventTrigger
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

POSTERIOR = SimpleNamespace(noise_var=0.04, moments=lambda at: (np.ones(len(at)), 0.25 * at))


@pytest.mark.parametrize(("first_round", "since"), [(3.0, 3), (math.inf, 1), (-4.0, 5)])
@pytest.mark.parametrize("beyond", [False, True])
def test_a_reward_outside_its_bound_is_an_event_unless_it_is_late(first_round, since, beyond):
    """Brunzema et al. (2025), with t the rounds since the last event."""
    rho = 2.0 * math.log(2.0 * (math.pi**2 * since**2 / 6.0) / 0.1)
    bound = math.sqrt(rho) * 0.5 + 0.2 * math.sqrt(rho)
    given = np.array([1.0, 1.0 - bound * (1.001 if beyond else 0.999), 99.0])
    trigger = EventTrigger(0.1)
    trigger.observe(
        SimpleNamespace(
            each_round=np.array([5.0, 5.0, 4.0]), round=5, points=np.ones(3), rewards=given
        ),
        SimpleNamespace(
            first_round=first_round, posterior=POSTERIOR, received=lambda rewards: rewards
        ),
    )
    assert trigger.events == beyond
    assert trigger.start == (5.0 if beyond else -math.inf)


def test_two_arms_by_hand():
    """Of the first reward, the bound is 2.643268 (1 + s); of the second, 3.124012 (sigma + s)."""
    arms = Arms(np.array([[0.0], [9.0]]))
    for reward, events in ((2.9, 0), (2.91, 1)):
        agent = agents.make("et-gp-ucb", Problem(arms, SquaredExponential(0.1), 0.01), seed=0)
        agent.tell([0], [reward])
        assert agent.keep.events == events
    sigma = math.sqrt(0.01 / 1.01)
    for beyond in (-1e-3, 1e-3):
        agent = agents.make("et-gp-ucb", Problem(arms, SquaredExponential(0.1), 0.01), seed=0)
        agent.tell([0], [2.0])
        agent.tell([0], [2.0 / 1.01 + 3.124012 * (sigma + 0.1) + beyond])
        assert agent.keep.events == (beyond > 0)


def test_a_block_ends_after_the_longest_number_of_rounds():
    problem = Problem(Arms.grid(9), SquaredExponential(0.3), 0.01)
    agent = agents.make("et-gp-ucb", problem, seed=0, longest=4)
    sizes = []
    for _ in range(12):
        agent.tell(agent.ask(), [0.0])
        sizes.append(agent.posterior.size)
    assert sizes == [1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 1]
    assert agent.keep.events == 0
    with pytest.raises(InvalidInput, match="longest"):
        agents.make("et-gp-ucb", problem, longest=0)
