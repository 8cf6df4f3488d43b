"""B worlds side by side: one array operation where a single environment does one of its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random as seeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, IntArray, flag, whole
from gpbandits_env.domains import Arms
from gpbandits_env.envs.base import (
    BROKEN,
    Info,
    Observation,
    alike,
    check_options,
    first_observation,
    noise_sd,
    not_fitting,
)
from gpbandits_env.envs.evaluation import BoolArray, Evaluator, check_mask, pair_of
from gpbandits_env.envs.noise import VectorNoise, generator_at
from gpbandits_env.envs.rendering import METADATA, Scene, Viewer, check_render_mode
from gpbandits_env.envs.vector_arguments import horizon_of, reset_mask_of, seeds_of
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, NotReset, shown
from gpbandits_env.functions import Course, FunctionBatch
from gpbandits_env.problem import Problem
from gpbandits_env.regret import Tallies, instantaneous
from gpbandits_env.seeding import child


class BanditVectorEnv(VectorEnv[Observation, Any, NDArray[Any]]):
    """B bandits in one array operation, equal bit for bit to Gymnasium's `SyncVectorEnv` of B.

    World i is seeded with ``seed + i``. A world whose episode is over is reset by the next step
    (`AutoresetMode.NEXT_STEP`): that step ignores its action (which is checked none the less)
    and gives it reward 0. ``reset(options={"reset_mask": mask})`` resets some worlds only.
    Observations, rewards and infos are Gymnasium's batched form of `BanditEnv`'s.

    Args:
        world: what is played.
        num_envs: the number of worlds B.
        max_episode_steps: the horizon; None for no end.
        render_mode: None, "ansi" or "rgb_array".
        selective: whether actions can be skipped; an action is then a pair (actions, observe),
            (B, m, ...) and (B, m).
        evaluate_skipped: whether skipped actions are evaluated for the regret.
    Raises:
        InvalidInput: a number out of range, or no such render mode.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as in Gymnasium)
        **METADATA,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        world: World,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        selective: bool = False,
        evaluate_skipped: bool = True,
    ) -> None:
        self.num_envs = whole(num_envs, "num_envs")
        self._horizon = horizon_of(max_episode_steps)
        self.render_mode = check_render_mode(render_mode)
        self.world = world
        domain, m = world.problem.domain, world.problem.batch_size
        self.selective = flag(selective, "selective")
        self.single_action_space = world.action_space(self.selective)
        self.single_observation_space = world.observation_space(self.selective)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._first = first_observation(domain, m)
        self._shape = (num_envs, *self._first["actions"].shape)
        self._viewers = [Viewer(world) for _ in range(num_envs if render_mode else 0)]

        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._seeds: list[int | None] = [None] * num_envs
        self._functions = FunctionBatch(domain, num_envs)
        self._courses: list[Course | None] = [None] * num_envs
        self._noise = VectorNoise(num_envs, noise_sd(world), m)
        self._tallies = Tallies(num_envs)
        self._round: IntArray = np.zeros(num_envs, dtype=np.int64)
        self._over: BoolArray = np.zeros(num_envs, dtype=np.bool_)
        self._actions = np.broadcast_to(self._first["actions"], self._shape).copy()
        self._rewards: Array = np.zeros((num_envs, m))
        self._observed: BoolArray = np.zeros((num_envs, m), dtype=np.bool_)
        self._evaluate_skipped = flag(evaluate_skipped, "evaluate_skipped")
        self._evaluators = [Evaluator(world, evaluate_skipped) for _ in range(num_envs)]
        self._inside: list[np.random.Generator | None] = [None] * num_envs
        self._begun: BoolArray = np.zeros(num_envs, dtype=np.bool_)
        self._ready = False

    @property
    def problem(self) -> Problem:
        """What a learner of any one of the worlds may know."""
        return replace(self.world.problem, horizon=self._horizon)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generator of each world."""
        return tuple(self._generator(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """The seed of each world."""
        return tuple(self._seeds)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, Info]:
        """Draw new functions and go back to round 0, in all worlds or in some.

        Args:
            seed: an integer (world i gets ``seed + i``), one per world, or None.
            options: ``{"reset_mask": (B,) bool}`` resets these worlds only.
        Raises:
            InvalidInput: seeds or a mask that do not fit.
            UnknownName: another option.
        """
        check_options(options, ("reset_mask",))
        mask = reset_mask_of((options or {}).get("reset_mask"), self.num_envs)
        if not (mask | self._begun).all():
            raise NotReset("the first reset() must be of all worlds")
        fresh = [None if s is None else seeded(s) for s in seeds_of(seed, self.num_envs)]
        for i in np.flatnonzero(mask).tolist():
            generator = fresh[i]
            if generator is not None:
                self._rngs[i], self._seeds[i] = generator
            self._begin(i)
        self._over[mask] = False
        return self._observation(), {}

    def step(self, actions: Any) -> tuple[Observation, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Play m actions in each world.

        Args:
            actions: (B, m) arms, or (B, m, d) points in a box; if selective a pair of these and
                (B, m) booleans (or 0 and 1).
        Raises:
            NotReset: before the first `reset`.
            InvalidInput: wrong shape, type or range, or not finite; nothing has changed then.
        """
        if not self._ready:
            raise NotReset("step() was called before reset()")
        observed: BoolArray | None = None
        if self.selective:
            actions, mask = pair_of(actions)
            observed = check_mask(mask, self._shape[:2])
        checked = self._checked(actions)
        functions, tallies = self._functions, self._tallies
        if self.world.source.moves:
            self._move()
        values = self._values(checked, observed)
        regret = instantaneous(functions.optimum[:, None], values)
        noise = self._noise.next()
        inside = self._inside[0] is not None
        rewards = noise + (self._noisy(checked, observed) if inside else values)
        if observed is not None:
            rewards[~observed] = 0.0
            self._observed = observed.copy()
        tallies.add(regret)
        self._round += 1
        self._actions, self._rewards = checked.copy(), rewards
        info: dict[str, Any] = {
            "values": values,
            "regret": regret,
            "cumulative_regret": tallies.cumulative.copy(),
            "simple_regret": tallies.simple.copy(),
            "optimum": functions.optimum.copy(),
            "best_action": functions.best_action.copy(),
        }
        played = ~self._over
        # From here on, the slow path: worlds whose episode is over begin a new one instead.
        if self._over.any():
            info = self._restart(info, played)
        for key in tuple(info):
            info["_" + key] = played.copy()
        for i, viewer in enumerate(self._viewers):
            if played[i]:
                seen = None if observed is None else observed[i]
                viewer.record(self._actions[i], rewards[i], regret[i], seen)
        truncated = self._truncated()
        self._over = truncated.copy()
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        return self._observation(), np.add.reduce(rewards, axis=1), ended, truncated, info

    def attach(self, agents: Sequence[object]) -> None:
        """Show each world's agent in its pictures from now on (see `BanditEnv.attach`).

        Raises:
            InvalidInput: not one agent per world, or the environment has no render mode.
        """
        if not self._viewers or not isinstance(agents, Sequence) or len(agents) != self.num_envs:
            raise InvalidInput(
                f"attach() needs one agent per world ({self.num_envs}), got {shown(agents)}, and "
                "an environment made with render_mode='rgb_array'"
            )
        for viewer, agent in zip(self._viewers, agents, strict=True):
            viewer.attach(agent)

    def render(self) -> tuple[Any, ...] | None:
        """A line of text or a picture of each world."""
        if not self._ready:
            raise NotReset("render() was called before reset()")
        tallies = self._tallies
        scenes = (
            Scene(
                self._functions[i],
                int(self._round[i]),
                float(tallies.cumulative[i]),
                float(tallies.simple[i]),
            )
            for i in range(self.num_envs)
        )
        pairs = zip(self._viewers, scenes, strict=False)
        return tuple(viewer.draw(scene, str(self.render_mode)) for viewer, scene in pairs)

    def snapshot(self) -> dict[str, Any]:
        """Everything that moves, picklable: `restore` goes on exactly from here.

        Raises:
            NotReset: before the first `reset`.
        """
        if not self._ready:
            raise NotReset("there is nothing to snapshot yet: call reset() first")
        return {
            "generators": [rng.bit_generator.state for rng in self.np_random],
            "seeds": list(self._seeds),
            "courses": [c.state() for c in self._courses if c is not None],
            "noise": self._noise.snapshot(),
            "regret": (self._tallies.cumulative.copy(), self._tallies.simple.copy()),
            "round": self._round.copy(),
            "over": self._over.copy(),
            "last": (self._actions.copy(), self._rewards.copy(), self._observed.copy()),
            "inside": [rng and rng.bit_generator.state for rng in self._inside],
            "seen": [viewer.snapshot() for viewer in self._viewers],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `snapshot` of an environment made with the same arguments.

        Raises:
            InvalidInput: not a snapshot of such an environment; nothing has changed then.
        """
        try:
            courses = [self.world.source.resume(s) for s in state["courses"]]
            shape, worlds = state["last"][0].shape, (len(courses), len(state["inside"]))
            if shape != self._shape or worlds != (self.num_envs, self.num_envs):
                raise ValueError(f"it is of {len(courses)} worlds with actions of shape {shape}")
            for course in courses:
                course.function(self._first["actions"])
            noise = VectorNoise(self.num_envs, noise_sd(self.world), self._shape[1])
            noise.restore(state["noise"])
            inside = [None if s is None else generator_at(s) for s in state["inside"]]
            rngs: list[np.random.Generator | None] = [generator_at(s) for s in state["generators"]]
            seeds: list[int | None] = [whole(s, "seed", -1, None) for s in state["seeds"]]
            arrays = [
                alike(new, old)
                for new, old in zip(
                    (*state["regret"], state["round"], state["over"], *state["last"]),
                    (
                        *(self._tallies.cumulative, self._tallies.simple),
                        *(self._round, self._over),
                        *(self._actions, self._rewards, self._observed),
                    ),
                    strict=True,
                )
            ]
            if len(rngs) != self.num_envs or len(seeds) != self.num_envs:
                raise ValueError("its generators are those of another number of worlds")
            seen = [list(s or ()) for s in state["seen"]]
        except BROKEN as error:
            raise not_fitting(error) from None
        for i, course in enumerate(courses):
            self._courses[i] = course
            self._functions[i] = course.function
            self._evaluators[i].begin(course.function)
        self._inside, self._rngs, self._seeds, self._noise = inside, rngs, seeds, noise
        self._tallies.cumulative, self._tallies.simple, self._round, self._over = arrays[:4]
        self._actions, self._rewards, self._observed = arrays[4:]
        for viewer, batches in zip(self._viewers, seen, strict=False):
            viewer.restore(batches)
        self._begun[:] = self._ready = True

    def _checked(self, actions: ArrayLike) -> NDArray[Any]:
        try:
            array = np.asarray(actions)
        except ValueError as error:
            raise InvalidInput(f"actions must be one array of all worlds: {error}") from None
        if array.shape != self._shape:
            raise InvalidInput(f"actions must have shape {self._shape}, got {array.shape}")
        # All worlds' actions as one long batch: one check for all.
        flat = array.reshape(-1, *self._shape[2:])
        return self.world.problem.domain.check(flat).reshape(self._shape)

    def _values(self, actions: NDArray[Any], observed: BoolArray | None) -> Array:
        """The noiseless values (B, m); NaN where they were neither observed nor wanted."""
        if observed is None:
            return self._functions(actions)
        if isinstance(self.world.problem.domain, Arms):  # all are there: one gather
            values = self._functions(actions)
            return values if self._evaluate_skipped else np.where(observed, values, np.nan)
        return np.stack(
            [
                evaluator.values(self._functions[i], actions[i], observed[i])
                for i, evaluator in enumerate(self._evaluators)
            ]
        )

    def _noisy(self, actions: NDArray[Any], observed: BoolArray | None) -> Array:
        """The rewards (B, m) of functions with noise inside; 0 in worlds that begin anew."""
        rewards = np.zeros(actions.shape[:2])
        for i in np.flatnonzero(~self._over).tolist():
            rng, function = self._inside[i], self._functions[i]
            assert rng is not None
            seen = None if observed is None else observed[i]
            rewards[i] = self._evaluators[i].noisy(function, actions[i], seen, rng)
        return rewards

    def _move(self) -> None:
        """Every world that has played a round, and goes on, moves to its next function."""
        for i in np.flatnonzero((self._round > 0) & ~self._over).tolist():
            course = self._courses[i]
            assert course is not None
            course.advance()
            self._functions[i] = course.function

    def _generator(self, world: int) -> np.random.Generator:
        rng = self._rngs[world]
        if rng is None:
            rng, self._seeds[world] = seeded()
            self._rngs[world] = rng
        return rng

    def _begin(self, world: int) -> None:
        rng = self._generator(world)
        course = self.world.source.begin(child(rng))
        self._courses[world] = course
        self._functions[world] = course.function
        self._noise.put(world, child(rng))
        self._evaluators[world].begin(course.function)
        self._inside[world] = child(rng) if self._evaluators[world].inside else None
        self._tallies.clear(world)
        self._round[world] = 0
        self._actions[world] = self._first["actions"]
        self._rewards[world] = 0.0
        self._observed[world] = False
        self._begun[world] = True
        self._ready = bool(self._begun.all())
        if self._viewers:
            self._viewers[world].clear()

    def _restart(self, info: dict[str, Any], played: BoolArray) -> dict[str, Any]:
        for i in np.flatnonzero(self._over).tolist():
            self._begin(i)
        if not played.any():
            return {}
        for array in info.values():
            array[self._over] = 0
        return info

    def _truncated(self) -> BoolArray:
        if self._horizon is None:
            return np.zeros(self.num_envs, dtype=np.bool_)
        return self._round >= self._horizon

    def _observation(self) -> Observation:
        observation = {
            "actions": self._actions.copy(),
            "rewards": self._rewards.copy(),
            "round": self._round[:, None].copy(),
        }
        if self.selective:
            observation["observed"] = self._observed.astype(np.int8)
        return observation
