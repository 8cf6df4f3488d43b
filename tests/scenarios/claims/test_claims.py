"""The claims of the papers, as data that were written down before their outcomes were looked at."""

import tomllib
from pathlib import Path

import pytest

from gpbandits_env.scenarios import registry

FOLDER = Path(__file__).parents[3] / "scenarios" / "claims"
FILES = sorted(FOLDER.glob("*.toml"))
YARDSTICKS = {
    *("better", "level", "best", "published", "grows", "settles"),
    *("sublinear", "bound", "theory", "other"),
}
FIELDS = {"id", "where", "says", "judged", "yardstick", "scenarios", "needs"}


def read(file):
    return tomllib.loads(file.read_text(encoding="utf-8"))


def test_each_of_the_five_papers_has_its_claims():
    papers = {"srinivas2010", "bogunovic2016", "bedi2022", "tranthe2020", "ren2024"}
    assert {file.stem for file in FILES} == papers


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_paper_has_one_main_reading_and_states_how_each_claim_is_judged(file):
    found = read(file)
    assert found["paper"] == file.stem
    assert set(found["reading"]) == {"main", "others"}
    assert found["reading"]["main"].strip()
    assert 10 <= len(found["claim"]) <= 25
    ids = [claim["id"] for claim in found["claim"]]
    assert len(set(ids)) == len(ids)
    for claim in found["claim"]:
        assert set(claim) == FIELDS, claim["id"]
        assert claim["id"].startswith(f"{file.stem}/")
        assert claim["yardstick"] in YARDSTICKS
        assert all(claim[key].strip() for key in ("where", "says", "judged")), claim["id"]
    for erratum in found["erratum"]:
        assert set(erratum) == {"where", "says", "should"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_claim_names_scenarios_that_exist_or_says_what_it_needs(file):
    known = registry.scenarios()
    for claim in read(file)["claim"]:
        assert [id for id in claim["scenarios"] if id not in known] == [], claim["id"]
        assert claim["scenarios"] or claim["needs"].strip(), claim["id"]
