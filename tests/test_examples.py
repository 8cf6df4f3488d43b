"""Every example runs as it stands."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

# What an example cannot do without.
NEEDED = {"reinforcement_learning": "stable_baselines3"}
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_the_example_runs(path, tmp_path):
    if path.stem in NEEDED and find_spec(NEEDED[path.stem]) is None:
        pytest.skip(f"it needs {NEEDED[path.stem]}")
    run = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout
