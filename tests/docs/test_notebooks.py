"""The notebooks run from top to bottom; they are stored without outputs and published with them."""

import json
import re

import pytest

NAMES = ("first_steps", "drifting_scenario", "optimise_your_function")


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_it_runs_and_its_page_shows_pictures_and_numbers(name, root, reader, tmp_path):
    pytest.importorskip("pandas")
    notebook, target = root / "docs" / "notebooks" / f"{name}.ipynb", tmp_path / "outputs.json"
    script = root / "tools" / "site" / "notebook_outputs.py"
    (reader.folder / "cells.py").write_text(
        script.read_text("utf-8").replace(
            "main(*sys.argv[1:])", f"main({str(notebook)!r}, {str(target)!r})"
        ),
        encoding="utf-8",
    )
    reader.scripts("cells.py")
    cells = json.loads(target.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"image/png", "text/plain"} <= kinds
    assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code")


def test_it_is_stored_without_outputs(name, root):
    path = root / "docs" / "notebooks" / f"{name}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    cells = [c for c in cells if c["cell_type"] == "code"]
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
