"""What the settings of an agent make of its parts."""

from functools import partial

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions import UCB
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.parts import Parts
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.temporal import MarkovTime
from gpbandits_env.problem import Problem

PROBLEM = Problem(Arms.grid(9), Matern52(0.3), 0.1)
BOX = PROBLEM.replaced(domain=Box(np.zeros(3), np.ones(3)))


@pytest.mark.parametrize(("epsilon", "first"), [(None, 0.01), (0.2, 0.2)])
def test_epsilon_is_that_of_the_problem_before_it_is_learned(epsilon, first):
    problem = PROBLEM.replaced(epsilon=epsilon)
    agent = agents.make("gp-ucb", problem, learn={"what": ["epsilon"]})
    assert agent.conditioned.model.epsilon == first


@pytest.mark.parametrize(("candidates", "count"), [(None, 1024), (16, 16)])
def test_an_agent_that_needs_arms_has_so_many_candidates(candidates, count):
    agent = agents.make("ei", BOX, posterior="nystrom", candidates=candidates)
    assert agent.action_map.arms.size == count


def test_subspaces_have_no_more_dimensions_than_the_box():
    search = agents.make("ms-ucb", BOX, d=99, search={"starts": 3}).search
    assert search.usual_beta["subspace_dim"] == 3
    assert search.settings.starts == 3


def test_a_model_of_standardized_rewards_has_their_standard_deviation():
    one, two = (
        agents.make("gp-ucb", PROBLEM.replaced(reward_sd=sd), standardize=True) for sd in (1.0, 2.0)
    )
    for agent in (one, two):
        agent.tell(np.arange(9), 5.0 * np.arange(9))
    ratio = one.posterior.kernel.variance / two.posterior.kernel.variance
    assert ratio == pytest.approx(4.0)


@pytest.mark.parametrize("kernel_on", ["x", "y"])
def test_a_snapshot_of_another_embedding_is_refused(kernel_on):
    one, other = (agents.make("rembo", BOX, seed=seed, kernel_on=kernel_on) for seed in (0, 1))
    with pytest.raises(InvalidInput, match="another seed"):
        other.restore(one.snapshot())


def test_two_parts_have_no_setting_of_the_same_name():
    class Recent(Keep):
        def __init__(self, *, beta):
            self.beta = beta
            super().__init__()

    parts = Parts(acquisition=partial(UCB, beta=2.0), keep=partial(Recent, beta=3.0))
    with pytest.raises(InvalidInput, match="Own: acquisition and keep both have the setting beta"):
        parts.given({"beta": 1.0}, "Own")


def test_a_temporal_kernel_of_ones_own_is_checked_when_an_agent_is_made():
    class Undefined(MarkovTime):
        def __call__(self, t, s):
            return super().__call__(t, s) * np.nan

    with pytest.raises(InvalidInput, match="Undefined"):
        agents.make("ts", PROBLEM, temporal=Undefined(0.1))
