"""The notebooks run from top to bottom, and are stored without outputs."""

import json
import re

import pytest

NAMES = ("first_steps", "drifting_scenario", "optimise_your_function")


@pytest.fixture(params=NAMES)
def notebook(request, root):
    path = root / "docs" / "notebooks" / f"{request.param}.ipynb"
    return json.loads(path.read_text(encoding="utf-8"))


def code_of(notebook):
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def test_it_runs(notebook, reader):
    pytest.importorskip("pandas")
    (reader.folder / "cells.py").write_text("\n\n".join(code_of(notebook)), encoding="utf-8")
    reader.scripts("cells.py")


def test_it_is_stored_without_outputs(notebook):
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in cells)


def test_every_notebook_is_run_and_linked(root):
    folder = root / "docs" / "notebooks"
    assert sorted(p.stem for p in folder.glob("*.ipynb")) == sorted(NAMES)
    page = (root / "docs" / "getting-started.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"notebooks/{name}.ipynb" in page
    for path in folder.glob("*.ipynb"):
        links = re.findall(r"\]\(([^)h]+?\.ipynb)\)", path.read_text(encoding="utf-8"))
        assert all((folder / link).is_file() for link in links)
