"""Seasons that are chosen on training days, and the scenarios that use them."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.temporal import temporal_from_dict
from gpbandits_env.rewards.datasets import Readings
from gpbandits_env.scenarios.registry import get
from tools import tuning as tool
from tools.tuning import choose_season, seasons

PERIOD, DAYS, SENSORS = 12, 6, 4


def readings(seed=0):
    """A wave that passes from sensor to sensor once a day, with errors."""
    hours, rng = np.arange(PERIOD * DAYS), np.random.default_rng(seed)
    phases = 2 * np.pi * (hours[:, None] / PERIOD - np.arange(SENSORS) / SENSORS)
    values = 3.0 * np.sin(phases) + 0.3 * rng.standard_normal(phases.shape)
    return Readings(values, days=hours // PERIOD)


def replayed(given):
    kwargs = {"readings": given, "train_fraction": 0.5, "model_noise_var": 0.1}
    return replace(get("time/temperature"), env_kwargs=kwargs)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(tool, "WEIGHTS", (0.05,))
    monkeypatch.setattr(tool, "SEASON_RATES", (0.0,))
    monkeypatch.setattr(tool, "MARKOV_RATES", (0.8,))


def test_a_season_is_chosen_by_the_regret_on_training_days(few):
    kernel, regrets = choose_season(replayed(readings()), PERIOD)
    assert len(regrets) == len(seasons(PERIOD)) == 2
    assert kernel["type"] == "quasi-periodic"
    assert regrets[1] < 0.5 * regrets[0]

    changed = readings().values.copy()
    changed[PERIOD * DAYS // 2 :] += 100.0
    other = replace(readings(), values=changed)
    assert choose_season(replayed(other), PERIOD)[1] == regrets


def test_a_season_is_told_the_other_days_first(few):
    """The regret of the last kernel, again from the dense formula."""
    scenario, kernel = replayed(readings()), temporal_from_dict(seasons(PERIOD)[-1])
    rows = scenario.env_kwargs["readings"].values[: PERIOD * 3]
    parts, total = np.split(rows, 3), 0.0
    for i, part in enumerate(parts):
        others = np.concatenate([p for j, p in enumerate(parts) if j != i])
        model = Empirical(np.cov(others.T)), 0.1, others.mean(axis=0)
        posterior = posterior_for(Arms(np.arange(4.0)), *model, temporal=kernel)
        for row in others:
            posterior.condition(np.arange(4), row)
            posterior.advance(0.0)
        for t, row in enumerate(part, 1):
            beta = max(0.8 * np.log(0.4 * t), 0.0)
            arm = int(np.argmax(posterior.mean + np.sqrt(beta) * posterior.sd))
            total += row.max() - row[arm]
            posterior.condition([arm], [row[arm]])
            posterior.advance(0.0)
    assert choose_season(scenario, PERIOD)[1][-1] == pytest.approx(total / len(rows), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "period"), [("temperature", 144.0), ("traffic", 60.0)])
def test_the_seasons_of_the_scenarios_are_those_of_their_training_days(name, period):
    scenario = get(f"time/{name}")
    kernel, _ = choose_season(scenario, period)
    used = next(e.settings["temporal"] for e in scenario.agents if e.label == "season")
    ours, theirs = temporal_from_dict(used), temporal_from_dict(kernel)
    assert ours.parameters() == pytest.approx(theirs.parameters())


def correlation(drift):
    """Of a function with itself one round later."""
    if drift["type"] == "markov":
        return (1.0 - drift["epsilon"]) ** 0.5
    if drift["type"] == "change-points":
        return 1.0 - drift["rate"]
    squares = np.square(drift["weights"]) / np.square(drift["weights"]).sum()
    turns = 2 * np.pi * np.arange(1, len(squares) + 1) / drift["period"]
    return float(squares @ np.cos(turns))


def test_the_true_epsilon_has_the_correlation_of_the_environment():
    cells = get("time/unknown-rivals").cells()
    assert len(cells) == 5
    for cell in cells:
        (true,) = (e for e in cell.scenario.agents if e.label == "true")
        drift = cell.scenario.env_kwargs["drift"]
        kept = (1.0 - true.settings["epsilon"]) ** 0.5
        assert kept == pytest.approx(correlation(drift), abs=1e-4)


def test_agents_that_are_told_nothing_do_not_know_epsilon():
    """What they play does not depend on the epsilon that the environment states."""
    env_kwargs = {"drift": {"type": "markov", "epsilon": 0.03}, "max_episode_steps": 30}
    env = gym.make("gpbandits/Drifting-v0", grid=(6, 6), **env_kwargs)
    problem = env.unwrapped.problem
    entries = {e.label: e for e in get("time/unknown-rivals").agents if e.label != "true"}
    entries["et"] = next(e for e in get("time/unknown-slow").agents if e.label == "et")
    for entry in entries.values():
        pair = [
            agents.make(entry.agent, problem.replaced(epsilon=epsilon), seed=0, **entry.settings)
            for epsilon in (0.03, 0.9)
        ]
        for t in range(12):
            actions = [agent.ask() for agent in pair]
            assert np.array_equal(*actions), entry.label
            for agent in pair:
                agent.tell(actions[0], np.sin(actions[0] + t))
