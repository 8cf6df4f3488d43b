"""The wheel and the source distribution hold what users need, and nothing else."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools")
pytest.importorskip("twine")

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "gpbandits_env": "gpbandits_env",
    "gpbandits_command": "gpbandits_command",
    "agents": "gpbandits_env/agents",
    "scenarios": "gpbandits_env/scenarios",
}
KINDS = (".py", ".typed", ".html", ".json", ".npz", ".toml")
# What `python -m build` does, with one process for both distributions.
BUILD = """
import os, sys, tarfile, tomllib
from importlib import import_module
from pathlib import Path

with open("pyproject.toml", "rb") as file:
    backend = import_module(tomllib.load(file)["build-system"]["build-backend"])
out, unpacked = sys.argv[1:]
source = backend.build_sdist(out)
with tarfile.open(Path(out) / source) as archive:
    archive.extractall(unpacked)
os.chdir(Path(unpacked) / source.removesuffix(".tar.gz"))
backend.build_wheel(out)
"""
FILES = ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution of a copy of the checkout, and the wheel built from it."""
    tree, out = tmp_path_factory.mktemp("build") / "tree", tmp_path_factory.mktemp("dist")
    tree.mkdir()
    for folder in PACKAGES:
        shutil.copytree(
            ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
        )
    (tree / "tests").mkdir()
    shutil.copy(__file__, tree / "tests")  # setuptools would add it, without what it needs
    for name in FILES:
        shutil.copy(ROOT / name, tree)
    command = [sys.executable, "-c", BUILD, str(out), str(tree.parent)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(out.iterdir())


def sources():
    """The files of the packages: their place in the checkout, and in the wheel."""
    return {
        path.relative_to(ROOT).as_posix(): f"{there}/{path.relative_to(ROOT / here).as_posix()}"
        for here, there in PACKAGES.items()
        for path in (ROOT / here).rglob("*")
        if path.suffix in KINDS and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(built):
    (wheel,) = (path for path in built if path.suffix == ".whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == set(sources().values())


def test_the_source_distribution_holds_the_packages_and_nothing_else(built):
    (archive,) = (path for path in built if path.suffix == ".gz")
    with tarfile.open(archive) as files:
        found = [member.name.partition("/")[2] for member in files if member.isfile()]
    names = {name for name in found if ".egg-info/" not in name}
    assert names == {*sources(), *FILES, "PKG-INFO", "setup.cfg"}


def test_the_metadata_is_accepted_by_the_package_index(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
