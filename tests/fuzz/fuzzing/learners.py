"""Bad settings of agents, and bad calls of agents that have learned something."""

import copy
from functools import cache
from typing import Any

import numpy as np
from fuzzing.case import Case
from fuzzing.declared import (
    COMPRESSION_SPECS,
    KERNELS,
    RULE_SPECS,
    SCHEDULE_SPECS,
    SEARCH_SPECS,
    spoilt,
)
from fuzzing.values import bad_value, mutated, near_miss, pick

from gpbandits_env import agents
from gpbandits_env.agents import Agent
from gpbandits_env.agents.registry import OVERRIDES
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import OnCoordinates, SquaredExponential
from gpbandits_env.problem import Problem

ARMS = Arms.grid((3, 2))
DOMAINS = {"arms": ARMS, "contexts": ARMS, "box": Box([-1.0, 0.0], [1.0, 3.0])}
# Good values of settings, to be spoilt; a setting that is not here begins as its default.
GOOD: dict[str, tuple[Any, ...]] = {
    "beta": SCHEDULE_SPECS,
    "compress": COMPRESSION_SPECS,
    "batch": RULE_SPECS,
    "search": SEARCH_SPECS,
    "kernel": KERNELS,
    "learn": ({"every": 2, "what": ["lengthscale", "noise_var"], "starts": 1, "first": 3},),
    "epsilon": (0.1,),
    "reset_every": (3,),
    "window": (3,),
    "qbar": (2.0,),
    "candidates": (8,),
    "noise_var": (0.1,),
    "prior_mean": (0.2,),
    "batch_size": (2,),
    "horizon": (9,),
    "max_norm": (1.0,),
    "max_delay": (4,),
    "d": (1,),
}
LITTLE = {"search": {"candidates": 8, "starts": 1, "evaluations": 10}}


def problem_on(domain: str, batch_size: int = 1) -> Problem:
    """A small problem, with contexts if the domain is "contexts"."""
    own = SquaredExponential(0.5)
    return Problem(
        DOMAINS[domain],
        OnCoordinates((0, 1), own) * OnCoordinates((2,), own) if domain == "contexts" else own,
        0.05,
        batch_size=batch_size,
        horizon=20,
        max_norm=1.0,
        epsilon=0.05,
        max_delay=4,
        contexts=Arms.grid(3) if domain == "contexts" else None,
    )


@cache
def domains_of(name: str) -> tuple[str, ...]:
    """Where an agent acts: on arms, in a box, or both."""
    fit = []
    for domain in DOMAINS:
        try:
            agents.make(name, problem_on(domain), seed=0)
        except InvalidInput:
            continue
        fit.append(domain)
    return tuple(fit)


@cache
def quick(name: str, domain: str) -> dict[str, Any]:
    """Settings with which a box is searched little."""
    known = agents.settings_of(name)
    if domain != "box":
        return {}
    if "subspaces" in known or name == "ms-ucb":
        return {"d": 1, "n0": 2, "candidates": 4, "refine": 1, "evaluations": 10}
    try:
        agents.make(name, problem_on(domain), seed=0, **LITTLE)
    except (InvalidInput, UnknownName):  # it chooses among candidates, or does not search
        return {"candidates": 8} if "candidates" in known else {}
    return dict(LITTLE)


def make_case(rng: np.random.Generator) -> Case:
    """An agent made with a bad name, problem, seed or setting."""
    name = str(pick(rng, agents.names()))
    domain = str(pick(rng, domains_of(name)))
    good = {"name": name, "env_or_problem": problem_on(domain), "seed": 3}
    settings = dict(quick(name, domain))
    known = agents.settings_of(name)
    if rng.random() < 0.15:
        given = {**spoilt(rng, good), **settings}
    else:
        key = str(pick(rng, [*known, *OVERRIDES]))
        value = pick(rng, GOOD[key]) if key in GOOD else known.get(key)
        settings[key] = mutated(rng, copy.deepcopy(value))
        if rng.random() < 0.04:
            settings[near_miss(rng, key)] = settings.pop(key)
        given = {**good, **settings}
    return Case(f"agents.make {name}", given, lambda: agents.make(**given), use=_use)


def _use(agent: Agent, rounds: int = 2) -> None:
    """A few rounds; the genie is shown the function too."""
    for t in range(rounds):
        seen = {} if agent.problem.contexts is None else {"context": t % 3}
        actions = agent.ask(**seen)
        agent.tell(actions, np.sin(np.arange(len(actions)) + t))
        if hasattr(agent, "reveal"):
            agent.reveal(np.arange(6.0))
    agent.ask()


@cache
def _learned(name: str, domain: str, batch_size: int) -> tuple[Agent, dict[str, Any], Any]:
    agent = agents.make(name, problem_on(domain, batch_size), seed=3, **quick(name, domain))
    _use(agent, 3)
    asked = agent.ask()
    agent.expect(asked)
    if hasattr(agent, "reveal"):
        agent.reveal(np.arange(6.0))
    return agent, agent.snapshot(), asked


def call_case(rng: np.random.Generator) -> Case:
    """A bad tell, tell_late, expect, prior_data, informative, restore, predict or observe."""
    name = str(pick(rng, agents.names()))
    domain = str(pick(rng, domains_of(name)))
    m = int(pick(rng, (1, 3)))
    agent, before, asked = _learned(name, domain, m)
    # An agent of candidates can be told of no other points.
    actions = asked.copy() if domain == "box" else agent.problem.domain.sample(rng, m)
    rewards, observed = rng.normal(size=m), rng.random(m) < 0.7
    told = {"actions": actions, "rewards": rewards, "observed": observed}
    seen = {"actions": actions, "rewards": rewards, "round": np.array([agent.round + 1])}
    goods: dict[str, dict[str, Any]] = {
        "tell": told,
        "prior_data": {"actions": actions, "rewards": rewards},
        "informative": {"actions": actions},
        "expect": {"actions": actions, "observed": observed},
        "tell_late": {"actions": asked, "rewards": rewards, "rounds": np.full(m, agent.round)},
        "observe": {"observation": seen},
        "restore": {"state": before},
        "predict": {"observation": seen, "episode_start": np.array([False])},
    }
    if hasattr(agent, "reveal"):  # asked without being shown the function, it refuses
        del goods["predict"]
    if domain == "contexts":
        goods["ask"] = {"context": 2}
        goods["predict"]["observation"] = seen | {"context": np.array([1])}
        for one in ("tell", "prior_data", "expect"):
            goods[one]["context"] = int(rng.integers(3))
    what = str(pick(rng, ("tell", "tell", "tell", *goods)))
    given = spoilt(rng, goods[what])
    if what == "tell" and rng.random() < 0.5:
        given.pop("observed", None)
    if what == "restore" and rng.random() < 0.1:
        given = {"state": bad_value(rng)}

    def works() -> None:
        agent.informative(actions)
        if domain != "box" or rng.random() < 0.2:
            agent.ask()
            agent.restore(before)

    def use(_: Any) -> None:
        try:
            agent.ask()
        finally:
            agent.restore(before)

    return Case(
        f"{what} of {name} on {domain}",
        given,
        lambda: getattr(agent, what)(**given),
        agent.snapshot,
        works,
        use,
    )
