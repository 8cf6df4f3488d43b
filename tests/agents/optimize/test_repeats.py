"""No evaluation is repeated whose value is known or on its way, unless values have noise."""

import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer

PLANE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def points_of(suggestions):
    return {tuple(s.params.values()) for s in suggestions}


def known(campaign, count=8):
    """Values of x + y, whose minimum is a corner."""
    xy = np.random.default_rng(0).random((count, 2))
    campaign.observe_all([{"x": x, "y": y} for x, y in xy.tolist()], xy.sum(axis=1).tolist())


@pytest.mark.parametrize("name", ["ei", "ts", "gp-ucb"])
def test_a_corner_that_is_known_to_be_low_hides_no_narrow_minimum(name):
    def fun(x):
        return x[0] + x[1] - 3.0 * math.exp(-((x[0] - 0.7) ** 2 + (x[1] - 0.7) ** 2) / 0.0128)

    found = agents.minimize(fun, [(0, 1), (0, 1)], name, n_calls=32, seed=0)
    assert len({tuple(x) for x in found.x_iters}) >= 31  # one repeat shows that there is no noise
    assert found.fun < -1.5


@pytest.mark.parametrize("name", ["ei", "ts", "gp-ucb", "mpi", "ts-rsr"])
def test_pending_points_are_not_suggested_again(name):
    campaign = Campaign(PLANE, name, maximize=False, seed=0, n_initial=0)
    known(campaign)
    assert len(points_of(campaign.ask(5))) == 5


def test_with_noise_a_point_may_be_suggested_again():
    campaign = Campaign(PLANE, maximize=False, seed=0, n_initial=0, noise=0.3)
    known(campaign)
    assert len(points_of(campaign.ask(5))) < 5


@pytest.mark.parametrize("kind", [Integer(0, 99), (0.0, 1.0)])
def test_without_noise_known_points_are_not_suggested_again(kind):
    campaign = Campaign({"x": kind, "y": kind}, maximize=False, seed=0, noise=0.0)
    for _ in range(20):
        (s,) = campaign.ask()
        campaign.tell(s.id, s.params["x"] + s.params["y"])
    assert len(points_of(campaign.records)) == 20


def test_a_run_without_noise_ends_when_all_combinations_are_known():
    def run(fun=lambda x: x[0] ** 2.0, **options):
        return agents.minimize(fun, [Integer(0, 3)], n_calls=30, seed=0, **options)

    assert run(noise=0.0).nfev == 4
    assert "all combinations" in run(noise=0.0).message
    assert run(noise=0.0, x0=[[1], [1], [2], [3], [0], [0]]).nfev == 6  # as they are given
    assert run(noise=0.0, x0=[[1], [2]], y0=[1.0, 4.0]).nfev == 2
    assert run().nfev == 5  # one repeated evaluation shows that there is no noise
    assert run(noise=0.1).nfev == 30
    rng = np.random.default_rng(0)
    assert run(lambda x: x[0] + 0.1 * rng.standard_normal()).nfev == 30


@pytest.mark.parametrize("failing", [True, False])
def test_the_first_points_on_arms_differ(failing):
    options = Choice(("a", "b", "c"))
    for seed in range(6):
        campaign = Campaign({"u": options, "v": options}, seed=seed, n_initial=9)
        for _ in range(9):
            (s,) = campaign.ask()
            if failing:
                campaign.fail(s.id)
        assert len(points_of(campaign.records)) == 9


def test_further_points_on_a_line_differ():
    space = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    line = LinearConstraint([[1.0, 1.0]], 1.0, 1.0)
    campaign = Campaign(space, seed=0, constraints=line)
    for _ in range(40):
        (s,) = campaign.ask()
        campaign.tell(s.id, 1.0)
    assert len(points_of(campaign.records)) == 40


@pytest.mark.parametrize("together", [True, False])
def test_an_equal_value_of_a_known_point_is_learned_once(together):
    """However it is told, so that a correction changes nothing else."""
    points, values = [{"x": 0.2, "y": 0.1}, {"x": 0.4, "y": 0.8}] * 2, [1.0, 2.0] * 2
    campaign = Campaign(PLANE, seed=0)
    if together:
        campaign.observe_all(points, values)
    else:
        for point, value in zip(points, values, strict=True):
            campaign.observe(point, value)
    assert len(campaign.records) == 4
    assert len(campaign.agent.posterior.observed) == 2
    campaign.correct(3, 2.0)
    assert len(campaign.agent.posterior.observed) == 2


@pytest.mark.parametrize("name", ["rembo", "hesbo", "line-bo", "ms-ucb"])
def test_a_correction_moves_no_point_of_an_embedding(name, tmp_path):
    campaign = Campaign([(0.0, 1.0)] * 6, name, seed=0, n_initial=1)
    for _ in range(6):
        (s,) = campaign.ask()
        campaign.tell(s.id, s.params["x0"])
    before = campaign.agent.posterior.observed
    campaign.save(tmp_path / "c.json")
    resumed = Campaign.resume(tmp_path / "c.json")
    for one in (campaign, resumed):
        one.correct(2, 5.0)
        assert np.array_equal(one.agent.posterior.observed[1:], before[1:])
    campaign.save(tmp_path / "corrected.json")
    corrected = Campaign.resume(tmp_path / "corrected.json").ask()[0].params
    assert campaign.ask()[0].params == resumed.ask()[0].params == corrected


def test_what_is_told_late_is_learned_where_it_was_evaluated_though_coordinates_change():
    campaign = Campaign([(0.0, 1.0)] * 4, "dropout-ucb", seed=0, d=2, n_initial=2)
    for i in range(5):
        first, second = campaign.ask(2)
        campaign.tell(first, first.params["x0"])
        campaign.ask()  # while one is pending
        campaign.fail(second) if i == 3 else campaign.tell(second, second.params["x1"])
    done = [record for record in campaign.records if record.status == "done"]
    order = [campaign.records[told.id] for told in campaign._log.told]
    points = np.array([list(record.params.values()) for record in order])
    np.testing.assert_allclose(campaign.agent.data.points, points, atol=1e-12)
    campaign.correct(done[2].id, 5.0)
    np.testing.assert_allclose(campaign.agent.data.points, points, atol=1e-12)
    active = campaign.agent.action_map.active
    best = campaign.recommended
    means = {campaign.predict(record.params)[0].item(): record.params for record in done}
    assert [best[f"x{i}"] for i in active] == [means[max(means)][f"x{i}"] for i in active]


@pytest.mark.parametrize("limited", [True, False])
def test_in_place_of_a_known_corner_points_are_suggested_that_are_probably_feasible(limited):
    constraints = {"g": 0.0} if limited else None
    campaign = Campaign(PLANE, maximize=False, seed=0, constraints=constraints)
    outside = []
    for _ in range(28):
        (s,) = campaign.ask()
        x, y = s.params["x"], s.params["y"]
        value, g = (x + 0.1) ** 2 + (y + 0.2) ** 2, x + y - 0.6
        outside.append(g >= 0.0)
        if limited:
            campaign.tell(s.id, value, constraints=[g])
        else:
            campaign.tell(s.id, math.nan if g >= 0.0 else value)
    assert len(points_of(campaign.records)) >= 27
    assert sum(outside[14:]) <= (1 if limited else 7)
