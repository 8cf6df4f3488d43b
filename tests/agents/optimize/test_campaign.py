"""Ask and tell where evaluations are real."""

import json

import numpy as np
import pandas
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real, Space
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.temporal import temporal_from_dict

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


def test_time_passes_until_a_failure_is_told():
    campaign, twin = (Campaign([(0.0, 1.0)], "ei", seed=0, epsilon=0.1) for _ in range(2))
    for one in (campaign, twin):
        one.observe([0.5], 1.0)
    failed = campaign.observe([0.2], np.nan, time=5.0)
    twin.ask(time=5.0)
    assert (failed.status, failed.time, campaign.now) == ("failed", 5.0, 5.0)
    assert np.array_equal(campaign.predict([0.5]), twin.predict([0.5]))


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


@pytest.mark.parametrize("steps", [[1.0, 2.5, 2.5, 7.0], [0.5, 0.5, 3.25, 4.0]])
def test_data_fade_by_the_clock(steps):
    """Means by numpy.linalg from k(x, z) (1 - eps)^(|t - t'| / 2), at a time of its own."""
    epsilon, ell, noise = 0.1, 0.3, 0.01
    campaign = Campaign(
        [(0.0, 1.0)], "gp-ucb", seed=0, n_initial=0, epsilon=epsilon, standardize=False,
        kernel={"type": "se", "lengthscale": ell}, noise_var=noise,
    )  # fmt: skip
    x = np.array([0.1, 0.4, 0.45, 0.9])
    y = np.sin(5 * x)
    for point, value, t in zip(x, y, steps, strict=True):
        campaign.observe({"x0": point}, value, time=t)
    now = 9.5
    campaign.ask(time=now)
    at = np.linspace(0, 1, 7)
    t = np.array(steps)

    def covariance(a, b, ages):
        return np.exp(-((a[:, None] - b) ** 2) / (2 * ell**2)) * (1 - epsilon) ** (ages / 2)

    gram = covariance(x, x, np.abs(t[:, None] - t)) + noise * np.eye(4)
    cross = covariance(x, at, (now - t)[:, None])
    mean, sd = campaign.agent.belief(at[:, None])
    assert mean == pytest.approx(cross.T @ np.linalg.solve(gram, y), abs=1e-8)
    var = 1 - (cross * np.linalg.solve(gram, cross)).sum(axis=0)
    assert sd == pytest.approx(np.sqrt(var), abs=1e-6)


def test_a_season_goes_by_the_clock():
    """At irregular times, mean and variance are those of the formula."""
    day = {"type": "periodic", "period": 24.0, "harmonics": 3}
    campaign = Campaign(
        {"x": Choice(("a", "b", "c"))}, "gp-ucb", seed=0, n_initial=0, temporal=day,
        standardize=False, kernel={"type": "se", "lengthscale": 0.3}, noise_var=0.01,
    )  # fmt: skip
    times, chosen, y = np.array([1.0, 13.5, 30.0, 49.0]), "abcb", np.array([1.0, 0.2, -0.4, 0.7])
    for name, value, t in zip(chosen, y, times, strict=True):
        campaign.observe({"x": name}, value, time=t)
    now = 73.25
    campaign.ask(time=now)
    posterior, kernel = campaign.agent.posterior, temporal_from_dict(day)
    gram = posterior.kernel(posterior.arms.coordinates)
    seen = [campaign.space.action({"x": name}) for name in chosen]
    noisy = gram[np.ix_(seen, seen)] * kernel(times, times) + 0.01 * np.eye(4)
    cross = gram[seen] * kernel(times, np.array([now]))
    assert posterior.mean == pytest.approx(cross.T @ np.linalg.solve(noisy, y), abs=1e-8)
    var = 1.0 - (cross * np.linalg.solve(noisy, cross)).sum(axis=0)
    assert posterior.var == pytest.approx(var, abs=1e-8)


def test_time_stamps_count_in_a_box_under_a_temporal_kernel():
    day = {"type": "sum", "kernels": [{"type": "periodic", "period": 24.0}, {"type": "static"}]}
    campaign = Campaign(
        {"x": (0.0, 4.0), "y": (0.0, 1.0)}, "gp-ucb", seed=0, n_initial=0, temporal=day,
        standardize=False, kernel={"type": "se", "lengthscale": 0.3}, noise_var=0.01,
    )  # fmt: skip
    times, y = np.array([1.0, 13.5, 30.0, 49.0]), np.array([1.0, 0.2, -0.4, 0.7])
    points = np.array([[0.1, 0.2], [0.5, 0.5], [0.9, 0.1], [0.3, 0.8]])
    for point, value, t in zip(points, y, times, strict=True):
        campaign.observe({"x": 4.0 * point[0], "y": point[1]}, value, time=t)
    now = 73.25
    campaign.ask(time=now)
    posterior, kernel = campaign.agent.posterior, temporal_from_dict(day)
    x = np.random.default_rng(0).uniform(size=(9, 2))
    noisy = posterior.kernel(points) * kernel(times, times) + 0.01 * np.eye(4)
    cross = posterior.kernel(points, x) * kernel(times, np.array([now]))
    mean, var = posterior.moments(x)
    assert mean == pytest.approx(cross.T @ np.linalg.solve(noisy, y), abs=1e-8)
    expected = 1.0 - (cross * np.linalg.solve(noisy, cross)).sum(axis=0)
    assert var == pytest.approx(expected, abs=1e-8)


def test_values_of_any_scale_are_standardised(begun):
    plain, scaled = begun(0), begun(0)
    for _ in range(10):
        (one,), (other,) = plain.ask(), scaled.ask()
        assert one.params == pytest.approx(other.params, abs=1e-4)
        plain.tell(one.id, bowl(one.params))
        scaled.tell(other.id, 4096.0 * bowl(other.params) - 2.0**17)


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


@pytest.mark.parametrize("given", ["x", None, [1.0], np.array([1.0, 2.0]), 1j, "1"])
def test_a_value_that_is_no_number_is_refused_in_plain_words(begun, given):
    campaign = begun(1)
    (suggestion,) = campaign.ask()
    with pytest.raises(InvalidInput, match="a value must be one number") as caught:
        campaign.tell(suggestion.id, given)
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
