"""Skipped evaluations, initial points and what they cost: played, stored, reported, drawn."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, StoreError, UnknownName
from gpbandits_env.scenarios import AgentEntry, Panel
from gpbandits_env.scenarios.declare import read
from gpbandits_env.scenarios.metrics import FLOOR, log_latest, log_simple
from gpbandits_env.scenarios.reporting.plots import figure, plot
from gpbandits_env.scenarios.reporting.style import write
from gpbandits_env.scenarios.results import records as kept
from gpbandits_env.scenarios.results.curves import along, curves_of
from gpbandits_env.scenarios.results.export import export
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.study.runner import make_env

PANELS = (
    Panel("average_regret"),
    Panel("average_regret", "total_seconds"),
    Panel("log10_simple_regret", "evaluations", "deviation"),
    Panel("model_order"),
)

ROUNDS = ("actions", "rewards", "values", "regret", "optimum", "model_order", "evaluations")
INITIAL = ("initial_actions", "initial_rewards", "initial_values", "initial_regret")


@pytest.fixture
def thrifty(tiny):
    """Agents of which one evaluates but little, with initial points and batches of two."""
    return replace(
        tiny,
        id="test/thrifty",
        env_kwargs={**tiny.env_kwargs, "batch_size": 2},
        agents=(
            AgentEntry("ei", "ei"),
            AgentEntry("cei", "cei", {"compress": {"epsilon": 0.5}}),
        ),
        alternatives=(),
        grid=(),
        selective=True,
        initial=5,
        initial_counts=True,
        panels=PANELS,
    )


@pytest.fixture
def store(run, thrifty):
    with Store.open(run(scenario=thrifty).path) as opened:
        yield opened


def test_a_compressed_agent_saves_evaluations_and_the_world_is_the_same(thrifty):
    dense, thin = (run_trial(thrifty, label, 0).rounds for label in ("ei", "cei"))
    assert dense["evaluations"].tolist() == [5 + 2 * t for t in range(1, 13)]
    saved = np.diff(thin["evaluations"], prepend=5)
    assert saved.max() <= 2
    assert saved.sum() < 24
    # Where nothing was observed nothing was learned; where one of two, one reward is 0.
    assert np.array_equal((thin["rewards"] != 0.0).sum(axis=1), saved)
    assert np.array_equal(np.diff(thin["model_order"]), saved[1:])
    assert np.array_equal(thin["regret"], thin["optimum"][:, None] - thin["values"])
    assert dense["optimum"].tolist() == thin["optimum"].tolist()


def test_records_of_batches_are_whole(thrifty):
    rounds = run_trial(thrifty, "ei", 0).rounds
    assert set(rounds) == {*ROUNDS, *INITIAL}
    assert {
        k: rounds[k].shape for k in ("actions", "rewards", "values", "regret")
    } == dict.fromkeys(("actions", "rewards", "values", "regret"), (12, 2))
    box = replace(
        thrifty,
        env="gpbandits/Task-v0",
        env_kwargs={"task": "ackley", "dim": 3, "batch_size": 2},
        agents=(AgentEntry("random", "random"),),
    )
    record = run_trial(box, "random", 0)
    assert record.rounds["actions"].shape == (12, 2, 3)
    assert record.rounds["initial_actions"].shape == (5, 3)
    assert set(record.seconds) == set(kept.SECONDS_FIELDS)
    assert (record.seconds["evaluate"] > 0.0).all()


def test_initial_points_are_shared_and_no_rounds(thrifty):
    ei, cei, other = (
        run_trial(thrifty, *which).rounds for which in (("ei", 0), ("cei", 0), ("ei", 1))
    )
    for name in INITIAL:
        assert np.array_equal(ei[name], cei[name])
        assert not np.array_equal(ei[name], other[name])
    noise = ei["initial_rewards"] - ei["initial_values"]
    assert 0.0 < np.abs(noise).max() < 1.0
    assert ei["initial_regret"].min() >= 0.0
    assert ei["model_order"][0] == 7  # five points, and the two of round 1


def test_the_simple_regret_begins_with_the_initial_points_only_if_they_count(run, thrifty):
    for counts in (True, False):
        path = run(f"{counts}.sqlite", replace(thrifty, initial_counts=counts)).path
        with Store.open(path) as store:
            regret, before = (
                store.arrays(0, "ei", name)[2] for name in ("regret", "initial_regret")
            )
            best = np.minimum.accumulate(regret.min(axis=1))
            want = np.minimum(best, before.min()) if counts else best
            assert np.array_equal(curves_of(store, 0, "ei", "simple_regret")[2], want)
            average = curves_of(store, 0, "ei", "average_regret")[2]
            assert average[-1] == pytest.approx(regret.mean())


def test_actions_are_left_out_when_not_wanted_or_too_many(run, thrifty, tmp_path, monkeypatch):
    full = run_trial(thrifty, "ei", 0).rounds
    less = run_trial(replace(thrifty, store_actions=False), "ei", 0).rounds
    monkeypatch.setattr("gpbandits_env.scenarios.results.records.MOST_ACTIONS", 23)
    fewer = run_trial(thrifty, "ei", 0).rounds
    for rounds in (less, fewer):
        assert set(full) - set(rounds) == {"actions", "initial_actions"}
        assert all(np.array_equal(full[name], rounds[name]) for name in rounds)
    with Store.open(run("x.sqlite", replace(thrifty, store_actions=False)).path) as store:
        with pytest.raises(StoreError, match="has no actions"):
            store.arrays(0, "ei", "actions")
        export(store, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as file:
        assert "action" not in csv.DictReader(file).fieldnames


def test_what_shapes_a_result_is_its_identity(run, thrifty):
    run()
    run(name="b.sqlite", scenario=thrifty)
    for change in ({"initial": 6}, {"selective": False}, {"initial_counts": False}):
        with pytest.raises(StoreError, match=r"another study.*fresh=True"):
            run(name="b.sqlite", scenario=replace(thrifty, **change))
    run(name="b.sqlite", scenario=replace(thrifty, panels=()))  # a plot shapes nothing
    with pytest.raises(InvalidInput, match="initial"):
        replace(thrifty, initial=0)


def test_the_report_says_what_was_spent(store):
    dense, thin = report(store).cells[0].agents
    assert dense.evaluations == 29
    assert thin.evaluations == store.arrays(0, "cei", "evaluations")[:, -1].mean() < 29
    assert dense.model_order == 29
    assert thin.evaluating > 0.0
    lines = str(report(store, "log10_simple_regret"))
    for word in ("log10 simple regret", "model order", "evaluations"):
        assert word in lines


@pytest.mark.parametrize(("evaluating", "shown"), [(5.0, False), (50.0, True)])
def test_the_time_of_evaluating_is_shown_where_it_counts(store, evaluating, shown):
    found = report(store)
    (cell,) = found.cells
    timed = tuple(replace(a, microseconds=100.0, evaluating=evaluating) for a in cell.agents)
    lines = str(replace(found, cells=(replace(cell, agents=timed),)))
    assert ("evaluating us/round" in lines) == shown


def test_the_log_of_the_distance_has_a_floor():
    got = log_simple(np.array([[1.0, 2.0], [0.5, 0.1], [0.0, -1.0]]))
    assert np.allclose(got, [0.0, -1.0, np.log10(FLOOR)])
    got = log_latest(np.array([[1.0, 3.0], [0.5, 0.1], [0.0, -1.0]]))
    assert np.allclose(got, [np.log10(2.0), np.log10(0.3), np.log10(FLOOR)])


def test_panels_show_means_against_rounds_time_and_evaluations(store):
    time = along(store, 0, "cei", "total_seconds")
    parts = sum(store.seconds(0, "cei", name) for name in ("ask", "tell", "evaluate"))
    assert np.allclose(time, np.cumsum(parts, axis=1))
    assert (along(store, 0, "cei", "seconds") < time).all()
    assert along(store, 0, "cei", "rounds")[3].tolist() == list(range(1, 13))
    curves = along(store, 0, "ei", "average_regret")
    assert np.allclose(
        Panel("average_regret", band="deviation").band_of(curves), curves.std(0, ddof=1)
    )
    assert np.allclose(Panel("average_regret").band_of(curves), curves.std(0, ddof=1) / 2)
    assert not Panel("average_regret").band_of(curves[:1]).any()


def test_the_plot_has_the_declared_panels(store, tmp_path):
    assert [read(Panel, p) for p in store.scenario["panels"]] == list(PANELS)
    own = plot(store)
    other = write(figure(store, panels=[Panel("evaluations", log=True)]), tmp_path / "o")
    assert own[0].read_bytes()[:4] == b"\x89PNG"
    assert own[0].stat().st_size > other[0].stat().st_size


@pytest.mark.parametrize("bad", [{"y": "regret"}, {"x": "hours"}, {"band": "errors"}])
def test_a_panel_of_nothing_known_is_refused(bad):
    with pytest.raises(UnknownName):
        Panel(**{"y": "model_order", **bad})


def test_a_selective_scenario_is_played_in_a_selective_environment(thrifty):
    (cell,) = thrifty.cells()
    assert "selective" not in cell.scenario.env_kwargs
    assert make_env(thrifty.env, cell.made_with, 5).unwrapped.selective
