"""The diagnosis finds what the data were made of, and refuses what it cannot judge."""

import json
import re
import tomllib
import warnings
from dataclasses import replace
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.learning import Diagnosis, diagnose, models_in_time
from gpbandits_env.gp.learning.diagnose import ModelScore, _recommend
from gpbandits_env.gp.temporal import temporal_from_dict
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.datasets import hours, read_table
from gpbandits_env.scenarios.cli import main

ARMS = np.linspace(0, 1, 8)
K = np.exp(-((ARMS[:, None] - ARMS) ** 2) / (2 * 0.3**2))
ROOT = np.linalg.cholesky(K + 1e-9 * np.eye(8))
NOISE = 0.05


def readings(rounds, step, seed, gaps=None, noise=NOISE):
    """A path f_{t+1} = step(f_t, draw, t), seen in noise."""
    rng = np.random.default_rng(seed)
    f, rows = ROOT @ rng.standard_normal(8), []
    for t in range(rounds):
        rows.append(f + np.sqrt(noise) * rng.standard_normal(8))
        gap = 1.0 if gaps is None else gaps[t]
        f = step(f, lambda: ROOT @ rng.standard_normal(8), t + 1, gap)
    return np.array(rows)


def markov(epsilon):
    def step(f, draw, t, gap):
        keep = (1 - epsilon) ** gap
        return np.sqrt(keep) * f + np.sqrt(1 - keep) * draw()

    return step


def score(found, name):
    return next(m for m in found.models if m.name == name)


def test_drifting_data():
    found = diagnose(readings(150, markov(0.05), 3), mean=0.0, covariance=K)
    assert found.recommended == "drifting"
    assert found.interval[0] < 0.05 < found.interval[1]
    assert found.noise_var == pytest.approx(NOISE, rel=0.3)
    drifting = score(found, "drifting")
    assert drifting.coverage == pytest.approx(0.95, abs=0.03)
    resetting, static = score(found, "resetting"), score(found, "static")
    assert drifting.log_score > resetting.log_score > static.log_score > -2
    assert found.rows == (90, 60)


def test_a_season_is_found():
    """A wave of 12 rows that passes from arm to arm, with a drift on it."""
    rows = readings(115, markov(0.2), 6)
    phases = 2 * np.pi * (np.arange(115)[:, None] / 12 - np.arange(8) / 8)
    found = diagnose(rows + 2.0 * np.sin(phases))
    seasonal = score(found, "seasonal")
    assert found.recommended == "seasonal"
    assert seasonal.temporal["kernels"][0]["period"] == pytest.approx(12.0, rel=0.02)
    assert seasonal.log_score > score(found, "drifting").log_score
    assert seasonal.coverage > 0.85


def series_of(kind, seed, rows=240, arms=4):
    """Independent arms that vary in time as the kind says, seen in noise of variance 0.04."""
    rng, t = np.random.default_rng(seed), np.arange(float(rows))[:, None]
    season = sum(
        rng.normal(size=arms) * np.cos(2 * np.pi * h * t / 24) / h
        + rng.normal(size=arms) * np.sin(2 * np.pi * h * t / 24) / h
        for h in (1, 2)
    )
    kernels = {
        "static": {"type": "static"},
        "drifting": {"type": "markov", "epsilon": 0.05},
        "smooth": {"type": "matern32", "lengthscale": 20.0},
        "smoother": {"type": "matern52", "lengthscale": 20.0},
    }
    given = kernels["drifting" if kind in ("periodic", "seasonal") else kind]
    times = np.arange(float(rows))
    covariance = temporal_from_dict(given)(times, times) + 1e-9 * np.eye(rows)
    rest = np.linalg.cholesky(covariance) @ rng.normal(size=(rows, arms))
    parts = {"periodic": (season,), "seasonal": (season, rest)}.get(kind, (rest,))
    return sum(parts) + 0.2 * rng.normal(size=(rows, arms))


KINDS = ("static", "drifting", "smooth", "smoother", "periodic", "seasonal")


def test_smooth_variation_is_recognized():
    assert diagnose(series_of("smooth", 0, rows=140)).recommended == "smooth"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_variation_is_recognized_in_most_series(kind):
    found = [diagnose(series_of(kind, seed)).recommended for seed in range(20)]
    right = sum(name == ("smooth" if kind == "smoother" else kind) for name in found)
    print(kind, right, sorted(found))
    assert right >= 14


def shifted(seed, epsilon=0.3):
    """A slow function and a shift of all arms of the same variance that drifts fast."""
    rng, shift, rows = np.random.default_rng(1000 + seed), 0.0, readings(300, markov(0.01), seed)
    for row in rows:
        row += shift
        shift = np.sqrt(1 - epsilon) * shift + np.sqrt(epsilon) * rng.standard_normal()
    return rows


def test_a_shift_of_all_arms_is_found():
    found = diagnose(shifted(5))
    assert found.recommended == "shifting"
    model = score(found, "shifting")
    slow, fast = model.temporal["kernels"]
    assert slow["epsilon"] < 0.1 < fast["epsilon"] < 0.6
    assert model.settings["temporal"] == model.temporal
    problem = Problem(Arms(np.arange(8.0)), Empirical(K), NOISE)
    agent = agents.make("gp-ucb", problem, seed=0, **json.loads(json.dumps(model.settings)))
    agent.tell([3], [0.5])
    assert agent.posterior.temporal.to_dict() == model.temporal


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_shift_of_all_arms_is_found_in_most_series_and_not_where_there_is_none():
    """These series had no part in the choice of the criterion, which was made on others."""
    found = [diagnose(shifted(seed)).recommended for seed in range(300, 320)]
    assert found.count("shifting") >= 18
    none = [diagnose(readings(300, markov(0.05), seed)).recommended for seed in range(300, 320)]
    assert none.count("shifting") <= 1


@pytest.mark.slow
def test_a_long_series_needs_no_given_moments():
    found = diagnose(readings(3000, markov(0.1), 7))
    assert found.recommended == "drifting"
    assert found.epsilon == pytest.approx(0.1, rel=0.15)


def test_functions_that_change_completely_are_noise_to_the_next_row():
    """Epsilon is near 1, and a static function with all variance as noise predicts as well."""
    found = diagnose(readings(100, markov(1.0), 2))
    assert found.epsilon > 0.9
    assert found.recommended == "static"
    assert found.noise_var == pytest.approx(1.0 + NOISE, rel=0.2)
    scores = [score(found, name).log_score for name in ("static", "resetting", "drifting")]
    assert np.ptp(scores) < 0.05


def test_each_model_has_the_noise_that_it_makes_most_likely():
    """Without noise, the static model was scored with that of the drifting one: -8e8 a reading."""
    values, times = readings(30, markov(0.05), 2, noise=0.0), np.arange(30.0)
    found = diagnose(values, mean=0.0, covariance=K)
    seen, block = np.arange(18), score(found, "resetting").block
    for name, groups in (("static", 0 * seen), ("resetting", seen // block)):
        same = groups[:, None] == groups
        gram, rows = np.kron(same, K), values[:18].ravel()

        def loss(log_noise, gram=gram, rows=rows):
            spread = gram + np.exp(log_noise) * np.eye(len(rows))
            return -multivariate_normal(np.zeros(len(rows)), spread).logpdf(rows)

        noise = np.exp(minimize_scalar(loss, bounds=(-9.0, 3.0), method="bounded").x)
        model = score(found, name)
        logs, _ = predicted(values[18:], times[18:], 0.0, model.block, 18, noise)
        assert model.log_score == pytest.approx(logs.mean(), rel=1e-3)
        assert model.log_score > -2.0


def test_blocks_begin_with_the_table_and_not_with_the_test_rows():
    """90 training rows, with a new function every 16 rows: the first test rows are in a block."""
    values = readings(150, lambda f, draw, t, gap: draw() if t % 16 == 0 else f, 3, noise=0.01)
    found = diagnose(values)
    assert found.recommended == "resetting"
    assert score(found, "resetting").block == 16
    assert score(found, "resetting").log_score > -0.1


def test_abrupt_changes_ask_for_resets():
    found = diagnose(readings(160, lambda f, draw, t, gap: draw() if t % 16 == 0 else f, 3))
    assert score(found, "resetting").block == 16
    assert found.recommended == "resetting"
    assert "predicts" in found.reason


def test_a_slow_function_needs_no_drift():
    """The training rows vary around their mean by noise and little else."""
    rng = np.random.default_rng(4)
    base = 3 * ROOT @ rng.standard_normal(8)
    wander = 0.05 * rng.standard_normal((150, 1))
    found = diagnose(base + wander + 0.3 * rng.standard_normal((150, 8)), noise_var=0.09)
    assert score(found, "static").log_score > score(found, "resetting").log_score - 0.05


def test_a_static_function_is_static_and_its_epsilon_unknown():
    """The readings vary by noise alone."""
    found = diagnose(readings(120, markov(0.0), 3))
    assert found.recommended == "static"
    assert found.interval == (0.0, 0.999)
    assert "say nothing about epsilon" in found.unknown
    assert found.noise_var == pytest.approx(NOISE, rel=0.2)
    assert score(found, "static").coverage == pytest.approx(0.95, abs=0.03)


def test_a_static_function_of_known_mean_and_covariance_excludes_a_drift():
    """Its distance from the known mean does not change."""
    found = diagnose(readings(120, markov(0.0), 3), mean=0.0, covariance=K)
    assert found.interval[0] == 0.0
    assert found.interval[1] < 0.01


def test_gaps_and_irregular_times():
    gaps = np.random.default_rng(0).choice([0.5, 1.0, 3.0], size=180)
    values = readings(180, markov(0.05), 5, gaps)
    values[np.random.default_rng(1).random(values.shape) < 0.03] = np.nan
    times = np.concatenate([[0.0], np.cumsum(gaps)[:-1]])
    found = diagnose(values, times, mean=0.0, covariance=K)
    assert found.recommended == "drifting"
    assert found.interval[0] < 0.05 < found.interval[1]
    assert found.rows[0] < 108


def test_a_drift_that_is_fast_in_the_usual_gap_is_found_between_rows_that_are_closer():
    """Most rows are 20 units apart. Epsilon was at most 0.999 per 20 units: 0.29 per unit."""
    gaps = np.random.default_rng(0).choice([1.0, 20.0], p=[0.4, 0.6], size=150)
    times = np.cumsum(gaps)
    values = readings(150, markov(0.6), 5, [*gaps[1:], 1.0])
    found = diagnose(values, times, mean=0.0, covariance=K)
    assert found.gap == 20.0
    assert found.interval[0] < 0.6 < found.interval[1] < 0.9
    assert found.epsilon == pytest.approx(0.6, abs=0.15)
    per_row = [1 - (1 - e) ** 20 for e in (found.epsilon, *found.interval)]
    assert found.per_row == pytest.approx(per_row)
    drifting = score(found, "drifting")
    assert drifting.settings["epsilon"] == pytest.approx(1 - (1 - drifting.epsilon) ** 20)
    slow = diagnose(readings(150, markov(0.002), 5, [*gaps[1:], 1.0]), times)
    assert slow.interval[0] < 0.002 < slow.interval[1] < 0.02


def test_a_drift_that_does_not_return_to_its_mean_is_a_drift_with_known_noise_too():
    """With the learned epsilon of 0 it was the static model, and its covariance too large."""
    values = np.cumsum(1.0 + np.random.default_rng(0).normal(size=(24, 1)), axis=0)
    found = diagnose(values, noise_var=0.1)
    assert found.epsilon == 0.0
    assert score(found, "drifting").epsilon > 0.0
    gain = score(found, "drifting").log_score - score(found, "static").log_score
    assert gain > 1.0


def test_the_unit_of_time_changes_nothing_but_the_unit(monkeypatch):
    """Rows an hour apart in hours and in milliseconds; the search began at 1e-4 in any unit."""
    values, hour = readings(28, markov(0.3), 5)[:, :1], 3.6e6
    season = 3.0 * np.sin(2.0 * np.pi * np.arange(28.0) / 6.0)[:, None]
    known = {"noise_var": NOISE, "mean": 0.0, "covariance": K[:1, :1]}
    monkeypatch.setattr(models_in_time, "ITERATIONS", 3)
    rows = diagnose(values + season, **known)
    found = diagnose(values + season, 1e12 + hour * np.arange(28.0), **known)
    ends = [1 - (1 - e) ** hour for e in (found.epsilon, *found.interval)]
    assert ends == pytest.approx([rows.epsilon, *rows.interval], rel=1e-6)
    scores = [m.log_score for m in rows.models]
    assert [m.log_score for m in found.models] == pytest.approx(scores, abs=1e-6)
    for name in ("smooth", "periodic", "seasonal"):  # the same covariances in time
        kernels = [temporal_from_dict(score(m, name).temporal) for m in (rows, found)]
        lags = np.array([0.0, 1.0, 2.5, 7.0])
        expected = kernels[0](np.zeros(1), lags)
        assert kernels[1](np.zeros(1), hour * lags) == pytest.approx(expected, rel=1e-5)


def predicted(rows, times, epsilon, block, before=0, noise=NOISE):
    """Each row's mean log density given those before it, and the share in the band; dense.

    Blocks are counted from ``before`` rows ahead of the first one.
    """
    logs, inside = [], []
    for t, row in enumerate(rows):
        start = 0 if block is None else max(0, t - (before + t) % block)
        seen = [(s, i) for s in range(start, t) for i in np.flatnonzero(~np.isnan(rows[s]))]
        here = np.flatnonzero(~np.isnan(row))
        mean, covariance = np.zeros(len(here)), K[np.ix_(here, here)]
        if seen:
            when, arms = np.array(seen).T
            fade = (1 - epsilon) ** (np.abs(times[when][:, None] - times[when]) / 2)
            gram = K[np.ix_(arms, arms)] * fade + noise * np.eye(len(arms))
            cross = K[np.ix_(here, arms)] * (1 - epsilon) ** ((times[t] - times[when]) / 2)
            mean = cross @ np.linalg.solve(gram, rows[when, arms])
            covariance = covariance - cross @ np.linalg.solve(gram, cross.T)
        sd = np.sqrt(np.diag(covariance) + noise)
        logs.append(norm.logpdf(row[here], mean, sd).mean())
        inside.append((np.abs(row[here] - mean) <= 1.959964 * sd).mean())
    return np.array(logs), np.array(inside)


def test_scores_are_those_of_dense_predictions_of_the_rows_that_follow():
    """Slow at first, restless later: the block is that of the first part all the same."""
    rng = np.random.default_rng(0)
    gaps = rng.choice([0.5, 1.0, 4.0], size=50)
    values = readings(50, lambda f, draw, t, gap: draw() if t > 30 or t % 16 == 0 else f, 5)
    values[31:][rng.random((19, 8)) < 0.1] = np.nan
    times = np.cumsum(gaps)
    found = diagnose(values, times, mean=0.0, covariance=K, noise_var=NOISE)
    first, second = (values[:30], times[:30]), (values[30:], times[30:])
    blocks = [2**i for i in range(6)]  # the others are longer than the rows
    block = max(blocks, key=lambda n: predicted(*first, 0.0, n)[0].mean())
    later = max(blocks, key=lambda n: predicted(*second, 0.0, n, 30)[0].mean())
    assert block != later
    wanted = {"static": (0.0, None), "resetting": (0.0, block), "drifting": (found.epsilon, None)}
    assert [model.name for model in found.models[:3]] == list(wanted)
    for model in found.models[:3]:
        assert (model.epsilon, model.block) == wanted[model.name]
        logs, inside = predicted(*second, *wanted[model.name], 30)
        assert model.log_score == pytest.approx(logs.mean(), abs=1e-8)
        assert model.coverage == pytest.approx(inside.mean())


@pytest.mark.parametrize(
    ("gains", "choice"),
    [
        ((0.001, 0.0, 0.0), "static"),
        ((0.0, 0.1, 0.0), "static"),  # by half a standard error
        ((0.0, 1.0, 0.0), "resetting"),  # by five of them
        ((0.0, 1.0, 1.1), "resetting"),
        ((0.0, 0.0, 1.0), "drifting"),
        ((0.0, 0.5, 2.0), "drifting"),
        ((0.0, -0.3, 0.3), "static"),  # by one and a half
        ((0.5, 0.0, 0.0), "static"),
    ],
)
def test_a_simpler_model_is_recommended_unless_it_predicts_worse_by_two_standard_errors(
    gains, choice
):
    """Paired differences whose standard error is about 0.2 between any two."""
    names, n = ("static", "resetting", "drifting"), 25
    noise = np.sqrt(0.5) * np.random.default_rng(0).standard_normal((3, n))
    noise -= noise.mean(axis=1, keepdims=True)
    logs = {name: gain + own for name, gain, own in zip(names, gains, noise, strict=True)}
    name, reason = _recommend(logs)
    assert name == choice
    assert ("simpler" in reason) == (max(gains) > gains[names.index(choice)])


@pytest.mark.parametrize(
    ("values", "times", "says"),
    [
        (np.zeros((8, 3)), None, "10 training rows"),
        (np.eye(50)[:, [2, 45]], None, r"column 1 \(counted from 0\) never varies"),
        (np.full((50, 2), np.inf), None, "infinity"),
        (np.zeros((0, 3)), None, "table"),
        (np.random.default_rng(0).normal(size=(50, 2)), np.arange(50.0)[::-1], "increasing"),
        (np.random.default_rng(0).normal(size=(50, 2)), np.arange(49.0), "increasing"),
        (np.random.default_rng(0).normal(size=(50, 2)), np.repeat([3.0, 4.0], [40, 10]), "time 3"),
        (np.where(np.arange(50) < 34, np.arange(50.0), np.nan)[:, None], None, "got 30 and 4"),
    ],
)
def test_what_cannot_be_judged_is_refused(values, times, says):
    with pytest.raises(InvalidInput, match=says):
        diagnose(values, times)


def write(path, values, names=None):
    names = names or [f"a{i}" for i in range(values.shape[1])]
    lines = [",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in values]
    path.write_text("\n".join([",".join(names), *lines]), encoding="utf-8")


def test_the_command_reads_a_table(tmp_path):
    values = readings(40, markov(0.1), 6)[:, :3]
    values[30, 2] = np.nan
    path = tmp_path / "r.csv"
    timed = np.column_stack([np.arange(40.0), values])
    write(path, timed, ["hour", *(f"a{i}" for i in range(3))])
    result = CliRunner().invoke(main, ["diagnose", str(path), "--time-column", "hour"])
    assert result.exit_code == 0, result.output
    assert "recommended: " in result.output
    told = CliRunner().invoke(main, ["diagnose", str(path), "--time-column", "hour", "--json"])
    found = diagnose(values, np.arange(40.0))
    assert json.loads(told.output)["epsilon"] == found.epsilon


def test_the_command_knows_a_column_of_dates(tmp_path):
    values = readings(40, markov(0.1), 6)[:, :3]
    numbered, dated = tmp_path / "numbered.csv", tmp_path / "dated.csv"
    write(numbered, values)
    rows = numbered.read_text(encoding="utf-8").replace(",", ";").splitlines()
    stamps = [f"2026-03-{1 + t // 24:02} {t % 24:02}:00" for t in range(40)]
    lines = [f"{a};{b}" for a, b in zip(["when", *stamps], rows, strict=True)]
    dated.write_text("\n".join(lines), encoding="utf-8")
    told = [CliRunner().invoke(main, ["diagnose", str(p), "--json"]) for p in (numbered, dated)]
    assert told[0].exit_code == 0, told[0].output
    assert told[0].output == told[1].output  # a row an hour
    german = [line.replace(".", ",") for line in dated.read_text(encoding="utf-8").splitlines()]
    lines = [
        "# Messstelle Köln-Süd",
        *(re.sub(r"^2026-(..)-(..)", r"\2.\1.2026", g) for g in german),
    ]
    (tmp_path / "messung.csv").write_text("\n".join(lines), encoding="cp1252")
    how = ("encoding=cp1252", "comment=#", "decimal=,", "date_format=%d.%m.%Y %H:%M")
    args = ["diagnose", str(tmp_path / "messung.csv"), "--json"]
    read = CliRunner().invoke(main, [*args, *(word for h in how for word in ("--set", h))])
    assert read.output == told[0].output


@pytest.mark.parametrize("units", [1, 5, 60])
def test_epsilon_is_told_in_the_units_that_one_types(tmp_path, units):
    """Rows of a known epsilon, several minutes apart; Replay-v0 counts rows."""
    values, known = readings(150, markov(0.05), 3), {"mean": 0.0, "covariance": K}
    found = diagnose(values, units * np.arange(150.0), **known)
    epsilon, low, high = found.per_row
    assert low < 0.05 < high
    assert found.gap == units
    per_unit = [1 - (1 - e) ** (1 / units) for e in found.per_row]
    assert [found.epsilon, *found.interval] == pytest.approx(per_unit, rel=1e-9)
    drifting = score(found, "drifting")
    assert drifting.settings["epsilon"] == pytest.approx(1 - (1 - drifting.epsilon) ** units)
    path = tmp_path / "r.csv"
    stamps = np.datetime64("2026-03-01T00:00") + units * np.arange(150)
    rows = [
        f"{stamp},{','.join(map(repr, row))}"
        for stamp, row in zip(stamps, values.tolist(), strict=True)
    ]
    path.write_text("\n".join(["when,a,b,c,d,e,f,g,h", *rows]), encoding="utf-8")
    said = CliRunner().invoke(main, ["diagnose", str(path)]).output
    env = gym.make("gpbandits/Replay-v0", readings=values, model_noise_var=NOISE)
    line = re.search(r"Python  (.*)", said)[1]
    plain = tomllib.loads("\n".join(re.findall(r"(?:TOML   )? +((?:agent|settings) = .*)", said)))
    typed = eval(line, {"agents": agents, "env": env})  # what a reader would paste
    assert agents.make(plain["agent"], env, **plain["settings"]).epsilon == typed.epsilon
    assert typed.epsilon == pytest.approx(epsilon, rel=0.5)
    per_row = float(re.search(r"([\d.e-]+) per row", said)[1])
    assert typed.epsilon == pytest.approx(per_row, rel=0.1)  # with the noise learned once more
    minute = re.search(r"epsilon    ([\d.e-]+) per (\w+)", said)
    assert minute[2] == ("hour" if units == 60 else "minute")
    steps = 1.0 if units == 60 else units
    assert 1 - (1 - float(minute[1])) ** steps == pytest.approx(per_row, rel=1e-3)


def told(epsilon, settings, block=None):
    model = ModelScore("drifting", epsilon, block, 0.0, 0.9, None, settings)
    rest = "drifting", "so it is", (6, 4), (epsilon, 0.0, 2 * epsilon)
    return Diagnosis(epsilon, (0.0, 2 * epsilon), "", 0.5, (model,), *rest)


def test_the_lines_to_type_are_those_of_the_recommended_model(tmp_path, monkeypatch):
    path, judge = tmp_path / "r.csv", "gpbandits_env.scenarios.cli.diagnose.judge"
    path.write_text("when,a\n2026-03-01,1\n2026-03-02,2\n", encoding="utf-8")
    wave = {"type": "periodic", "period": 24.04567, "lengthscale": 1.0, "harmonics": 2}
    for settings, line in (
        ({"temporal": wave}, 'settings = {temporal = {type = "periodic", period = 24.05, '),
        ({"reset_every": 16}, 'agents.make("r-gp-ucb", env, reset_every=16)'),
        ({}, 'agents.make("gp-ucb", env)'),
    ):
        found = told(0.0, settings)
        monkeypatch.setattr(judge, lambda *_, made=found, **__: made)
        said = CliRunner().invoke(main, ["diagnose", str(path)]).output
        assert line in said


@pytest.mark.parametrize(
    ("text", "args", "unit"),
    [
        ("a,b\n1,2\n", [], "row"),
        ("when,a\n2026-03-01 12:00,1\n2026-03-01 12:10,2\n", ["--noise-var", "0.2"], "minute"),
        ("a;day\n1,5;1\n2;3\n", ["--time-column", "day", "--set", "decimal=,"], "unit of time"),
    ],
)
def test_the_lines_of_a_shift_do_in_python_what_the_command_did(
    tmp_path, monkeypatch, text, args, unit
):
    settings = {"kernel": {}, "temporal": {"type": "terms"}}
    model = ModelScore("drifting", 0.1, None, 0.0, 0.9, {"per": unit}, settings)
    found, given, made = replace(told(0.1, {}), models=(model,)), [], []

    def judge(values, times=None, **more):
        given.append((values, times, more))
        return found

    monkeypatch.setattr("gpbandits_env.scenarios.cli.diagnose.judge", judge)
    path = tmp_path / "r.csv"
    path.write_text(text, encoding="utf-8")
    said = CliRunner().invoke(main, ["diagnose", str(path), *args]).output
    names = {"diagnose": judge, "read_table": read_table, "hours": hours, "env": None}
    names["agents"] = SimpleNamespace(make=lambda *_, **settings: made.append(settings))
    exec("\n".join(re.findall("^  ((?:readings|found|agents).*)", said, re.MULTILINE)), names)
    for mine, theirs in zip(*given, strict=True):
        np.testing.assert_equal(mine, theirs)
    assert made[0] == settings
    assert made[1:] == ([] if unit == "row" else [settings | {"temporal": {"per": unit}}])
    assert ("its unit: one " + unit in said) == (unit != "row")


@pytest.mark.parametrize(
    ("text", "args", "unit"),
    [
        ("a,b\n1,2\n", [], "row"),
        ("when,a\n2026-03-01,1\n2026-03-02,2\n", [], "hour"),
        ("when,a\n2026-03-01 12:00,1\n2026-03-01 12:10,2\n", [], "minute"),
        ("when,a\n2026-03-01 12:00:00,1\n2026-03-01 12:00:10,2\n", [], "second"),
        ("when,a\n2026-03-01 12:00,2\n", [], "hour"),
        ("a,day\n1,2026-03-01\n", ["--time-column", "day"], "hour"),
        ("day,a\n1,2\n", ["--time-column", "day"], "unit of time"),
    ],
)
def test_the_command_says_the_unit_of_time(tmp_path, monkeypatch, text, args, unit):
    found = told(0.1, {"epsilon": 0.1})
    judge = "gpbandits_env.scenarios.cli.diagnose.judge"
    monkeypatch.setattr(judge, lambda *given, **settings: found)
    path = tmp_path / "r.csv"
    path.write_text(text, encoding="utf-8")
    said = CliRunner().invoke(main, ["diagnose", str(path), *args]).output
    assert f"epsilon    0.1 per {unit} (95% interval 0 to 0.2)" in said


@pytest.mark.filterwarnings("default")
def test_the_command_shows_warnings_in_one_line(tmp_path, monkeypatch):
    def judge(*_, **__):
        warnings.warn("the rows are few", stacklevel=2)
        return told(0.1, {"epsilon": 0.1})

    monkeypatch.setattr("gpbandits_env.scenarios.cli.diagnose.judge", judge)
    path = tmp_path / "r.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["diagnose", str(path)])
    assert result.stderr == "gpbandits: warning: the rows are few\n"


@pytest.mark.parametrize(
    ("text", "args", "says"),
    [
        ("a,b\n1,2\n3,4,5\n", [], "line 3 has 3 cells, the first row 2"),
        ("a,b\n1,2\n3,x\n", [], "line 3, column 'b'"),
        ("a,b\n", [], "rows of numbers"),
        ("a,b\n1,2\n", ["--time-column", "c"], "no column named 'c'"),
        ("a,b\n1,2\n", ["--noise-var", "-1"], "noise-var"),
        ("a,b\n1,2\n", ["--set", "encodng=latin-1"], "did you mean 'encoding'"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, text, args, says):
    path = tmp_path / "r.csv"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["diagnose", str(path), *args])
    assert result.exit_code == 2
    assert says in result.output
    assert "Traceback" not in result.output


def test_a_missing_file(tmp_path):
    result = CliRunner().invoke(main, ["diagnose", str(tmp_path / "none.csv")])
    assert result.exit_code == 2
    assert "no such file" in result.output
