"""`gpbandits claims`: counts, the verdicts of a paper, and a claim with all its parts."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims.claim import Check, Claim, paper
from gpbandits_env.scenarios.claims.judge import VERDICTS, judge
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.cli.claims import _own
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.evidence import Evidence
from gpbandits_env.scenarios.study.run import run_study

ID = "srinivas2010/scaled-beta-better"


def said(*arguments):
    run = CliRunner().invoke(main, ["claims", *map(str, arguments)])
    assert run.exit_code == 0, run.output
    return run.output.splitlines()


def test_every_claim_is_counted_once_in_the_row_of_its_paper():
    head, *rows = said()
    assert head.split()[0] == "paper"
    assert [row.split()[0] for row in rows] == list(registry.GROUPS)
    for row in rows:
        group, claims, *counts, _ = row.split()
        assert int(claims) == sum(map(int, counts)) == len(paper(group).claims)


def test_a_paper_has_a_line_for_each_claim():
    _, *rows = said("srinivas2010")
    assert [row.split()[0] for row in rows] == [c.id for c in paper("srinivas2010").claims]
    assert all(any(f"  {v}  " in row for v in VERDICTS) for row in rows)


def test_a_claim_shows_its_verdict_and_every_part_with_its_numbers():
    lines = said(ID)
    claim = next(c for c in paper("srinivas2010").claims if c.id == ID)
    found = judge(claim)
    for line, text in zip(lines[:4], (ID, claim.where, claim.says, found.verdict), strict=True):
        assert text in line
    parts = [part for check in found.checks for part in check.parts]
    shown = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert len(shown) == len(parts)
    for part in parts:
        (line,) = {line for line in shown if part.what in line and part.outcome in line}
        assert (f"{part.units} units" in line) == (part.units > 1)


def test_a_check_whose_parts_do_not_count_one_by_one_says_how_they_count():
    heads = [line for line in said(ID) if line.startswith("better: ")]
    assert [head.endswith("; reported, not counted") for head in heads] == [False, True]
    limited = said("tranthe2020/gp-ucb-poor")
    (head,) = (line for line in limited if line.endswith("; all parts make one: fails"))
    assert "; a failure limits the verdict to in part; " in head


def test_own_results_take_the_place_of_the_kept_ones(tmp_path):
    """Two trials of 8 rounds: the parts of their scenario have 2 units, and others stay."""
    chosen = registry.get("srinivas2010/se-1d").select(["gp-ucb", "gp-ucb/unscaled"], 2, 8)
    run_study(chosen, tmp_path / "own.sqlite", jobs=1, progress=False)
    lines = said(ID, "--results", tmp_path / "own.sqlite")
    own = [line for line in lines if "(srinivas2010/se-1d)" in line]
    assert {"2 units" in line for line in own} == {True}
    assert len(own) < sum(line.startswith("  ") for line in lines)
    for other in ("bogunovic2016", "srinivas2010/temperature-leaders-clear"):
        run = CliRunner().invoke(main, ["claims", other, "--results", str(tmp_path / "own.sqlite")])
        assert run.exit_code == 2
        assert f"no check of {other} reads results of 'srinivas2010/se-1d'" in run.output


def test_trials_of_own_results_fall_into_the_units_of_the_kept_ones(tmp_path, monkeypatch):
    chosen = registry.get("srinivas2010/se-1d").select(["gp-ucb"], 3, 8)
    run_study(chosen, tmp_path / "own.sqlite", jobs=1, progress=False)
    kept = Evidence(np.array([8]), [{}], {}, {0: np.array([4, 7, 4, 9])}, study={"seed": 0})
    monkeypatch.setattr(evidence, "load", lambda id: kept)
    assert _own((tmp_path / "own.sqlite",))[chosen.id].units[0].tolist() == [4, 7, 4]
    kept.study["seed"] = 3
    assert _own((tmp_path / "own.sqlite",))[chosen.id].units == {}


def test_own_results_may_have_more_trials_of_one_agent(tmp_path):
    """More than 25, of which fewer rounds are kept; the other agent has 2."""
    scenario, file = registry.get("srinivas2010/se-1d"), tmp_path / "own.sqlite"
    for labels, trials in ((["gp-ucb"], 26), (["gp-ucb/unscaled"], 2)):
        run_study(scenario.select(labels, trials, 60), file, jobs=1, progress=False)
    own = [line for line in said(ID, "--results", file) if "(srinivas2010/se-1d)" in line]
    assert {"2 units" in line for line in own} == {True}


def test_own_results_of_several_horizons_are_refused(tmp_path):
    chosen = registry.get("srinivas2010/se-1d").select(["gp-ucb"], 1)
    swept = replace(chosen, grid={"horizon": (5, 8)})
    run_study(swept, tmp_path / "own.sqlite", jobs=1, progress=False)
    run = CliRunner().invoke(main, ["claims", ID, "--results", str(tmp_path / "own.sqlite")])
    assert run.exit_code == 2
    assert "own.sqlite has trials of 5 to 8 rounds" in run.output


@pytest.mark.parametrize(("name", "near"), [("srinivas201", "srinivas2010"), (f"{ID}s", ID)])
def test_a_name_that_is_none_is_an_error_with_the_nearest(name, near):
    run = CliRunner().invoke(main, ["claims", name])
    assert run.exit_code != 0
    assert f"did you mean '{near}'" in str(run.exception) + run.output


def test_a_part_without_a_value_in_every_unit_is_undecided_and_shows_no_number():
    values = {(0, "a", "late"): np.array([1.0, np.nan]), (0, "b", "late"): np.array([1.0, 2.0])}
    kept = Evidence(np.array([1]), [{}], values)
    check = Check(yardstick="level", scenario=("p/s",), a=("a",), b=("b",), metric="late")
    words = dict.fromkeys(("where", "says", "judged", "yardstick"), "")
    claim = Claim(id="p/c", scenarios=(), check=(check,), **words)
    ((part,),) = [judged.parts for judged in judge(claim, None, lambda id: kept).checks]
    assert (part.outcome, part.numbers) == ("undecided", {})
    assert str(part) == "not in every unit a value; 2 units"
