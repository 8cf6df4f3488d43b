"""The tables of BBOB in the manual are those of the kept results."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_of_bbob_are_those_of_the_file():
    spec = importlib.util.spec_from_file_location("bbob", ROOT / "benchmarks" / "bbob.py")
    bbob = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bbob)
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    tables = [table for table in bbob.tables(bbob.parsed(["tables"])) if table]
    assert tables
    assert [table for table in tables if table not in page] == []
    lines = (ROOT / "benchmarks" / "results" / "bbob.csv").read_text().splitlines()
    assert len(bbob.read(bbob.RESULTS)) == len(lines) - 1  # no run occurs twice
