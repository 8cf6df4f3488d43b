"""Wrappers: options for every reset, a scaled round, late rewards, and mixtures."""

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
from gpbandits_env.envs.delays import DelaySpec, LateRewards, delays_for
from gpbandits_env.envs.specification import declared
from gpbandits_env.errors import InvalidInput, NotReset, shown
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child


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
        return self.env.reset(seed=seed, options={**self.options, **(options or {})})


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


class DelayedRewards(gym.Wrapper[Any, ActType, Observation, ActType], RecordConstructorArgs):
    """Rewards arrive some rounds after their actions, or never.

    It does what the argument ``delay`` of our environments does, with the same delays for the same
    seed, for environments that do not have this argument: wrapped ones, and others with the
    observation {"actions": (m, ...), "rewards": (m,), ...}. In a vector environment of ours, use
    the argument.

    Args:
        env: an environment whose rewards are not delayed.
        delay: a number of rounds, or a dict such as {"least": 2, "most": 20, "lost": 0.1}; see
            `gpbandits_env.envs.delays.Delays`.
    Raises:
        InvalidInput: there is no delay or it is out of range, or the observation has another form.
    """

    def __init__(self, env: gym.Env[Observation, ActType], delay: DelaySpec) -> None:
        RecordConstructorArgs.__init__(self, **declared({"delay": delay}))
        super().__init__(env)
        delays, space = delays_for(delay), env.observation_space
        parts = _parts(space)
        rewards, actions = parts.get("rewards"), parts.get("actions")
        if (
            delays is None
            or actions is None
            or "arrived" in parts
            or not isinstance(rewards, spaces.Box)
        ):
            raise InvalidInput(
                "DelayedRewards needs a delay and an environment whose observation has 'actions' "
                f"and 'rewards' that are not delayed, got delay={shown(delay)} and {space}"
            )
        self._delays, self._m = delays, rewards.shape[0]
        self._rounds = delays.slots(self._m) // self._m
        shows = {"actions": _repeated(actions, self._rounds)}
        shows["rewards"] = _repeated(rewards, self._rounds)
        shows["arrived"] = spaces.MultiBinary(delays.slots(self._m))
        self.observation_space = spaces.Dict({**parts, **shows})
        self._late: LateRewards | None = None

    @property
    def problem(self) -> Problem:
        """The problem of the environment, with the largest delay."""
        stated: Problem = self.env.get_wrapper_attr("problem")
        return stated.replaced(max_delay=self._delays.most)

    def reset(
        self, *, seed: int | None = None, options: Plain | None = None
    ) -> tuple[Observation, Info]:
        """Reset the environment; nothing is pending."""
        observation, info = self.env.reset(seed=seed, options=options)
        first = np.concatenate([observation["actions"]] * self._rounds)
        self._late = LateRewards(self._delays, first, self._m, None)
        self._late.begin(0, child(self.np_random))
        return {**observation, **self._late.observation()}, info

    def step(self, action: ActType) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Take a step; the reward is the sum of those that arrive, and the info has ``delays``.

        Raises:
            NotReset: before the first `reset`.
        """
        if self._late is None:
            raise NotReset("step() was called before reset()")
        observation, _, terminated, truncated, info = self.env.step(action)
        seen = None if "observed" not in observation else observation["observed"] == 1
        delays = self._late.add(observation["actions"], observation["rewards"], seen)
        observation = {**observation, **self._late.observation()}
        reward = float(np.add.reduce(observation["rewards"]))
        return observation, reward, terminated, truncated, {**info, "delays": delays}


def _parts(space: Space) -> dict[str, Space]:
    """The spaces in a dict of spaces; none for another space."""
    return space.spaces if isinstance(space, spaces.Dict) else {}


def _repeated(space: Space, times: int) -> Space:
    """The space of that many elements, one after the other."""
    if isinstance(space, spaces.MultiDiscrete):
        return spaces.MultiDiscrete(np.tile(space.nvec, times))
    if not isinstance(space, spaces.Box):
        raise InvalidInput(f"actions must be arms or points, got {space}")
    low, high = (np.concatenate([end] * times) for end in (space.low, space.high))
    return spaces.Box(low, high, dtype=space.dtype.type)


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
