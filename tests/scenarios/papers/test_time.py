"""Seasons that are chosen on training days, and the scenarios that use them."""

from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.datasets import Readings
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import Empirical
from gpbandits_env.posterior import posterior_on
from gpbandits_env.scenarios.registry import get
from gpbandits_env.scenarios.study import tuning
from gpbandits_env.scenarios.study.tuning import choose_season, seasons
from gpbandits_env.temporal import temporal_from_dict

PERIOD, DAYS, SENSORS = 12, 6, 4


def readings(seed=0):
    """A wave that passes from sensor to sensor once a day, with errors."""
    hours, rng = np.arange(PERIOD * DAYS), np.random.default_rng(seed)
    phases = 2 * np.pi * (hours[:, None] / PERIOD - np.arange(SENSORS) / SENSORS)
    values = 3.0 * np.sin(phases) + 0.3 * rng.standard_normal(phases.shape)
    return Readings("made up", values, hours // PERIOD, tuple("abcd"), "", "", "")


def replayed(given):
    kwargs = {"readings": given, "train_fraction": 0.5, "model_noise_var": 0.1}
    return replace(get("time/temperature"), env_kwargs=kwargs)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(tuning, "WEIGHTS", (0.05, 1.0))
    monkeypatch.setattr(tuning, "SEASON_RATES", (0.0,))
    monkeypatch.setattr(tuning, "MARKOV_RATES", (0.8,))


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
        posterior = posterior_on(Arms(np.arange(4.0)), *model, temporal=kernel)
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
