"""The page on agents: its scripts run, in order, and it names only what there is."""

import re

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.registry import OVERRIDES
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import SquaredExponential
from gpbandits_env.problem import Problem


@pytest.fixture
def scripts(root):
    text = (root / "docs" / "agents.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_its_scripts_run(scripts):
    problem = Problem(Arms.grid(9), SquaredExponential(0.2), 0.1, batch_size=2)
    names = {"agents": agents, "np": np, "env": problem, "rewards": [0.5, 1.0]}
    names["expensive"] = lambda arm: float(arm) / 9
    for script in scripts:
        exec(script, names)
    assert names["agent"].round == 2
    cautious = names["Cautious"](problem, np.random.default_rng(0))
    cautious.tell([3], [9.0])
    assert cautious.ask().tolist()[0] == 3


def test_every_setting_it_names_is_one(root):
    text = (root / "docs" / "agents.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \|.*\|(.*)\|$", text, re.MULTILINE)
    known = {*agents.names(), *agents.adapter_names()}
    rows = [(name, said) for name, said in rows if name in known]
    assert {name for name, _ in rows} >= set(agents.names())
    for name, said in rows:
        settings = {*agents.settings_of(name), *OVERRIDES}
        for setting in re.findall(r"`(\w+)`", said):
            assert setting in settings, name
