import json
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gpbandits_env import agents as learners
from gpbandits_env.errors import ClusterLost, InvalidInput, StoreError, UnknownName
from gpbandits_env.scenarios import AgentEntry
from gpbandits_env.scenarios.results.export import export
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.study.run import plan
from gpbandits_env.scenarios.study.runner import PlannedTrial, run_tasks

TIMING = {"seconds", "sessions"}


def contents(path):
    """All rows of all tables but the timing ones."""
    with closing(sqlite3.connect(path)) as db:
        names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {n: sorted(db.execute(f"SELECT * FROM {n}")) for n in names if n not in TIMING}
    found["checksums"] = [row for row in found["checksums"] if "seconds" not in row[0]]
    return found


def test_each_run_of_a_study_records_its_versions_and_machine(run, tiny, tmp_path):
    for trials in (1, 2):
        run("a.sqlite", replace(tiny, trials=trials))
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as db:
        sessions = [json.loads(row[0]) for row in db.execute("SELECT info FROM sessions")]
    assert [session["jobs"] for session in sessions] == [1, 1]
    assert all(session["versions"]["numpy"] == np.__version__ for session in sessions)
    assert all(session["machine"]["blas"] for session in sessions)


def test_two_processes_give_the_store_of_one_though_one_of_them_dies(run, odd, tiny, tmp_path):
    study, died = odd("Once", grid=tiny.grid, horizon=12), tmp_path / "died"
    died.touch()
    one = run("one.sqlite", study, jobs=1)
    died.unlink()
    two = run("two.sqlite", study, jobs=2)
    assert died.exists()
    assert one.done == two.done == one.total == 2 * 2 * 2
    assert contents(one.path) == contents(two.path)
    with Store.open(one.path) as a, Store.open(two.path) as b:
        assert a.digest() == b.digest()


def test_a_study_in_parts_equals_the_whole(run, tiny):
    run("parts.sqlite", tiny.select(["ei"], trials=1))
    run("parts.sqlite", tiny.select(trials=3))
    parts, whole = run("parts.sqlite"), run("whole.sqlite")
    with Store.open(parts.path) as a, Store.open(whole.path) as b:
        assert {k: v for k, v in a.scenario.items() if k != "agents"} == {
            k: v for k, v in b.scenario.items() if k != "agents"
        }
        assert a.done() == b.done()
        for cell in b.cells():
            for label in b.labels(cell):
                kept = (file.arrays(cell, label, "regret") for file in (a, b))
                assert np.array_equal(*kept)


def test_a_finished_study_is_not_played_again(run, monkeypatch):
    first = run()
    monkeypatch.setattr("gpbandits_env.scenarios.study.engine_local.run_tasks", None)
    assert run().done == first.total


def test_all_agents_of_a_trial_face_the_same_world(run):
    with Store.open(run().path) as store:
        for trial in range(4):
            optima = [store.arrays(0, a, "optimum")[trial] for a in store.labels(0)]
            assert all(np.array_equal(optima[0], other) for other in optima)
        first, second, *_ = store.arrays(0, "ei", "optimum")
        assert not np.array_equal(first, second)


def test_streams_are_named_by_what_shapes_them(tiny):
    def both(scenario, cell, label, trial, seed=0):
        task = PlannedTrial(scenario.cells()[cell], TrialKey(cell, label, trial), seed)
        return task.stream("world"), task.stream("agent", label)

    world, agent = both(tiny, 0, "ei", 0)
    assert both(tiny, 0, "random", 0)[0] == world
    assert both(tiny, 0, "random", 0)[1] != agent
    for other in (both(tiny, 1, "ei", 0), both(tiny, 0, "ei", 1), both(tiny, 0, "ei", 0, 1)):
        assert world != other[0]
        assert agent != other[1]
    swept = replace(tiny, grid={"agents.noise_var": (0.1, 0.2)})
    assert both(swept, 0, "ei", 0)[0] == both(swept, 1, "ei", 0)[0]


def test_a_single_trial_equals_the_stored_one(run, tiny):
    with Store.open(run().path) as store:
        record = run_trial(tiny, "gp-ucb", 2)
        for name, array in record.rounds.items():
            kept = store.arrays(0, "gp-ucb", name)
            assert np.array_equal(kept[2], array)
            assert kept.dtype == array.dtype


def test_a_single_trial_that_there_is_not(tiny):
    with pytest.raises(UnknownName, match="did you mean 'gp-ucb'"):
        run_trial(tiny, "gpucb", 0)
    with pytest.raises(InvalidInput, match="trial must be at least 0"):
        run_trial(tiny, "gp-ucb", -1)


def test_a_record_is_consistent_with_itself(tiny):
    rounds = run_trial(tiny, "gp-ucb", 0).rounds
    assert np.allclose(rounds["regret"], rounds["optimum"][:, None] - rounds["values"])
    assert (rounds["regret"] >= 0).all()
    assert rounds["evaluations"].tolist() == list(range(1, 13))
    assert rounds["model_order"].tolist() == list(range(1, 13))
    assert not np.array_equal(rounds["rewards"], rounds["values"])


@pytest.mark.parametrize(("change", "words"), [
    ({"horizon": 13}, "its horizon is 12, requested is 13"),
    ({"env_kwargs": {"grid": [31]}}, "its env_kwargs.grid is"),
    ({"grid": {"noise_var": (0.01,)}}, "its grid is"),
    ({"agents": (AgentEntry("ei", "mpi"),)}, "its agents.ei.agent is \"ei\", requested is \"mpi\""),
    ({"id": "test/other"}, "its id is"),
])  # fmt: skip
def test_another_study_is_refused_and_nothing_changes(run, tiny, change, words):
    path = run(scenario=tiny.select(["ei"], trials=1)).path
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words) as error:
        run(scenario=replace(tiny, **change))
    assert "--out" in str(error.value)
    assert "--fresh" in str(error.value)
    assert path.read_bytes() == before


def test_another_seed_is_refused(run):
    run()
    with pytest.raises(StoreError, match="its seed is 0, requested is 1"):
        run(seed=1)


def test_fresh_replaces(run, tiny):
    run(scenario=tiny.select(trials=2))
    assert run(scenario=tiny.select(trials=1), fresh=True, seed=5).done == 6


def test_fresh_replaces_what_is_damaged_or_of_another_format(run):
    path = run().path
    for change in ("UPDATE trials SET rounds = 9", "PRAGMA user_version = 1"):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(change)
        with pytest.raises(StoreError):
            run()
        assert run(fresh=True).done == 24


def test_fresh_never_deletes_what_is_not_a_store(run, tmp_path):
    (tmp_path / "a.sqlite").write_text("my thesis")
    with pytest.raises(StoreError, match="not a results file"):
        run(fresh=True)
    assert (tmp_path / "a.sqlite").read_text() == "my thesis"


def test_what_cannot_be_played_is_told_before_anything_is_written(run, tiny, tmp_path):
    with pytest.raises(InvalidInput, match="noise_var"):
        run(scenario=replace(tiny, grid={"noise_var": (0.1, -1.0)}))
    with pytest.raises(UnknownName, match=r"agents\[0\]\.agent .*did you mean 'gp-ucb'"):
        run(scenario=replace(tiny, agents=(AgentEntry("x", "gp-ucbb"),)))
    with pytest.raises(InvalidInput, match=r"a study runs a Scenario, .* got 'srinivas2010/se-1d'"):
        run(scenario="srinivas2010/se-1d")
    with pytest.raises(InvalidInput, match=r"engine must be an Engine, .* got 'dask'"):
        run(engine="dask")
    with pytest.raises(InvalidInput, match="environment"):
        run(scenario=replace(tiny, env="gpbandits/StaticGPP-v0"))
    with pytest.raises(InvalidInput, match="jobs"):
        run(jobs=0)
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_raises_loses_no_other_result(run, monkeypatch):
    whole = run("whole.sqlite")
    make = learners.make

    def faulty(name, env, *, seed, **settings):
        agent = make(name, env, seed=seed, **settings)
        if name == "ei":
            monkeypatch.setattr(agent, "tell", lambda *_: 1 / 0)
        return agent

    monkeypatch.setattr("gpbandits_env.agents.make", faulty)
    broken = run("broken.sqlite")
    assert len(broken.failures) == 8
    assert broken.done == 16
    assert str(broken.failures[0].key) == "agent 'ei', trial 0"
    assert broken.failures[0].error == "ZeroDivisionError: division by zero, in round 1"
    assert "tell" in broken.failures[0].traceback
    monkeypatch.setattr("gpbandits_env.agents.make", make)
    mended = run("broken.sqlite")
    assert mended.failures == ()
    assert contents(mended.path) == contents(whole.path)


class Mute(Exception):
    def __str__(self):
        return 1 / 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (partial(ValueError, "half \ud800"), "ValueError: half \\ud800, in round 1"),
        (Mute, "Mute: <exception str() failed>, in round 1"),
        (MemoryError, "MemoryError, in round 1"),
    ],
)
def test_a_failure_is_kept_whatever_its_error_says(run, tiny, monkeypatch, error, said):
    def fail(*_):
        raise error()

    monkeypatch.setattr("gpbandits_env.agents.algorithms.ei.EI.ask", fail)
    broken = run("broken.sqlite", tiny.select(trials=1))
    assert {failure.error for failure in broken.failures} == {said}


def test_a_report_without_results_says_what_the_agent_raised(run, tiny, monkeypatch):
    monkeypatch.setattr("gpbandits_env.scenarios.study.runner.run_rounds", lambda *_, **__: 1 / 0)
    broken = run(scenario=tiny.select(["ei"]))
    assert broken.done == 0
    with pytest.raises(StoreError, match="no finished trial: agent 'ei', trial 0 raised ZeroDiv"):
        broken.report()


def test_ctrl_c_keeps_what_is_done(run, monkeypatch):
    from gpbandits_env.scenarios.study import engine_local

    play, count = engine_local.run_tasks, iter(range(100))

    def interrupted(*given):
        if next(count) == 2:
            raise KeyboardInterrupt
        return play(*given)

    monkeypatch.setattr(engine_local, "run_tasks", interrupted)
    stopped = run()
    assert stopped.interrupted
    assert 0 < stopped.done < stopped.total
    monkeypatch.setattr(engine_local, "run_tasks", play)
    again, whole = run(), run("whole.sqlite")
    assert not again.interrupted
    assert contents(again.path) == contents(whole.path)


def test_the_plan_is_every_trial_once_in_declared_order(tiny):
    wanted = [
        TrialKey(c, label, trial)
        for c in range(2)
        for trial in range(4)
        for label in ("gp-ucb", "ei", "random")
    ]
    tasks = plan(tiny.cells(), tiny.trials, 0)
    assert [task.key for task in tasks] == wanted
    assert [task.cell.index for task in tasks] == [task.key.cell for task in tasks]


def test_nothing_shows_in_what_order_trials_were_done(run, tiny, tmp_path, monkeypatch):
    """Tables, pages, exports, failures and the digest, of one set of results."""
    tasks = plan(tiny.cells(), tiny.trials, 0)
    monkeypatch.setattr("gpbandits_env.scenarios.study.runner.PORTION", np.inf)
    done = run_tasks(tasks)
    for i in (5, 14):
        done[i] = TrialFailure(done[i].key, "ValueError: no", "Traceback: no")

    def shown(name, order):
        def results(*_):
            return ([done[i]] for i in order)

        monkeypatch.setattr("gpbandits_env.scenarios.study.run.results", results)
        outcome = run(name)
        with Store.open(outcome.path) as store:
            found = report(store)
            export(store, tmp_path / f"{name}.csv")
            rows = (tmp_path / f"{name}.csv").read_bytes()
            return str(found), store.digest(), rows, outcome.failures, found.failures

    declared = shown("a", range(len(done)))
    assert len(declared[3]) == 2
    shuffled = np.random.default_rng(0).permutation(len(done))
    assert shown("b", shuffled) == declared
    assert shown("c", range(len(done) - 1, -1, -1)) == declared


def test_a_lost_cluster_is_told_with_what_is_kept(run, tiny, monkeypatch):
    tasks = plan(tiny.cells(), tiny.trials, 0)

    def results(*_):
        yield run_tasks(tasks[7:8])
        raise ClusterLost("the cluster is gone")

    with monkeypatch.context() as patch:
        patch.setattr("gpbandits_env.scenarios.study.run.results", results)
        with pytest.raises(ClusterLost, match=r"gone. 1 of 24 trials are kept in .*; the same"):
            run()
    assert run().done == 24


def test_a_trial_that_would_end_the_program_is_a_failure(run, monkeypatch):
    monkeypatch.setattr(
        "gpbandits_env.scenarios.study.runner.run_rounds", lambda *_, **__: sys.exit(4)
    )
    outcome = run()
    assert outcome.done == 0
    assert {f.error for f in outcome.failures} == {"SystemExit: 4"}


def test_an_empty_file_left_by_a_kill_is_begun_anew(run, tmp_path):
    (tmp_path / "a.sqlite").touch()
    assert run().done == 24


def test_two_runs_that_begin_together_share_the_file(run, tiny, monkeypatch):
    create = Store.create

    def created_by_another_run_first(path, meta):
        monkeypatch.setattr(Store, "create", create)
        run(scenario=tiny.select(["ei"]))
        return create(path, meta)

    monkeypatch.setattr(Store, "create", created_by_another_run_first)
    outcome = run(scenario=tiny.select(["random"]))
    assert outcome.done == 8
    with Store.open(outcome.path) as store:
        assert store.labels(0) == ["ei", "random"]


@pytest.mark.parametrize("step", ["results.store_check.check_sound", "study.run._differences"])
def test_no_other_run_writes_while_one_checks_or_extends_the_file(run, tiny, monkeypatch, step):
    path = run(scenario=tiny.select(["ei"])).path
    step = f"gpbandits_env.scenarios.{step}"
    module, _, name = step.rpartition(".")
    original, tried = getattr(sys.modules[module], name), []

    def with_another_run(*args):
        locked = pytest.raises(sqlite3.OperationalError, match="locked")
        with closing(sqlite3.connect(path, timeout=0)) as other, locked:
            other.execute("BEGIN IMMEDIATE")
        tried.append(1)
        return original(*args)

    monkeypatch.setattr(step, with_another_run)
    run(scenario=tiny.select(["random"]))
    assert tried
