"""The claims of the papers, as data that were written down before their outcomes were looked at."""

import fnmatch
import json
from pathlib import Path

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims.claim import Paper, paper
from gpbandits_env.scenarios.claims.judge import judge
from gpbandits_env.scenarios.declare import read
from tools.claims import table

FOLDER = Path(__file__).parents[3] / "scenarios" / "claims"
PAPERS = [file.stem for file in sorted(FOLDER.glob("*.toml"))]
CLAIMS = [claim for name in PAPERS for claim in paper(name).claims]
YARDSTICKS = {
    *("better", "level", "best", "published", "grows", "settles"),
    *("sublinear", "bound", "theory", "other"),
}


def labels_of(scenario):
    return {entry.label for entry in scenario.select(["all"]).agents}


def test_each_group_that_is_judged_has_its_claims():
    assert set(PAPERS) == set(registry.GROUPS)


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_has_one_main_reading_and_states_how_each_claim_is_judged(name):
    found = paper(name)
    assert found.paper == name
    assert found.main.strip()
    ids = [claim.id for claim in found.claims]
    assert len(set(ids)) == len(ids)
    for claim in found.claims:
        assert claim.id.startswith(f"{name}/")
        assert claim.yardstick in YARDSTICKS
        assert all(text.strip() for text in (claim.where, claim.says, claim.judged)), claim.id


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_names_scenarios_that_exist_or_says_what_it_needs(claim):
    known = registry.scenarios()
    named = {*claim.scenarios, *(id for check in claim.check for id in check.scenario)}
    assert named <= set(known)
    assert claim.check or claim.scenarios or claim.needs.strip()


@pytest.mark.parametrize(
    "claim", [c for c in CLAIMS if " as undecided." in c.departs], ids=lambda c: c.id
)
def test_what_a_claim_says_counts_as_undecided_does(claim):
    parts = [part for check in judge(claim).checks for part in check.parts]
    assert claim.not_run or any(not part.units for part in parts)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cells": [3]}, "cells must be a list of Mapping, got 3 in it"),
        ({"at": [2.0]}, r"at must lie in \[0, 1\], got 2.0"),
        ({"at": []}, "at must be a list of one or more fractions of the horizon"),
        ({"a": []}, "a must be a list of one or more labels"),
        ({"parts": "none"}, "no way to count parts named 'none'"),
        ({"yardstick": "level"}, "b is missing: level compares a with it"),
        ({"yardstick": "published"}, "value must be a number, got None"),
        ({"yardstick": "published", "value": [1]}, r"value must be a number, got \[1\]"),
        ({"yardstick": "published", "value": {"a": 0}}, "value must be finite, above 0"),
    ],
)
def test_a_check_of_wrong_values_is_refused_by_name(change, says):
    given = dict.fromkeys(("where", "says", "judged", "yardstick"), "x")
    check = {"yardstick": "mean", "scenario": ["x"], "a": ["y"], **change}
    claim = {"id": "p/x", **given, "scenarios": [], "check": [check]}
    table = {"paper": "p", "main": "x", "without_data": [], "claims": [claim]}
    with pytest.raises(InvalidInput, match=rf"^claims\[p/x\]\.check\[0\].*{says}"):
        read(Paper, table)


@pytest.mark.parametrize("name", PAPERS)
def test_the_readings_name_scenarios_that_exist(name):
    known = registry.scenarios()
    for reading in paper(name).readings:
        assert {*reading.scenarios, *reading.scenarios.values()} <= set(known), reading.name
        assert reading.agents or reading.scenarios or reading.trials, reading.name


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_check_names_agents_cells_and_arrays_that_exist(claim):
    """A misspelt name would leave a check undecided for ever."""
    for check in claim.check:
        for id in check.scenario:
            scenario = registry.get(id)
            labels = labels_of(scenario)
            assert {*check.a, *check.b} <= labels, id
            points = scenario.points()
            for cell in check.cells:
                assert any(cell.items() <= point.items() for point in points), (id, cell)
        file = FOLDER.parent / "reference" / check.computed.replace("/", "/computed/")
        if check.computed and (file := file.with_suffix(".npz")).is_file():
            arrays = json.loads(np.load(file)["about"].tobytes())["values"]
            for name in filter(None, (*check.a, *check.b, check.x)):
                assert fnmatch.filter(arrays, name), (check.computed, name)
        if check.computed:
            assert check.what, "a computation has no metric that would say what is compared"
            known = table(check.computed, "COMPUTATIONS")
            assert check.computed.partition("/")[2] in known


@pytest.mark.parametrize("name", PAPERS)
def test_the_readings_name_agents_that_exist(name):
    of = [scenario for id, scenario in registry.scenarios().items() if id.startswith(f"{name}/")]
    known = set().union(*map(labels_of, of))
    for reading in paper(name).readings:
        assert {*reading.agents, *reading.agents.values()} <= known, reading.name
