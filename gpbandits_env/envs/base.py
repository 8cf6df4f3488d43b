"""The environment that every world is played in."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, flag, numbers, whole
from gpbandits_env.domains import Domain
from gpbandits_env.envs.evaluation import BoolArray, Evaluator, check_mask, pair_of
from gpbandits_env.envs.noise import Noise, generator_at
from gpbandits_env.envs.rendering import METADATA, Scene, Viewer, check_render_mode
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, NotReset, shown, unknown
from gpbandits_env.functions import Course, Function
from gpbandits_env.problem import Problem
from gpbandits_env.regret import Tally, instantaneous
from gpbandits_env.seeding import child

Observation: TypeAlias = dict[str, NDArray[Any]]
Info: TypeAlias = dict[str, Any]


class BanditEnv(gym.Env[Observation, Any]):
    """A bandit: each round takes m actions and returns their noisy rewards.

    `reset` draws a function (or, where it drifts, a path of functions) and the noise from two
    streams of their own, both set by the seed alone, so that every learner meets the same
    functions and the same noise. All actions of a round are played on the same function.

    Observation: ``{"actions": (m,) arms or (m, d) points, "rewards": (m,), "round": (1,)}``, the
    last round's; zeros (in a box: the low corner) at round 0. The step's reward is the sum of
    the m rewards. ``terminated`` and ``truncated`` stay False: the horizon is Gymnasium's
    ``max_episode_steps``.

    Info of a step: ``values`` (m,) and ``regret`` (m,) without noise, ``cumulative_regret``,
    ``simple_regret``, and ``optimum`` and ``best_action`` of the round just played; see
    `gpbandits_env.regret`. Info of a reset is empty.

    Selective: an action is a pair (actions, observe), the second (m,) booleans. What is not
    observed returns reward 0, the observation's ``observed`` (m,) says which were, and the reward
    of the step is the sum over these. All of them count in the regret; the world and the noise
    move on as if all had been observed. The space is a `Tuple`, the smallest that keeps actions
    as they are without it.

    Functions with noise inside (a method ``noisy(actions, rng) -> rewards``) are asked for that
    instead of their values, with a stream of their own; the world's noise is added to it.

    Args:
        world: what is played.
        render_mode: None, "ansi" (a line of text) or "rgb_array" (a picture).
        selective: whether actions can be skipped.
        evaluate_skipped: whether skipped actions are evaluated for the regret. Without, their
            ``values`` and ``regret`` are NaN, the cumulative regret is NaN from then on, and the
            simple regret is that of what was observed.

    Attributes:
        selective: as given.

    Raises:
        InvalidInput: no such render mode.
    """

    metadata = METADATA
    observation_space: gym.Space[Any]
    action_space: gym.Space[Any]

    def __init__(
        self,
        world: World,
        render_mode: str | None = None,
        selective: bool = False,
        evaluate_skipped: bool = True,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.world = world
        self.selective = flag(selective, "selective")
        self._batch_size = world.problem.batch_size
        self._check = world.problem.domain.check
        self.action_space = world.action_space(self.selective)
        self.observation_space = world.observation_space(self.selective)
        self._viewer = None if render_mode is None else Viewer(world)
        self._course: Course | None = None
        self._moves = world.source.moves
        self._noise: Noise | None = None
        self._inside: np.random.Generator | None = None
        self._evaluator = Evaluator(world, flag(evaluate_skipped, "evaluate_skipped"))
        self._tally = Tally()
        self._round = 0

    @property
    def problem(self) -> Problem:
        """What a learner may know: the domain, the kernel, the noise, m and the horizon."""
        horizon = self.spec.max_episode_steps if self.spec is not None else None
        return replace(self.world.problem, horizon=horizon)

    @property
    def function(self) -> Function:
        """The truth, for pictures and tests; a learner is never shown it.

        That of the round just played; before the first step, of round 1.

        Raises:
            NotReset: before the first `reset`.
        """
        if self._course is None:
            raise NotReset("there is no function yet: call reset() first")
        return self._course.function

    @property
    def evaluation_seconds(self) -> float:
        """Wall-clock time spent on evaluating observed actions since `reset`, in seconds."""
        return self._evaluator.seconds

    def prior_data(self, actions: ArrayLike, rng: np.random.Generator) -> tuple[Array, Array]:
        """What actions give before round 1: noisy rewards (k,), and values without noise (k,).

        Nothing changes: neither the round, nor the regret, nor the noise of later rounds. For an
        agent's `prior_data`.

        Args:
            actions: (k,) arms or (k, d) points.
            rng: the noise is drawn from it.
        Raises:
            NotReset: before the first `reset`.
            InvalidInput: wrong shape, type or range.
        """
        function, checked = self.function, self._check(actions)
        values = function(checked)
        rewards = values
        if hasattr(function, "noisy"):
            rewards = Evaluator(self.world).noisy(function, checked, None, rng)
        return rewards + noise_sd(self.world) * rng.standard_normal(len(values)), values

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Draw a new function and go back to round 0.

        Args:
            seed: sets everything that is random from here on; None goes on with the generator.
            options: none are known.
        Raises:
            UnknownName: an option was given.
            gymnasium.error.Error: a seed that is no whole number, or negative.
        """
        check_options(options)
        super().reset(seed=seed)
        self._course, self._noise, self._inside = begin(self.world, self.np_random)
        self._evaluator.begin(self._course.function)
        self._tally = Tally()
        self._round = 0
        if self._viewer is not None:
            self._viewer.clear()
        domain = self.world.problem.domain
        return first_observation(domain, self._batch_size, self.selective), {}

    def step(
        self, action: Any
    ) -> tuple[Observation, float, bool, bool, Info]:  # numpydoc: see the class
        """Play m actions.

        Args:
            action: (m,) arms, or (m, d) points in a box; if selective a pair of these and (m,)
                booleans (or 0 and 1).
        Raises:
            NotReset: before the first `reset`.
            InvalidInput: wrong shape, type or range, or not finite; nothing has changed then.
        """
        course, noise = self._course, self._noise
        if course is None or noise is None:
            raise NotReset("step() was called before reset()")
        observed: BoolArray | None = None
        if self.selective:
            action, mask = pair_of(action)
            observed = check_mask(mask, (self._batch_size,))
        actions = self._check(action, self._batch_size)
        if self._moves and self._round:
            course.advance()
        function = course.function
        evaluator = self._evaluator
        values = evaluator.values(function, actions, observed)
        regret = instantaneous(function.optimum, values)
        if self._inside is None:
            rewards = values + noise.next()
        else:
            rewards = evaluator.noisy(function, actions, observed, self._inside) + noise.next()
        tally = self._tally
        tally.add(regret)
        self._round += 1
        if observed is not None:
            rewards[~observed] = 0.0
        if self._viewer is not None:
            self._viewer.record(actions, rewards, regret, observed)
        best = function.best_action
        info = {
            "values": values,
            "regret": regret,
            "cumulative_regret": tally.cumulative,
            "simple_regret": tally.simple,
            "optimum": function.optimum,
            "best_action": best if isinstance(best, int) else best.copy(),
        }
        observation = {
            "actions": actions.copy(),
            "rewards": rewards,
            "round": np.array([self._round]),
        }
        if observed is not None:
            observation["observed"] = observed.astype(np.int8)
        return observation, float(np.add.reduce(rewards)), False, False, info

    def attach(self, agent: object) -> None:
        """Show this agent's belief in pictures from now on; None shows none.

        Args:
            agent: has ``belief()``, the mean and the standard deviation at all arms, (n,) each.
        Raises:
            InvalidInput: no ``belief``, or the environment has no render mode.
        """
        if self._viewer is None:
            raise InvalidInput("attach() needs an environment made with render_mode='rgb_array'")
        self._viewer.attach(agent)

    def render(self) -> Any:
        """The last round as a line of text or a picture (height, width, 3) uint8."""
        if self._viewer is None:
            gym.logger.warn("render() draws nothing: make the environment with a render_mode")
            return None
        tally = self._tally
        scene = Scene(self.function, self._round, tally.cumulative, tally.simple)
        return self._viewer.draw(scene, str(self.render_mode))

    def snapshot(self) -> dict[str, Any]:
        """Everything that moves, picklable: `restore` goes on exactly from here.

        Not in it: what wrappers count (`TimeLimit`'s elapsed steps), and an attached agent.

        Raises:
            NotReset: before the first `reset`.
        """
        if self._course is None or self._noise is None:
            raise NotReset("there is nothing to snapshot yet: call reset() first")
        return {
            "generator": self.np_random.bit_generator.state,
            "seed": self.np_random_seed,
            "course": self._course.state(),
            "noise": self._noise.snapshot(),
            "inside": self._inside and self._inside.bit_generator.state,
            "round": self._round,
            "regret": (self._tally.cumulative, self._tally.simple),
            "seen": None if self._viewer is None else self._viewer.snapshot(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `snapshot` of an environment made with the same arguments.

        Raises:
            InvalidInput: not a snapshot of such an environment; nothing has changed then.
        """
        course, noise, inside = revive(self.world, state)
        try:
            rng = generator_at(state["generator"])
            seed = whole(state["seed"], "seed", -1, None)
            seen = [] if state["seen"] is None else list(state["seen"])
            round_ = whole(state["round"], "round", 0)
            tally = Tally(*numbers(state["regret"], "regret").tolist())
        except BROKEN as error:
            raise not_fitting(error) from None
        self._np_random, self._np_random_seed = rng, seed
        self._course, self._noise, self._inside = course, noise, inside
        self._evaluator.begin(course.function)
        self._tally, self._round = tally, round_
        if self._viewer is not None:
            self._viewer.restore(seen)


# What reading a snapshot of something else may raise.
BROKEN = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
Playing: TypeAlias = tuple[Course, Noise, np.random.Generator | None]


def begin(world: World, rng: np.random.Generator) -> Playing:
    """A course, its noise and the stream of noise inside, from children of a generator.

    The third child is drawn only where functions have noise inside.
    """
    course = world.source.begin(child(rng))
    noise = Noise(child(rng), noise_sd(world), world.problem.batch_size)
    return course, noise, child(rng) if hasattr(course.function, "noisy") else None


def revive(world: World, state: dict[str, Any]) -> Playing:
    """The course, the noise and the stream of noise inside of a snapshot.

    Raises:
        InvalidInput: the snapshot is not of such a world.
    """
    try:
        course = world.source.resume(state["course"])
        noise = Noise(np.random.default_rng(0), noise_sd(world), world.problem.batch_size)
        noise.restore(state["noise"])
        inside = None if state["inside"] is None else generator_at(state["inside"])
        low = first_observation(world.problem.domain, world.problem.batch_size)["actions"]
        course.function(low)
    except BROKEN as error:
        raise not_fitting(error) from None
    return course, noise, inside


def not_fitting(error: Exception) -> InvalidInput:
    """The error for a snapshot of something else."""
    return InvalidInput(
        f"this is not a snapshot of an environment with the same arguments: {shown(error)}"
    )


def alike(new: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
    """A copy of an entry of a snapshot that takes an array's place.

    Raises:
        ValueError: it has another shape or type.
    """
    if new.shape != old.shape or new.dtype != old.dtype:
        raise ValueError(f"{new.dtype} of shape {new.shape} where there is {old.shape}")
    return new.copy()


def noise_sd(world: World) -> float:
    """The standard deviation of the noise on a reward."""
    return float(np.sqrt(world.noise_var))


def first_observation(domain: Domain, batch_size: int, selective: bool = False) -> Observation:
    """The observation of a reset: nothing was done yet."""
    space = domain.action_space(batch_size)
    actions = space.low.copy() if hasattr(space, "low") else np.zeros(batch_size, dtype=np.int64)
    rewards: Array = np.zeros(batch_size)
    first = {"actions": actions, "rewards": rewards, "round": np.zeros(1, dtype=np.int64)}
    return first | ({"observed": np.zeros(batch_size, dtype=np.int8)} if selective else {})


def check_options(options: dict[str, Any] | None, known: tuple[str, ...] = ()) -> None:
    """Complain of an option that `reset` does not have.

    Raises:
        InvalidInput: something else than a dict.
        UnknownName: such an option.
    """
    if options is not None and not isinstance(options, Mapping):
        raise InvalidInput(f"reset options are a dict, got {shown(options)}")
    for key in options or {}:
        if key not in known:
            raise unknown("reset option", key, known, "" if known else "there are none")
