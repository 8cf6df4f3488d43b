from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import norm

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.bounds import BatchTheorem1
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
    "boston-stand-in": (5, 30, False),
    "push-3d": (5, 30, True),
    "push-4d": (5, 30, True),
}
EXTRAS = {"boston-stand-in": "mlxtend", "push-3d": "Box2D", "push-4d": "Box2D"}
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
    # The stand-in has no row of the paper's table.
    assert set(REN2024) - set(SIZES) == {"boston"}


def test_results_of_all_sizes_have_the_same_optima(run, tiny):
    grid = {"batch_size": (4, 1, 2)}
    sizes = replace(tiny, grid=grid, alternatives=(), agents=tiny.agents[:1])
    with Store.open(run(scenario=sizes).path) as store:
        optima = [store.arrays(cell, "gp-ucb", "optimum") for cell in range(3)]
    np.testing.assert_array_equal(optima[0], optima[1])
    np.testing.assert_array_equal(optima[0], optima[2])


@pytest.mark.parametrize("name", SIZES)
def test_the_papers_settings(name):
    scenario = get(f"ren2024/{name}")
    m, rounds, usual = SIZES[name]
    assert (scenario.env_kwargs["batch_size"], scenario.horizon) == (m, rounds)
    assert (scenario.initial, scenario.initial_counts) == (15, False)
    kernel = scenario.env_kwargs["kernel"]
    if usual:
        assert kernel == {"type": "matern32", "lengthscale": LN2, "variance": LN2}
    assert scenario.env_kwargs["noise_var"] == 1e-6
    assert "model_noise_var" not in scenario.env_kwargs
    assert [e.label for e in scenario.agents] == [*ren2024.PAPERS, "random"]


@pytest.mark.parametrize("name", SIZES)
def test_all_search_the_same_way_and_those_that_optimize_a_score_refine(name):
    scenario = get(f"ren2024/{name}")
    for entry in scenario.agents[:-1]:
        refine = 10 if entry.agent in ("bucb", "ucbpe", "qei", "ts-rsr") else 0
        assert entry.settings["search"] == {**ren2024.ROUND, "refine": refine}


@pytest.mark.parametrize("name", SIZES)
def test_rewards_are_standardized_except_on_draws_of_a_known_prior(name):
    for entry in get(f"ren2024/{name}").agents[:-1]:
        assert entry.settings.get("standardize", False) is not name.startswith("rbf")
        assert "kernel" not in entry.settings


@pytest.mark.parametrize("name", ["push-3d", "rosenbrock-2d"])
def test_the_noise_is_known_in_the_units_of_the_rewards(name):
    if name in EXTRAS and find_spec(EXTRAS[name]) is None:
        pytest.skip(f"needs {EXTRAS[name]}")
    scenario = get(f"ren2024/{name}")
    env = make_env(scenario.env, scenario.env_kwargs, 5)
    env.reset(seed=0)
    agent = agents.make("ts", env, **scenario.agents[4].settings)
    x = env.unwrapped.problem.domain.sample(np.random.default_rng(0), 15)
    rewards, _ = env.unwrapped.prior_data(x, np.random.default_rng(1))
    agent.prior_data(x, rewards)
    least = 1e-6 * max(1.0, rewards.var())
    assert agent.posterior.noise_var == pytest.approx(least)


def test_batches_of_all_sizes_face_the_same_functions():
    cells = get("ren2024/batches").cells()
    assert [c.scenario.env_kwargs["batch_size"] for c in cells] == list(ren2024.BATCHES)
    assert all(c.instance_params == cells[0].instance_params for c in cells)


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
    assert [a.label for a in cell.agents] == [*ren2024.PAPERS, "random"]


def test_the_bound_on_batches_is_that_of_the_theory_per_action():
    arms, m, rounds = Arms.grid(30), 3, 7
    problem = Problem(arms, SquaredExponential(0.2), 0.01, m)
    gain = theory.information_gain_bound(arms, problem.kernel, 0.01, m * rounds)
    total = theory.regret_bound_ts_rsr(gain, m, 30, 0.01, np.sqrt(1.0 + m / 0.01))
    per_action = m * np.arange(1, rounds + 1)
    assert BatchTheorem1().curve(problem, rounds) == pytest.approx(total / per_action)
    larger = Problem(arms, SquaredExponential(0.2, 9.0), 0.09, m)  # the function times 3
    assert BatchTheorem1().curve(larger, rounds) == pytest.approx(3.0 * total / per_action)
    box = Problem(Box([0.0], [1.0]), SquaredExponential(0.2), 0.01, m)
    with pytest.raises(InvalidInput, match="batches on a finite set of arms"):
        BatchTheorem1().curve(box, rounds)


def test_first_rounds_of_largest_variance_run_beside_a_plain_start(run):
    scenario = get("ren2024/initialised")
    kwargs = {**scenario.env_kwargs, "grid": [5, 5]}
    outcome = run("a.sqlite", replace(scenario, env_kwargs=kwargs, horizon=6, trials=2))
    with Store.open(outcome.path) as store:
        chosen = {e.label: store.arrays(0, e.label, "actions") for e in scenario.agents}
        assert len(store.bounds(0)) == 1
    for name in ("ts-rsr", "bucb"):
        assert not np.array_equal(chosen[name], chosen[f"{name}/initialised"])
    # Variances do not depend on rewards: the first rounds are the same for all agents and trials.
    first = chosen["ts-rsr/initialised"][:, :5]
    assert np.array_equal(first, chosen["bucb/initialised"][:, :5])
    assert np.array_equal(first[0], first[1])


@pytest.mark.parametrize("name", ren2024.CODE_ENV)
def test_the_problems_as_the_code_has_them(name):
    main, code = get(f"ren2024/{name}"), get(f"ren2024/{name}@code")
    assert [e.label for e in code.agents] == list(ren2024.PAPERS)
    assert code.horizon == main.horizon
    assert all(e.settings["standardize"] for e in code.agents)


def test_the_noise_of_the_code_is_relative_to_the_scale_of_rosenbrock():
    main, code = get("ren2024/rosenbrock-2d"), get("ren2024/rosenbrock-2d@code")
    env = make_env(main.env, main.env_kwargs, 5)
    env.reset(seed=0)
    points = env.unwrapped.problem.domain.sample(np.random.default_rng(0), 100_000)
    spread = env.unwrapped.function(points).std()
    assert np.sqrt(code.env_kwargs["noise_var"]) == pytest.approx(1e-3 * spread, rel=0.01)
    bucb = agents.make("bucb", env, **next(e for e in code.agents if e.label == "bucb").settings)
    t = np.arange(1, 51)
    width = 0.2 * np.log(1000 * t**2 * np.pi**2 / (6 * 0.01))
    assert bucb.rule.schedule(t) == pytest.approx(width**2)


def gp(kernel, x, y, at, noise_var):
    """The dense posterior mean and standard deviation at some points."""
    inner, across = kernel(x) + noise_var * np.eye(len(x)), kernel(x, at)
    mean = across.T @ np.linalg.solve(inner, y)
    var = kernel(at).diagonal() - (across * np.linalg.solve(inner, across)).sum(axis=0)
    return mean, np.sqrt(var)


def test_replays_the_believer_of_the_code():
    """`_expected_improvement_fantasized`: standardized for the first action, mixed for the others.

    The code's data of the second action on are the rewards as they are and the believed rewards.
    """
    problem = Problem(Box([-5.0] * 2, [5.0] * 2), Matern52(1.0, LN2), 1e-6, 4)
    settings = next(e for e in get("ren2024/ackley-3d@code").agents if e.label == "qei").settings
    search = {**SEARCH, "refine": 0}
    agent = agents.make(ren2024.BELIEVER, problem, seed=1, **{**settings, "search": search})
    rng = np.random.default_rng(0)
    x = rng.uniform(-5.0, 5.0, (20, 2))
    y = 30.0 - (x**2).sum(axis=1)
    agent.prior_data(x, y)
    agent.search.renew()
    points = agent.search.candidates_of(agent.posterior)[0]
    batch = agent.choose()
    standard, best = (y - y.mean()) / y.std(), ((y - y.mean()) / y.std()).max()
    mean, sd = gp(problem.kernel, x, standard, points, 1e-6)
    mixed_x, mixed_y = x, y
    for action in batch:
        z = (mean - best) / sd
        improvement = (mean - best) * norm.cdf(z) + sd * norm.pdf(z)
        chosen = int(improvement.argmax())
        assert np.array_equal(action, points[chosen])
        mixed_x, mixed_y = np.vstack([mixed_x, action]), np.append(mixed_y, mean[chosen])
        mean, sd = gp(problem.kernel, mixed_x, mixed_y, points, 1e-6)
