"""Other people's optimisers in a scenario beside ours."""

import pytest

from gpbandits_env.scenarios.study.engines import Engine
from gpbandits_env.scenarios.study.files import load
from gpbandits_env.scenarios.study.run import run_study

FILE = """
id = "my/beside"
horizon = 6
trials = 2
[environment]
id = "gpbandits/StaticGP-v0"
grid = [12]
[[agents]]
agent = "ei"
[[agents]]
agent = "optuna"
settings = { sampler = "RandomSampler" }
"""


def test_they_play_beside_ours(tmp_path):
    pytest.importorskip("optuna")
    file = tmp_path / "beside.toml"
    file.write_text(FILE, encoding="utf-8")
    outcome = run_study(load(file), str(tmp_path / "beside.sqlite"), jobs=1, engine=Engine("local"))
    assert (outcome.done, outcome.total, outcome.failures) == (4, 4, ())
