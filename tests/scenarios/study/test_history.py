"""Agents of a scenario that observe the rounds before the first one."""

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.rehearsal import rehearse
from gpbandits_env.scenarios.study.runner import make_agent, make_env

READINGS = np.random.default_rng(0).standard_normal((12, 3)).tolist()


def scenario(rows):
    return Scenario(
        id="own/history",
        source="",
        title="",
        env="gpbandits/Replay-v0",
        env_kwargs={"readings": READINGS, "train_fraction": 0.5},
        agents=(AgentEntry("told", "gp-ucb", history=rows), AgentEntry("usual", "gp-ucb")),
        horizon=4,
        trials=1,
    )


def test_an_agent_observes_the_rows_before_the_first_round():
    declared = scenario(4)
    env = make_env(declared.env, declared.env_kwargs, 4)
    told, usual = (make_agent(entry, env, 0) for entry in declared.agents)
    np.testing.assert_array_equal(told.data.rewards, np.ravel(READINGS[2:6]))
    assert usual.data.size == 0
    kept = declared.to_dict()["agents"]
    assert kept["told"]["history"] == 4
    assert "history" not in kept["usual"]


def test_the_error_of_rows_that_are_not_known_names_their_place():
    with pytest.raises(InvalidInput, match=r"agents\[0\]\.history.*6 rows"):
        rehearse(scenario(7).cells()[0])
