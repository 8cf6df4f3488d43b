"""The parameters of one environment instance, which `reset(options={...})` fixes or draws."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.seeding import child

Parameters = Mapping[str, Any]


def drawn(options: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The parameters that the options of a reset fix, and those that their "draw" function draws.

    Args:
        options: values by name; under "draw" a function that takes a generator and returns a dict
            of further values.
        rng: the function, if there is one, gets a child of this generator.
    Raises:
        InvalidInput: "draw" is not such a function.
    """
    fixed = {key: value for key, value in options.items() if key != "draw"}
    if "draw" not in options:
        return fixed
    draw = options["draw"]
    values = draw(child(rng)) if callable(draw) else None
    if not isinstance(values, Mapping):
        raise InvalidInput(
            "the reset option 'draw' must be a function that takes a generator and returns a dict "
            f"of arguments, got {shown(draw)}"
            + (f", which returned {shown(values)}" * callable(draw))
        )
    return fixed | dict(values)


def instance_with(made: Bandit, parameters: Parameters) -> Bandit:
    """The bandit of one instance of an environment, with other parameters.

    Raises:
        UnknownName: a parameter that the environment does not have.
        InvalidInput: a value out of range; actions that would differ; or rewards that may lie
            outside the observation space of the environment.
    """
    if not parameters:
        return made
    if made.changed is None:
        raise unknown("reset option", next(iter(parameters)), (), "this environment has none")
    bandit = made.changed(parameters)
    ours, theirs = made.problem, bandit.problem
    if ours.domain != theirs.domain or ours.batch_size != theirs.batch_size:
        raise InvalidInput(
            f"reset options cannot change the actions, as {shown(dict(parameters))} would: "
            "make another environment"
        )
    wide, narrow = (b.observation_space()["rewards"] for b in (made, bandit))
    assert isinstance(wide, spaces.Box)
    assert isinstance(narrow, spaces.Box)
    if (narrow.low < wide.low).any() or (narrow.high > wide.high).any():
        raise InvalidInput(
            f"rewards with {shown(dict(parameters))} may lie outside the observation space: "
            "make the environment with the largest variances that a reset will set"
        )
    return bandit
