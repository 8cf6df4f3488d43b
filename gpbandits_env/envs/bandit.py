"""What an environment simulates, without the state of an episode."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Plain, Settings, positive
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import NEVER_BEYOND, RewardProcess
from gpbandits_env.seeding import child

Observation: TypeAlias = dict[str, NDArray[Any]]
Space: TypeAlias = spaces.Space[Any]


@dataclass(frozen=True)
class Bandit:
    """A reward process, the noise on its rewards, and what an agent may know.

    Args:
        problem: what an agent may know; its noise variance may differ from the true one.
        process: the reward process from which the functions of an episode are drawn.
        noise_var: the variance of the noise on a reward, at least 0.
        unit: the unit of a reward, for pictures; "" if it has none.
        locations: (n, 2) positions of the arms on a map, for pictures.
        changed: a function that makes the bandit with some arguments changed, or None.
    Raises:
        InvalidInput: the noise variance is negative, or the problem and the process have different
            domains.
    """

    problem: Problem
    process: RewardProcess
    noise_var: float
    unit: str = ""
    locations: Array | None = None
    changed: "Callable[[Settings], Bandit] | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_var", positive(self.noise_var, "noise_var", zero=True))
        if self.problem.domain != self.process.domain:
            raise InvalidInput(
                "the problem and the reward process must have one domain, got "
                f"{self.problem.domain} and {self.process.domain}"
            )

    @cached_property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on a reward."""
        return float(np.sqrt(self.noise_var))

    def reward_range(self) -> tuple[float, float]:
        """The ends between which rewards lie in the observation space."""
        low, high = self.process.bounds()
        low, high = min(low, 0.0), max(high, 0.0)  # a reset shows rewards of 0
        slack = NEVER_BEYOND * self.noise_sd + 1e-6
        return (1.0 + 1e-6) * low - slack, (1.0 + 1e-6) * high + slack


def for_episode(
    bandit: Bandit, options: Settings, rng: np.random.Generator
) -> tuple[Bandit, Plain]:
    """The bandit with the parameters that the options of a reset set, and these parameters.

    Args:
        bandit: the bandit without options.
        options: values by name; under "draw" a function that takes a generator and returns a dict
            of further values.
        rng: the function, if there is one, gets a child of this generator.
    Raises:
        UnknownName: a parameter that the environment does not have.
        InvalidInput: "draw" is not such a function; a value is out of range; or actions, contexts
            or the bounds of rewards would not fit the spaces of the environment.
    """
    parameters = {key: value for key, value in options.items() if key != "draw"}
    if "draw" in options:
        draw = options["draw"]
        values = draw(child(rng)) if callable(draw) else None
        if not isinstance(values, Mapping) or "draw" in values:
            raise InvalidInput(
                "the reset option 'draw' must be a function that takes a generator and returns a "
                f"dict of arguments, got {shown(draw)}"
                + (f", which returned {shown(values)}" * callable(draw))
            )
        parameters |= values
    if not parameters:
        return bandit, parameters
    if bandit.changed is None:
        raise unknown("reset option", next(iter(parameters)), (), "this environment has none")
    changed = bandit.changed(parameters)
    _check_spaces(bandit, changed, parameters)
    return changed, parameters


def _check_spaces(bandit: Bandit, changed: Bandit, parameters: Settings) -> None:
    ours, theirs = bandit.problem, changed.problem
    alike = ours.domain == theirs.domain and ours.batch_size == theirs.batch_size
    if not alike or ours.contexts != theirs.contexts:
        raise InvalidInput(
            f"reset options cannot change the {'set of contexts' if alike else 'actions'}, as "
            f"{shown(parameters)} would: make another environment"
        )
    (low, high), (least, most) = bandit.reward_range(), changed.reward_range()
    if least < low or most > high:
        raise InvalidInput(
            f"rewards with {shown(parameters)} may lie outside the observation space: "
            "make the environment with the largest variances that a reset will set"
        )
