"""Campaigns with some dimensions that are observed and not chosen."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from gpbandits_env.agents.optimize import Campaign, Integer, maximize, minimize
from gpbandits_env.errors import InvalidInput, UnknownName

MIXED = {
    "x": (0.0, 1.0),
    "temperature": (10.0, 40.0),
    "kind": {"type": "choice", "options": ["a", "b", "c"]},
}
FINITE = {
    "x": {"type": "integer", "low": 0, "high": 9},
    "temperature": {"type": "integer", "low": 0, "high": 3},
}


def value(params):
    """The best x depends on the temperature."""
    return -((params["x"] - params["temperature"] / 40.0) ** 2)


@pytest.mark.parametrize("agent", ["ei", "gp-ucb", "ts"])
def test_suggestions_have_the_context_and_learn_what_is_best_in_it(agent):
    search = {"candidates": 64, "starts": 2, "evaluations": 40, "sample_starts": 1}
    campaign = Campaign(MIXED, agent, seed=0, n_initial=6, search=search)
    rng = np.random.default_rng(0)
    for _ in range(30):
        context = {"temperature": float(rng.choice([12.0, 36.0])), "kind": "b"}
        (asked,) = campaign.ask(context=context)
        assert {key: asked.params[key] for key in context} == context
        assert list(asked.params) == list(MIXED)
        campaign.tell(asked.id, value(asked.params))
    for degrees in (12.0, 36.0):
        found = campaign.recommend({"temperature": degrees})
        assert found["temperature"] == degrees
        assert abs(found["x"] - degrees / 40.0) < 0.15
    assert not campaign.pending
    # Without a context, all dimensions are chosen again.
    assert campaign.ask()[0].params["temperature"] not in (12.0, 36.0)


def test_on_a_finite_space_the_choice_is_exact():
    campaign = Campaign(FINITE, "gp-ucb", seed=0, n_initial=0, noise=0.1)
    for t in range(8):
        (asked,) = campaign.ask(context={"temperature": t % 4})
        assert asked.params["temperature"] == t % 4
        campaign.tell(asked.id, value({**asked.params, "x": asked.params["x"] / 9}))
    arms, posterior = campaign.space.domain.coordinates, campaign.agent.posterior
    found = campaign.recommend({"temperature": 2})
    same = np.flatnonzero(arms[:, 1] == campaign.space.encode(found)[1])
    best = same[posterior.mean[same].argmax()]
    assert campaign.space.action(found) == best
    pair = campaign.ask(2, context={"temperature": 1})
    assert [asked.params["temperature"] for asked in pair] == [1, 1]
    assert len(campaign.pending) == 2


def test_a_known_point_is_recommended_although_it_is_not_suggested_again():
    campaign = Campaign(FINITE, "gp-ucb", seed=0, n_initial=0, noise=0.0)
    for x in range(8):
        campaign.observe({"x": x, "temperature": 2}, -((x - 3) ** 2))
    (asked,) = campaign.ask(context={"temperature": 2})
    assert asked.params["x"] >= 8
    assert campaign.recommend({"temperature": 2})["x"] == 3


def test_a_campaign_with_contexts_resumes_from_its_file(tmp_path):
    file = tmp_path / "campaign.json"
    one = Campaign(FINITE, "ei", seed=0, n_initial=2, file=file)
    for t in range(4):
        (asked,) = one.ask(context={"temperature": t % 4})
        one.tell(asked.id, float(t))
    saved, context = file.read_text(), {"temperature": 3}
    params = one.ask(context=context)[0].params
    file.write_text(saved)
    assert Campaign.resume(file).ask(context=context)[0].params == params


@pytest.mark.parametrize(
    ("context", "error"),
    [
        ({}, InvalidInput),
        ({"x": 0.1, "temperature": 20.0, "kind": "a"}, InvalidInput),
        ({"temperature": 50.0}, InvalidInput),
        ({"degrees": 20.0}, UnknownName),
        (20.0, InvalidInput),
    ],
)
def test_what_is_no_context_changes_nothing(context, error):
    campaign = Campaign(MIXED, seed=0)
    for call in (lambda: campaign.ask(context=context), lambda: campaign.recommend(context)):
        with pytest.raises(error):
            call()
    assert not campaign.records


def test_the_error_names_the_dimension():
    with pytest.raises(InvalidInput, match="dimension 'temperature': the value must lie between"):
        Campaign(MIXED).ask(context={"temperature": 50.0})


def test_agents_that_search_subspaces_say_that_they_support_no_context():
    for name in ("line-bo", "rembo", "dropout-ucb", "ms-ucb"):
        campaign = Campaign({"x": (0.0, 1.0), "y": (0.0, 1.0)}, name, seed=0)
        with pytest.raises(InvalidInput, match="context"):
            campaign.ask(context={"y": 0.5})


def test_linear_constraints_in_a_box_and_a_recommendation_under_black_box_ones_are_refused():
    space = {"x": (0.0, 1.0), "temperature": (10.0, 40.0)}
    linear = Campaign(space, seed=0, constraints=LinearConstraint([[1.0, 0.01]], -1.0, 1.0))
    for call in (linear.ask, lambda context: linear.recommend(context)):
        with pytest.raises(InvalidInput, match=r"linear constraints .* because"):
            call(context={"temperature": 20.0})
    bounded = Campaign(space, seed=0, n_initial=1, constraints={"cost": 0.5})
    for _ in range(3):
        (asked,) = bounded.ask(context={"temperature": 20.0})
        assert asked.params["temperature"] == 20.0
        bounded.tell(asked.id, value(asked.params), constraints={"cost": asked.params["x"]})
    with pytest.raises(InvalidInput, match="black-box constraints"):
        bounded.recommend({"temperature": 20.0})


def test_on_arms_suggestions_in_a_context_satisfy_linear_constraints():
    small = LinearConstraint([[1.0, 1.0]], 0.0, 4.0)
    campaign = Campaign({"a": Integer(0, 4), "b": Integer(0, 5)}, seed=0, constraints=small)
    for a in (4, 3, 4, 2, 0, 4, 3, 1, 2, 4):
        (asked,) = campaign.ask(context={"a": a})
        assert asked.params["a"] == a
        assert asked.params["b"] <= 4 - a
        campaign.tell(asked.id, float(asked.params["b"]))
    assert campaign.recommend({"a": 1})["b"] <= 3
    none = Campaign({"a": Integer(0, 5), "b": Integer(0, 5)}, constraints=small)
    with pytest.raises(InvalidInput, match="no combination in this context"):
        none.ask(context={"a": 5})


def test_a_misspelled_context_is_named_in_one_dimension_too():
    with pytest.raises(UnknownName, match="no dimension named 'temprature'"):
        Campaign({"temperature": (0.0, 1.0)}).ask(context={"temprature": 0.5})


def test_minimize_with_a_fixed_context_is_minimize_of_the_other_dimensions():
    seen = []

    def loss(params):
        seen.append(params["temperature"])
        return -value(params)

    space = {"x": (0.0, 1.0), "temperature": (10.0, 40.0)}
    given = {"temperature": 30.0}
    found = minimize(loss, space, n_calls=14, seed=0, context=given, noise=0.0)
    assert seen == [30.0] * 14
    assert abs(found.x["x"] - 0.75) < 0.02
    assert found.recommended["temperature"] == 30.0
    assert abs(found.recommend(given)["x"] - 0.75) < 0.02


@pytest.mark.parametrize("how", [{}, {"batch": 2}, {"parallel": ThreadPoolExecutor(1)}])
def test_maximize_reads_the_context_before_each_suggestion(how):
    weather = iter([12.0, 36.0] * 10)
    read, seen = [], []

    def context():
        read.append({"temperature": next(weather)})
        return read[-1]

    def fun(params):
        seen.append(params["temperature"])
        return value(params)

    space = {"x": (0.0, 1.0), "temperature": (10.0, 40.0)}
    found = maximize(fun, space, "gp-ucb", n_calls=8, seed=0, context=context, **how)
    times = how.get("batch", 1)
    assert seen == [one["temperature"] for one in read for _ in range(times)]
    assert len(read) == 8 // times
    assert found.nfev == 8


@pytest.mark.parametrize(
    ("context", "error"),
    [(3.0, InvalidInput), ({"temperature": 50.0}, InvalidInput), ({"y": 0.0}, UnknownName)],
)
def test_a_wrong_context_of_minimize_is_refused_before_any_call(context, error, tmp_path):
    def never(params):
        raise AssertionError("called")

    space = {"x": (0.0, 1.0), "temperature": (10.0, 40.0)}
    start, file = {"x": 0.5, "temperature": 20.0}, tmp_path / "campaign.json"
    with pytest.raises(error):
        minimize(never, space, n_calls=4, x0=[start], context=context, file=file)
    assert not file.exists()


def test_a_context_that_returns_nothing_is_refused():
    with pytest.raises(InvalidInput, match="context must return a dict"):
        minimize(value, {"x": (0.0, 1.0), "temperature": (10.0, 40.0)}, context=lambda: None)
