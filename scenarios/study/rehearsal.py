"""Makes every part of a scenario once before anything runs, so that mistakes are found early.

It also records what determines the results: the scenario with all defaults, and the problems.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import gymnasium as gym
import numpy as np

from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.arrays import Plain
from gpbandits_env.drift import as_drift
from gpbandits_env.errors import GPBanditsError, InvalidInput
from gpbandits_env.kernels import kernel_from_dict
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios.declare import as_json
from gpbandits_env.scenarios.findings.bounds import BOUNDS
from gpbandits_env.scenarios.scenario import Cell, Scenario
from gpbandits_env.scenarios.study.runner import lent, make_agent
from gpbandits_env.specs import user_module

# Parts of an environment that are read separately first, so that an error can name them.
PARTS = {"kernel": kernel_from_dict, "drift": as_drift}


def rehearse(cell: Cell, bounds: Sequence[Any] = ()) -> Problem:
    """Make a cell's environment, every agent and bound once, and return the agents' problem.

    Bounds are computed for one round only, which checks that they cover the problem.

    Raises:
        GPBanditsError: one cannot be made; the message names its place as in a scenario file.
    """
    at = f" (at {dict(cell.params)})" if cell.params else ""
    with _environment(cell, at) as env:
        for place, entry in enumerate(cell.scenario.agents):
            part = "agent"
            try:
                agent_class(entry.agent)
                part = "settings"
                make_agent(entry, env, 0)
            except GPBanditsError as error:
                said = str(error).partition(" (known")[0].partition("; did you mean")[0]
                named = (f".{key}" for key in entry.settings if part == "settings" and key in said)
                raise _at(f"agents[{place}].{part}{next(named, '')}{at}", error) from None
        problem: Problem = env.unwrapped.problem  # type: ignore[attr-defined]
        for place, spec in enumerate(bounds):
            try:
                BOUNDS.from_dict(spec).curve(problem, 1)
            except GPBanditsError as error:
                raise _at(f"bounds[{place}]{at}", error) from None
        return problem


@contextmanager
def _environment(cell: Cell, at: str) -> Iterator[gym.Env[Any, Any]]:
    env_id, given = cell.scenario.env, cell.scenario.env_kwargs
    if ":" in env_id:  # "module:gpbandits/Name-v0": the module registers the environment
        user_module(env_id.rpartition(":")[0], "environment.id")
    for key, parse in PARTS.items():
        try:
            parse(given[key]) if key in given else None
        except GPBanditsError as error:
            raise _at(f"environment.{key}{at}", error) from None
    with ExitStack() as stack:
        try:
            env = stack.enter_context(lent(env_id, cell.made_with, cell.scenario.horizon))
        except GPBanditsError as error:
            known = not isinstance(error.__cause__, (gym.error.Error, ImportError))
            raise _at(f"environment{'' if known else '.id'}{at}", error) from None
        yield env


def _at(where: str, error: GPBanditsError) -> GPBanditsError:
    return type(error)(f"{where}: {error}")


def resolved(scenario: Scenario, seed: int = 0) -> Plain:
    """Everything that determines the results, as a plain JSON dict; all streams depend on the seed.

    Raises:
        InvalidInput: a keyword of the environment or a setting of an agent is not JSON-able.
    """
    bounds = [BOUNDS.from_dict(spec) for spec in scenario.bounds]
    try:
        plain = scenario.to_dict(seed)
        for entry in plain["agents"].values():
            # The default settings of an agent determine the results as well.
            known = agents.settings_of(entry["agent"])
            entry["defaults"] = {name: _plain(value) for name, value in known.items()}
        result: Plain = json.loads(as_json(plain | {"bounds": bounds}, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{scenario.id}: a scenario must be JSON-able: {error}") from None
    return result


def _plain(value: Any) -> Any:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
    return value


def describe(problem: Problem) -> Plain:
    """A digest of the agents' problem, which changes if data or defaults change."""
    return {
        "domain": _digest(problem.domain.to_dict()),
        "kernel": _digest(problem.kernel.to_dict()),
        "prior_mean": _digest(np.asarray(problem.prior_mean).tolist()),
        "noise_var": problem.noise_var,
        "batch_size": problem.batch_size,
    }


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=lambda a: a.tolist())
    return hashlib.sha256(text.encode()).hexdigest()[:16]
