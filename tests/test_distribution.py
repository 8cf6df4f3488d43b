"""The wheel and the source distribution hold what users need, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build")
pytest.importorskip("twine")

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "gpbandits_env": "gpbandits_env",
    "gpbandits_command": "gpbandits_command",
    "agents": "gpbandits_env/agents",
    "scenarios": "gpbandits_env/scenarios",
}
KINDS = (".py", ".typed", ".html", ".json", ".toml")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution of a copy of the checkout, and the wheel built from it."""
    tree, out = tmp_path_factory.mktemp("build") / "tree", tmp_path_factory.mktemp("dist")
    tree.mkdir()
    for folder in PACKAGES:
        shutil.copytree(
            ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(out.iterdir())


def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(built):
    expected = {
        f"{there}/{path.relative_to(ROOT / here).as_posix()}"
        for here, there in PACKAGES.items()
        for path in (ROOT / here).rglob("*")
        if path.suffix in KINDS and "__pycache__" not in path.parts
    }
    (wheel,) = (path for path in built if path.suffix == ".whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == expected


def test_the_metadata_is_accepted_by_the_package_index(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
