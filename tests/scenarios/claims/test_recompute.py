"""The verdicts of the engine are those of `recompute.py`, which imports nothing of it."""

import ast
import json
import sys
from collections import Counter
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims import claim, judge
from gpbandits_env.scenarios.results import evidence

FILE = Path(__file__).with_name("recompute.py")
LABELS, ROUNDS = ("x", "y", "z"), [1, 3, 10, 25, 50, 75, 100]


@pytest.fixture(scope="module")
def recompute():
    spec = spec_from_file_location("recompute", FILE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def engine(name, load):
    """What the engine says of a paper, in the form of `recompute.verdicts`."""
    of, found = claim.paper.__wrapped__(name), {}
    for each in of.claims:
        found[each.id] = {"": judge.judge(each, None, load).verdict}
        for reading in of.readings:
            if other := judge.judge(each, reading, load):
                found[each.id][reading.name] = other.verdict
    return found


def test_it_imports_the_registry_and_nothing_else_of_the_library():
    imports = list(ast.walk(ast.parse(FILE.read_text("utf-8"))))
    names = {a.name for n in imports if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in imports if isinstance(n, ast.ImportFrom)}
    assert names - {"numpy", "gpbandits_env.scenarios"} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", registry.GROUPS)
def test_the_verdicts_on_a_paper_are_the_same(recompute, name):
    assert recompute.verdicts(FILE.parents[3] / "scenarios", name) == engine(
        name, cache(evidence.load)
    )


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 6.3138), (4, 2.1318), (29, 1.6991)])
def test_its_quantiles_of_students_distribution(recompute, degrees, quantile):
    assert recompute.student(degrees) == pytest.approx(quantile, abs=2e-4)


# -- Made data ------------------------------------------------------------------------------------

CHECKS = (
    {"yardstick": "better", "a": ["x"], "b": ["y", "z"], "at": [0.25, 0.5, 1.0]},
    {"yardstick": "better", "a": ["x", "y"], "b": ["x", "y"], "clearly": True},
    {"yardstick": "better", "a": ["x"], "b": ["y"], "strict": True, "cells": [{"n": 1}]},
    {"yardstick": "better", "a": ["x"], "b": ["w"], "reported": True},
    {"yardstick": "level", "a": ["x"], "b": ["y", "z"], "one_sided": True},
    {"yardstick": "level", "a": ["x"], "b": ["y"], "metric": "log10_simple_regret", "factor": 1.2},
    {"yardstick": "level", "a": ["x"], "b": ["y"], "metric": "windows"},
    {"yardstick": "best", "a": ["x"], "b": ["x", "y", "z"], "metric": "cumulative_regret"},
    {"yardstick": "best", "a": ["x"], "b": ["y", "z"], "metric": "log10_simple_regret"},
    {"yardstick": "published", "a": ["x"], "value": {"x": 0.8}},
    {"yardstick": "published", "a": ["x", "y"], "value": 0.3},
    {"yardstick": "slope", "a": ["x", "y"], "below": -0.2, "since": 0.25},
    {"yardstick": "mean", "a": ["x"], "b": ["y"], "above": 0.0, "only_limits": True},
    {"yardstick": "mean", "a": ["x", "y"], "above": 0.9, "below": 1.3},
    {"yardstick": "share", "a": ["x", "y"], "metric": "stuck", "at_most": 0.4},
    {"yardstick": "better", "a": ["x"], "b": ["y"], "together": "x"},
    {"yardstick": "slope", "a": ["x"], "below": -0.2, "together": "x"},
    {
        "yardstick": "better",
        "a": ["x"],
        "b": ["y", "z"],
        "parts": "one",
        "rule": {"holds": 0.5, "fails": 0.7},
    },
)
COMPUTED = (
    {"yardstick": "limit", "a": ["x *"], "at_most": 1.5},
    {"yardstick": "better", "a": ["x *"], "b": ["y *"]},
    {"yardstick": "best", "a": ["y 1"], "b": ["*"]},
    {"yardstick": "slope", "a": ["curve"], "x": "T", "above": 0.45},
    {"yardstick": "share", "a": ["none"]},
    {"yardstick": "limit", "a": ["x *"], "at_most": 1.5, "together": "x", "parts": "one"},
)
OTHERS = (
    {"name": "absent", "says": "", "scenarios": {"made/first": "bogunovic2016/matern52"}},
    {"name": "swapped", "says": "", "agents": {"x": "z"}},
    {"name": "same", "says": "", "agents": {"x": "y"}},
    {"name": "elsewhere", "says": "", "scenarios": {"made/first": "made/second"}},
    {"name": "few", "says": "", "trials": 6},
    {"name": "few-of", "says": "", "trials": 6, "scenarios": {"made/first": "made/first"}},
    {"name": "few-of-others", "says": "", "trials": 6, "scenarios": {"made/second": "made/second"}},
)


def toml(value):
    """A value as TOML; a table in line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def section(title, table):
    return "\n".join([f"[[{title}]]", *(f"{k} = {toml(v)}" for k, v in table.items())]) + "\n"


def write(folder, paper, seed):
    """Claims with random checks, and values that decide some of them."""
    rng = np.random.default_rng(seed)
    text = f'paper = "{paper}"\nmain = "."\nwithout_data = []\n'
    text += "".join(section("readings", other) for other in OTHERS)
    for i in range(24):
        table = {"id": f"{paper}/{i}", "where": "", "says": "", "judged": "", "yardstick": "x"}
        table |= {"scenarios": []}
        table |= {"rule": {"holds": 0.6, "fails": 0.4}} if i % 6 == 0 else {}
        text += section("claims", table)
        for index in rng.integers(len(CHECKS) + len(COMPUTED), size=rng.integers(1, 4)):
            check = (*CHECKS, *COMPUTED)[index]
            data = {"scenario": ["made/first", "bogunovic2016/se"][: 1 + (i % 5 == 0)]}
            if check in COMPUTED:
                data = {"computed": f"{paper}/{'made' if i % 5 else 'absent'}"}
            text += section("claims.check", check | data)
    (folder / "claims").mkdir()
    (folder / "claims" / f"{paper}.toml").write_text(text, "utf-8")
    for id in ("made/first", "made/second"):
        evidence.save(made(rng), folder / "reference" / f"{id}.npz")
    arrays = {f"{k} {i}": rng.normal(m, 0.2, 9) for k, m in (("x", 1), ("y", 1.2)) for i in (1, 2)}
    horizons = np.geomspace(10, 1000, 5)
    arrays |= {"T": horizons, "curve": horizons**0.5 * rng.normal(1, 0.05, (6, 5))}
    file = folder / "reference" / paper / "computed" / "made.npz"
    file.parent.mkdir(parents=True)
    values = {name: array.tolist() for name, array in arrays.items()}
    evidence.write_arrays(file, {"seconds": 0.0, "values": values})


def made(rng):
    """Evidence of three agents in two cells, with trials that share units."""
    values, units = {}, {}
    for cell in (0, 1):
        units[cell] = rng.permutation(np.repeat(np.arange(9), 2))
        common = rng.exponential(0.5, (18, 1))
        for label, level in zip(LABELS, rng.choice([0.8, 1.0, 1.1, 1.6], 3), strict=True):
            curve = level * (common + rng.exponential(0.5, (18, 7))) / np.array(ROUNDS) ** 0.15
            values[cell, label, "average_regret"] = curve.astype(np.float32)
            simple = curve * (rng.random((18, 7)) < 0.9)
            values[cell, label, "simple_regret"] = simple.astype(np.float32)
            values[cell, label, "stuck"] = (rng.random(18) < level / 3).astype(np.float32)
            values[cell, label, "windows"] = rng.normal(level, 0.3, 18).astype(np.float32)
    return evidence.Evidence(np.array(ROUNDS), [{"n": 1}, {"n": 2}], values, units, {1: 3})


@pytest.mark.parametrize("paper", ["srinivas2010", "bedi2022", "tranthe2020", "ren2024"])  # rules
def test_the_verdicts_on_made_data_are_the_same(recompute, paper, tmp_path, monkeypatch):
    said = Counter()
    for seed in range(4):
        folder = tmp_path / str(seed)
        (folder / "reference" / "made").mkdir(parents=True)
        write(folder, paper, seed)
        for module in (claim, judge):
            monkeypatch.setattr(module, "files", lambda _, folder=folder: folder)
        expected = engine(paper, cache(partial(evidence.load, package=folder)))
        assert recompute.verdicts(folder, paper) == expected
        said.update(verdict for of in expected.values() for verdict in of.values())
    assert set(said) == set(judge.VERDICTS)
