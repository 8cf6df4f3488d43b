"""Values that are corrected after they were told."""

import numpy as np
import pytest

from gpbandits_env.agents.optimize import Campaign
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52


def fixed(agent="ei", **settings):
    return Campaign(
        {"x": (0.0, 1.0)}, agent, seed=0, kernel=Matern52(0.3), noise_var=0.01,
        standardize=False, n_initial=3, **settings,
    )  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"epsilon": 0.1}, {"window": 4}])
def test_a_corrected_value_is_as_if_it_had_been_told(settings):
    wrong, right = fixed(**settings), fixed(**settings)
    for campaign in (wrong, right):
        campaign.observe({"x": 0.35}, 0.2)
    for i in range(6):
        for campaign in (wrong, right):
            id = campaign.expect({"x": i / 7}).id
            campaign.tell(id, 50.0 if campaign is wrong and i == 4 else i / 7)
    record = wrong.correct(5, 4 / 7)
    assert (record.value, record.time) == (4 / 7, right.records[5].time)
    points = [{"x": x} for x in (0.1, 0.5, 0.9)]
    for ours, exact in zip(wrong.predict(points), right.predict(points), strict=True):
        np.testing.assert_allclose(ours, exact, atol=1e-8)
    assert wrong.agent.round == right.agent.round
    assert wrong.best == right.best


ROUNDS_MATTER = {
    "dropout-ucb": {"d": 1},
    "lb-gp-ucb": {},
    "line-bo": {"rounds_per_line": 3},
    "mini-gp-ucb": {"ratio": 50.0},
    "sre": {"d": 1, "rounds": 4},
    "turbo": {"n_initial": 2, "candidates": 16},
}


@pytest.mark.parametrize("agent", ROUNDS_MATTER)
def test_after_a_correction_suggestions_are_as_if_the_value_had_been_told(agent):
    space, model = [(0.0, 1.0)] * 2, {"kernel": Matern52(0.3), "noise_var": 0.01}
    model |= {"standardize": False, "n_initial": 1, **ROUNDS_MATTER[agent]}
    wrong, right = (Campaign(space, agent, seed=3, **model) for _ in range(2))
    for i in range(8):
        (one,), (other,) = wrong.ask(), right.ask()
        assert one.params == pytest.approx(other.params, abs=1e-6)
        value = np.sin(5.0 * other.params["x0"]) + other.params["x1"]
        right.tell(other, value)
        wrong.tell(one, 9.0 * (-1) ** i)
        wrong.correct(one, value)


@pytest.mark.parametrize("settings", [{"window": 4}, {"reset_every": 4}, {"epsilon": 0.1}], ids=str)
def test_a_correction_to_a_failure_moves_no_other_value_in_time(settings):
    campaign, times = fixed(**settings), np.arange(7.0)
    for i in range(7):
        campaign.tell(campaign.expect({"x": i / 7}), i / 7)
    campaign.correct(5, float("nan"))
    rounds = times[times != 5.0] + 1.0
    assert campaign.agent.data.rounds.tolist() == rounds.tolist()
    assert campaign.agent.data.times.tolist() == (rounds - 1.0).tolist()
    assert (campaign.agent.round, campaign.agent.clock, campaign.now) == (7, 7.0, 7.0)


def test_a_correction_may_be_a_failure_and_back(tmp_path):
    campaign = Campaign({"x": (0.0, 1.0)}, seed=0, file=tmp_path / "c.json")
    for x in (0.1, 0.5, 0.9):
        campaign.observe({"x": x}, x)
    assert campaign.correct(2, float("nan")).status == "failed"
    assert campaign.best.params == {"x": 0.5}
    assert campaign.correct(2, 3.0).reason == ""
    assert campaign.best.value == 3.0
    assert Campaign.resume(tmp_path / "c.json").snapshot().keys() == campaign.snapshot().keys()
    assert Campaign.resume(tmp_path / "c.json").records == campaign.records
    pending = campaign.expect({"x": 0.2})
    before = campaign.records.copy()
    wrong = ((pending.id, 1.0, r"pending: tell\(3, value\)"), (7, 1.0, "no evaluation with id 7"))
    for id, value, says in (*wrong, (0, "high", "one number")):
        with pytest.raises(InvalidInput, match=says):
            campaign.correct(id, value)
    assert campaign.records == before


@pytest.mark.parametrize(
    "forgets", [{}, {"window": 4}, {"reset_every": 3}, {"epsilon": 0.1}], ids=str
)
def test_the_same_value_again_corrects_nothing_whatever_the_time_stamps(forgets):
    model = {"kernel": Matern52(0.3), "noise_var": 0.01, "standardize": False}
    campaign = Campaign({"x": (0.0, 1.0)}, "gp-ucb", seed=0, n_initial=99, **model, **forgets)
    campaign.observe([0.9], 0.5)
    for time in (None, 4.0, 4.0, None, 9.5):  # several values of one time, and rounds between
        (asked,) = campaign.ask(time=time)
        campaign.tell(asked, np.sin(6.0 * asked.params["x"]), time=time)
    campaign.observe([0.2], 0.1, time=campaign.now)
    campaign.fail(campaign.ask()[0])
    points = [[0.1], [0.4], [0.8]]
    before, now = campaign.predict(points), campaign.now
    campaign.correct(3, campaign.records[3].value)
    np.testing.assert_allclose(campaign.predict(points), before, atol=1e-9)
    assert campaign.now == now
