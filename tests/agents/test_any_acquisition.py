"""The acquisition as a setting: what it is made of in a round."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions import UCB, LogEI, LogPI
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

PROBLEM = Problem(Box([0.0, -1.0], [4.0, 1.0]), SquaredExponential(0.7), 0.5, prior_mean=0.3)
X, Y = np.array([[0.5, 0.0], [0.6, 0.1], [3.0, 0.5]]), np.array([1.0, 0.2, 0.9])


def made(**settings):
    """With d = D ms-ucb searches the whole box."""
    return agents.make("ms-ucb", PROBLEM, seed=0, d=2, **settings)


@pytest.mark.parametrize("told", [False, True])
def test_improvement_is_on_the_largest_posterior_mean_observed(told):
    level = 0.3
    if told:
        gram = np.exp(-((X[:, None] - X) ** 2).sum(-1) / (2 * 0.7**2))
        level += (gram @ np.linalg.solve(gram + 0.5 * np.eye(3), Y - 0.3)).max()
    for kind, margin in [("ei", 0.0), ("mpi", 0.01)]:
        agent = made(acquisition=kind)
        if told:
            agent.tell(X, Y)
        found = agent.acquisition()
        assert type(found) is {"ei": LogEI, "mpi": LogPI}[kind]
        assert (found.level, found.margin) == (pytest.approx(level, abs=1e-10), margin)


def test_the_others_need_no_level():
    assert made(beta=3.0).acquisition() == UCB(3.0)
    assert made(acquisition="ts").batch.type_name == "thompson"
    assert made(acquisition="ts", batch="ts-rsr").batch.type_name == "ts-rsr"
    with pytest.raises(InvalidInput, match="draws posterior samples"):
        made(acquisition="ts").acquisition()
    with pytest.raises(InvalidInput, match="has none, because it draws samples"):
        made(acquisition="ts", batch="hallucinate")
    with pytest.raises(UnknownName, match="acquisition"):
        made(acquisition="pes")


def test_beta_is_that_of_the_box_by_its_longest_side():
    schedule = agents.make("gp-ucb", PROBLEM).rule.schedule
    assert (schedule.dim, schedule.r, schedule.scale) == (2, 4.0, 0.2)
