import re
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from gpbandits_env.errors import InvalidInput, StoreError, UnknownName
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.scenario import AgentEntry
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.suite import rows, suites
from gpbandits_env.scenarios.suite.archive import archived, entries
from gpbandits_env.scenarios.suite.run import DIFFERENT, SAME, rerun, run_suite, sampled
from gpbandits_env.scenarios.suite.seeds import exposed, opponents

MODULE = """
from functools import partial
from pathlib import Path

from gpbandits_env.agents import Agent, GPAgent
from gpbandits_env.agents.acquisitions import UCB
from gpbandits_env.agents.parts import Parts


class Stopped(Agent):
    '''Interrupted in the third trial while a file exists.'''

    made = 0

    def ask(self):
        if not self.round:
            Stopped.made += 1
            if Stopped.made == 3 and Path("stop").exists():
                raise KeyboardInterrupt
        return self.problem.domain.sample(self.rng, self.batch_size)


class OnlySmall(Agent):
    '''Refuses more than one action.'''

    def __init__(self, problem, rng):
        super().__init__(problem, rng)
        if self.batch_size > 1:
            from gpbandits_env.errors import InvalidInput
            raise InvalidInput("one action at a time")

    def ask(self):
        return self.problem.domain.sample(self.rng, 1)


class OnlyBatches(Agent):
    '''Refuses one action in the way of Python.'''

    def __init__(self, problem, rng):
        super().__init__(problem, rng)
        if self.batch_size == 1:
            raise ValueError("several actions at a time")

    def ask(self):
        return self.problem.domain.sample(self.rng, self.batch_size)


class Mistaken(Agent):
    def __init__(self, problem, rng):
        super().__init__(problem, rng)
        {1: "one"}[problem.batch_size]

    def ask(self):
        return self.problem.domain.sample(self.rng, self.batch_size)


class Memory(Agent):
    '''Knows the best action of functions whose first reward it has seen before.'''

    known = {}

    def __init__(self, problem, rng):
        super().__init__(problem, rng)
        self.best = 0

    def ask(self):
        import numpy as np

        return np.array([self.best])

    def _learn(self, actions, rewards):
        if self.round == 0:
            anything = int(self.problem.domain.sample(self.rng, 1)[0])
            self.best = self.known.get(round(float(rewards[0]), 9), anything)


class Mine(GPAgent):
    PARTS = Parts(acquisition=partial(UCB, beta=2.0))


class Raises(Agent):
    def ask(self):
        if self.round == 2:
            raise RuntimeError("it does not work")
        return self.problem.domain.sample(self.rng, self.batch_size)


class RaisesInBatches(Agent):
    def ask(self):
        return self.problem.domain.sample(self.rng, 1)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "suite_agents.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "suite_agents", raising=False)


def played(agent, folder, **more):
    given = {"problems": ["se"], "trials": 4, "jobs": 1, "folder": folder}
    return run_suite("core-v1", agent, **given | more)


@pytest.mark.parametrize(
    ("agent", "problem", "trial"),
    [("gp-ucb", "se", 0), ("random", "breaks", 7), ("rexp3", "batch-5", 3), ("bucb", "delay", 29)],
)
def test_an_archived_trial_has_the_same_digest_again(agent, problem, trial):
    row = archived("core-v1")[agent, f"core-v1/{problem}"]
    known = suites.problems("core-v1")[row.problem]
    assert rerun(row, known, entries()[agent], trial) != DIFFERENT
    record = run_trial(known.select([agent]), agent, trial)
    assert len(record.rounds["regret"]) == row.rounds[-1]


def test_a_changed_trial_and_changed_settings_are_noticed():
    row = archived("core-v1")["gp-ucb", "core-v1/se"]
    problem = suites.problems("core-v1")["core-v1/se"]
    with pytest.raises(StoreError, match="make the row anew"):
        rerun(row, problem, AgentEntry("gp-ucb", "gp-ucb", {"beta": 1.0}), 0)
    other = archived("core-v1")["random", "core-v1/se"]
    wrong = rows.replace(row, regret=other.regret, digests=other.digests)
    assert rerun(wrong, problem, entries()["gp-ucb"], 0) == DIFFERENT


def test_an_archived_agent_is_not_different_from_itself(tmp_path):
    outcome = played("gp-ucb", tmp_path, problems=["se", "kernel"], trials=None)
    assert outcome.label == "gp-ucb (this run)"
    for problem in ("core-v1/se", "core-v1/kernel"):
        ours = outcome.rows[outcome.label, problem]
        kept = archived("core-v1")["gp-ucb", problem]
        if ours.machine == kept.machine:
            np.testing.assert_array_equal(ours.digests, kept.digests)
            np.testing.assert_array_equal(ours.regret, kept.regret)
    card = outcome.card()
    (against,) = (test for test in card.tests if test.b == "gp-ucb")
    assert against.p == 1.0
    assert "no clear difference" in " ".join(str(card).split())
    assert len(rows.load(tmp_path / "rows.npz")) == 2


def test_an_interrupted_run_resumes_and_ends_as_another(module, tmp_path):
    (tmp_path / "stop").touch()
    stopped = played("suite_agents:Stopped", tmp_path / "a")
    assert stopped.interrupted
    (tmp_path / "stop").unlink()
    resumed = played("suite_agents:Stopped", tmp_path / "a")
    whole = played("suite_agents:Stopped", tmp_path / "b")
    assert not resumed.interrupted
    (one,), (other,) = resumed.rows.values(), whole.rows.values()
    assert one.trials == 4
    np.testing.assert_array_equal(one.digests, other.digests)


def test_a_mistake_in_a_constructor_ends_the_run_with_its_place(module, tmp_path):
    with pytest.raises(InvalidInput, match=r"raised KeyError\(5\) in line \d+ of .*_agents.py"):
        played("suite_agents:Mistaken", tmp_path, problems=["se", "batch-5"])
    assert (tmp_path / "se.sqlite").exists()
    given = ("--agent", "suite_agents:Mistaken", "--problem", "batch-5")
    ended = invoke("run", "core-v1", *given)
    assert ended.exit_code == 2
    assert "gpbandits: core-v1/batch-5: agent 'Mistaken': its constructor raised" in ended.output


def test_problems_that_an_agent_refuses_are_left_out_with_its_reason(module, tmp_path):
    outcome = played("suite_agents:OnlySmall", tmp_path, problems=["se", "batch-5"])
    assert outcome.refused == {"core-v1/batch-5": "one action at a time"}
    assert list(outcome.rows) == [("OnlySmall", "core-v1/se")]
    with pytest.raises(InvalidInput, match="can play no problem of core-v1: one action at a time"):
        played("suite_agents:OnlySmall", tmp_path, problems=["batch-5"])
    other = played("suite_agents:OnlyBatches", tmp_path / "other", problems=["se", "batch-5"])
    assert other.refused == {"core-v1/se": "agent 'OnlyBatches': several actions at a time"}


def test_rows_of_the_archive_have_the_trials_of_the_run(tmp_path):
    outcome = played(AgentEntry("short", "max-mean", {"window": 5}), tmp_path)
    assert {row.trials for row in outcome.field.values()} == {4}
    assert ("short", "core-v1/se") in outcome.field
    assert ("gp-ucb", "core-v1/se") in outcome.field
    assert {problem for _, problem in outcome.field} == {"core-v1/se"}
    with pytest.raises(StoreError, match="another study"):
        played(AgentEntry("short", "max-mean", {"window": 6}), tmp_path)


def test_an_agent_whose_code_has_changed_is_not_mixed_with_its_old_trials(module, tmp_path):
    import suite_agents

    first = played("suite_agents:Stopped", tmp_path / "a", problems=["se", "breaks"], trials=1)
    whole = played("suite_agents:Stopped", tmp_path / "a", problems=["se", "breaks"], trials=2)
    for (agent, id), row in first.rows.items():
        np.testing.assert_array_equal(row.digests, whole.rows[agent, id].digests[:1])
    ask = suite_agents.Stopped.ask
    suite_agents.Stopped.ask = lambda self: 0 * ask(self)
    with pytest.raises(StoreError, match=r"does not repeat trial 0 .*code has changed.*--fresh"):
        played("suite_agents:Stopped", tmp_path / "a", trials=3)
    suite_agents.Stopped.ask = suite_agents.Raises.ask
    raising = played("suite_agents:Stopped", tmp_path / "a", trials=3)
    ((failure,),) = raising.failures.values()
    assert (failure.key.trial, failure.error.endswith("not work, in round 3")) == (0, True)
    assert "suite_agents.py" in failure.traceback
    assert not raising.rows
    suite_agents.Stopped.ask = lambda self: 0 * ask(self)
    new = played("suite_agents:Stopped", tmp_path / "a", trials=3, fresh=True)
    assert new.rows["Stopped", "core-v1/se"].trials == 3
    assert (
        new.rows["Stopped", "core-v1/se"].digests[0]
        != first.rows["Stopped", "core-v1/se"].digests[0]
    )


def test_a_file_that_a_kill_left_empty_is_filled(tmp_path):
    (tmp_path / "se.sqlite").touch()
    assert played("random", tmp_path).rows["random (this run)", "core-v1/se"].trials == 4


def test_rows_of_an_earlier_run_in_the_folder_stay(tmp_path):
    def run(label, problem, **more):
        given = {"problems": [problem], "trials": 1, "jobs": 1, "folder": tmp_path} | more
        run_suite("core-v1", AgentEntry(label, "random"), **given)
        return {id: row.trials for (_, id), row in rows.load(tmp_path / rows.FILE).items()}

    run("a/b", "se", trials=2)
    assert run("a/b", "kernel") == {"core-v1/se": 2, "core-v1/kernel": 1}
    # It would have the same folder by default.
    with pytest.raises(InvalidInput, match="has the rows of 'a/b': give every agent a folder of"):
        run("a-b", "se")
    # After a change of the agent, its other rows are old.
    assert run("a/b", "se", fresh=True) == {"core-v1/se": 1}
    # Other instances have other rows.
    assert run("a/b", "matern52", seed=3) == {"core-v1/matern52": 1}
    (tmp_path / rows.FILE).write_bytes(b"damaged")
    with pytest.raises(StoreError, match="remove it, and"):
        run("a/b", "se", fresh=True)


def test_a_run_of_fewer_trials_keeps_the_other_rows(tmp_path):
    for trials in (3, 2):
        played("random", tmp_path, problems=["se"], trials=trials)
    (row,) = rows.load(tmp_path / rows.FILE).values()
    assert row.trials == len(row.digests) == 3


@pytest.mark.parametrize("fresh", [False, True])
def test_rows_of_another_run_that_ends_meanwhile_stay(tmp_path, monkeypatch, fresh):
    from gpbandits_env.scenarios.suite import run as module

    def played(problem, fresh):
        given = {"problems": [problem], "trials": 1, "jobs": 1, "folder": tmp_path, "fresh": fresh}
        return run_suite("core-v1", "random", **given)

    def and_another(*given, **more):
        monkeypatch.setattr(module, "run_study", run_study)
        played("kernel", fresh)
        return run_study(*given, **more)

    run_study = module.run_study
    for problem in ("matern52", "kernel"):
        played(problem, fresh=False)
    monkeypatch.setattr(module, "run_study", and_another)
    played("se", fresh)
    kept = {id.partition("/")[2] for _, id in rows.load(tmp_path / rows.FILE)}
    # With `fresh` only the rows of before are old.
    assert kept == {"se", "kernel"} | (set() if fresh else {"matern52"})


def test_an_agent_is_mended_after_a_failure_and_keeps_its_other_trials(module, tmp_path):
    import suite_agents

    raising = suite_agents.Raises.ask
    suite_agents.Raises.ask = lambda s: raising(s) if s.batch_size > 1 else np.zeros(1, int)
    given = {"problems": ["se", "batch-5"], "trials": 2}
    outcome = played("suite_agents:Raises", tmp_path, **given)
    assert list(outcome.rows) == [("Raises", "core-v1/se")]
    assert {id: len(found) for id, found in outcome.failures.items()} == {"core-v1/batch-5": 2}
    assert "core-v1/batch-5: RuntimeError" in repr(outcome)
    card = outcome.card()
    assert "; 2 trials of core-v1/batch-5 failed: only the trials before" in card.sentence
    assert "not run: 23 problems of core-v1" in card.notes
    suite_agents.Raises.ask = lambda s: np.zeros(s.batch_size, int)
    mended = played("suite_agents:Raises", tmp_path, **given)
    assert not mended.failures
    assert "failed" not in mended.card().sentence
    assert len(mended.rows) == 2
    assert (
        mended.rows["Raises", "core-v1/se"].seconds == outcome.rows["Raises", "core-v1/se"].seconds
    )


def test_a_card_without_a_finished_trial_says_that_all_failed(module, tmp_path):
    outcome = played("suite_agents:Raises", tmp_path, problems=["batch-5"], trials=2)
    with pytest.raises(InvalidInput, match=r"^no card of Raises: 2 trials of core-v1/batch-5 fail"):
        outcome.card()


def test_all_problems_share_the_processes(module, tmp_path, monkeypatch):
    from gpbandits_env.scenarios.study import engine_local

    started, start = [], engine_local.Processes._started
    monkeypatch.setattr(
        engine_local.Processes, "_started", lambda self: started.append(self) or start(self)
    )
    one = played("random", tmp_path / "a", problems=["se", "breaks", "batch-5"], jobs=2)
    assert len(started) == 2
    other = played("random", tmp_path / "b", problems=["se", "breaks", "batch-5"])
    for key, row in one.rows.items():
        np.testing.assert_array_equal(row.digests, other.rows[key].digests)


def test_mistakes_are_named_before_anything_runs(module, tmp_path):
    with pytest.raises(UnknownName, match="no setting"):
        played("gp-ucb", tmp_path, settings={"gamma": 2.0})
    with pytest.raises(UnknownName, match="did you mean"):
        played("gp-ucbb", tmp_path)
    with pytest.raises(InvalidInput, match=r"no class 'Mind' .*, but .*Mine"):
        played("suite_agents:Mind", tmp_path)
    with pytest.raises(InvalidInput, match="a class of your own is named as 'module:Class'"):
        played("suite_agents.Mine", tmp_path)
    with pytest.raises(InvalidInput, match="trials must be at most 30"):
        played("gp-ucb", tmp_path, trials=31)
    with pytest.raises(InvalidInput, match="trials must be at least 1"):
        played("gp-ucb", tmp_path, trials=0)
    with pytest.raises(InvalidInput, match="engine must be an Engine"):
        played("gp-ucb", tmp_path, engine="dask")
    with pytest.raises(UnknownName, match="your own is 'module:Class'"):
        played("Mine", tmp_path)
    with pytest.raises(InvalidInput, match=r"^agent 'gone.py:Mine'.*'mine' is the file mine.py"):
        played("gone.py:Mine", tmp_path)
    with pytest.raises(InvalidInput, match=r"^agent './gone.py:Mine'.*'mine' is the file mine.py"):
        played("./gone.py:Mine", tmp_path)
    for agent in ("gp-ucb", "suite_agents:Mine"):
        with pytest.raises(InvalidInput, match=r"beta must be .* at least 0 .*, got -2"):
            played(agent, tmp_path, settings={"beta": -2})
    with pytest.raises(InvalidInput, match="agent must be a string, got 3"):
        played(3, tmp_path)
    with pytest.raises(InvalidInput, match="settings must be a table whose keys are names"):
        played("gp-ucb", tmp_path, settings=["beta"])
    with pytest.raises(InvalidInput, match=r"suite_agents.py is a file, .* kept in a folder"):
        played("gp-ucb", tmp_path / "suite_agents.py")
    assert {p.name for p in tmp_path.iterdir()} <= {"suite_agents.py", "__pycache__"}


def test_an_agent_that_knows_the_public_instances_is_exposed(module, tmp_path):
    import suite_agents

    problem = suites.problems("core-v1")["core-v1/se"].select(["random"])
    import gymnasium as gym

    env = gym.make(problem.env, max_episode_steps=2, **problem.env_kwargs)
    for trial in range(10):
        env.reset(seed=run_trial(problem.select(horizon=1), "random", trial).world_seed)
        best = int(env.unwrapped.function.best_action)
        observation, *_ = env.step(np.array([0]))
        suite_agents.Memory.known[round(float(observation["rewards"][0]), 9)] = best
    public = played("suite_agents:Memory", tmp_path / "a", trials=10)
    assert (next(iter(public.rows.values())).regret[:, 1:] < 2.0).mean() > 0.5
    rivals = opponents(public)[-3:]
    assert rivals[-1].label == "random"
    fresh = played("suite_agents:Memory", tmp_path / "b", trials=10, seed=2027, rivals=rivals)
    assert fresh.field == fresh.rows
    found = exposed(public, fresh)
    assert found.p < 0.01
    assert found.public > found.new
    assert "worse than chance explains: it fits the public instances" in str(found)
    honest = played("gp-ucb", tmp_path / "c", trials=10)
    fresh = played("gp-ucb", tmp_path / "d", trials=10, seed=2027, rivals=rivals)
    assert "no sign" in str(exposed(honest, fresh))


def test_equal_regret_counts_as_half_and_equal_falls_count_as_chance():
    """Over all ways to choose the four public instances of eight."""

    def outcome(own, other):
        regrets = {"mine": own, "rival": other}
        of = {
            (label, "made/one"): rows.Row(
                label, "made/one", np.array([1]), np.array(regret)[:, None], 1.0, ""
            )
            for label, regret in regrets.items()
        }
        return SimpleNamespace(label="mine", rows=of, field=of)

    found = exposed(
        outcome([1.0, 1.0, 1.0, 2.0], [2.0, 2.0, 1.0, 1.0]), outcome([1.0] * 4, [1.0] * 4)
    )
    assert (found.public, found.new) == (0.625, 0.5)
    leads = [1.0, 1.0, 0.5, 0.0, 0.5, 0.5, 0.5, 0.5]
    falls = [2.0 * np.mean(four) - np.mean(leads) * 2.0 for four in combinations(leads, 4)]
    assert found.p == pytest.approx(np.mean(np.array(falls) > 0.125 - 1e-9), abs=0.02)


def test_a_sample_has_no_trial_twice():
    some = archived("core-v1")["gp-ucb", "core-v1/se"], archived("core-v1")["random", "core-v1/se"]
    found = sampled(some, 1000)
    assert len({(row.agent, trial) for row, trial in found}) == len(found) == 60


def invoke(*words):
    return CliRunner().invoke(main, ["suite", *words])


def test_a_label_is_text(tmp_path):
    done = invoke(
        "run", "core-v1", "--agent", "random", "--label", "", "--out", str(tmp_path / "a")
    )
    assert done.exit_code != 0
    assert (
        "label must be one line of 1 to 100 characters without commas and dots, got ''"
        in done.output
    )
    assert not (tmp_path / "a").exists()


def test_the_commands(module, tmp_path):
    listed = invoke("list")
    assert listed.exit_code == 0
    assert "core-v1/season" in listed.output
    assert "agents of the archive: " in listed.output
    assert "gp-ucb/irgp" in listed.output.partition("agents of the archive: ")[2].splitlines()[0]
    (boxes,) = (line for line in listed.output.splitlines() if "needs a box" in line)
    assert ": ms-ucb (19), dropout-ucb (19)" in boxes
    more = ["--problem", "se", "--trials", "2", "--jobs", "1", "--out", str(tmp_path / "out")]
    done = invoke("run", "core-v1", "--agent", "gp-ucb", "--set", "beta=2", "--label", "two", *more)
    assert done.exit_code == 0, done.output
    assert "two has lower regret than" in done.output
    by = "core-v1 --agent gp-ucb --set beta=2 --label two --problem se --trials 2"
    said = " ".join(done.output.split())
    assert re.search(rf"note: made on 20\d\d-\d\d-\d\d by: gpbandits suite run {by} note:", said)
    card = [f"card.{kind}" for kind in ("html", "png", "svg", "tex", "txt")]
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert written == [*card, "rows.npz", "se.sqlite"]
    kept = str(tmp_path / "out" / "rows.npz")
    given = ["check", "--rows", kept, "--agent", "gp-ucb"]
    assert invoke(*given, "--set", "beta=2").output.endswith(f"{SAME}: 2\n")
    other = invoke(*given, "--set", "beta=3")
    assert "of another agent, of other settings, or of another version" in other.output
    assert invoke(*given[:2], str(tmp_path / "out"), *given[3:], "--set", "beta=2").exit_code == 0
    assert "needs --agent" in invoke(*given[:3]).output
    for file, said in (("gone.npz", "no such file"), ("suite_agents.py", "not a file of a suite")):
        assert said in invoke(*given[:2], file, *given[3:]).output
    assert "did you mean 'random'" in invoke("check", "--agent", "radnom").output
    assert "--set needs --rows" in invoke("check", "--set", "beta=2").output
    failed = invoke("run", "core-v1", "--agent", "suite_agents:Raises", *more[:-1], "failed")
    assert failed.exit_code == 1
    assert "2 trials of core-v1/se failed, the first of which is agent 'Raises', " in failed.output
    assert "trial 0: RuntimeError: it does not work, in round 3\n" in failed.output
    assert "are kept in failed; mend the agent" in failed.output
    usual = invoke("run", "--agent", "random", *more[:-2])
    assert "results  results/core-v1-random-part" in usual.output
    more[-1] = "half"
    half = invoke("run", "--agent", "suite_agents:RaisesInBatches", "--problem", "batch-5", *more)
    assert half.exit_code == 1
    assert "RaisesInBatches has " in half.output  # the card of the other problem
    assert "2 trials of core-v1/batch-5 failed" in half.output
    assert "card.html" in {p.name for p in (tmp_path / "half").iterdir()}
    checked = invoke("check", "--sample", "3", "--agent", "random")
    assert checked.exit_code == 0
    assert f"{SAME}: 3" in checked.output or "rounding" in checked.output


def test_new_instances_and_the_public_ones_give_one_card(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(
        "gpbandits_env.scenarios.cli.suite.save_card", lambda *card: drawn.append(card) or []
    )
    more = ["--problem", "se", "--trials", "1", "--jobs", "1", "--out", str(tmp_path)]
    done = invoke("run", "--agent", "random", "--seeds", "2027", *more)
    assert done.exit_code == 0, done.output
    ((card, stem),) = drawn
    assert stem == tmp_path / "card"
    assert card.notes[0].startswith("random (this run) has less regret in ")
    said = " ".join(done.output.split())
    assert said.count(card.notes[0]) == 2  # below the table of rivals, and on the card
    assert done.output.count("Score ") == 1
