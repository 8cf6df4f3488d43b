import csv
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, MissingExtra, StoreError, UnknownName
from gpbandits_env.scenarios.bounds import Theorem1
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.reporting.plots import figure, plot
from gpbandits_env.scenarios.results.export import export, to_dataframe
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store


@pytest.fixture
def store(stored):
    with Store.open(stored) as opened:
        yield opened


def test_means_and_errors_against_numpy(store):
    result = report(store)
    for cell in result.cells:
        for agent in cell.agents:
            regret = store.arrays(cell.index, agent.label, "regret")[:, :, 0]
            assert len(regret) == 4
            want = {
                "average_regret": regret.mean(axis=1),
                "cumulative_regret": regret.sum(axis=1),
                "simple_regret": regret.min(axis=1),
            }
            for name, values in want.items():
                assert agent.mean[name] == pytest.approx(values.mean(), rel=1e-12)
                assert agent.se[name] == pytest.approx(values.std(ddof=1) / 2, rel=1e-12)


def test_comparisons_are_paired_by_trial(store):
    cell = report(store).cells[1]
    finals = {a: store.arrays(1, a, "regret").mean(axis=(1, 2)) for a in ("gp-ucb", "ei")}
    pair = next(c for c in cell.comparisons if (c.a, c.b) == ("gp-ucb", "ei"))
    difference = finals["gp-ucb"] - finals["ei"]
    assert pair.difference == pytest.approx(difference.mean())
    assert pair.se == pytest.approx(difference.std(ddof=1) / 2)


def test_agents_are_compared_over_the_trials_that_both_have(run, tiny):
    run(scenario=tiny.select(["ei"], trials=3))
    run(scenario=tiny.select(["mpi/no-margin"], trials=1))
    path = run(scenario=tiny.select(["random"], trials=2)).path
    with Store.open(path) as store:
        result = report(store)
    trials = {a.label: a.trials for a in result.cells[0].agents}
    assert trials == {"ei": 3, "mpi/no-margin": 1, "random": 2}
    pairs = {(c.a, c.b): c.trials for c in result.cells[0].comparisons}
    assert pairs[("ei", "random")] == 2


def test_json_has_no_nan(run, tiny):
    path = run(scenario=tiny.select(trials=1)).path
    with Store.open(path) as store:
        plain = json.loads(json.dumps(report(store).to_dict(), allow_nan=False))
        shown = str(report(store))
    assert "; 1 trial of 12 rounds" in shown
    assert "nan" not in shown
    assert plain["cells"][0]["agents"][0]["se"]["average_regret"] is None


def test_another_metric_ranks(store):
    with pytest.raises(UnknownName, match="did you mean 'simple_regret'"):
        report(store, "simple-regret")
    ranks = [a.rank for a in report(store, "simple_regret").cells[0].agents]
    assert sum(ranks) == pytest.approx(6.0)


def test_the_table_shows_every_agent_and_cell(store):
    lines = str(report(store))
    for word in ("noise_var = 0.01", "noise_var = 0.1", "gp-ucb - ei", "random"):
        assert word in lines


def test_without_a_trial_that_all_agents_have_there_are_no_ranks(store):
    cell = report(store).cells[0]
    apart = replace(cell, agents=tuple(replace(a, rank=np.nan) for a in cell.agents))
    head, rows = apart.table(["average_regret"])
    assert {row[head.index("mean rank")] for row in rows} == {"-"}


def test_plots_are_pictures_and_the_same_each_time(run, tiny, tmp_path):
    with Store.open(run(scenario=replace(tiny, grid=(), trials=2)).path) as store:
        files, again = plot(store), plot(store, tmp_path / "again")
    assert [f.name for f in files] == ["a.png", "a.svg"]
    assert files[0].read_bytes()[:4] == b"\x89PNG"
    assert again[1].read_bytes() == files[1].read_bytes()


def test_bounds_that_no_panel_shows_cannot_be_drawn(run, tiny):
    path = run(scenario=replace(tiny.select(["ei"], trials=1), bounds=(Theorem1(0.1),))).path
    with Store.open(path) as store, pytest.raises(InvalidInput, match="has no theory curves"):
        figure(store, bounds=True, panels=[Panel("simple_regret")])


def test_bounds_are_kept_and_drawn(run, tiny):
    path = run(scenario=replace(tiny, bounds=(Theorem1(0.1),))).path
    with Store.open(path) as store:
        ((title, (metric, curve)),) = store.bounds(0).items()
        assert (title, metric, curve.shape) == ("Theorem 1, delta = 0.1", "average_regret", (12,))
        assert (curve > report(store).cells[0].agents[0].mean["average_regret"]).all()
        looks = ({}, {"bounds": True}, {"bounds": True, "log": True})
        drawn = [figure(store, **look).axes for look in looks]
    assert [{a.get_yscale() for a in axes} for axes in drawn] == [{"linear"}, {"linear"}, {"log"}]
    without, *lines = [[len(a.lines) for a in axes] for axes in drawn]
    more = [int("R_t/t" in a.get_ylabel()) for a in drawn[0]]  # one panel of each cell
    assert sum(more) == 2
    assert lines == [[n + m for n, m in zip(without, more, strict=True)]] * 2
    assert np.array_equal(drawn[1][0].lines[-1].get_ydata(), curve)
    assert [axes[0].get_ylim()[0] for axes in drawn[:2]] == [0.0, 0.0]


def test_a_plot_that_cannot_be_written(store, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        plot(store, tmp_path / "file" / "x")
    with pytest.raises(StoreError, match="cannot be written"):
        export(store, tmp_path / "file" / "x.csv")


def test_csv_has_every_round(store, tmp_path):
    path = tmp_path / "rounds.csv"
    assert export(store, path) == 2 * 3 * 4 * 12
    with path.open() as file:
        rows = list(csv.DictReader(file))
    row = next(
        r for r in rows
        if (r["noise_var"], r["agent"], r["trial"], r["round"]) == ("0.1", "ei", "3", "7")
    )  # fmt: skip
    rewards, actions, regret = (
        store.arrays(1, "ei", k)[3] for k in ("rewards", "actions", "regret")
    )
    assert float(row["reward"]) == rewards[6, 0]
    assert int(row["action"]) == actions[6, 0]
    assert float(row["average_regret"]) == pytest.approx(regret[:7].mean())


def test_parquet_equals_csv(store, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    count = export(store, tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet").to_pydict()
    export(store, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert count == len(rows) == len(table["regret"])
    assert [float(r["regret"]) for r in rows] == table["regret"]
    assert [r["agent"] for r in rows] == table["agent"]


def test_parquet_without_pyarrow_names_the_extra(store, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[parquet\]"):
        export(store, tmp_path / "a.parquet")


def test_reports_and_outcomes_are_short(run, store):
    result, outcome = report(store), run()
    assert repr(result).startswith("Report(scenario=test/tiny, agents=gp-ucb, ei, random, trials=4")
    assert result._repr_html_().count("<table>") == 2
    assert repr(outcome) == f"Outcome(path={outcome.path}, trials=24 of 24)"
    assert outcome.report() == result
    assert len(repr(store)) < 300


def test_data_frames(run, store, tmp_path):
    pandas = pytest.importorskip("pandas")
    rounds = to_dataframe(store)
    assert len(rounds) == 2 * 3 * 4 * 12
    export(store, tmp_path / "rounds.csv")
    assert list(rounds) == list(pandas.read_csv(tmp_path / "rounds.csv"))
    assert rounds.equals(run().to_dataframe())
    table = report(store).to_dataframe()
    assert table[["noise_var", "agent"]].duplicated().sum() == 0
    last = rounds[rounds["round"] == 12].groupby(["noise_var", "agent"])["average_regret"]
    means = table.set_index(["noise_var", "agent"])["average_regret"]
    assert np.allclose(last.mean(), means[last.mean().index])
    errors = table.set_index(["noise_var", "agent"])["average_regret_se"]
    assert np.allclose(last.sem(), errors[last.mean().index])


def test_pandas_is_asked_for_only_when_it_is_needed(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[tables\]"):
        to_dataframe(store)
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[tables\]"):
        export(store, tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


def test_a_figure_is_returned_for_notebooks(store):
    drawn = figure(store, log=True)
    assert len(drawn.axes) == 2 * 3
    assert drawn._suptitle.get_text().startswith("test/tiny")
