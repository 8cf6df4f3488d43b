"""The vector environment: B instances of a bandit, computed in array operations."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.seeding import np_random as seeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, Info, IntArray, Plain, Points, as_array, mapping, whole
from gpbandits_env.envs import rendering
from gpbandits_env.envs.bandit import Bandit, Observation, for_episode
from gpbandits_env.envs.clock import ClockSpec
from gpbandits_env.envs.corruption import CorruptionSpec
from gpbandits_env.envs.delays import DelaySpec
from gpbandits_env.envs.episode import BoolArray, Episode, split_action
from gpbandits_env.envs.interface import Interface
from gpbandits_env.errors import InvalidInput, NotReset, one_of, shown
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import FunctionBatch
from gpbandits_env.rewards.regret import counted_each, instantaneous
from gpbandits_env.seeding import child


class BanditVectorEnv(Interface, VectorEnv[Observation, Any, NDArray[Any]]):
    """B bandits in array operations, bit-identical to Gymnasium's `SyncVectorEnv` of B bandits.

    Instance i is seeded with ``seed + i``. An instance whose episode is over is reset as by
    Gymnasium in the same autoreset mode. By default the next step resets it: that step checks but
    ignores its action, and its reward is 0.
    ``reset(options={"reset_mask": mask})`` resets some instances only. Observations, rewards and
    infos are those of `BanditEnv` in Gymnasium's batched form.

    Args:
        bandit: the bandit that is simulated.
        num_envs: the number of instances B.
        max_episode_steps: the horizon; None for episodes without end.
        render_mode: None, "ansi" or "rgb_array".
        selective: whether actions can be skipped; an action is then a pair (actions, observe),
            (B, m, ...) and (B, m).
        delay: the number of rounds by which rewards are late, or their law; see `BanditEnv`.
        corruption: the adversary that changes rewards, or None; see `BanditEnv`.
        clock: how long evaluations and thinking take; see `BanditEnv`. Measured times are divided
            by B.
        autoreset_mode: a `gymnasium.vector.AutoresetMode` or its value: "NextStep"; "SameStep",
            where the step that ends an episode begins the next one, and the info has the last
            observation and info under "final_obs" and "final_info"; or "Disabled".
    Raises:
        InvalidInput: a number is out of range.
        UnknownName: there is no such render mode or autoreset mode.
    """

    def __init__(
        self,
        bandit: Bandit,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        selective: bool = False,
        delay: DelaySpec = None,
        corruption: CorruptionSpec = None,
        clock: ClockSpec = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs = whole(num_envs, "num_envs")
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        modes = [known.value for known in AutoresetMode]
        self.autoreset_mode = AutoresetMode(one_of(mode, modes, "autoreset_mode"))
        self.metadata = {**rendering.SIDE_BY_SIDE, "autoreset_mode": self.autoreset_mode}
        # Gymnasium's make() reads -1 as "no limit"; so do we.
        horizon = None if max_episode_steps == -1 else max_episode_steps
        self._horizon = None if horizon is None else whole(horizon, "max_episode_steps")
        self.render_mode = rendering.check_render_mode(render_mode, rendering.SIDE_BY_SIDE)
        super().__init__(bandit, num_envs, selective, delay, corruption, clock)
        own = self._clock
        self._clock = own and replace(own, scale=own.scale / num_envs)
        self.bandit = bandit
        self.single_action_space = self._action_space()
        self.single_observation_space = self._observation_space()
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._viewers = [
            rendering.Viewer(bandit, render_mode) for _ in range(num_envs) if render_mode
        ]

        # The generator of each instance, and its seed.
        self._streams: list[tuple[np.random.Generator, int]] = [seeded() for _ in range(num_envs)]
        self._episodes: list[Episode] = []  # none before the first reset
        self._functions = FunctionBatch(bandit.problem.domain, num_envs)
        self._moves = self._inside = False
        self._cumulative: Array = np.zeros(num_envs)
        self._simple: Array = np.full(num_envs, np.inf)
        self._round: IntArray = np.zeros(num_envs, dtype=np.int64)
        self._over: BoolArray = np.zeros(num_envs, dtype=np.bool_)
        self._last: Array = np.full(num_envs, np.inf)  # the last round
        # The last observation.
        self._actions = np.stack([self._first] * num_envs)
        self._rewards: Array = np.zeros((num_envs, len(self._first)))
        self._observed: BoolArray = np.zeros(self._rewards.shape, dtype=np.bool_)

    @property
    def problem(self) -> Problem:
        """What an agent of a single instance may know."""
        return self._problem(self._horizon)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generator of each instance."""
        return tuple(rng for rng, _ in self._streams)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each instance."""
        return tuple(seed for _, seed in self._streams)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Plain | None = None
    ) -> tuple[Observation, Info]:
        """Draw new functions and go back to round 0, in all instances or in some.

        Args:
            seed: an integer (instance i gets ``seed + i``), one per instance, or None.
            options: those of `BanditEnv.reset`, applied to each instance separately; and
                ``{"reset_mask": (B,) bool}``, which resets only the instances of the mask.
        Raises:
            InvalidInput: seeds or a mask do not fit, or as for `BanditEnv.reset`.
            UnknownName: an option is not an argument of the environment.
            NotReset: the first reset has a mask that leaves out an instance.
        """
        given = dict(mapping({} if options is None else options, "reset options"))
        mask = _mask_of(given.pop("reset_mask", None), self.num_envs)
        if not self._episodes and not mask.all():
            raise NotReset("the first reset() must reset all instances")
        seeds = zip(_seeds_of(seed, self.num_envs), self._streams, strict=True)
        streams = [old if number is None else seeded(number) for number, old in seeds]
        begun = []
        info: Info = {}
        for i in np.flatnonzero(mask).tolist():
            rng, number = streams[i]
            bandit = self.bandit
            if given:
                rng = copy.deepcopy(rng)
                bandit, parameters = for_episode(bandit, given, rng)
                info = self._add_info(info, {"parameters": copy.deepcopy(parameters)}, i)
            begun.append((i, rng, number, bandit))
        for i, rng, number, bandit in begun:  # nothing has changed before all options are checked
            self._streams[i] = rng, number
            self._begin(i, bandit)
        self._over[mask] = False
        return self._observation(), info

    def step(self, actions: Any) -> tuple[Observation, Array, BoolArray, BoolArray, Info]:
        """Take m actions in each instance.

        Args:
            actions: (B, m) arms, for m = 1 also (B,), or (B, m, d) points in a box; if
                selective a pair of these and (B, m) booleans (or 0 and 1).
        Raises:
            NotReset: before the first `reset`; or, where autoreset is disabled, of an instance
                whose episode is over.
            InvalidInput: wrong shape, type or range, or not finite; nothing has changed then.
        """
        self._require_reset("step() was called before reset()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            raise NotReset(f"the episodes of instances {shown(over)} are over: reset them first")
        observed: BoolArray | None = None
        if self.selective:
            actions, observed = split_action(actions, self._rewards.shape)
        checked = self._checked(actions)
        functions = self._functions
        self._advance(checked)
        values = self._values(checked, observed)
        regret = instantaneous(functions.optimum[:, None], values)
        rewards, changed = self._rewarded(checked, values, observed)
        if observed is not None:
            rewards[~observed] = 0.0
            self._observed = observed.copy()
        self._cumulative, self._simple = counted_each(self._cumulative, self._simple, regret)
        self._round += 1
        self._actions, self._rewards = checked.copy(), rewards
        info: Info = {
            "noiseless_rewards": values,
            "regret": regret,
            "cumulative_regret": self._cumulative.copy(),
            "simple_regret": self._simple.copy(),
            "optimum": functions.optimum.copy(),
            "best_action": functions.best_action.copy(),
            **changed,
        }
        stepped = ~self._over
        if self._late is not None:
            info["delays"] = self._late.add(self._actions, rewards, observed)
        if self._clock is not None:
            info["time_regret"] = self._timed(regret)
        # The slow path: instances whose episode was over start a new one instead.
        for i in np.flatnonzero(self._over).tolist():
            self._begin(i)
        for i, viewer in enumerate(self._viewers):
            if stepped[i]:
                seen = None if observed is None else observed[i]
                context = self._episodes[i].context(int(self._round[i]))
                viewer.record(self._actions[i], rewards[i], regret[i], seen, context)
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = self._ended()
        observation = self._observation()
        totals = np.add.reduce(observation["rewards"], axis=1)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and truncated.any():
            info = self._restart(truncated, observation, info)
            return self._observation(), totals, ended, truncated, info
        self._over = truncated.copy()
        return observation, totals, ended, truncated, _of_some(info, stepped)

    def attach(self, agents: Any) -> None:
        """Show each instance's agent in its pictures from now on (see `BanditEnv.attach`).

        Args:
            agents: one per instance; or an agent whose method `predict` acts in all of them.
        Raises:
            InvalidInput: there is not one agent per instance, one has no ``belief``, or the
                environment has no render mode; no agent is attached then.
        """
        if self._viewers and not isinstance(agents, type) and hasattr(agents, "instances"):
            agents = agents.instances(self.num_envs)
        if not self._viewers or not isinstance(agents, Sequence) or len(agents) != self.num_envs:
            raise InvalidInput(
                f"attach() needs one agent per instance ({self.num_envs}) or one of this library, "
                f"got {shown(agents)}, and an environment made with render_mode='rgb_array'"
            )
        for agent in agents:
            rendering.check_believes(agent)
        for viewer, agent in zip(self._viewers, agents, strict=True):
            viewer.agent = agent

    def render(self) -> tuple[Any, ...] | None:
        """A line of text or a picture of each instance."""
        if not self._viewers:
            gym.logger.warn(rendering.NO_MODE)
            return None
        self._require_reset("render() was called before reset()")
        return tuple(
            viewer.draw(
                self._episodes[i].path.function,
                int(self._round[i]),
                float(self._cumulative[i]),
                float(self._simple[i]),
            )
            for i, viewer in enumerate(self._viewers)
        )

    def _require_reset(self, otherwise: str) -> None:
        if not self._episodes:
            raise NotReset(otherwise)

    def _checked(self, actions: ArrayLike) -> Points:
        shape = self._actions.shape
        given = array = as_array(actions, "actions")
        if self._discrete and array.ndim == 1:
            array = array[:, None]
        if array.shape != shape:
            wanted = shape[:1] if self._discrete else shape
            raise InvalidInput(f"actions must have shape {wanted}, got {given.shape}")
        # The actions of all instances form one long batch, which is checked once.
        return self.bandit.problem.domain.check(array.reshape(-1, *shape[2:])).reshape(shape)

    def _values(self, actions: Points, observed: BoolArray | None) -> Array:
        """The noiseless values (B, m)."""
        values = self._functions.gathered(actions)
        if values is None:
            seen = [None] * self.num_envs if observed is None else observed
            each = zip(self._episodes, actions, seen, strict=True)
            return np.stack([episode.values(own, mask) for episode, own, mask in each])
        return values

    def _rewarded(
        self, actions: Points, values: Array, observed: BoolArray | None
    ) -> tuple[Array, Info]:
        """The rewards (B, m), and for the info what the adversary added to them."""
        noise = self._noise.next()
        rewards = values + noise
        if not self._inside and self._corruption is None:
            return rewards, {}
        changes = np.zeros(values.shape)
        seen = [None] * self.num_envs if observed is None else observed
        for i in np.flatnonzero(~self._over).tolist():
            given = actions[i], values[i], noise[i], seen[i]
            rewards[i], changes[i] = self._episodes[i].rewards(*given)
        return rewards, {} if self._corruption is None else {"corruption": changes}

    def _timed(self, regret: Array) -> Array:
        """The regrets over time (B,), after the evaluations of the running instances."""
        total = np.zeros(self.num_envs)
        for i in np.flatnonzero(~self._over).tolist():
            total[i] = self._episodes[i].played(self._actions[i], regret[i])
        return total

    def _ended(self) -> BoolArray:
        """Which episodes are over."""
        ended = self._round >= self._last
        if self._clock is not None:
            ended |= [e.timing.over(e.path.rounds) for e in self._episodes if e.timing]
        return ended

    def _advance(self, actions: Points) -> None:
        """Move every running instance to its next function: without a clock, if past round 0."""
        if not self._moves:
            return
        first = 1 if self._clock is None else 0
        for i in np.flatnonzero((self._round >= first) & ~self._over).tolist():
            episode = self._episodes[i]
            episode.reach(int(self._round[i]) + 1, actions[i])
            self._functions[i] = episode.path.function

    def _begin(self, i: int, bandit: Bandit | None = None) -> None:
        """Start a new episode of an instance, with another bandit if one is given."""
        bandit = bandit or self.bandit
        rng = self._streams[i][0]
        episode = Episode(bandit, rng, self._corruption, self._clock)
        # The first reset covers all instances in order.
        self._episodes[i : i + 1] = [episode]
        self._functions[i] = episode.path.function
        rows = episode.path.rounds if self._clock is None else None  # which end by time
        ends = [end for end in (self._horizon, rows) if end is not None]
        self._last[i] = min(ends, default=np.inf)
        # Once an instance moves or has noise inside, all instances are checked for these.
        self._moves = self._moves or bandit.process.moves or self._clock is not None
        self._inside = self._inside or episode.inside is not None
        self._noise.put(i, episode.noise, bandit.noise_sd)
        if self._late is not None:
            self._late.begin(i, child(rng))
        self._cumulative[i], self._simple[i], self._round[i] = 0.0, np.inf, 0
        self._actions[i], self._rewards[i], self._observed[i] = self._first, 0.0, False
        if self._viewers:
            self._viewers[i].begin(bandit)

    def _restart(self, over: BoolArray, last: Observation, info: Info) -> Info:
        """Restart the instances whose episodes are over; the info with their final values."""
        ends = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(over).tolist():
            ends[i] = {key: array[i].copy() for key, array in last.items()}
            self._begin(i)
        final = _of_some({key: array.copy() for key, array in info.items()}, over)
        masks = {"_final_obs": over.copy(), "_final_info": over.copy()}
        return _of_some(info, ~over) | {"final_obs": ends, "final_info": final} | masks

    def _observation(self) -> Observation:
        if self._late is None:
            observation = {"actions": self._actions.copy(), "rewards": self._rewards.copy()}
        else:
            observation = self._late.observation()
        observation["round"] = self._round[:, None].copy()
        if self.bandit.problem.contexts is not None:
            each = zip(self._episodes, self._round.tolist(), strict=True)
            observation["context"] = np.stack([e.path.context(t + 1) for e, t in each])
        if self.selective:
            observation["observed"] = self._observed.astype(np.int8)
        if self._clock is not None:
            timings = [episode.timing for episode in self._episodes]
            observation["time"] = np.stack([t.shown() for t in timings if t is not None])
        return observation


def _seeds_of(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """A seed for each of the instances; None leaves a generator unchanged."""
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + i for i in range(count)]
    if not isinstance(seed, Sequence) or len(seed) != count:
        raise InvalidInput(f"seed must be a number or a list of {count}, got {shown(seed)}")
    return list(seed)


def _mask_of(mask: ArrayLike | None, count: int) -> BoolArray:
    """The instances to reset, (count,) booleans; all if no mask is given."""
    if mask is None:
        return np.ones(count, dtype=np.bool_)
    array = as_array(mask, "reset_mask")
    if array.dtype != np.bool_ or array.shape != (count,) or not array.any():
        raise InvalidInput(
            f"reset_mask must be a boolean array of shape ({count},) with at least one True, got "
            f"{array.dtype} of shape {array.shape}"
        )
    return array


def _of_some(info: Info, which: BoolArray) -> Info:
    """The info of some instances only, with their masks; changes the arrays of ``info``."""
    if not which.any():
        return {}
    if not which.all():
        for array in info.values():
            array[~which] = 0
    return info | {"_" + key: which.copy() for key in info}
