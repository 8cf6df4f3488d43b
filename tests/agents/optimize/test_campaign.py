"""Ask and tell where evaluations are real."""

import json

import numpy as np
import pytest

from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real, Space
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, UnknownName

MIXED = {
    "rate": Real(1e-5, 1.0, log=True),
    "depth": Integer(1, 20),
    "kind": Choice(("a", "b", None)),
}


def bowl(params):
    return -sum((v - 0.3) ** 2 for v in params.values())


def distance(one, other):
    return np.hypot(one["x"] - other["x"], one["y"] - other["y"])


@pytest.mark.parametrize("agent", ["ei", "gp-ucb", "max-variance"])
def test_pending_and_failed_points_repel_new_asks(begun, agent):
    campaign = begun(agent=agent)
    first, *others = campaign.ask(4)
    for other in others:
        assert distance(first.params, other.params) > 1e-3
    campaign.fail(first.id, "the oven broke")
    assert campaign.failed[0].reason == "the oven broke"
    again = campaign.ask(3)
    assert min(distance(first.params, s.params) for s in again) > 1e-3
    twin = begun(agent=agent)  # alone, it would have been asked for: the control
    assert distance(twin.ask()[0].params, first.params) == 0.0


def test_several_suggestions_are_as_promising_as_one():
    """Each may be better than all known values; none is a point spread over the space instead."""
    known = np.random.default_rng(0).random((30, 2))
    campaign = Campaign([(0.0, 1.0)] * 2, seed=0)
    campaign.observe_all(known, -((known - 0.4) ** 2).sum(axis=1))
    points = [list(suggestion.params.values()) for suggestion in campaign.ask(4)]
    mean, sd = campaign.predict(points)
    (best,), _ = campaign.predict(list(campaign.recommended.values()))
    assert (mean + 2.0 * sd > best).all()


def test_what_is_pending_changes_no_belief(begun):
    campaign, twin = begun(), begun()
    campaign.ask(3)
    at = np.random.default_rng(0).random((9, 2))
    for one, other in zip(campaign.agent.belief(at), twin.agent.belief(at), strict=True):
        assert np.array_equal(one, other)


def test_a_failure_never_poisons(begun):
    campaign, twin = begun(), begun()
    at = np.random.default_rng(0).random((9, 2))
    (bad,) = campaign.ask()
    assert campaign.tell(bad.id, float("nan")).status == "failed"
    assert campaign.records[bad.id].value is None
    for one, other in zip(campaign.agent.belief(at), twin.agent.belief(at), strict=True):
        assert np.array_equal(one, other)
    (good,) = campaign.ask()
    campaign.tell(good.id, 0.0)
    assert np.isfinite(campaign.agent.belief(at)[0]).all()


def test_bad_tells_change_nothing(begun):
    campaign = begun()
    (suggestion,) = campaign.ask()
    before = json.dumps(campaign.snapshot(), default=repr)
    with pytest.raises(InvalidInput, match=r"pending ids are \[6\]; correct\(0, value\)"):
        campaign.tell(0, 0.5)
    wrong = [(suggestion.id, np.inf), (99, 0.5), (suggestion.id, "much"), (-1, 0.5)]
    for id_, value in [*wrong, (suggestion.id, [1.0]), (True, 0.5)]:
        with pytest.raises(InvalidInput):
            campaign.tell(id_, value)
    for no_record in (None, suggestion, 0, {"id": 0}):
        with pytest.raises(InvalidInput, match="one of the records"):
            campaign.feasible(no_record)
    with pytest.raises(InvalidInput, match="before"):
        campaign.tell(suggestion.id, 0.5, time=-1.0)
    with pytest.raises(UnknownName):
        campaign.observe({"x": 0.5, "z": 0.5}, 1.0)
    with pytest.raises(InvalidInput):
        campaign.observe({"x": 0.5, "y": 1.5}, 1.0)
    with pytest.raises(InvalidInput, match="posterior"):
        Campaign([(0, 1)], "random")
    assert json.dumps(campaign.snapshot(), default=repr) == before


@pytest.mark.parametrize("error", [InvalidInput, KeyboardInterrupt])
def test_an_ask_that_fails_changes_nothing(begun, monkeypatch, error):
    campaign, twin = begun(epsilon=0.1), begun(epsilon=0.1)
    before, choose = json.dumps(campaign.snapshot(), default=repr), campaign.agent.choose

    def fails():
        if campaign.pending:
            raise error("no choice")
        return choose()

    monkeypatch.setattr(campaign.agent, "choose", fails)
    with pytest.raises(error):
        campaign.ask(3, time=9.0)
    monkeypatch.undo()
    assert json.dumps(campaign.snapshot(), default=repr) == before
    assert campaign.ask(2, time=8.0) == twin.ask(2, time=8.0)


def test_known_values_count_as_first_ones():
    campaign = Campaign({"x": (0.0, 1.0), "y": (0.0, 1.0)}, seed=0, n_initial=5)
    for x in np.linspace(0, 1, 6):
        campaign.observe({"x": x, "y": 0.5 * x}, bowl({"x": x, "y": 0.5 * x}))
    assert campaign.agent.round == 0
    assert campaign.agent.posterior.size == 6
    assert len(campaign.agent.learned) == 1
    assert campaign.best.params["x"] == pytest.approx(0.4)
    assert campaign.recommended["x"] == pytest.approx(0.4)


def test_the_model_is_learned_from_all_known_values(tmp_path):
    """Values observed one by one, or together, are as many as the model is fitted to."""
    one = Campaign({"x": (0.0, 1.0), "y": (0.0, 1.0)}, seed=0)
    places = [{"x": float(x), "y": float(x * x)} for x in np.linspace(0, 1, 20)]
    for place in places:
        one.observe(place, bowl(place))
    fits = [record["observations"] for record in one.agent.learned]
    assert fits == [5, 8, 11, 14, 17, 20]  # every third value
    many = Campaign({"x": (0.0, 1.0), "y": (0.0, 1.0)}, seed=0)
    many.observe_all(places, [bowl(place) for place in places])
    assert [record["observations"] for record in many.agent.learned] == [20]
    assert many.records == one.records
    many.observe({"x": 0.9, "y": 0.1}, 0.0)
    many.save(tmp_path / "c.json")
    many = Campaign.resume(tmp_path / "c.json")
    for x in (0.2, 0.3):
        many.observe({"x": x, "y": 0.9}, 0.0)
    assert [record["observations"] for record in many.agent.learned] == [20, 23]


def test_known_values_together_are_checked_before_any_is_learned():
    campaign = Campaign([(0.0, 1.0)], seed=0)
    good = {"x0": 0.5}
    for points, values in (([good], [1.0, 2.0]), ([good, {"x0": 2.0}], [1, 2]), ([good], ["a"])):
        with pytest.raises(InvalidInput):
            campaign.observe_all(points, values)
    assert not campaign.records
    assert campaign.agent.posterior.size == 0
    done, failed = campaign.observe_all([good, {"x0": 0.1}], [1.0, np.nan])
    assert (done.status, failed.status) == ("done", "failed")
    assert campaign.agent.posterior.size == 1
    assert campaign.observe_all([], []) == []


@pytest.mark.parametrize("agent", ["ei", "ts", "gp-ucb"])
def test_whole_numbers_logarithms_and_choices(agent):
    def value(p):
        return (np.log10(p["rate"]) + 2) ** 2 + (p["depth"] - 7) ** 2 / 9 + (p["kind"] is not None)

    campaign = Campaign(MIXED, agent, maximize=False, seed=0)
    for _ in range(20):
        (suggestion,) = campaign.ask()
        params = suggestion.params
        assert type(params["depth"]) is int
        assert 1 <= params["depth"] <= 20
        assert 1e-5 <= params["rate"] <= 1.0
        assert params["kind"] in ("a", "b", None)
        assert campaign.space.params(campaign.space.action(params)) == pytest.approx(params)
        campaign.tell(suggestion.id, value(params))
    assert campaign.best.params["kind"] is None
    assert campaign.best.value < 0.05


def test_few_combinations_are_arms_and_none_is_asked_for_again_while_pending():
    campaign = Campaign({"n": Integer(1, 6), "kind": Choice(("a", "b"))}, seed=0)
    assert isinstance(campaign.space.domain, Arms)
    for _ in range(3):
        (s,) = campaign.ask()
        campaign.tell(s.id, float(s.params["n"]))
    pending = [tuple(s.params.values()) for s in campaign.ask(5)]
    assert len(set(pending[-2:])) == 2


@pytest.mark.parametrize(
    "wrong", [{}, [], {"x": (1, 0)}, {"x": Real}, {"x": {"type": "reel"}}, {1: (0, 1)}, "xy"]
)
def test_spaces_that_are_none_are_refused(wrong):
    with pytest.raises((InvalidInput, UnknownName)):
        Space(wrong)


@pytest.mark.parametrize(
    "change",
    [
        lambda campaign: campaign.tell(campaign.pending[0], -0.1, time=9.0),
        lambda campaign: campaign.fail(campaign.pending[0]),
        lambda campaign: campaign.observe([0.2, 0.3], -0.2),
        lambda campaign: campaign.correct(2, np.nan),
    ],
    ids=["tell", "fail", "observe", "correct"],
)
def test_an_interrupt_while_a_value_is_learned_loses_nothing(begun, monkeypatch, change):
    """The value counted as told, but the agent never learned it."""
    campaign, twin = begun(), begun()
    for one in (campaign, twin):
        one.ask()
    before = str(campaign.snapshot())

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        for name in ("tell", "learn_anew"):
            patch.setattr(campaign._surrogates.failures, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            change(campaign)
    assert str(campaign.snapshot()) == before
    change(campaign)
    change(twin)
    assert campaign.ask(2) == twin.ask(2)


def test_a_setting_that_the_caller_changes_later_is_saved_as_it_was_given():
    kernel = {"type": "se", "lengthscale": 0.3}
    campaign = Campaign([(0.0, 1.0)], seed=0, kernel=kernel, noise_var=0.01)
    kernel["lengthscale"] = 5.0
    assert campaign.snapshot()["settings"]["kernel"]["lengthscale"] == 0.3
