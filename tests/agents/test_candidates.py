"""The points of a box that a learner chooses among."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.embeddings.action_map import CandidateMap, sobol_arms
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

BOX = Box([-1.0, 0.0, 5.0], [1.0, 1e-3, 6.0])
PROBLEM = Problem(BOX, SquaredExponential(0.5), 0.1, batch_size=2)


def points_of(agent):
    return agent.posterior.arms.coordinates


@pytest.mark.parametrize("count", [2, 100, 1024])
def test_they_fill_the_box_evenly(count):
    points = sobol_arms(BOX, count, np.random.default_rng(0)).coordinates
    assert points.shape == (count, 3)
    assert np.array_equal(BOX.check(points), points)
    assert len(np.unique(points, axis=0)) == count
    unit = (points - BOX.low) / (BOX.high - BOX.low)
    for axis in unit.T:
        counts, _ = np.histogram(axis, bins=min(count, 8), range=(0, 1))
        assert np.ptp(counts) <= max(1, count // 50)


def test_the_seed_decides_them_and_the_number_is_a_setting():
    a, b, c = (agents.make("ei", PROBLEM, seed=seed, candidates=40) for seed in (0, 0, 1))
    assert np.array_equal(points_of(a), points_of(b))
    assert not np.array_equal(points_of(a), points_of(c))
    assert len(points_of(agents.make("bkb-ei", PROBLEM))) == 1024


def test_actions_are_candidates_and_are_told_as_points():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, candidates=40)
    actions = agent.ask()
    assert actions in BOX.action_space(2)
    agent.tell(actions, [3.0, 1.0])
    told = points_of(agent)[agent.posterior.observed]
    assert sorted(map(tuple, told)) == sorted(map(tuple, actions))
    actions[:] = 0.0  # what was handed out is not what the agent keeps
    assert BOX.check(points_of(agent)).shape == (40, 3)


def test_a_point_that_is_no_candidate_is_an_error_and_changes_nothing():
    agent = agents.make("gp-ucb", PROBLEM, seed=0, candidates=40)
    points = np.stack([points_of(agent)[3], points_of(agent)[4] + [1e-9, 0, 0]])
    with pytest.raises(InvalidInput, match="not one of the agent's 40 candidates"):
        agent.tell(points, [1.0, 2.0])
    assert agent.round == agent.posterior.size == 0


def test_zero_has_one_sign():
    box = Box([0.0], [1.0])
    arms = sobol_arms(box, 8, np.random.default_rng(0))
    candidates = CandidateMap(PROBLEM.replaced(domain=box), arms)
    points = np.array(candidates.arms.coordinates)
    assert candidates.points(-1.0 * -points).tolist() == list(range(8))


def test_a_snapshot_of_other_candidates_is_refused():
    a, b = (agents.make("max-mean", PROBLEM, seed=seed, candidates=40) for seed in (0, 1))
    with pytest.raises(InvalidInput, match="other points"):
        b.restore(a.snapshot())
    b = agents.make("max-mean", PROBLEM, seed=0, candidates=40)
    b.restore(a.snapshot())


@pytest.mark.parametrize("count", [1, 0, 2.5, "many"])
def test_too_few(count):
    with pytest.raises(InvalidInput, match="candidates"):
        agents.make("gp-ucb", PROBLEM, candidates=count)


def test_on_arms_the_setting_does_not_matter():
    problem = PROBLEM.replaced(domain=Arms.grid((3, 2, 2)))
    assert agents.make("gp-ucb", problem, candidates=5).posterior.arms is problem.domain


def test_a_zero_is_found_whatever_its_sign():
    box = Box([-1.0, -1.0], [1.0, 1.0])
    arms = Arms([[0.5, 0.0], [0.0, 0.0], [0.0, 0.5]])
    candidates = CandidateMap(PROBLEM.replaced(domain=box), arms)
    assert candidates.points(np.array([[-0.0, 0.0], [-0.0, 0.5], [0.5, -0.0]])).tolist() == [
        1,
        2,
        0,
    ]
    columns = np.asfortranarray([[0.0, 0.5], [0.5, 0.0]])  # points that are not contiguous
    assert candidates.points(columns).tolist() == [2, 0]
