"""What values and points may be, and in which units values are."""

import json
from functools import partial

import numpy as np
import pandas
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real
from gpbandits_env.errors import InvalidInput, UnknownName


def bowl(params):
    return -sum((v - 0.3) ** 2 for v in params.values())


def shifted_bowl(offset, x):
    return offset + sum((v - 0.3) ** 2 for v in x)


def test_values_of_any_scale_are_standardised(begun):
    plain, scaled = begun(0), begun(0)
    for _ in range(10):
        (one,), (other,) = plain.ask(), scaled.ask()
        assert one.params == pytest.approx(other.params, abs=1e-4)
        plain.tell(one.id, bowl(one.params))
        scaled.tell(other.id, 4096.0 * bowl(other.params) - 2.0**17)


@pytest.mark.parametrize(("maximize", "offset"), [(True, 1e6), (False, -1e9)])
def test_values_far_from_zero_are_optimized_as_well_as_those_near_it(tmp_path, maximize, offset):
    """Their order among candidates would be lost in the tolerance of ties, which is relative."""
    sign, file = 1.0 if maximize else -1.0, tmp_path / "a.json"
    space = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    campaign = Campaign(space, maximize=maximize, seed=0, file=file)
    for i in range(25):
        if i == 15:
            campaign = Campaign.resume(file)
        (one,) = campaign.ask()
        campaign.tell(one.id, sign * bowl(one.params) + offset)
    assert bowl(campaign.best.params) > -1e-6
    assert bowl(campaign.recommended) > -1e-6
    points = [{"x": 0.2, "y": 0.3}, {"x": 0.8, "y": 0.4}]
    mean, _ = campaign.predict(points)
    np.testing.assert_allclose(mean - offset, [sign * bowl(point) for point in points], atol=0.05)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_offset_costs_no_precision(seed):
    """Near the minimum the scores of all points are level, and the ends of ascents still count."""
    gaps = []
    for offset in (0.0, 80.0):
        found = agents.minimize(
            partial(shifted_bowl, offset), [(-1.0, 1.0)] * 2, n_calls=40, seed=seed
        )
        gaps.append(np.log10(shifted_bowl(0.0, found.x)))
    assert gaps[1] == pytest.approx(gaps[0], abs=0.1)
    assert gaps[0] < -6.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_looks_like_a_penalty_is_warned_of(begun, sign):
    campaign = begun(0, maximize=sign > 0.0)
    for x in (0.0, 0.2, 0.4, 0.6):
        campaign.observe([x, 0.5], sign * x)
    campaign.observe([0.1, 0.1], sign * -1e6)
    for _ in range(3):  # one point several times
        campaign.observe([0.1, 0.9], sign * -1e6)
    with pytest.warns(UserWarning, match="1e\\+06 came from several points.*give NaN instead"):
        campaign.observe([0.9, 0.9], sign * -1e6)


@pytest.mark.parametrize("others", [[0.0, 1.0, 2.0], [0.0, 0.0, 0.1], [0.0, 0.1]])
def test_values_that_are_near_or_few_are_no_reason_to_warn_of_a_penalty(begun, others):
    campaign = begun(0)
    for i, value in enumerate([*others, -5.0, -5.0, -5.0]):
        campaign.observe([0.1 * i, 0.5], value)


def test_an_evaluation_is_one_label_for_the_model_of_failures_where_values_are_far_from_zero(begun):
    campaign = begun(0)
    for i, value in enumerate([np.nan, 1e6, 1e6 + 0.1, 1e6 + 0.3, 1e6 + 0.2, 1e6 + 0.4, 1e6]):
        campaign.observe([0.1 * i, 0.5], value)
    assert campaign.snapshot()["origin"] == 1e6
    assert campaign.snapshot()["success"]["labels"].tolist() == [-1.0, *[1.0] * 6]


def test_an_error_leaves_the_origin_of_values(begun, monkeypatch):
    campaign = begun(0)
    for x in (0.0, 0.2, 0.4, 0.6):
        campaign.observe([x, 0.5], 1e6 + x)
    (one,) = campaign.ask()
    before = json.dumps(campaign.snapshot(), default=repr)

    def fails(told):
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign._surrogates.in_space, "learn_anew", fails)
    with pytest.raises(KeyboardInterrupt):
        campaign.tell(one.id, 1e6)
    assert json.dumps(campaign.snapshot(), default=repr) == before
    monkeypatch.undo()
    campaign.tell(one.id, 1e6)
    now = json.dumps(campaign.snapshot(), default=repr)
    with pytest.raises(InvalidInput, match="before the present time"):
        campaign.observe([0.5, 0.5], 1e6, time=-1.0)
    assert json.dumps(campaign.snapshot(), default=repr) == now


@pytest.mark.parametrize("given", ["x", None, [1.0], np.array([1.0, 2.0]), 1j, "1"])
def test_a_value_that_is_no_number_is_refused_in_plain_words(begun, given):
    campaign = begun(1)
    (suggestion,) = campaign.ask()
    with pytest.raises(InvalidInput, match="a value must be one number") as caught:
        campaign.tell(suggestion.id, given)
    with pytest.raises(InvalidInput, match=r"noise='returned' allows \(value, sd\)"):
        campaign.tell(suggestion.id, (0.5, 0.1))
    assert "array" not in str(caught.value).replace(repr(given), "")
    for number in (np.array(0.5), np.float32(0.5), np.uint8(3), 10**30, True):
        assert begun(0).observe({"x": 0.5, "y": 0.5}, number).value == float(number)


@pytest.mark.parametrize("maximize", [True, False])
def test_the_infinity_that_is_no_best_value_is_a_failure(begun, maximize):
    campaign = begun(2, maximize=maximize)
    worst = -np.inf if maximize else np.inf
    (suggestion,) = campaign.ask()
    with pytest.raises(InvalidInput, match="finite"):
        campaign.tell(suggestion.id, -worst)
    assert campaign.tell(suggestion.id, worst).status == "failed"
    assert campaign.observe({"x": 0.5, "y": 0.5}, worst).reason == "the value was infinite"
    assert len(campaign.failed) == 2
    assert campaign.agent.posterior.size == 2


@pytest.mark.parametrize(
    "masked", [np.ma.masked, np.ma.array([3.0], mask=[True]), np.ma.array(3, mask=True)], ids=repr
)
def test_a_masked_value_is_a_failure(begun, masked):
    campaign = begun(2)
    assert campaign.tell(campaign.ask()[0].id, masked).reason == "the value was NaN"
    assert campaign.observe({"x": 0.5, "y": 0.5}, masked).status == "failed"
    assert campaign.observe({"x": 0.5, "y": 0.5}, 1.0, noise=np.ma.masked).noise is None
    with pytest.raises(InvalidInput, match=r"'x'.*must be finite"):
        campaign.observe({"x": np.ma.masked, "y": 0.5}, 1.0)
    values = np.ma.array([1.0, 2.0], mask=[False, True])
    known = campaign.observe_all([{"x": 0.1, "y": 0.1}] * 2, values)
    assert [record.status for record in known] == ["done", "failed"]
    limited = Campaign([(0.0, 1.0)], constraints={"c": 1.0})
    for limits in (np.ma.masked, [np.ma.masked], {"c": np.ma.masked}):
        assert limited.observe({"x0": 0.5}, 1.0, constraints=limits).status == "failed"


def test_points_of_the_user_are_kept_to_the_bit():
    campaign = Campaign({"x": (-3.3, 7.7), "rate": Real(1e-5, 1.0, log=True)}, seed=0, n_initial=0)
    given = {"x": 1.1, "rate": 0.0123}
    assert campaign.observe(given, 1.0).params == given
    assert campaign.expect(given).params == given
    assert campaign.pending[0].params == given
    assert campaign.best.params == given
    assert campaign.recommended == given


def test_noise_is_in_the_units_of_the_values():
    """Values of standard deviation about 300, noise 30: the posterior's noise variance is 900."""
    rng = np.random.default_rng(0)
    campaign = Campaign({"x": (0.0, 1.0)}, seed=0, noise=30.0, n_initial=5)
    silent = Campaign({"x": (0.0, 1.0)}, seed=0, noise=0.0, n_initial=5)
    for x in rng.random(25):
        campaign.observe({"x": x}, 1000 * x + 30 * rng.standard_normal())
        silent.observe({"x": x}, 1000 * x)
    assert campaign.agent.posterior.noise_var == 900.0
    assert campaign.agent.learned[-1]["noise_var"] == 900.0
    mean, sd = campaign.predict({"x": 0.5})
    assert abs(mean[0] - 500) < 40
    assert 3 < sd[0] < 30
    assert 0 < silent.agent.posterior.noise_var < 0.2
    assert silent.ask()[0].params["x"] >= 0
    with pytest.raises(InvalidInput, match="not both"):
        Campaign({"x": (0.0, 1.0)}, noise=1.0, noise_var=1.0)


def test_a_table_has_one_row_per_evaluation():
    campaign = Campaign({"x": (0.0, 1.0), "value": Choice(("a", "b"))}, seed=0)
    columns = ["id", "x", "params.value", "value", "noise", "status", "time", "reason"]
    assert list(campaign.to_dataframe().columns) == columns
    campaign.observe({"x": 0.25, "value": "b"}, 2.0)
    campaign.fail(campaign.ask()[0].id, "lost")
    table = campaign.to_dataframe()
    assert list(table.columns) == columns
    first = table.loc[0, ["x", "params.value", "value", "status"]].tolist()
    assert first == [0.25, "b", 2.0, "done"]
    assert table.loc[1, "reason"] == "lost"


def test_tables_are_read_by_the_names_of_their_columns():
    space = {"x": (0.0, 1.0), "n": Integer(1, 9)}
    table = pandas.DataFrame({"n": [3, 8], "x": [0.25, 0.75], "d": [7.0, 8.0], "c": [0.5, 0.6]})
    table.index = ["one", "two"]
    campaign = Campaign(space, seed=0, constraints={"c": 1.0, "d": 9.0})
    campaign.observe_all(
        table[["n", "x"]], table["c"], constraints=table[["d", "c"]], noise=table["c"]
    )
    known = campaign.to_dataframe()
    assert known[["x", "n", "c", "d"]].to_numpy().tolist() == [[0.25, 3, 0.5, 7], [0.75, 8, 0.6, 8]]
    assert known["noise"].tolist() == known["value"].tolist() == [0.5, 0.6]
    mean = campaign.predict(known[["x", "n"]].to_numpy())[0]
    assert campaign.predict(table[["n", "x"]])[0].tolist() == mean.tolist()
    assert campaign.predict(table.iloc[0][["n", "x"]])[0] == pytest.approx(mean[:1])
    with pytest.raises(InvalidInput, match="point 1: dimension 'x'"):
        campaign.predict(table[["n", "x"]] * 2)
    with pytest.raises(UnknownName, match="no dimension named 'd'"):
        campaign.predict(table)
    unnamed = agents.minimize(
        lambda x: x[0], [(0, 1), (0, 1)], n_calls=1, seed=0, x0=table[["x", "c"]], y0=table["d"]
    )
    assert [x.tolist() for x in unnamed.x_iters[:2]] == [[0.25, 0.5], [0.75, 0.6]]


def test_a_point_may_be_a_list_in_the_order_of_the_dimensions():
    campaign = Campaign({"x": (0.0, 1.0), "n": Integer(1, 9)}, seed=0)
    assert campaign.expect(np.array([0.25, 3.0])).params == {"x": 0.25, "n": 3}
    assert campaign.observe([0.25, 3], 1.0).params == {"x": 0.25, "n": 3}
    for wrong in ([0.25], [0.25, 3.5], "xn", 0.25):
        with pytest.raises(InvalidInput):
            campaign.observe(wrong, 1.0)


def test_an_option_may_be_a_tuple_also_in_a_list_of_values():
    layers = Choice(((64,), (64, 32), (64, 32, 16)))
    given = [[0.5, (64, 32)], [0.25, (64,)]]
    found = agents.minimize(
        lambda x: x[0] + len(x[1]), [(0.0, 1.0), layers], n_calls=4, seed=0, x0=given
    )
    assert found.x_iters[:2] == given
    mean = found.predict(found.x_iters)[0][1]
    assert found.predict(given[1])[0] == pytest.approx(mean)


@pytest.mark.parametrize("size", [1e-200, 1e-165])
@pytest.mark.parametrize("dimension", [(0.0, 1.0), Integer(0, 1)], ids=["real", "arms"])
def test_tiny_values_are_learned(dimension, size):
    """The squares of their differences are 0."""

    def learned(unit):
        campaign = Campaign([dimension] * 2, seed=0)
        points = [[x, y] for x in (0, 1) for y in (0, 1)]
        values = [unit * (x + 2 * y) for x, y in points]
        campaign.observe_all([{"x0": x, "x1": y} for x, y in points], values)
        return campaign.predict(points)[0] / unit, campaign.importance()

    mean, importance = learned(size)
    assert mean == pytest.approx([0.0, 2.0, 1.0, 3.0], abs=0.2)
    assert importance == pytest.approx(learned(1.0)[1], abs=0.1)
    assert importance["x1"] > importance["x0"] > 0


@pytest.mark.parametrize("size", [1e-80, 1e-36, 1e75])
def test_values_too_small_or_large_for_a_kernel_are_a_warning(size):
    """Their suggestions were merely spread, or never explored, without a word."""
    campaign = Campaign([(0.0, 1.0)], seed=0)
    points = [{"x0": x} for x in (0.1, 0.3, 0.4, 0.8, 0.9)]
    with pytest.warns(UserWarning, match="multiply the values by a constant"):
        campaign.observe_all(points, [size * point["x0"] for point in points])


class Alike:
    """An option whose repr is that of all others."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Alike) and other.value == self.value

    __hash__ = None

    def __repr__(self):
        return "alike"


def test_options_that_look_alike_are_different_points():
    space = {"kind": Choice((Alike(3.0), Alike(1.0), Alike(2.0)))}
    found = agents.minimize(lambda point: point["kind"].value, space, n_calls=20, seed=0)
    assert found.x["kind"].value == 1.0
    assert found.message.startswith("all combinations")
    assert found.nfev == 4  # one is called again, to see whether there is noise


def test_a_row_of_a_table_is_a_point_and_a_context():
    table = pandas.DataFrame({"n": [3, 8], "x": [0.25, 0.75]})
    campaign = Campaign({"x": (0.0, 1.0), "n": Integer(0, 9)}, seed=0)
    for _, row in table.iterrows():
        assert campaign.observe(row, 1.0).params == {"x": row["x"], "n": row["n"]}
        assert campaign.expect(row).params == {"x": row["x"], "n": row["n"]}
        assert campaign.ask(context=row[["n"]])[0].params["n"] == row["n"]
    with pytest.raises(InvalidInput, match="a value of an integer dimension"):
        campaign.observe(row + 0.1, 1.0)
