import json
import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions.schedules import SCHEDULES, Constant
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.kernels.kernel import KERNELS
from gpbandits_env.scenarios import AgentEntry, get, registry
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.study.rehearsal import resolved


@pytest.mark.parametrize(("grid", "words"), [
    ({"noise_var": []}, "grid.noise_var has no values"),
    ({"noise_var": [0.1, 0.2, 0.1]}, "twice"),
    ([{"noise_var": 0.1}, {"noise_var": 0.1}], "twice"),
])  # fmt: skip
def test_grids_that_are_a_slip(tiny, grid, words):
    with pytest.raises(InvalidInput, match=words):
        replace(tiny, grid=grid)


def test_cells_are_the_product_of_the_grid_in_declared_order(tiny):
    swept = replace(tiny, grid={"noise_var": (0.1, 0.2), "kernel.lengthscale": (1.0, 2.0)})
    got = [
        (c.scenario.env_kwargs["noise_var"], c.scenario.env_kwargs["kernel"]["lengthscale"])
        for c in swept.cells()
    ]
    assert got == [(0.1, 1.0), (0.1, 2.0), (0.2, 1.0), (0.2, 2.0)]
    assert tiny.env_kwargs["kernel"]["lengthscale"] == 0.2  # the declaration stays as it is


def test_points_may_be_listed_with_a_horizon_of_their_own(tiny):
    listed = replace(tiny, grid=({"noise_var": 0.1, "horizon": 5}, {"noise_var": 0.2}))
    assert [c.scenario.horizon for c in listed.cells()] == [5, 12]


def test_a_parameter_reaches_all_agents_or_one(tiny):
    swept = replace(tiny, grid=({"agents.noise_var": 0.5, "agents.ei.margin": 0.3},))
    cell = swept.cells()[0]
    settings = {e.label: e.settings for e in cell.scenario.agents}
    assert settings["random"] == {"noise_var": 0.5}
    assert settings["ei"] == {"noise_var": 0.5, "margin": 0.3}
    assert "noise_var" not in cell.scenario.env_kwargs


def test_a_setting_of_an_agent_that_is_left_out_has_no_effect(tiny):
    swept = replace(tiny, grid=({"agents.ei.margin": 0.3, "agents.mpi/no-margin.margin": 0.2},))
    here = swept.select(["random", "mpi/no-margin"]).cells()[0].scenario
    assert [dict(e.settings) for e in here.agents] == [{}, {"margin": 0.2}]
    # With the same points, agents can be added to a results file later.
    assert swept.select(["random"]).points() == swept.points()


def test_a_setting_with_the_name_of_a_label_is_one_of_every_agent(tiny):
    agents = (AgentEntry("window", "gp-ucb"), AgentEntry("other", "gp-ucb"))
    swept = replace(tiny, agents=agents, grid=({"agents.window": 5, "agents.window.beta": 2.0},))
    settings = [dict(e.settings) for e in swept.cells()[0].scenario.agents]
    assert settings == [{"window": 5, "beta": 2.0}, {"window": 5}]


def test_settings_of_agents_do_not_change_the_world(tiny):
    cell = replace(tiny, grid=({"agents.noise_var": 0.5, "horizon": 4, "noise_var": 0.1},)).cells()[
        0
    ]
    assert cell.instance_params == {"noise_var": 0.1}


def test_resolved_is_plain_json_and_has_everything(tiny):
    plain = resolved(tiny, seed=3)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["seed"] == 3
    assert plain["points"] == [{"noise_var": 0.01}, {"noise_var": 0.1}]
    assert plain["agents"]["gp-ucb"]["settings"]["beta"]["delta"] == 0.1


def test_kernels_schedules_and_arrays_are_as_good_as_their_dicts(tiny):
    kernel, beta = Matern52(0.2), Constant(4.0)

    def made(kernel, beta, noise_var):
        agents = (AgentEntry("gp-ucb", "gp-ucb", {"beta": beta}),)
        kwargs = {"grid": [30], "kernel": kernel}
        return replace(tiny, env_kwargs=kwargs, agents=agents, grid={"noise_var": noise_var})

    objects = made(kernel, beta, np.array([1, 2]))
    plain = made(KERNELS.to_dict(kernel), SCHEDULES.to_dict(beta), [1, 2])
    assert resolved(objects) == resolved(plain)
    ours, theirs = (run_trial(s, "gp-ucb", 0).rounds["regret"] for s in (objects, plain))
    assert np.array_equal(ours, theirs)


def test_what_is_not_json_is_refused(tiny):
    with pytest.raises(InvalidInput, match="JSON-able"):
        resolved(replace(tiny, env_kwargs={"kernel": object()}))


def test_select_takes_labels_alternatives_and_registered_names(tiny):
    chosen = tiny.select(["mpi/no-margin", "ei", "max-mean"])
    assert [e.label for e in chosen.agents] == ["mpi/no-margin", "ei", "max-mean"]
    assert [e.label for e in tiny.select(["all"]).agents] == [
        "gp-ucb", "ei", "random", "mpi/no-margin",
    ]  # fmt: skip


def test_an_agent_of_ones_own_may_have_the_label_of_one_that_is_left_out(tiny):
    chosen = tiny.select(["gpbandits_env.agents:random"])
    assert [e.agent for e in chosen.agents] == ["gpbandits_env.agents:random"]


def test_select_says_what_was_meant(tiny):
    with pytest.raises(UnknownName, match="did you mean 'gp-ucb'"):
        tiny.select(["gpucb"])
    with pytest.raises(InvalidInput, match="trials must be at least 1"):
        tiny.select(trials=0)


@pytest.mark.parametrize("label", ["", " ", "a,b", "a.b"])
def test_a_label_must_be_usable(label):
    with pytest.raises(InvalidInput, match="label"):
        AgentEntry(label, "ei")


def test_labels_are_unique(tiny):
    with pytest.raises(InvalidInput, match="labels of the agents must differ"):
        replace(tiny, agents=(AgentEntry("x", "ei"), AgentEntry("x", "mpi")))


def test_ids_are_of_their_group_and_readings_follow_what_they_are_readings_of():
    for group in registry.GROUPS:
        module = import_module(f"gpbandits_env.scenarios.papers.{group}")
        ids = [scenario.id for scenario in module.SCENARIOS]
        assert len(set(ids)) == len(ids)
        for place, id in enumerate(ids, start=1):
            assert id.startswith(f"{group}/")
            assert registry.base_of(id) in ids[:place]


def test_get_says_what_was_meant():
    with pytest.raises(UnknownName, match="did you mean 'srinivas2010/se-1d'"):
        get("srinivas2010/se1d")


@pytest.mark.parametrize("scenario", registry.scenarios().values())
def test_every_scenario_has_a_plain_form(scenario):
    assert resolved(scenario)["id"] == scenario.id


@pytest.mark.parametrize("grid", [{"horizon": (10, 40)}, [{"epsilon": 0.1}, {"horizon": 10}]])
def test_a_horizon_that_the_grid_sweeps_is_not_ignored(grid):
    swept = replace(get("bogunovic2016/se"), grid=grid)
    with pytest.raises(InvalidInput, match="the grid sweeps horizon: '--set horizon=20'"):
        swept.select(horizon=20)


def test_choices_name_only_agents_that_the_scenario_has():
    for id, scenario in registry.scenarios().items():
        names = {entry.agent for entry in (*scenario.agents, *scenario.alternatives)}
        labels = {entry.label for entry in (*scenario.agents, *scenario.alternatives)}
        for word in re.findall(r"\b([a-z-]+/[a-z-]*[a-z])\b", " ".join(scenario.choices)):
            if word.partition("/")[0] in names:
                # "mpi/margin-..." is several.
                assert word in labels or word == "mpi/margin", (id, word)


def test_a_class_for_an_agent_is_refused_with_its_name():
    with pytest.raises(InvalidInput, match=r"a string.*: name it as '.*test_scenario:Mine'"):
        AgentEntry("mine", Mine)


class Mine:
    """An agent of a user."""
