from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.bounds import BatchCorollary1, BatchTheorem1
from gpbandits_env.scenarios.findings import WithinPublished
from gpbandits_env.scenarios.papers import ren2024
from gpbandits_env.scenarios.papers.published import REN2024
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.study.runner import make_env

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
    trials = 1 if name in (*EXTRAS, "rbf-2d") else 2  # a function is long to draw
    outcome = run("a.sqlite", replace(small(name), trials=trials))
    with Store.open(outcome.path) as store:
        found = report(store)
    assert not found.failures
    (cell,) = found.cells
    assert [a.label for a in cell.agents] == list(ren2024.NAMES)


def test_the_orders_of_batches_are_those_of_the_theory_per_action():
    arms, m, rounds = Arms.grid(30), 3, 7
    problem = Problem(arms, SquaredExponential(0.2), 0.01, m)
    gain = theory.information_gain_bound(arms, problem.kernel, 0.01, m * rounds)
    total = theory.regret_order_ts_rsr(gain, m, 30, 2.0)
    assert total.shape == (rounds,)
    per_action = m * np.arange(1, rounds + 1)
    assert BatchTheorem1(2.0).curve(problem, rounds) == pytest.approx(total / per_action)
    started = theory.regret_order_initialised(gain, m, 30, 12)
    assert BatchCorollary1(12).curve(problem, rounds) == pytest.approx(started / per_action)
    box = Problem(Box([0.0], [1.0]), SquaredExponential(0.2), 0.01, m)
    with pytest.raises(InvalidInput, match="finitely many arms"):
        BatchTheorem1().curve(box, rounds)


def test_first_rounds_of_largest_variance_run_beside_a_plain_start(run):
    scenario = get("ren2024/initialised")
    kwargs = {**scenario.env_kwargs, "grid": [5, 5]}
    outcome = run("a.sqlite", replace(scenario, env_kwargs=kwargs, horizon=6, trials=2))
    with Store.open(outcome.path) as store:
        chosen = {e.label: store.arrays(0, e.label, "actions") for e in scenario.agents}
        assert len(store.bounds(0)) == 2
    for name in ("ts-rsr", "bucb"):
        assert not np.array_equal(chosen[name], chosen[f"{name}/initialised"])
    # Variances do not depend on rewards: the first rounds are the same for all agents and trials.
    first = chosen["ts-rsr/initialised"][:, :5]
    assert np.array_equal(first, chosen["bucb/initialised"][:, :5])
    assert np.array_equal(first[0], first[1])


@pytest.mark.parametrize("name", ren2024.SCALES)
def test_the_problems_as_the_code_has_them(name):
    main, code = get(f"ren2024/{name}"), get(f"ren2024/{name}-code")
    assert code.reading_of == main.id
    assert [e.label for e in code.agents] == list(ren2024.PAPERS)
    env = make_env(main.env, main.env_kwargs, 5)
    env.reset(seed=0)
    points = env.unwrapped.problem.domain.sample(np.random.default_rng(0), 100_000)
    spread = env.unwrapped.function(points).std()
    assert np.sqrt(code.env_kwargs["noise_var"]) == pytest.approx(1e-3 * spread, rel=0.01)
    bucb = agents.make("bucb", env, **next(e for e in code.agents if e.label == "bucb").settings)
    t = np.arange(1, 51)
    width = 0.2 * np.log(1000 * t**2 * np.pi**2 / (6 * 0.01))
    assert bucb.rule.schedule(t) == pytest.approx(width**2)
