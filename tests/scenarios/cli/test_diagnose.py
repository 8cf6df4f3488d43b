"""`gpbandits diagnose`: the table it reads, the units it tells, and the lines it gives to type."""

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

from gpbandits_env import agents
from gpbandits_env.gp.learning import Diagnosis, diagnose
from gpbandits_env.gp.learning.diagnose import ModelScore
from gpbandits_env.rewards.datasets import hours, read_table
from gpbandits_env.scenarios.cli import main

ARMS = np.linspace(0, 1, 8)
K = np.exp(-((ARMS[:, None] - ARMS) ** 2) / (2 * 0.3**2))
NOISE = 0.05


def drifting(rounds, epsilon, seed):
    """Readings in noise of a function that drifts as a Markov process."""
    rng, root = np.random.default_rng(seed), np.linalg.cholesky(K + 1e-9 * np.eye(8))
    f, rows = root @ rng.standard_normal(8), []
    for _ in range(rounds):
        rows.append(f + np.sqrt(NOISE) * rng.standard_normal(8))
        f = np.sqrt(1 - epsilon) * f + np.sqrt(epsilon) * (root @ rng.standard_normal(8))
    return np.array(rows)


def write(path, values, names=None):
    names = names or [f"a{i}" for i in range(values.shape[1])]
    lines = [",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in values]
    path.write_text("\n".join([",".join(names), *lines]), encoding="utf-8")


def test_the_command_reads_a_table(tmp_path):
    values = drifting(40, 0.1, 6)[:, :3]
    values[30, 2] = np.nan
    path = tmp_path / "r.csv"
    timed = np.column_stack([np.arange(40.0), values])
    write(path, timed, ["hour", *(f"a{i}" for i in range(3))])
    result = CliRunner().invoke(main, ["diagnose", str(path), "--time-column", "hour"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("3 arms, 24 rows to learn from")
    assert "recommended: " in result.output
    told = CliRunner().invoke(main, ["diagnose", str(path), "--time-column", "hour", "--json"])
    found = diagnose(values, np.arange(40.0))
    assert json.loads(told.output)["epsilon"] == found.epsilon
    for model in found.models:
        row = rf"^  {model.name} .* {model.log_score:.4f} +{model.coverage:.1%}$"
        assert re.search(row, result.output, re.MULTILINE), model.name


def test_the_command_knows_a_column_of_dates(tmp_path):
    values = drifting(40, 0.1, 6)[:, :3]
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
    values, known = drifting(150, 0.05, 3), {"mean": 0.0, "covariance": K}
    found = diagnose(values, units * np.arange(150.0), **known)
    epsilon, low, high = found.per_row
    assert low < 0.05 < high
    assert found.gap == units
    per_unit = [1 - (1 - e) ** (1 / units) for e in found.per_row]
    assert [found.epsilon, *found.interval] == pytest.approx(per_unit, rel=1e-9)
    model = next(m for m in found.models if m.name == "drifting")
    assert model.settings["epsilon"] == pytest.approx(1 - (1 - model.epsilon) ** units)
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
        ("when,a\n2026-03-01 12:00,1\n2026-03-01 12:10,2\n", [], "minute"),
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
