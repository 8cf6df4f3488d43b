"""Which of the installed packages are imported when, as the page on the architecture says."""

import re
import subprocess
import sys
import tomllib

import pytest

STEPS = {
    "import gpbandits_env": {"numpy", "gymnasium"},
    "import gymnasium; gymnasium.make('gpbandits/StaticGP-v0', grid=5)": {"scipy", "threadpoolctl"},
    "from gpbandits_env import agents": set(),
    "agents.minimize(sum, [(0, 1)], n_calls=3, seed=0, parallel=2)": {"joblib", "tqdm"},
    "from gpbandits_env.agents.optimize import plots": {"matplotlib"},
    "import gpbandits_env.scenarios.cli": {"click"},
    "import gpbandits_env.scenarios.reporting.html": {"jinja2"},
}
SCRIPT = """
import sys
if __name__ == "__main__":
    found = set()
    for line in {steps}:
        exec(line)
        print(line, "|", *sorted({known}.intersection(sys.modules) - found))
        found |= {known}.intersection(sys.modules)
"""


@pytest.fixture
def known(request):
    text = (request.config.rootpath / "pyproject.toml").read_text("utf-8")
    return {re.split(r"[>=<]", need)[0] for need in tomllib.loads(text)["project"]["dependencies"]}


def test_packages_are_imported_when_they_are_needed(known, tmp_path):
    (tmp_path / "steps.py").write_text(SCRIPT.format(steps=list(STEPS), known=known), "utf-8")
    done = subprocess.run(
        [sys.executable, "steps.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = {}
    for line in done.stdout.splitlines():
        step, _, names = line.partition("|")
        found[step.strip()] = set(names.split())
    assert found == STEPS


def test_the_page_justifies_each_package(known, request):
    page = (request.config.rootpath / "docs" / "architecture.md").read_text("utf-8")
    section = page.partition("## What is installed")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == known
