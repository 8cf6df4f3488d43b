"""Black-box constraints: told with each value, modelled, and respected by every kind of agent."""

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real
from gpbandits_env.errors import InvalidInput, UnknownName

UNIT = [(0.0, 1.0)] * 2
# The problem of Gramacy et al. (2016), "Modeling an augmented Lagrangian for blackbox constrained
# optimization": the minimum of x + y is 0.5998 at (0.1954, 0.4044).
OPTIMUM = 0.5998


def first(x):
    return 1.5 - x[0] - 2 * x[1] - 0.5 * np.sin(2 * np.pi * (x[0] ** 2 - 2 * x[1]))


def second(x):
    return x[0] ** 2 + x[1] ** 2 - 1.5


def toy(x):
    return float(x[0] + x[1]), {"first": first(x), "second": second(x)}


@pytest.mark.parametrize(
    ("agent", "settings", "calls", "seed", "gap"),
    [
        ("ei", {}, 18, 2, 0.01),
        pytest.param("ts-rsr", {}, 30, 1, 0.05, marks=pytest.mark.slow),
        pytest.param("ts", {}, 18, 2, 0.02, marks=pytest.mark.slow),
        pytest.param("gp-ucb", {"beta": 2.0}, 30, 1, 0.2, marks=pytest.mark.slow),
    ],
)
def test_the_constrained_minimum_is_found(agent, settings, calls, seed, gap):
    limits = {"first": 0.0, "second": 0.0}
    found = agents.minimize(
        toy, UNIT, agent, n_calls=calls, seed=seed, constraints=limits, **settings
    )
    best = found.campaign.best
    assert first(found.x) <= 0
    assert best.constraints == toy(found.x)[1]
    assert OPTIMUM - 1e-3 < found.fun < OPTIMUM + gap
    records = found.campaign.records
    held = [r.value for r in records if max(r.constraints.values()) <= 0]
    assert found.fun == min(held)
    late = [r.constraints["first"] <= 0.05 for r in records[calls // 2 :]]
    assert np.mean(late) > 0.4
    assert found.recommended is not None
    mean, sd = found.campaign.predict_constraints([0.2, 0.4])["first"]
    assert abs(mean[0] - first([0.2, 0.4])) < max(4 * sd[0], 0.05)


def test_bounds_on_both_sides_hold():
    def value(x):
        told = {"below": 0.3 - x[0], "above": x[0] - 0.9, "first": first(x), "second": second(x)}
        return float(x.sum()), told

    limits = dict.fromkeys(("below", "above", "first", "second"), 0.0)
    found = agents.minimize(value, UNIT, n_calls=12, seed=0, constraints=[limits])
    assert 0.3 <= found.x[0] <= 0.9
    assert first(found.x) <= 0
    assert found.fun < 0.95


@pytest.mark.parametrize(
    "given",
    [NonlinearConstraint(first, -np.inf, 0.0), {"type": "ineq", "fun": first}, {"c": first}, first],
)
def test_a_constraint_that_is_a_function_is_refused_with_the_cure(given):
    for make in (Campaign, lambda space, **o: agents.minimize(lambda x: 0.0, space, **o)):
        with pytest.raises(InvalidInput, match=r"a pair of its value and \{'c'"):
            make(UNIT, constraints=[given])


def test_whole_numbers_and_choices():
    found = agents.maximize(
        lambda p: (p["n"] * (2 if p["kind"] == "b" else 1), [p["n"] ** 2]),
        {"n": Integer(1, 10), "kind": Choice(("a", "b"))},
        n_calls=15, seed=0, constraints={"cost": 50.0},
    )  # fmt: skip
    assert found.campaign.best.params == {"n": 7, "kind": "b"}


def test_without_a_feasible_value_nothing_is_best():
    found = agents.minimize(
        lambda x: (x[0], [1.0 + x[0]]), [(0.0, 1.0)], n_calls=6, seed=0, constraints={"c": 0.5}
    )
    assert found.x is None
    assert np.isnan(found.fun)
    assert not found.success
    assert found.recommended is None
    first = "minimum: none, because every value violates a constraint"
    assert str(found).splitlines()[0] == first
    # Before a feasible point only feasibility counts, and it is best at 0.
    assert min(record.params["x0"] for record in found.campaign.records) < 0.01


def made(**options):
    return Campaign(
        {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)}, maximize=False, seed=3, n_initial=4,
        constraints={"first": 0.0}, **options,
    )  # fmt: skip


def step(campaign):
    (suggestion,) = campaign.ask()
    x = list(suggestion.params.values())
    campaign.tell(suggestion.id, sum(x), constraints={"first": first(x)})
    return suggestion


def test_a_resumed_campaign_is_the_uninterrupted_one(tmp_path):
    straight, kept = made(), made(file=tmp_path / "c.json")
    for _ in range(8):
        assert step(straight) == step(kept)
    again = Campaign.resume(tmp_path / "c.json")
    assert again.records == straight.records
    assert again.best == straight.best
    for _ in range(3):
        assert step(again) == step(straight)


def test_values_of_constraints_are_checked_before_anything_changes():
    campaign = made()
    (suggestion,) = campaign.ask()
    for wrong in (None, {}, {"other": 1.0}, {"first": "a"}, [1.0, 2.0], {"first": np.inf}, [1e200]):
        with pytest.raises((InvalidInput, UnknownName)):
            campaign.tell(suggestion.id, 1.0, constraints=wrong)
        assert campaign.pending == [campaign.records[0]]
        assert campaign.now == 0.0
    two = Campaign({"x": (0.0, 1.0)}, constraints={"first": 0.0, "second": 0.0})
    with pytest.raises(InvalidInput, match="from their bounds"):
        two.observe({"x": 0.5}, 1.0, constraints=[1.0, 1e200])
    failed = campaign.tell(suggestion.id, 1.0, constraints=[float("nan")])
    assert failed.status == "failed"
    with pytest.raises(InvalidInput, match="has no constraints"):
        Campaign({"x": (0.0, 1.0)}).observe({"x": 0.5}, 1.0, constraints={"first": 1.0})
    for wrong in ({"first": "a"}, [1.0], {3: 1.0}, {"first": np.nan}):
        with pytest.raises(InvalidInput):
            Campaign({"x": (0.0, 1.0)}, constraints=wrong)
    for name in ("rembo", "ms-ucb", "dropout-ucb"):
        with pytest.raises(InvalidInput, match="does not support constraints"):
            Campaign([(0.0, 1.0)] * 8, name, constraints={"first": 0.0})


def test_known_values_corrections_and_the_table():
    campaign = made()
    points = [{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.9}]
    campaign.observe_all(points, [0.3, 1.8], [{"first": 1.0}, [-1.0]])
    assert campaign.best.params == points[1]
    campaign.correct(0, 0.3, constraints={"first": -0.5})
    assert campaign.best.params == points[0]
    campaign.correct(0, 0.2)
    assert campaign.best.constraints == {"first": -0.5}
    table = campaign.to_dataframe()
    assert table["first"].tolist() == [-0.5, -1.0]
    with pytest.raises(InvalidInput, match="one entry per evaluation"):
        campaign.observe_all(points, [0.3, 1.8], [{"first": 1.0}])


@pytest.mark.parametrize("told", [np.nan, [np.nan], {"c": np.nan}])
def test_a_constraint_that_is_nan_is_a_failed_call(told):
    found = agents.minimize(lambda x: (1.0, told), UNIT, n_calls=2, seed=0, constraints={"c": 0.0})
    reasons = [record.reason for record in found.campaign.failed]
    assert reasons == ["the value of a constraint was NaN"] * 2


@pytest.mark.parametrize("told", [True, np.True_, [np.ones(1)], {"c": np.ones((1, 1))}])
def test_a_constraint_is_a_number_in_the_forms_of_a_value(told):
    found = agents.minimize(lambda x: (1.0, told), UNIT, n_calls=1, seed=0, constraints={"c": 0.0})
    assert found.campaign.records[0].constraints == {"c": 1.0}


def test_a_function_that_returns_no_pair_ends_the_run():
    for wrong, on_error in ((1.0, "raise"), ((1.0, 2.0, 3.0), "fail")):
        with pytest.raises(InvalidInput, match="a pair"):
            agents.minimize(
                lambda x, w=wrong: w, UNIT, n_calls=2, constraints={"c": 0.0}, on_error=on_error
            )
    found = agents.minimize(lambda x: float("nan"), UNIT, n_calls=2, seed=0, constraints={"c": 0.0})
    assert len(found.campaign.failed) == 2


def test_the_table_has_constraints_with_the_names_of_other_columns():
    names = ["id", "value", "noise", "status", "time", "reason", "cost"]
    space = {"cost": (0.0, 1.0), "time": (0.0, 1.0)}
    campaign = Campaign(space, constraints=dict.fromkeys(names, 10.0))
    campaign.observe({"cost": 0.25, "time": 0.5}, 1.5, constraints=range(7))
    table = campaign.to_dataframe()
    assert table.columns.tolist() == [
        "id", "params.cost", "params.time", *(f"constraints.{name}" for name in names[:-1]), "cost",
        "value", "noise", "status", "time", "reason",
    ]  # fmt: skip
    row = [0, 0.25, 0.5, *range(7), 1.5, None, "done", 0.0, ""]
    assert table.loc[0].tolist() == row
