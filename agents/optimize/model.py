"""The agent of a campaign, and what it believes when the user says nothing."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.snapped import SnappedSearch
from gpbandits_env.agents.optimize.space import MOST_ARMS, Space
from gpbandits_env.agents.registry import agent_class, make
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Matern52
from gpbandits_env.problem import Problem

# On the unit cube, of values of variance 1.
LENGTHSCALE, NOISE_VAR = 0.3, 1e-4
LEARN_EVERY = 3


def agent_for(space: Space, name: str, seed: int, settings: Mapping[str, Any]) -> GPAgent:
    """An agent over a space.

    Unless the settings say otherwise: a Matern-5/2 kernel of lengthscale 0.3 sqrt(d) on the unit
    cube and variance 1, noise of variance 1e-4; values standardised; and if the kernel is not
    given and data do not fade, lengthscales (one a coordinate), variance and noise learned at
    every third value.

    Args:
        space: the dimensions.
        name: a registered agent, or one of your own.
        seed: of the agent.
        settings: as `agents.make` takes them, but for the batch size.
    Raises:
        UnknownName: no such agent or setting.
        InvalidInput: an agent without a posterior, or one that learns only at candidates of its
            own in a space that is no list of arms; settings out of range.
    """
    if not issubclass(agent_class(name), GPAgent):
        raise InvalidInput(
            f"a campaign needs an agent with a Gaussian-process posterior, to hold what is "
            f"pending; {name!r} has none: take ei, gp-ucb, ts, ..."
        )
    if "batch_size" in settings:
        raise InvalidInput("leave out batch_size: ask(n) gives as many suggestions as you want")
    given = dict(settings)
    kernel = Matern52(LENGTHSCALE * math.sqrt(space.dim))
    problem = Problem(space.domain, kernel, NOISE_VAR)
    given.setdefault("standardize", True)
    fading = any(given.get(k) is not None for k in ("epsilon", "reset_every", "window"))
    if "learn" not in given and "kernel" not in given and not fading and "tv" not in name:
        what = ["lengthscale", "variance"] + ["noise_var"] * ("noise_var" not in given)
        given["learn"] = {"every": LEARN_EVERY, "what": what, "ard": space.dim > 1}
    agent = make(name, problem, seed=np.random.default_rng(seed), **given)
    assert isinstance(agent, GPAgent)
    _check_any_point(agent, name, space)
    # An embedding has a small box of its own.
    in_space = agent.action_map.inner.domain == space.domain
    search, snapped = agent.search, in_space and not space.free.all()
    if snapped and isinstance(search, BoxSearch) and search.through is None:
        agent.search = SnappedSearch(search, space)
    return agent


def _check_any_point(agent: GPAgent, name: str, space: Space) -> None:
    """What is known before, spread or rounded lies anywhere: an agent must be able to learn it."""
    anywhere = space.action(space.decode(np.full(space.dim, 1.0 / math.pi)))
    try:
        agent.action_map.points(np.array([anywhere]))
    except InvalidInput as error:
        raise InvalidInput(
            f"{name!r} with these settings cannot run a campaign in this space: it learns only at "
            "its own candidates, and the first points are spread and yours may lie anywhere; take "
            f"an agent that learns everywhere (ei, gp-ucb, ts, ...), or a space of at most "
            f"{MOST_ARMS} combinations"
        ) from error
