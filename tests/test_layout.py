"""agents/ and scenarios/ import as parts of gpbandits_env, and never as themselves."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import gpbandits_env

ROOT = Path(__file__).resolve().parent.parent
SHOW = (
    "from importlib.util import find_spec as f;"
    "print(*(f(f'gpbandits_env{part}').origin for part in ('', '.agents', '.scenarios')))"
)


def files_seen_from(folder):
    run = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=folder, capture_output=True, text=True, check=True
    )
    return [Path(p).resolve() for p in run.stdout.split()]


def test_started_in_the_checkout_python_reads_the_checkout():
    """The checkout's gpbandits_env comes first there, and its agents must come with it."""
    package, agents, scenarios = files_seen_from(ROOT)
    assert package == ROOT / "gpbandits_env" / "__init__.py"
    # After a plain install the installed copies stand first on no path: the checkout's are read.
    assert agents == ROOT / "agents" / "__init__.py"
    assert scenarios == ROOT / "scenarios" / "__init__.py"


def test_elsewhere_python_reads_one_installation(tmp_path):
    package, agents, scenarios = files_seen_from(tmp_path)
    homes = {package.parent.parent, agents.parent.parent, scenarios.parent.parent}
    # Editable: all in the checkout. Installed: below site-packages/gpbandits_env.
    assert homes in ({ROOT}, {package.parent.parent, package.parent})


@pytest.mark.parametrize(
    "folder", ["gpbandits_env", "agents", "scenarios", "benchmarks", "examples"]
)
def test_nobody_imports_agents_or_scenarios_as_top_level_names(folder):
    top_level = re.compile(r"^\s*(from|import) (agents|scenarios)\b", re.MULTILINE)
    for path in (ROOT / folder).rglob("*.py"):
        assert not top_level.search(path.read_text(encoding="utf-8")), path


def test_what_notebooks_need_is_imported_from_the_top_on_first_use(tmp_path):
    code = (
        "import sys, gpbandits_env as g\n"
        "print('gpbandits_env.gp.kernels' in sys.modules)\n"
        "print('scipy' in sys.modules, 'Box' in dir(g))\n"
        "from gpbandits_env import Arms, Matern52\n"
        "print('gpbandits_env.gp.kernels' in sys.modules, hasattr(g, 'nothing'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False", "True", "True", "False"]
    assert all(hasattr(gpbandits_env, name) for name in gpbandits_env._EXPORTS)


def test_the_lowest_click_prints_errors_without_a_traceback():
    """Below 8.2, click turns every error of the command line into a traceback."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (click,) = (one for one in map(Requirement, listed) if one.name == "click")
    assert "8.2.0" in click.specifier
    assert "8.1.8" not in click.specifier
