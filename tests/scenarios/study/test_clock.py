"""Trials under a clock that ends them: equal parts of the time, declared costs of thinking."""

from dataclasses import replace
from time import process_time

import gymnasium as gym
import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.envs.clock import Clock
from gpbandits_env.errors import InvalidInput, StoreError, UnknownName
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.reporting.plots import declared, figure
from gpbandits_env.scenarios.results.curves import along
from gpbandits_env.scenarios.results.records import TrialKey
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study import run_study, runner
from gpbandits_env.scenarios.study.runner import PlannedTrial, run_trial

UCB = {"epsilon": 0.1, "beta": 4.0}
UCB_ENTRY = AgentEntry("ucb", "tv-gp-ucb", UCB)
CLOCK = {"evaluation": 3.0, "unit": 2.0, "duration": 90.0, "thinking": 0.0}
WORLD = {"function": "rosenbrock", "sweep": 30, "grid": [6, 6], "noise_var": 0.05, "clock": CLOCK}


def scenario(**more):
    given = {
        "id": "my/clock",
        "source": "a test",
        "title": "two speeds",
        "env": "gpbandits/Drifting-v0",
        "env_kwargs": WORLD,
        "agents": (
            AgentEntry("fast", "tv-gp-ucb", UCB, thinking=(0.01,)),
            AgentEntry("slow", "tv-gp-ucb", UCB, thinking=(4.0, 0.5)),
            AgentEntry("usual", "random"),
        ),
        "horizon": 9,
        "trials": 2,
    }
    return Scenario(**given | more)


def test_the_rate_counts_the_time_of_the_last_evaluation(tmp_path):
    clock = {"evaluation": 0.5, "thinking": 0.0}
    alone = (AgentEntry("a", "random"),)
    endless = scenario(env_kwargs=WORLD | {"clock": clock}, agents=alone, initial=3)
    outcome = run_study(endless, tmp_path / "x.sqlite", jobs=1, progress=False)
    with Store.open(outcome.path) as store:
        np.testing.assert_allclose(along(store, 0, "a", "rate"), 2.0)
        np.testing.assert_allclose(along(store, 0, "a", "time")[0], 0.5 * np.arange(9))


@pytest.mark.parametrize(("label", "thinking"), [("fast", [0.01]), ("slow", [4.0, 0.5])])
def test_the_regret_of_a_part_is_the_mean_over_its_time(label, thinking):
    """Summed on a fine grid of times, from a loop of its own."""
    record = run_trial(scenario(), label, 1)
    env = gym.make("gpbandits/Drifting-v0", **WORLD | {"clock": CLOCK | {"thinking": thinking}})
    agent = agents.make("tv-gp-ucb", env, seed=record.agent_seed, **UCB)
    observation, _ = env.reset(seed=record.world_seed)
    agent.observe(observation)
    reads, now, order, played, before, over = [], [], [], [], [], False
    while not over:
        observation, _, _, over, info = env.step(agent.ask())
        agent.observe(observation)
        order.append(agent.posterior.size)
        reads.append(observation["time"][0])
        now.append(observation["time"][1])
        played.append(int(observation["actions"][0]))
        before.append(info["regret"].item())
    assert now[-1] >= 45.0 > now[-2]
    at = env.unwrapped.bandit.process.at
    # In force between two reads: the mean of the regret over about every unit of time, of the first
    # actions from the start. After the last: as it stands.
    means = []
    for arm, first, last in zip([played[0], *played], [0.0, *reads], reads, strict=False):
        times = np.linspace(first, last, 1 + max(round(last - first), 1))
        found = [at(1.0 + t) for t in times]
        regret = np.array([function.optimum - function.values[arm] for function in found])
        means.append(np.mean((regret[1:] + regret[:-1]) / 2.0))
    edges = np.array([0.0, *reads, 1e9])
    levels = np.array([*means, before[-1]])
    fine = (np.arange(90_000) + 0.5) * 5e-4
    on = levels[np.searchsorted(edges, fine, side="right") - 1].reshape(9, -1).mean(axis=1)
    np.testing.assert_allclose(record.rounds["regret"][:, 0], on, atol=2e-3)
    ended = [np.searchsorted(now, end, side="right") for end in 5.0 * np.arange(1, 10)]
    np.testing.assert_array_equal(record.rounds["evaluations"], ended)
    np.testing.assert_array_equal(record.rounds["model_order"], [order[n - 1] for n in ended])
    assert len(record.seconds["ask"]) == 9


@pytest.mark.parametrize(("evaluation", "parts"), [(0.1, 3), (0.1, 6), (0.1, 10), (0.3, 8)])
def test_a_round_that_ends_with_a_part_counts_in_it_whatever_the_rounding(evaluation, parts):
    """0.1 + 0.1 + 0.1 is above 0.3 = 3 * 0.1, and 0.3 / 3 is below 0.1."""
    clock = {"evaluation": evaluation, "thinking": 0.0, "duration": round(evaluation * parts, 1)}
    world = WORLD | {"sweep": 1, "clock": clock}
    record = run_trial(scenario(env_kwargs=world, agents=(UCB_ENTRY,), horizon=parts), "ucb", 0)
    assert record.rounds["evaluations"].tolist() == list(range(1, parts + 1))
    assert record.rounds["model_order"].tolist() == list(range(1, parts + 1))
    assert (record.seconds["ask"] > 0.0).all()


def test_the_seconds_are_those_of_asking_telling_and_evaluating(monkeypatch):
    """In round t the time is read at 100 t and 1, 2, 4 and 8."""
    readings = (100.0 * t + 2.0**k for t in range(9) for k in range(4))
    monkeypatch.setattr(runner, "perf_counter", lambda: next(readings))
    plain = scenario(env_kwargs=WORLD | {"clock": None}, agents=(UCB_ENTRY,), horizon=3)
    record = run_trial(plain, "ucb", 0)
    assert record.seconds["ask"] == pytest.approx(1.0)
    assert record.seconds["tell"] == pytest.approx(4.0)


def test_declared_costs_repeat_bit_for_bit_and_slow_agents_evaluate_less(tmp_path):
    paths = [tmp_path / f"{jobs}.sqlite" for jobs in (1, 2)]
    digests = {run_study(scenario(), p, jobs=j).report().digest for j, p in enumerate(paths, 1)}
    assert len(digests) == 1
    with Store.open(paths[0]) as store:
        rates = [along(store, 0, label, "rate")[0, -1] for label in ("fast", "slow", "usual")]
        times = along(store, 0, "fast", "time")[0]
        drawn = figure(store, panels=[Panel("average_regret", "time"), Panel("rate", "time")])
    np.testing.assert_allclose(times, 5.0 * np.arange(1, 10))
    assert rates == pytest.approx([29 / 45, 9 / 45, 30 / 45])
    labels = [axes.get_xlabel() for axes in drawn.axes if axes.has_data()]
    assert labels == ["time, in units of the drift"] * 2


def test_initial_points_count_before_the_first_round_has_ended():
    late = (AgentEntry("late", "tv-gp-ucb", UCB, thinking=(30.0,)),)
    record = run_trial(scenario(agents=late, initial=4), "late", 0)
    assert record.rounds["evaluations"].tolist() == [4, 4, 4, 5, 5, 5, 6, 6, 6]
    assert record.rounds["model_order"].tolist() == [4, 4, 4, 5, 5, 5, 6, 6, 6]


def test_the_time_of_an_agent_is_that_of_its_rounds(tmp_path):
    given = scenario(initial=3, trials=1)
    outcome = run_study(given, tmp_path / "x.sqlite", jobs=1, progress=False)
    with Store.open(outcome.path) as store:
        agents_found = report(store).cells[0].agents
        for agent, rounds in zip(agents_found, (29, 9, 30), strict=True):
            assert agent.evaluations == 3 + rounds
            spent = store.seconds(0, agent.label, "ask") + store.seconds(0, agent.label, "tell")
            assert agent.microseconds == pytest.approx(1e6 * spent.sum() / rounds)
    skipped = run_study(replace(given, selective=True), tmp_path / "y.sqlite", jobs=1)
    assert "us/round" not in skipped.report().text()


def test_parts_of_the_time_have_no_simple_regret_and_no_bounds(tmp_path):
    """Their regret is a mean over some time, here of a static function."""
    world = {"grid": [6], "noise_var": 0.05, "clock": CLOCK}
    given = scenario(env="gpbandits/StaticGP-v0", env_kwargs=world, agents=(UCB_ENTRY,))
    outcome = run_study(given, tmp_path / "x.sqlite", jobs=1, progress=False)
    said = outcome.report().text()
    assert "2 trials of 9 parts" in said
    assert "average regret" in said
    assert "simple regret" not in said
    with Store.open(outcome.path) as store:
        assert declared(store) == [Panel(f"{n}_regret", "time") for n in ("average", "cumulative")]
    with pytest.raises(InvalidInput, match="time on a clock"):
        run_study(replace(given, bounds=({"type": "theorem1"},)), tmp_path / "y.sqlite", jobs=1)


@pytest.mark.parametrize("grid", [{}, {"clock.unit": (1.0,)}, {"clock": (Clock(**CLOCK),)}])
def test_a_clock_is_as_its_dict(grid):
    given = scenario(env_kwargs=WORLD | {"clock": Clock(**CLOCK)}, grid=grid)
    for label in ("slow", "usual"):
        now, same = run_trial(given, label, 0), run_trial(scenario(grid=grid), label, 0)
        assert {k: v.tolist() for k, v in now.rounds.items()} == {
            k: v.tolist() for k, v in same.rounds.items()
        }


def test_only_the_clock_ends_a_trial():
    """Not the usual limit of Gymnasium, 1000 rounds."""
    clock = CLOCK | {"evaluation": 0.01, "duration": 15.0}
    record = run_trial(scenario(env_kwargs=WORLD | {"clock": clock}), "usual", 0)
    assert record.rounds["evaluations"][-1] == pytest.approx(1500, abs=1)


def test_a_study_without_a_clock_has_no_time(tmp_path):
    plain = {name: value for name, value in WORLD.items() if name != "clock"}
    given = scenario(env_kwargs=plain, agents=(AgentEntry("usual", "random"),))
    outcome = run_study(given, tmp_path / "x.sqlite", jobs=1)
    assert "thinking" not in outcome.report().scenario["agents"]["usual"]
    with Store.open(outcome.path) as store, pytest.raises(StoreError, match="has no time"):
        along(store, 0, "usual", "time")


def test_an_agent_of_a_clock_without_end_is_told_the_times():
    clock = {"evaluation": 1.0, "thinking": 0.5}
    given = scenario(env_kwargs=WORLD | {"clock": clock})
    cell = given.cells()[0]
    assert cell.made_for(cell.scenario.agents[1])["clock"]["thinking"] == [4.0, 0.5]
    record = run_trial(given, "slow", 0)
    slow = record.rounds["rewards"]
    assert len(slow) == 9
    task = PlannedTrial(cell, TrialKey(0, "slow", 0), 0)
    env = gym.make("gpbandits/Drifting-v0", **cell.made_for(cell.scenario.agents[1]))
    agent = agents.make("tv-gp-ucb", env, seed=task.stream("agent", "slow"), **UCB)
    observation, _ = env.reset(seed=task.stream("world"))
    for rewards in slow:
        agent.observe(observation)
        observation, *_ = env.step(agent.ask())
        np.testing.assert_array_equal(observation["rewards"], rewards)
    np.testing.assert_array_equal(record.rounds["time"][-1], observation["time"])


def test_a_selective_trial_skips_what_says_nothing():
    cut = (AgentEntry("cut", "gp-ucb", {"beta": 4.0, "compress": 0.3}, thinking=(0.01,)),)
    smooth = WORLD | {"kernel": {"type": "se", "lengthscale": 5.0}}
    record = run_trial(scenario(agents=cut, selective=True, env_kwargs=smooth), "cut", 0)
    assert 0 < record.rounds["evaluations"][-1] < 20


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"env_kwargs": {"grid": [6]}, "env": "gpbandits/StaticGP-v0"}, InvalidInput, "a clock"),
        ({"agents": (AgentEntry("a", "random", thinking=(-1.0,)),)}, InvalidInput, "thinking"),
        ({"env_kwargs": WORLD | {"clock": CLOCK | {"unit": 0.0}}}, InvalidInput, "unit"),
        ({"env_kwargs": WORLD | {"clock": CLOCK | {"speed": 1.0}}}, UnknownName, "speed"),
    ],
)
def test_mistakes_are_found_before_anything_runs(tmp_path, more, error, says):
    with pytest.raises(error, match=says):
        run_study(scenario(**more), tmp_path / "x.sqlite", jobs=1)
    assert not (tmp_path / "x.sqlite").exists()


def test_measured_trials_with_the_same_times_are_identical(monkeypatch):
    """All that does not repeat in a trial with a measured clock is what the clock reads."""
    read = "gpbandits_env.envs.clock.process_time"
    clock = CLOCK | {"thinking": "measured", "scale": 1e3}
    given, log = scenario(env_kwargs=WORLD | {"clock": clock}, agents=(UCB_ENTRY,)), []

    def recorded():
        log.append(process_time())
        return log[-1]

    monkeypatch.setattr(read, recorded)
    first = run_trial(given, "ucb", 0)
    assert len(np.unique(np.diff(log))) > 10
    for times, same in ((log, True), ([0.002 * i for i in range(len(log))], False)):
        monkeypatch.setattr(read, iter([*times, *times]).__next__)
        again = run_trial(given, "ucb", 0)
        assert all(np.array_equal(again.rounds[k], v) for k, v in first.rounds.items()) == same
