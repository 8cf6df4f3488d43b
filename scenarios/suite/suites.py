"""The suites by name, and the hashes of a problem and of an agent with its settings."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import fields
from functools import cache

from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.registry import agent_class, settings_of
from gpbandits_env.arrays import all_of
from gpbandits_env.errors import one_of
from gpbandits_env.scenarios.declare import as_json
from gpbandits_env.scenarios.scenario import IDENTITY, AgentEntry, Scenario
from gpbandits_env.scenarios.suite import core_v1

# Name -> its module, which has `PROBLEMS` and `TAGS`.
SUITES = {"core-v1": core_v1}
HINT = "'gpbandits suite list' lists them"
ONE = f"{HINT}; in a command, repeat --problem for several"


@cache
def problems(suite: str) -> dict[str, Scenario]:
    """The problems of a suite by their ids, "suite/name"; UnknownName if there is no such suite."""
    module = SUITES[one_of(suite, SUITES, "suite", HINT)]
    return {problem.id: problem for problem in module.PROBLEMS}


def chosen(suite: str, names: Sequence[str] | None = None) -> dict[str, Scenario]:
    """Some problems of a suite, by their ids or names; all by default."""
    known = problems(suite)
    if names is None:
        return known
    given = all_of(str, names, "problems", "names")
    ids = [name if name in known else f"{suite}/{name}" for name in given]
    return {one_of(id, known, "problem", ONE): known[id] for id in ids}


def tags(suite: str) -> dict[str, str]:
    """What the problems of a suite ask of an agent: tag -> what it says."""
    return SUITES[one_of(suite, SUITES, "suite", HINT)].TAGS


def frozen(problem: Scenario, seed: int = 0) -> str:
    """The hash of all that the result of an agent on a problem depends on, with the metric."""
    plain = problem.to_dict(seed)
    kept = {key: plain[key] for key in (*IDENTITY, "metric", "trials") if key in plain}
    return _hash(as_json(kept, sort_keys=True))


def settings_hash(entry: AgentEntry) -> str:
    """The hash of an agent's name, settings and parts, with the defaults.

    What is off, or is as in every agent, does not count: a new setting changes no hash.
    """
    cls: type[Agent] = agent_class(entry.agent)
    usual = {field.name: repr(field.default) for field in fields(Parts)}
    found = settings_of(cls) | dict(entry.settings)
    if issubclass(cls, GPAgent):
        found |= {f"{name} of PARTS": getattr(cls.PARTS, name) for name in usual}
    known = {
        name: value
        for name, value in found.items()
        if value is not None
        and value is not False
        and repr(value) != usual.get(name.removesuffix(" of PARTS"))
    }
    text = json.dumps([entry.agent, known], sort_keys=True, default=repr)
    return _hash(re.sub(r" at 0x[0-9a-f]+|gpbandits_env[\w.]*\.", "", text))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
