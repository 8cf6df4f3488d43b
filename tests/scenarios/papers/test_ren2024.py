from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.findings import WithinPublished
from gpbandits_env.scenarios.papers import ren2024
from gpbandits_env.scenarios.papers.published import REN2024
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store

LN2 = np.log(2.0)
# Table 5-7: m, T, and whether the kernel is Matern 3/2 of lengthscale ln 2.
SIZES = {
    "rbf-2d": (20, 20, False),
    "rbf-3d": (5, 50, False),
    "ackley-2d": (5, 50, True),
    "rosenbrock-2d": (5, 50, True),
    "bird-2d": (5, 50, True),
    "ackley-3d": (20, 15, True),
    "hartmann-6d": (5, 30, True),
    "griewank-8d": (10, 30, True),
    "michalewicz-10d": (5, 30, True),
    "boston": (5, 30, False),
    "push-3d": (5, 30, True),
    "push-4d": (5, 30, True),
}
EXTRAS = {"boston": "mlxtend", "push-3d": "Box2D", "push-4d": "Box2D"}
SEARCH = {"type": "round", "candidates": 32, "refine": 2}


def small(name, **changes):
    """A scenario of two rounds with a search of few candidates."""
    scenario = get(f"ren2024/{name}")
    entries = tuple(
        e if e.agent == "random" else replace(e, settings={**e.settings, "search": SEARCH})
        for e in scenario.agents
    )
    kwargs = {**scenario.env_kwargs, "batch_size": 3}
    return replace(scenario, agents=entries, env_kwargs=kwargs, trials=2, horizon=2, **changes)


def test_the_twelve_problems_are_all_there():
    assert {s.id.partition("/")[2] for s in ren2024.SCENARIOS} >= set(SIZES)
    assert set(REN2024) == set(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_the_papers_settings(name):
    scenario = get(f"ren2024/{name}")
    m, rounds, usual = SIZES[name]
    assert (scenario.env_kwargs["batch_size"], scenario.horizon) == (m, rounds)
    assert (scenario.initial, scenario.initial_counts) == (15, True)
    kernel = scenario.env_kwargs["kernel"]
    if usual:
        assert kernel == {"type": "matern32", "lengthscale": LN2, "variance": LN2}
    noise = scenario.env_kwargs["noise_var"]
    assert noise == (0.0 if name.startswith("push") else 1e-6)
    assert [e.label for e in scenario.agents] == list(ren2024.NAMES)


@pytest.mark.parametrize("name", SIZES)
def test_all_search_the_same_way_and_ts_rsr_alone_refines(name):
    scenario = get(f"ren2024/{name}")
    for entry in scenario.agents[:-1]:
        refine = 10 if entry.agent == "ts-rsr" else 0
        assert entry.settings["search"] == {**ren2024.ROUND, "refine": refine}
    others = {e.label: e.settings.get("search") for e in scenario.alternatives}
    if name not in ren2024.READINGS:
        assert not others
        return
    assert others["ts-rsr/converged"] is None
    assert {k for k in others if k.endswith("/refined")} == {
        "bucb/refined",
        "ucbpe/refined",
        "qei/refined",
    }
    assert others["qei/refined"] == ren2024.ROUND


def test_batches_of_all_sizes_face_the_same_functions():
    cells = get("ren2024/batches").cells()
    assert [c.scenario.env_kwargs["batch_size"] for c in cells] == list(ren2024.BATCHES)
    assert all(c.instance_params == cells[0].instance_params for c in cells)


@pytest.mark.parametrize("name", SIZES)
def test_findings_are_the_papers(name):
    within = [f for f in get(f"ren2024/{name}").findings if isinstance(f, WithinPublished)]
    assert [f.published for f in within] == [REN2024[name].means["ts-rsr"]]


FAST = ("rbf-2d", "ackley-2d", "bird-2d")


@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in SIZES]
)
def test_runs_from_end_to_end(run, name):
    if name in EXTRAS and find_spec(EXTRAS[name]) is None:
        pytest.skip(f"needs {EXTRAS[name]}")
    trials = 1 if name in EXTRAS else 2
    outcome = run("a.sqlite", replace(small(name), trials=trials))
    with Store.open(outcome.path) as store:
        found = report(store)
    assert not found.failures
    (cell,) = found.cells
    assert [a.label for a in cell.agents] == list(ren2024.NAMES)
