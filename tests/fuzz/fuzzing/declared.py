"""Bad declarations: kernels, domains, problems and everything else that is written as a dict."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from fuzzing.case import Case
from fuzzing.values import mutated, pick

from gpbandits_env.agents.acquisitions.schedules import SCHEDULES, schedule_for
from gpbandits_env.agents.batch import RULES, rule_for
from gpbandits_env.agents.data.compression import compression_for
from gpbandits_env.agents.search import search_for
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import (
    Empirical,
    Kernel,
    Linear,
    Matern,
    Matern52,
    SquaredExponential,
    kernel_from_dict,
)
from gpbandits_env.gp.learning import diagnose
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.theory import beta_continuous, beta_finite, beta_rkhs, beta_subspaces
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.datasets import check_table
from gpbandits_env.rewards.drift import as_drift
from gpbandits_env.rewards.functions import MOTIONS, AnalyticProcess
from gpbandits_env.scenarios.declare import read
from gpbandits_env.scenarios.metrics import Panel

ARMS = Arms.grid((3, 2))
PROBLEM = Problem(ARMS, SquaredExponential(0.3), 0.05, horizon=20)
READINGS = np.random.default_rng(0).normal(size=(24, 3)).cumsum(axis=0)

Recipe = tuple[str, Callable[..., Any], Mapping[str, Any], Callable[[Any], Any]]


def _kernel(spec: Any) -> Any:
    return kernel_from_dict(spec)


def _use_kernel(kernel: Kernel) -> None:
    """Its own numbers, and a posterior with it where the points suit it."""
    kernel.to_dict()
    repr(kernel)
    hash(kernel)
    posterior = posterior_for(ARMS, kernel, 0.1)
    posterior.condition([0, 1], [1.0, 2.0])
    with np.errstate(all="ignore"):
        kernel.parameters()


def _use_schedule(spec: Any) -> None:
    schedule_for(spec, PROBLEM, ARMS.size)([1, 2, 3], 0.5)


def _walk(drift: Any) -> None:
    rng = np.random.default_rng(0)

    def fresh() -> Any:
        return rng.standard_normal(4)

    memory = drift.start(fresh)
    for t in (1, 2, 3):
        drift.values(memory, t)
        memory = drift.step(memory, fresh, t, rng)


def _nothing(_: Any) -> None:
    return


KERNELS = (
    {"type": "se", "lengthscale": 0.2, "variance": 2.0},
    {"type": "matern12", "lengthscale": [0.2, 0.3]},
    {"type": "matern52", "lengthscale": 0.4, "variance": 0.5},
    {"type": "linear", "variance": 1.0},
    {"type": "empirical", "covariance": [[1.0, 0.2], [0.2, 1.0]]},
    {
        "type": "sum",
        "terms": [
            {"type": "se", "lengthscale": 0.2},
            {"type": "product", "factors": [{"type": "linear"}, {"type": "matern32"}]},
        ],
    },
)
SCHEDULE_SPECS = (
    {"type": "finite", "delta": 0.1, "scale": 0.2, "arms": 9},
    {"type": "continuous", "delta": 0.1, "a": 1.0, "b": 1.0, "r": 1.0, "dim": 2},
    {"type": "igp", "delta": 0.1, "norm_bound": 1.0, "scale": 0.5},
    {"type": "rkhs", "delta": 0.1, "norm_bound": 1.0, "gamma": 2.0, "scale": 1e-3},
    {"type": "constant", "value": 2.0, "scale": 1.0},
    {"type": "log", "c1": 0.8, "c2": 4.0, "scale": 1.0},
)
COMPRESSION_SPECS = (
    {"epsilon": 1e-4, "noise_var": 0.2},
    {"alpha": 0.5},
)
RULE_SPECS = (
    {"type": "hallucinate"},
    {"type": "believer"},
    {"type": "randomised-believer"},
    {"type": "boltzmann", "scale": 1.0},
    {"type": "initialised", "rounds": 3, "then": {"type": "thompson"}},
    {"type": "explore", "region": True},
    {"type": "dpp", "steps": 5},
    {"type": "ts-rsr", "redraws": 3},
)
SEARCH_SPECS = (
    {"type": "gradient", "starts": 2, "candidates": 8, "evaluations": 20, "sample_starts": 1},
    {"type": "gradient", "starts": 0, "sample_starts": 0, "candidates": 8},
    {"type": "round", "candidates": 8, "refine": 1, "rate": 0.01, "tops": 2},
)
DRIFT_SPECS = (
    {"type": "markov", "epsilon": 0.1},
    {"type": "varying-markov", "epsilons": [0.1, 0.2], "rounds": [5, 6]},
    {"type": "change-points", "times": [3, 4], "rate": 0.1},
    {"type": "seasonal", "period": 7.0, "weights": [1.0, 0.5]},
    {"type": "rotation", "period": 9.0, "functions": 2},
    {"type": "blend", "drifts": [{"type": "markov", "epsilon": 0.1}], "weights": [1.0]},
    {
        "type": "then",
        "drifts": [{"type": "markov", "epsilon": 0.1}, {"type": "change-points", "times": [2]}],
    },
)
MOTION_SPECS = (
    {"type": "orbit", "radius": 0.2, "period": 50.0},
    {"type": "line", "radius": 0.2, "period": 50.0},
    {"type": "turn", "period": 50.0},
    {"type": "stretch", "factor": 1.2, "period": 50.0},
)
PANEL_SPECS = ({"y": "simple_regret", "x": "rounds", "band": "error", "log": False},)


def _of(options: tuple[Mapping[str, Any], ...], name: str, read: Callable[[Any], Any]) -> Any:
    """A recipe that draws one of the specs."""
    return name, lambda rng: copy.deepcopy(pick(rng, options)), read


SPECS = (
    (*_of(KERNELS, "kernel_from_dict", _kernel), _use_kernel, 3),
    (*_of(SCHEDULE_SPECS, "schedule_for", lambda s: schedule_for(s, PROBLEM, 6)), _nothing, 2),
    (*_of(SCHEDULE_SPECS, "SCHEDULES.from_dict", SCHEDULES.from_dict), _use_schedule, 1),
    (
        *_of(COMPRESSION_SPECS, "compression_for", lambda s: compression_for(s, PROBLEM)),
        _nothing,
        2,
    ),
    (*_of(RULE_SPECS, "rule_for", rule_for), RULES.to_dict, 2),
    (
        *_of(
            SEARCH_SPECS,
            "search_for",
            lambda s: search_for(Box([0.0], [1.0]), s, np.random.default_rng(0)),
        ),
        _nothing,
        2,
    ),
    (*_of(DRIFT_SPECS, "as_drift", lambda s: s if callable(s) else as_drift(s)), _nothing, 1),
    (
        *_of(DRIFT_SPECS, "a walk by as_drift", lambda s: None if callable(s) else as_drift(s)),
        lambda drift: drift and _walk(drift),
        2,
    ),
    (
        *_of(MOTION_SPECS, "MOTIONS.from_dict", MOTIONS.from_dict),
        lambda motion: AnalyticProcess("camelback", dim=4, motion=motion, cube=True),
        1,
    ),
    (*_of(PANEL_SPECS, "a panel", lambda s: read(Panel, s)), lambda p: p.title, 1),
)
WEIGHTS = np.array([spec[4] for spec in SPECS], dtype=float)


def spec_case(rng: np.random.Generator) -> Case:
    """A plain dict that describes nothing."""
    name, draw, read, use, _ = SPECS[int(rng.choice(len(SPECS), p=WEIGHTS / WEIGHTS.sum()))]
    given = mutated(rng, draw(rng))
    return Case(name, given, lambda: read(given), use=use)


def _problem(**kwargs: Any) -> Problem:
    return Problem(**kwargs)


def _use_problem(problem: Problem) -> None:
    """What an agent makes of it."""
    from gpbandits_env import agents

    agent = agents.make("gp-ucb", problem, seed=0)
    agent.tell(agent.ask(), np.zeros(agent.batch_size))


CALLS: tuple[Recipe, ...] = (
    ("Arms", Arms, {"coordinates": np.eye(3)}, lambda arms: arms.check([0])),
    ("Arms.grid", Arms.grid, {"shape": (3, 2), "low": 0.0, "high": (1.0, 2.0)}, _nothing),
    ("Box", Box, {"low": [0.0, 1.0], "high": [2.0, 3.0]}, lambda box: box.check([[0.1, 1.1]])),
    ("Arms.check", ARMS.check, {"actions": np.array([0, 3]), "batch_size": 2}, _nothing),
    (
        "Box.check",
        Box([0.0], [1.0]).check,
        {"actions": np.array([[0.5], [0.1]]), "batch_size": 2},
        _nothing,
    ),
    (
        "Problem",
        _problem,
        {
            "domain": ARMS,
            "kernel": SquaredExponential(0.3),
            "noise_var": 0.05,
            "batch_size": 2,
            "horizon": 20,
            "prior_mean": np.zeros(6),
            "max_norm": 1.0,
            "epsilon": 0.1,
        },
        _use_problem,
    ),
    ("Problem.replaced", PROBLEM.replaced, {"noise_var": 0.1, "horizon": 3}, _use_problem),
    (
        "SquaredExponential",
        SquaredExponential,
        {"lengthscale": (0.2, 0.3), "variance": 1.0},
        _use_kernel,
    ),
    ("Matern", Matern, {"nu": 1.7, "lengthscale": 0.2, "variance": 1.0}, _use_kernel),
    ("Linear", Linear, {"variance": 1.0}, _use_kernel),
    ("Empirical", Empirical, {"covariance": np.eye(3), "variance": 1.0}, _nothing),
    (
        "with_parameters",
        Matern52(0.3).with_parameters,
        {"values": {"lengthscale": 0.2, "variance": 1.0}},
        _use_kernel,
    ),
    ("scaled", Matern52(0.3).scaled, {"factor": 2.0}, _use_kernel),
    ("beta_finite", beta_finite, {"t": np.arange(1, 5), "arms": 9, "delta": 0.1}, _nothing),
    (
        "beta_continuous",
        beta_continuous,
        {"t": 3, "dim": 2, "delta": 0.1, "a": 1.0, "b": 1.0, "r": 1.0},
        _nothing,
    ),
    (
        "beta_rkhs",
        beta_rkhs,
        {"t": np.arange(1, 4), "gamma": np.ones(3), "delta": 0.1, "norm_bound": 1.0},
        _nothing,
    ),
    (
        "beta_subspaces",
        beta_subspaces,
        {"t": 3, "dim": 9, "subspace_dim": 2, "delta": 0.1, "a": 1.0, "b": 1.0},
        _nothing,
    ),
    ("check_table", check_table, {"table": READINGS, "name": "readings"}, _nothing),
    (
        "diagnose",
        diagnose,
        {
            "values": READINGS[:, :2],
            "times": np.arange(24.0),
            "noise_var": 0.1,
            "train_fraction": 0.6,
            "mean": np.zeros(2),
            "covariance": np.eye(2),
        },
        _nothing,
    ),
)


def call_case(rng: np.random.Generator) -> Case:
    """A public function or constructor with one argument spoilt."""
    name, function, good, use = pick(rng, CALLS)
    given = spoilt(rng, good)
    return Case(name, given, lambda: function(**given), use=use)


def spoilt(rng: np.random.Generator, good: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of which one is bad; now and then one too many or one too few."""
    given = {key: copy.deepcopy(value) for key, value in good.items()}
    key = str(pick(rng, list(given)))
    action = rng.random()
    if action < 0.03:
        del given[key]
    elif action < 0.06:
        given[key + "_"] = given.pop(key)
    else:
        given[key] = mutated(rng, given[key])
    return given
