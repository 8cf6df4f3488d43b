"""Wrappers: options for every reset, a scaled round, and mixtures."""

import copy
from collections.abc import Sequence
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.core import ActType, ObsType
from gymnasium.utils import RecordConstructorArgs
from gymnasium.utils.seeding import np_random as seeded
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Info, Plain, Settings, all_of, finite_array, mapping, whole
from gpbandits_env.envs.bandit import Observation, Space
from gpbandits_env.envs.interface import declared
from gpbandits_env.errors import InvalidInput, NotReset, shown


class ResetOptions(gym.Wrapper[ObsType, ActType, ObsType, ActType], RecordConstructorArgs):
    """Passes the same options to every reset, for libraries that reset without options.

    With ``{"draw": function}`` each episode draws its own parameters:

        ResetOptions(env, {"draw": lambda rng: {"epsilon": rng.uniform(0.0, 0.1)}})

    Args:
        env: an environment of this library.
        options: those of `gpbandits_env.envs.BanditEnv.reset`; options given to a reset override
            them.
    Raises:
        InvalidInput: the options are not a dict.
    """

    def __init__(self, env: gym.Env[ObsType, ActType], options: Settings) -> None:
        self.options = dict(mapping(options, "reset options"))
        RecordConstructorArgs.__init__(self, options=declared(self.options))
        super().__init__(env)

    def reset(
        self, *, seed: int | None = None, options: Plain | None = None
    ) -> tuple[ObsType, Info]:
        """Reset the environment with these options."""
        given = mapping({} if options is None else options, "reset options")
        return self.env.reset(seed=seed, options={**self.options, **given})


class ScaledRound(gym.ObservationWrapper[Any, ActType, Observation], RecordConstructorArgs):
    """The observation's ``round`` as a share of the horizon, (1,) float32 in [0, 1].

    It is for neural networks, which need bounded inputs. The agents of this library need the number
    itself: give them the environment without this wrapper.

    Args:
        env: an environment of this library.
        horizon: the number of rounds; by default the environment's ``max_episode_steps``.
    Raises:
        InvalidInput: the horizon is unknown, or the observation has no round.
    """

    def __init__(self, env: gym.Env[Observation, ActType], horizon: int | None = None) -> None:
        RecordConstructorArgs.__init__(self, horizon=horizon)
        super().__init__(env)
        if horizon is None:
            horizon = None if env.spec is None else env.spec.max_episode_steps
        if horizon is None or horizon == -1:
            raise InvalidInput("ScaledRound needs a horizon: ScaledRound(env, horizon=100)")
        self.horizon = whole(horizon, "horizon")
        space = env.observation_space
        if "round" not in (parts := _parts(space)):
            raise InvalidInput(f"ScaledRound needs an observation with a 'round', got {space}")
        scaled = spaces.Box(0.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Dict({**parts, "round": scaled})

    def observation(self, observation: Observation) -> Observation:
        """The observation with the scaled round, which stays 1 beyond the horizon."""
        scaled = np.minimum(observation["round"] / self.horizon, 1.0).astype(np.float32)
        return {**observation, "round": scaled}


def _parts(space: Space) -> dict[str, Space]:
    """The spaces in a dict of spaces; none for another space."""
    return space.spaces if isinstance(space, spaces.Dict) else {}


# The seeds of the members' resets are smaller than this.
SEEDS = 2**31


class Mixture(gym.Env[ObsType, ActType]):
    """An environment that draws one of several environments at each reset.

    The info of a reset contains the index of the drawn one as ``environment``, for evaluation only.
    Observations are those of the members, and the observation space contains those of all members.

        Mixture([gym.make("gpbandits/StaticGP-v0", grid=[9]), gym.make("gpbandits/MarkovGP-v0",
                grid=[9])], weights=[1, 2])

    Args:
        members: environments, wrapped or not, with equal action spaces and observations of the same
            form.
        weights: the relative frequency of each member; by default all are equal.
    Raises:
        InvalidInput: there are no members, or they do not fit together; or the weights are
            negative, all 0, or not one per member.
    """

    def __init__(
        self, members: Sequence[gym.Env[ObsType, ActType]], weights: ArrayLike | None = None
    ) -> None:
        self.members = all_of(gym.Env, members, "the members of a mixture", "environments")
        shares = np.ones(len(self.members)) if weights is None else finite_array(weights, "weights")
        if shares.shape != (len(self.members),) or (shares < 0).any() or not shares.any():
            raise InvalidInput(
                f"weights must be {len(self.members)} numbers of at least 0, not all 0, "
                f"got {shown(weights)}"
            )
        self.shares = shares / shares.sum()
        self.action_space = self.members[0].action_space
        for env in self.members[1:]:
            if env.action_space != self.action_space:
                raise InvalidInput(
                    "the members of a mixture need equal action spaces, got "
                    f"{self.action_space} and {env.action_space}"
                )
        self.observation_space = _hull([env.observation_space for env in self.members])
        self.metadata = self.members[0].metadata
        self.render_mode = self.members[0].render_mode
        self._present: gym.Env[ObsType, ActType] | None = None

    def reset(
        self, *, seed: int | None = None, options: Plain | None = None
    ) -> tuple[ObsType, Info]:
        """Draw a member and reset it.

        Args:
            seed: determines which members are drawn, and everything random in them.
            options: the reset options for the member that is drawn.
        Raises:
            GPBanditsError: the member refuses the options; nothing has changed then.
        """
        rng = copy.deepcopy(self.np_random) if seed is None else seeded(seed)[0]
        which = int(rng.choice(len(self.members), p=self.shares))
        begun = self.members[which].reset(seed=int(rng.integers(SEEDS)), options=options)
        super().reset(seed=seed)
        self._np_random, self._present = rng, self.members[which]
        return begun[0], {**begun[1], "environment": which}

    def step(self, action: ActType) -> tuple[ObsType, SupportsFloat, bool, bool, Info]:
        """Take a step in the current member.

        Raises:
            NotReset: before the first `reset`.
        """
        return self._member("step").step(action)

    def render(self) -> Any:
        """Render the current member."""
        return self._member("render").render()

    def close(self) -> None:
        """Close all members."""
        for env in self.members:
            env.close()

    def _member(self, called: str) -> gym.Env[ObsType, ActType]:
        if self._present is None:
            raise NotReset(f"{called}() was called before reset()")
        return self._present


def _hull(members: Sequence[Space]) -> Space:
    """The smallest space of the same form that contains all members."""
    first = members[0]
    if all(space == first for space in members):
        return first
    dicts = [_parts(space) for space in members]
    if all(d and d.keys() == dicts[0].keys() for d in dicts):
        return spaces.Dict({key: _hull([d[key] for d in dicts]) for key in dicts[0]})
    boxes = [space for space in members if isinstance(space, spaces.Box)]
    alike = len(boxes) == len(members) and len({(b.shape, b.dtype) for b in boxes}) == 1
    if not alike:
        raise InvalidInput(
            "the members of a mixture need observations of the same form, got "
            + " and ".join(map(str, members))
        )
    low, high = np.min([b.low for b in boxes], axis=0), np.max([b.high for b in boxes], axis=0)
    return spaces.Box(low, high, dtype=boxes[0].dtype.type)
