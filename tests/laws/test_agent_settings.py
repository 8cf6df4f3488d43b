"""The settings of every registered agent."""

from contextlib import suppress

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.registry import OVERRIDES, agent_class
from gpbandits_env.errors import GPBanditsError, InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52


def test_settings_of_are_the_ones_that_make_takes(laws, name):
    listed = agents.settings_of(name)
    defaults = {key: value for key, value in listed.items() if value is not None}
    problem = laws.problem_on("box" if name in laws.box_only else "arms")
    plain, spelt = (agents.make(name, problem, seed=0, **kwargs) for kwargs in ({}, defaults))
    assert np.array_equal(laws.play(plain, 3), laws.play(spelt, 3))
    with pytest.raises(UnknownName, match=f"no setting of the agent '{name}'"):
        agents.make(name, problem, temperature=1.0)


def test_a_misspelt_setting_is_answered_with_the_nearest(laws, name):
    for setting in [*agents.settings_of(name), *OVERRIDES]:
        with pytest.raises(UnknownName, match=f"did you mean.*'{setting}'"):
            agents.make(name, laws.problem_on("arms"), **{setting + "x": 1})


def test_a_misspelt_name_is_answered_with_the_nearest(laws, name):
    with pytest.raises(UnknownName, match=f"did you mean.*'{name}'"):
        agents.make(name + "x", laws.problem_on("arms"))
    assert agent_class(name).__doc__


def test_a_setting_without_a_truth_value_is_an_error_of_this_library(laws, name):
    problem = laws.problem_on("box" if name in laws.box_only else "arms")
    for setting in [*agents.settings_of(name), *OVERRIDES]:
        for wrong in (np.array([1.0, 2.0]), np.zeros((3, 0)), 5e-324):
            with suppress(GPBanditsError):  # some settings are arrays
                agents.make(name, problem, **{setting: wrong})


def test_overrides_replace_what_the_problem_says(laws, name):
    box = name in laws.box_only
    given = laws.quick((name, {})) if box else {}
    prior_mean = 0.7 if box else np.linspace(-1, 1, 20)
    problem = laws.problem_on("box" if box else "grid")
    changes = {"noise_var": 0.5, "prior_mean": prior_mean, "batch_size": 3, "horizon": 9}
    spec = {"type": "matern52", "lengthscale": 0.7}
    agent = agents.make(name, problem, seed=2, **given, kernel=spec, **changes)
    told = problem.replaced(kernel=Matern52(0.7), **changes)
    assert agent.problem.kernel == Matern52(0.7)
    assert agent.problem.noise_var == 0.5
    assert agent.problem.domain is problem.domain
    other = agents.make(name, told, seed=2, **given)
    assert np.array_equal(laws.play(agent, 6), laws.play(other, 6))
    assert (problem.batch_size, problem.noise_var) == (1, 0.05)
    for wrong in ({"kernel": {"type": "s"}}, {"noise_var": -1.0}, {"prior_mean": [0.0, np.nan]}):
        with pytest.raises((InvalidInput, UnknownName)):
            agents.make(name, problem, **given, **wrong)
