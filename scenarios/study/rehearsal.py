"""Makes every part of a scenario once before anything runs, so that mistakes are found early.

It also records what determines the results: the scenario with all defaults, and the environments.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from typing import Any

import gymnasium as gym
import numpy as np

from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.arrays import Plain
from gpbandits_env.envs.clock import clock_for
from gpbandits_env.errors import GPBanditsError, InvalidInput
from gpbandits_env.gp.kernels import kernel_from_dict
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.drift import as_drift
from gpbandits_env.scenarios.bounds import BOUNDS
from gpbandits_env.scenarios.declare import as_json
from gpbandits_env.scenarios.scenario import Cell, Scenario
from gpbandits_env.scenarios.study.runner import lent, make_agent
from gpbandits_env.seeding import stream
from gpbandits_env.specs import user_module

# Parts of an environment that are read separately first, so that an error can name them.
PARTS = {"kernel": kernel_from_dict, "drift": as_drift}
# What is computed from data differs between processors by a smaller share of its size, or by less
# than the second number, which is that of the means of standardized readings.
ROUNDING, NOTHING = 1e-10, 1e-14


@one_blas_thread()
def rehearse(cell: Cell, bounds: Sequence[Any] = ()) -> tuple[Problem, Plain]:
    """Make a cell's environment, every agent and bound once.

    Bounds are computed for one round only, which checks that they cover the problem.

    Trials of this process may use the same environment and what it has put into caches.

    Returns:
        The agents' problem, and the description of the environment (see `describe`).
    Raises:
        GPBanditsError: one cannot be made; the message names its place as in a scenario file.
    """
    at = f" (at {dict(cell.params)})" if cell.params else ""
    with ExitStack() as stack:
        env = _environment(cell, at, stack)
        for place, entry in enumerate(cell.scenario.agents):
            part = "agent"
            try:
                agent_class(entry.agent)
                part = "thinking"
                clock_for(cell.made_for(entry).get("clock"))
                if entry.history:
                    part = "history"
                    env.unwrapped.problem.last_rows(entry.history)  # type: ignore[attr-defined]
                part = "settings"
                make_agent(entry, env, 0)
            except GPBanditsError as error:
                said = str(error).partition(" (known")[0].partition("; did you mean")[0]
                named = (f".{key}" for key in entry.settings if part == "settings" and key in said)
                where = f"agents[{place}].{part}{next(named, '')}{at}"
                raise _at(where, error) from error.__cause__
        problem: Problem = env.unwrapped.problem  # type: ignore[attr-defined]
        try:
            if cell.scenario.openings:
                problem.domain.check(cell.scenario.openings)
        except GPBanditsError as error:
            raise _at(f"openings{at}", error) from None
        for place, spec in enumerate(bounds):
            try:
                if cell.scenario.env_kwargs.get("clock") is not None:
                    raise InvalidInput("theorems are about rounds, and not about time on a clock")
                bandit = getattr(env.unwrapped, "bandit", None)
                told = problem.epsilon is not None or problem.temporal is not None
                if bandit is not None and bandit.process.moves and not told:
                    raise InvalidInput("no theorem covers a drift that agents are not told about")
                BOUNDS.from_dict(spec).curve(problem, 1)
            except GPBanditsError as error:
                raise _at(f"bounds[{place}]{at}", error) from None
        return problem, describe(env.unwrapped)


def _environment(cell: Cell, at: str, stack: ExitStack) -> gym.Env[Any, Any]:
    env_id, given = cell.scenario.env, cell.scenario.env_kwargs
    if ":" in env_id:  # "module:gpbandits/Name-v0": the module registers the environment
        user_module(env_id.rpartition(":")[0], "environment.id")
    for key, parse in PARTS.items():
        try:
            parse(given[key]) if key in given else None
        except GPBanditsError as error:
            raise _at(f"environment.{key}{at}", error) from None
    try:
        return stack.enter_context(lent(env_id, cell.made_with, cell.scenario.horizon))
    except GPBanditsError as error:
        known = not isinstance(error.__cause__, (gym.error.Error, ImportError))
        raise _at(f"environment{'' if known else '.id'}{at}", error) from None


def _at(where: str, error: GPBanditsError) -> GPBanditsError:
    return type(error)(f"{where}: {error}")


def resolved(scenario: Scenario, seed: int = 0) -> Plain:
    """Everything that determines the results, as a plain JSON dict."""
    bounds = [BOUNDS.from_dict(spec) for spec in scenario.bounds]
    try:
        plain = scenario.to_dict(seed)
        for entry in plain["agents"].values():
            # The default settings of an agent determine the results as well.
            known = agents.settings_of(entry["agent"])
            entry["defaults"] = json.loads(json.dumps(known, default=repr))
        return json.loads(as_json(plain | {"bounds": bounds}, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{scenario.id}: a scenario must be JSON-able: {error}") from None


def describe(env: Any) -> Plain:
    """What a results file keeps of an environment, to notice a change of its data or defaults.

    That is the agents' problem, and of a bandit of this library also its noise and its table of
    readings. There is no digest, because what is computed from data differs in the last bits
    between processors: numbers are kept, and many of them as sums (see `_summed`).
    """
    found: Plain = {f.name: getattr(env.problem, f.name) for f in fields(Problem)}
    if (bandit := getattr(env, "bandit", None)) is not None:
        found |= {"noise": bandit.noise_var, "table": getattr(bandit.process, "table", None)}
    return {name: _summed(value) for name, value in found.items()}


def _summed(value: Any) -> Any:
    """A value as plain data, with arrays as their shape and a weighted sum of each column.

    Random weights and positive terms: no number can change without its sum, beyond rounding.
    """
    if hasattr(value, "to_dict"):  # a domain or a kernel
        value = value.to_dict()
    if isinstance(value, Mapping):
        return {key: _summed(part) for key, part in value.items()}
    if not isinstance(value, (list, tuple, np.ndarray)) or not len(value):
        return value
    try:
        table = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):  # words, dicts, or rows of different lengths
        return [_summed(part) for part in value]
    columns = table.reshape(len(table), -1)
    weights = stream("scenarios/study", "weights").uniform(1.0, 2.0, len(table))
    sums = weights @ (columns + np.e * np.abs(columns).max(axis=0))
    return {"shape": list(table.shape), "sums": sums.tolist()}


def changed(old: Any, new: Any) -> bool:
    """Whether two descriptions, or parts of them, differ by more than rounding."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() != new.keys() or any(changed(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) != len(new) or any(map(changed, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return not math.isclose(old, new, rel_tol=ROUNDING, abs_tol=NOTHING)
    return bool(old != new)
