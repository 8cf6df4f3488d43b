import csv
from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.results.export import export, to_dataframe
from gpbandits_env.scenarios.results.records import TrialKey, TrialRecord
from gpbandits_env.scenarios.results.store import Store

pandas = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")

FUNCTION = {"env": "gpbandits/Task-v0", "trials": 1, "horizon": 3}


def exported(path):
    """The table of a results file, from both formats, as columns of words and of values."""
    with Store.open(path) as store:
        rows = export(store, path.with_suffix(".csv"))
        assert export(store, path.with_suffix(".parquet")) == rows
    with path.with_suffix(".csv").open(newline="") as file:
        head, *body = list(csv.reader(file))
    assert {len(row) for row in body} == {len(head)}
    assert len(body) == rows
    words = dict(zip(head, zip(*body, strict=True), strict=True))
    values = parquet.read_table(path.with_suffix(".parquet")).to_pydict()
    assert list(values) == head
    return words, values


def test_cells_with_other_parameters_share_one_table(tiny, run):
    grid = ({"noise_var": 0.01}, {"noise_var": 0.1, "kernel.lengthscale": 0.3})
    path = run(scenario=replace(tiny, grid=grid, trials=1)).path
    words, values = exported(path)
    half = 3 * tiny.horizon
    assert words["kernel.lengthscale"] == ("",) * half + ("0.3",) * half
    assert values["kernel.lengthscale"] == [None] * half + [0.3] * half
    with Store.open(path) as store:
        regret = store.arrays(1, "ei", "regret").ravel()
    mine = [i for i, a in enumerate(words["agent"]) if a == "ei" and i >= half]
    assert np.array_equal([float(words["regret"][i]) for i in mine], regret)


def test_a_grid_over_the_dimension_has_the_columns_of_the_largest(tiny, run):
    env_kwargs = {"task": "ackley", "box": [-1.0, 1.0]}
    wide = replace(tiny, env_kwargs=env_kwargs, grid={"dim": (1, 3)}, **FUNCTION)
    words, values = exported(run(scenario=replace(wide, agents=tiny.agents[2:])).path)
    assert [w == "" for w in words["x2"]] == [True] * 3 + [False] * 3
    assert [v is None for v in values["action"]] == [False] * 3 + [True] * 3
    assert words["dim"] == ("1",) * 3 + ("3",) * 3


def stored(path, scenario, *actions, **values):
    """A results file of agents of two rounds with such actions (None: not kept) and values."""
    meta = {"scenario": {**replace(scenario, grid=(), horizon=2).to_dict(), "points": [{}]}}
    with Store.create(path, meta) as store:
        for agent, kept in zip(scenario.agents, actions, strict=False):
            rounds = {k: np.ones((2, 1)) for k in ("rewards", "values", "regret")}
            rounds |= {k: np.ones(2, np.int64) for k in ("optimum", "model_order", "evaluations")}
            rounds |= values if kept is None else {**values, "actions": kept}
            seconds = {k: np.ones(2) for k in ("ask", "tell", "evaluate")}
            store.add([TrialRecord(TrialKey(0, agent.label, 0), 1, 2, rounds, seconds)])
    return path


def test_actions_that_were_not_kept_are_empty(tiny, tmp_path):
    words, values = exported(stored(tmp_path / "a.sqlite", tiny, None, np.array([[4], [5]])))
    assert words["action"] == ("", "", "4", "5")
    assert values["action"] == [None, None, 4, 5]


def test_every_number_is_read_back_as_it_was(tiny, tmp_path):
    rng = np.random.default_rng(0)
    points = np.ldexp(rng.standard_normal((2, 1, 500)), rng.integers(-400, 400, (2, 1, 500)))
    given = {"rewards": np.array([[np.nan], [0.1 + 0.2]]), "values": np.array([[-0.0], [5e-324]])}
    path = stored(tmp_path / "a.sqlite", tiny, points, **given)
    exported(path)
    with Store.open(path) as store:
        frames = [to_dataframe(store), pandas.read_parquet(path.with_suffix(".parquet"))]
    csv_file = path.with_suffix(".csv")
    for frame in [*frames, pandas.read_csv(csv_file, dtype=object)]:
        back = frame[[f"x{i}" for i in range(500)]].to_numpy(float)
        assert back.tobytes() == points.tobytes()
        rewards = frame["reward"].to_numpy(float, na_value=np.nan)
        assert np.array_equal(rewards, [np.nan, 0.1 + 0.2], equal_nan=True)
        assert frame["value"].to_numpy(float).tobytes() == given["values"].tobytes()
    assert csv_file.read_bytes().splitlines()[1].split(b",").count(b"") == 1  # the reward


def test_results_without_a_trial_are_a_table_without_rows(tiny, tmp_path):
    path = tmp_path / "a.csv"
    with Store.open(stored(tmp_path / "a.sqlite", tiny)) as store:
        columns = list(to_dataframe(store))
        assert export(store, path) == export(store, path.with_suffix(".parquet")) == 0
    assert path.read_text().strip().split(",") == columns
    assert parquet.read_table(path.with_suffix(".parquet")).column_names == columns


def test_lists_and_mixed_kinds_are_json_and_names_do_not_collide(tiny, run):
    grid = (
        {"grid": [30], "agents.random.note": "=cmd|' /C calc'!A0", "trial": True, "reward": 1},
        {"grid": 20, "agents.random.note": None, "trial": False, "reward": 2.5},
    )
    path = run(scenario=replace(tiny, grid=({"grid": [30]}, {"grid": [20, 2]}), trials=1)).path
    words, values = exported(path)
    assert set(words["grid"]) == set(values["grid"]) == {"[30]", "[20, 2]"}
    with Store.open(path, write=True) as store:
        store.set_meta({"scenario": {**store.scenario, "points": list(grid)}})
    words, values = exported(path)
    assert set(words["agents.random.note"]) == {"'=cmd|' /C calc'!A0", "null"}
    assert set(values["agents.random.note"]) == {"=cmd|' /C calc'!A0", "null"}
    assert set(words["grid"]) == {"[30]", "20"}
    assert set(words["grid.trial"]) == {"True", "False"}
    assert set(values["grid.reward"]) == {1.0, 2.5}
    with Store.open(path) as store:
        assert to_dataframe(store)["grid.reward"].dtype == float


def test_no_table_is_written_over_results(run):
    path = run("a.csv").path
    before = path.read_bytes()
    with Store.open(path) as store:
        for target, words in (
            (path, "would destroy"),
            (path.with_suffix(".xyz"), "must end in .csv or"),
        ):
            with pytest.raises(InvalidInput, match=words):
                export(store, target)
    assert path.read_bytes() == before
