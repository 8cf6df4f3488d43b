"""Every example runs as it stands."""

import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

# What an example cannot do without.
NEEDED = {"meta_learning": "sb3_contrib", "reinforcement_learning": "stable_baselines3"}
# With what it takes a second rather than minutes.
QUICK = {
    "meta_learning": ["2560", "50"],
    "reinforcement_learning": ["1280"],
    "drift": ["drift.webp", "3"],
}
# The rounds of an episode, where each takes long.
ROUNDS = {"beside_others": 6}
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.filterwarnings("default")
@pytest.mark.usefixtures("little_search")
@pytest.mark.parametrize(
    "path",
    [
        # The slow test below runs the whole of it.
        pytest.param(p, id=p.stem, marks=pytest.mark.slow if p.stem == "meta_learning" else ())
        for p in sorted(EXAMPLES.rglob("*.py"))
    ],
)
def test_the_example_runs(path, tmp_path, monkeypatch, capsys):
    if path.stem in NEEDED and find_spec(NEEDED[path.stem]) is None:
        pytest.skip(f"it needs {NEEDED[path.stem]}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), *QUICK.get(path.stem, [])])
    if path.stem in ROUNDS:
        make, few = gym.make, {"max_episode_steps": ROUNDS[path.stem]}
        monkeypatch.setattr(gym, "make", lambda id, **given: make(id, **{**given, **few}))
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_policy_with_a_memory_beats_one_without():
    pytest.importorskip("sb3_contrib")
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "meta_learning.py")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.findall(r"^(.+?)  +mean return (\S+) \+- (\S+)$", run.stdout, re.MULTILINE)
    means = {name: (float(mean), float(error)) for name, mean, error in found}
    (memory, error), (without, other) = means["recurrent PPO"], means["PPO"]
    assert memory > without + 2 * np.hypot(error, other)
