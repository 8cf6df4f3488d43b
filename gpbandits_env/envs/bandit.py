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
Parameters: TypeAlias = Settings


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
    changed: "Callable[[Parameters], Bandit] | None" = None

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

    def horizon(self, most: int | None) -> int | None:
        """The number of rounds of an episode of at most so many; None if there is no end."""
        ends = [end for end in (most, self.process.rounds) if end is not None]
        return min(ends, default=None)

    def action_space(self, selective: bool = False, discrete: bool = False) -> Space:
        """A batch of actions, or one arm; if selective, a pair of these and which to observe.

        Raises:
            InvalidInput: a discrete action, but several actions per round or a box.
        """
        m = self.problem.batch_size
        domain = self.problem.domain
        space: Space = domain.action_space(m)
        if discrete:
            if not domain.finite or m > 1:
                raise InvalidInput(
                    "discrete_action=True needs one arm per round (arms or a grid, and "
                    f"batch_size=1), got actions in {space}"
                )
            space = spaces.Discrete(domain.size)
        return spaces.Tuple((space, spaces.MultiBinary(m))) if selective else space

    def observation_space(self, selective: bool = False, slots: int | None = None) -> spaces.Dict:
        """The last actions, their noisy rewards, the round; if selective, which were observed.

        With delays there are ``slots`` actions and rewards, and the space has ``arrived``.
        """
        m, k = self.problem.batch_size, slots or self.problem.batch_size
        seen: dict[str, Space] = {
            "actions": self.problem.domain.action_space(k),
            "rewards": spaces.Box(*self.reward_range(), (k,), dtype=np.float64),
            "round": spaces.Box(0, 2**62, (1,), dtype=np.int64),
        }
        if slots is not None:
            seen["arrived"] = spaces.MultiBinary(slots)
        if self.problem.contexts is not None:
            seen["context"] = self.problem.contexts.action_space(1)
        return spaces.Dict(seen | ({"observed": spaces.MultiBinary(m)} if selective else {}))

    def reward_range(self) -> tuple[float, float]:
        """The ends between which rewards lie in the observation space."""
        low, high = self.process.bounds()
        low, high = min(low, 0.0), max(high, 0.0)  # a reset shows rewards of 0
        slack = NEVER_BEYOND * self.noise_sd + 1e-6 * (1.0 + high - low)
        return low - slack, high + slack

    def first_observation(self, selective: bool = False, slots: int | None = None) -> Observation:
        """The observation after a reset, before any action; see `observation_space`."""
        m, k = self.problem.batch_size, slots or self.problem.batch_size
        domain = self.problem.domain
        first = {
            "actions": np.zeros(k, int) if domain.finite else np.tile(domain.span[0], (k, 1)),
            "rewards": np.zeros(k),
            "round": np.zeros(1, dtype=np.int64),
        }
        if slots is not None:
            first["arrived"] = np.zeros(slots, dtype=np.int8)
        return first | ({"observed": np.zeros(m, dtype=np.int8)} if selective else {})


def drawn(options: Settings, rng: np.random.Generator) -> Plain:
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
        InvalidInput: a value out of range; actions or contexts that would differ; or rewards that
            may lie outside the observation space of the environment.
    """
    if not parameters:
        return made
    if made.changed is None:
        raise unknown("reset option", next(iter(parameters)), (), "this environment has none")
    bandit = made.changed(parameters)
    ours, theirs = made.problem, bandit.problem
    alike = ours.domain == theirs.domain and ours.batch_size == theirs.batch_size
    if not alike or ours.contexts != theirs.contexts:
        raise InvalidInput(
            f"reset options cannot change the {'set of contexts' if alike else 'actions'}, as "
            f"{shown(dict(parameters))} would: make another environment"
        )
    (low, high), (least, most) = made.reward_range(), bandit.reward_range()
    if least < low or most > high:
        raise InvalidInput(
            f"rewards with {shown(dict(parameters))} may lie outside the observation space: "
            "make the environment with the largest variances that a reset will set"
        )
    return bandit
