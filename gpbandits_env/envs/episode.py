"""An episode of one environment instance (its path and its noise), and the checks of a step.

Skipping an action saves an evaluation in practice. Here the regret still counts the value of a
skipped action, so it is evaluated anyway, outside the measured time.
"""

import warnings
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Points, as_array, finite_array, frozen, one_each, positive
from gpbandits_env.domains import Domain
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.clock import Clock, Timing
from gpbandits_env.envs.corruption import Corruption
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.rewards.functions import ArmFunction, Function
from gpbandits_env.rewards.regret import instantaneous
from gpbandits_env.seeding import child

BoolArray = NDArray[np.bool_]

# Values of so many skipped points are cached: an agent that learns nothing repeats its action.
REMEMBERED = 1024
# A time between two rounds passes in parts of about a unit, or in so many equal ones.
MOST_UNITS = 100
# About this many noise values are drawn ahead per instance: a call costs more than the values.
AHEAD = 1024
# By how much, relative to 1 plus its size, rounding may let a value exceed the optimum.
ROUNDING = 1e-6


class Episode:
    """The state of one environment instance between two resets.

    Args:
        bandit: what is simulated.
        rng: the streams of the path and of the noise are children of this generator; a third child
            is drawn only if functions have noise inside.
        corruption: the adversary that changes rewards, or None.
        clock: how long evaluations and thinking take; None if a round is a unit of time.

    Attributes:
        path: the functions of the rounds.
        noise: the stream of the noise on rewards.
        corruption: the adversary.
        inside: the stream of the noise inside functions, or None.
        seconds: the wall-clock time of the observed evaluations.
        timing: the times of the episode; None without a clock.
    """

    def __init__(
        self,
        bandit: Bandit,
        rng: np.random.Generator,
        corruption: Corruption | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.path, self.noise = bandit.process.begin(child(rng)), child(rng)
        self._domain, self.corruption = bandit.problem.domain, corruption
        _check_stated(self.path.function, self._domain)
        self.inside = None if self.path.function.noisy is None else child(rng)
        self._left = 0.0 if corruption is None else corruption.budget
        self._contextual = bandit.problem.contexts is not None
        self._moves, self._round = bandit.process.moves, 1 if clock is None else 0
        self.timing = None if clock is None else Timing(clock)
        self._in_force: tuple[Points, Array] | None = None
        self._memo: dict[bytes, float] = {}
        self.seconds = 0.0

    def reach(self, round_: int, actions: Points) -> None:
        """Advance to a round, unless a step whose evaluation failed has done so already.

        With a clock, the actions are in force from then on, and the first ones from the start.
        """
        if self._round >= round_:
            return
        if self.timing is not None:
            self._elapse(self.timing, round_, self._in_force or (actions, self._regret(actions)))
        elif self._moves:
            self.path.advance()
        self._round = round_

    def _elapse(self, timing: Timing, round_: int, in_force: tuple[Points, Array]) -> None:
        """Let the last evaluation and the thinking before a round pass, a unit at a time."""
        dt, (actions, before) = timing.think(round_), in_force
        moves = self._moves and dt > 0.0
        count = min(max(round(dt), 1), MOST_UNITS) if moves else 1
        for _ in range(count):
            if moves:
                self.path.advance(dt / count)
            after = self._regret(actions) if moves else before
            timing.regret += 0.5 * (dt / count) * float(np.mean(before) + np.mean(after))
            before = after

    def _regret(self, actions: Points) -> Array:
        function = self.path.function
        return instantaneous(function.optimum, valued(function, actions))

    def played(self, actions: Points, regret: Array) -> float:
        """Let the evaluation of actions pass, which stay in force; the regret over time so far."""
        timing = self.timing
        assert timing is not None
        self._in_force = actions.copy(), regret
        timing.now = timing.read + timing.clock.evaluation / timing.clock.unit
        return timing.regret

    def context(self, t: int) -> Points | None:
        """The context of round t, (1,) or (1, q); None without contexts."""
        return self.path.context(t) if self._contextual else None

    def values(self, actions: Points, observed: BoolArray | None) -> Array:
        """The noiseless values (m,) of checked actions; those observed (None: all) on the clock."""
        if observed is None or self._domain.finite or observed.all():
            return self._timed(actions)
        values = np.empty(len(actions))
        if observed.any():
            values[observed] = self._timed(actions[observed])
        for i in np.flatnonzero(~observed).tolist():
            values[i] = self._alone(actions[i : i + 1])
        return values

    def _timed(self, actions: Points) -> Array:
        started = perf_counter()
        values = valued(self.path.function, actions)
        if self.inside is None:  # otherwise the observed rewards are not the values
            self.seconds += perf_counter() - started
        return values

    def rewards(
        self, actions: Points, values: Array, noise: Array, observed: BoolArray | None
    ) -> tuple[Array, Array | float]:
        """The rewards (m,) of actions of these noiseless values, and what the adversary added."""
        rewards = noise + (values if self.inside is None else self._noisy(actions, observed))
        if self.corruption is None:
            return rewards, 0.0
        changes = np.zeros(len(values))
        if self._left > 0.0:
            wanted = self.corruption.wanted(self.path.function, self._domain, values)
            for i, change in enumerate(wanted.tolist()):
                if observed is None or observed[i]:
                    paid = min(abs(change), self._left)
                    self._left -= paid
                    changes[i] = np.copysign(paid, change)
        return rewards + changes, changes

    def _noisy(self, actions: Points, observed: BoolArray | None) -> Array:
        """The rewards (m,) of a function with noise inside; 0 where not observed."""
        assert self.inside is not None
        started = perf_counter()
        rewards = noisy_rewards(self.path.function, actions, observed, self.inside)
        self.seconds += perf_counter() - started
        return rewards

    def _alone(self, point: Points) -> float:
        """The value of one skipped point (1, d).

        The point is evaluated on its own. So a cached value is identical to a new evaluation, and
        losing the cache changes nothing.
        """
        if self._moves:
            return float(valued(self.path.function, point)[0])
        key = point.tobytes()
        if key not in self._memo:
            if len(self._memo) >= REMEMBERED:
                self._memo.clear()
            self._memo[key] = float(valued(self.path.function, point)[0])
        return self._memo[key]


def _name(function: Function) -> tuple[str, bool]:
    """The name of a function, and whether it is not of this package; of a task, that of its own."""
    task = getattr(function, "task", None)
    kind: Any = type(function if task is None else task)
    return _named("function" if task is None else "task", kind)


@cache
def _named(what: str, kind: type) -> tuple[str, bool]:
    return f"the {what} {kind.__name__}", kind.__module__.partition(".")[0] != "gpbandits_env"


def _check_stated(function: Function, domain: Domain) -> None:
    """Check what a function, which may be a user's, states about its maximum."""
    try:
        if not isinstance(function, Function):
            raise InvalidInput("it is not derived from Function")
        finite_array(function.optimum, "optimum", 0)
        positive(function.accuracy, "accuracy", zero=True)
        domain.check(as_array(function.best_action, "best_action")[None])
    except (AttributeError, InvalidInput) as error:
        raise InvalidInput(
            f"{_name(function)[0]} must state its maximum, as a Function with optimum, accuracy "
            f"and best_action or as the Best of a task: {error}"
        ) from None


def valued(function: Function, actions: Points) -> Array:
    """The noiseless values (m,) of checked actions; the function may be a user's.

    Raises:
        InvalidInput: it did not return one finite value per action.
    """
    if type(function) is ArmFunction:
        return function(actions)
    # A function of the user's own must not change the actions.
    name, own = _name(function)
    values = one_each(function(frozen(actions[:])), actions, name)
    most = function.optimum + function.accuracy + ROUNDING * (1.0 + abs(function.optimum))
    if own and values.max() > most:
        # Without numbers, so that a function that moves is not told anew in each round.
        warnings.warn(
            f"{name} has values above its optimum, so that regret is negative: state its maximum "
            "as optimum, or how far values may exceed it as accuracy",
            stacklevel=2,
        )
    return values


def noisy_rewards(
    function: Function, actions: Points, observed: BoolArray | None, rng: np.random.Generator
) -> Array:
    """The rewards (m,) of a function with noise inside; 0 where not observed.

    Every action has its own stream, whether or not it is observed, so that a reward does not depend
    on which other actions are skipped.
    """
    assert function.noisy is not None
    name, rewards = _name(function)[0], np.zeros(len(actions))
    for i, own in enumerate([child(rng) for _ in actions]):
        if observed is None or observed[i]:
            action = frozen(actions[i : i + 1])
            rewards[i] = one_each(function.noisy(action, own), action, f"noisy of {name}")[0]
    return rewards


def prior_data(
    function: Function, actions: Points, noise_sd: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Rewards (k,) and noiseless values (k,) before round 1."""
    values = rewards = valued(function, actions)
    if function.noisy is not None:
        rewards = noisy_rewards(function, actions, None, rng)
    return rewards + noise_sd * rng.standard_normal(len(values)), values


class Noise:
    """The noise of B instances: i.i.d. N(0, sd^2), m values per round, with an sd per instance.

    It is drawn ahead in blocks. The values of a stream do not depend on the blocks, so one instance
    and many get the same noise. The noise of a single instance
    (None) has no axis of instances. With sd = 0 nothing is drawn.
    """

    def __init__(self, instances: int | None, batch_size: int) -> None:
        self._which = 0 if instances is None else slice(None)
        self._streams: dict[int, tuple[np.random.Generator, float]] = {}
        # The number of rounds whose noise is drawn at once.
        self._rows = self._next = max(1, min(256, AHEAD // batch_size))
        self._block: Array = np.zeros((instances or 1, self._rows, batch_size))

    def put(self, i: int, rng: np.random.Generator, sd: float) -> None:
        """Set the generator of one instance; its first value is used in the next round."""
        self._streams[i] = rng, sd
        self._fill(i, self._next)

    def next(self) -> Array:
        """The noise of the next round, (B, m) or (m,): a view that is valid until the next call."""
        if self._next == self._rows:
            for i in self._streams:
                self._fill(i, 0)
            self._next = 0
        rows: Array = self._block[self._which, self._next]
        self._next += 1
        return rows

    def _fill(self, i: int, start: int) -> None:
        rng, sd = self._streams[i]
        rows = self._block[i, start:]
        if sd:
            rng.standard_normal(out=rows)
            rows *= sd
        else:
            rows[:] = 0.0  # the instance may have had noise before


def split_action(action: object, shape: tuple[int, ...]) -> tuple[Any, BoolArray]:
    """Split the action of a selective environment into the actions and the mask of observed ones.

    A boolean mask is returned without a copy.

    Raises:
        InvalidInput: it is not a pair, or its second item is not an array of the given shape of
            booleans or whole numbers 0 and 1.
    """
    if not isinstance(action, (tuple, list)) or len(action) != 2:
        raise InvalidInput(
            "step() of a selective environment needs a pair (actions, observe), where observe has "
            f"one 0 or 1 per action, got {type(action).__name__}"
        )
    actions, mask = action
    if type(mask) is np.ndarray and mask.dtype == np.bool_ and mask.shape == shape:
        return actions, mask
    given = as_array(mask, "the mask of actions to observe")
    fits = given.shape == shape and given.dtype.kind in "bui"
    if not fits or not ((given == 0) | (given == 1)).all():
        raise InvalidInput(
            f"the mask of actions to observe must be booleans (or 0 and 1) of shape {shape}, got "
            f"{shown(mask)}"
        )
    return actions, given.astype(np.bool_)
