"""The posterior of an agent, as a function of its data, its model, and the round and time."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.embeddings.action_map import ActionMap
from gpbandits_env.arrays import Array, Points, State, whole
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import ArmPosterior, Posterior
from gpbandits_env.gp.temporal import epsilon_per

# Data whose correlation with the present is below this have no effect.
GONE = 1e-9
# The time of round 1.
START = 0.0
# A round, points of the data (k, ...), rewards (k,), and the variances of their noise if known.
Arrived: TypeAlias = tuple[float, Points, Array, Array | None]


class Conditioned:
    """The posterior given the data that count, brought up to date at the least cost.

    If what it holds is the beginning of what counts, it learns the new rows, and time passes.
    Otherwise it starts again from the prior: a row dropped out, a row of an earlier time arrived
    where data age, an earlier row was edited, or the model is another one. It then learns all rows
    in one call or, where data age, in one call for each time.

    Args:
        data: the data.
        keep: which of them count.
        mapped: the map from the points of the data to those of the posterior.
        make: makes the posterior of a model, without data.
        model: the model.

    Attributes:
        posterior: the posterior at the present time.
        model: the model.
        winsorize: the map of rewards before the posterior receives them; None for the identity.
        best_reward: the largest reward that counts; -inf without any.
        best_given: the same reward as the posterior received it.
    """

    def __init__(
        self,
        data: Data,
        keep: Keep,
        mapped: ActionMap,
        make: Callable[[Model], Posterior],
        model: Model,
    ) -> None:
        self._data, self._keep, self._mapped, self._make = data, keep, mapped, make
        self.model, self.posterior = model, make(model)
        self.winsorize: Callable[[Array], Array] | None = None
        self._begin()

    def _begin(self) -> None:
        """Hold no row; the posterior is at its prior."""
        # The arrivals that were looked at, and those that were learned in one call.
        self._arrivals, self._together = 0, 0
        self._oldest, self.best_reward, self.best_given = math.inf, -math.inf, -math.inf
        self._now, self._edits = START, self._data.edits
        # Whether data age with time.
        self.ages = self.model.epsilon > 0.0 or self.posterior.ages

    def given(self, rewards: Array) -> Array:
        """The rewards as the posterior receives them."""
        return rewards if self.winsorize is None else self.winsorize(rewards)

    @property
    def first_round(self) -> float:
        """The earliest round of a row that the posterior holds; infinite without any."""
        return self._oldest

    def at(self, t: int, time: float, arrived: Arrived | None = None) -> None:
        """Bring the posterior to the beginning of round t, at a time.

        Args:
            t: the round.
            time: its time.
            arrived: the last data that were added, at the time of the posterior if data age. They
                need not be read if nothing else is new.
        """
        data, keep = self._data, self._keep
        first = keep.first(t) if keep.forgets else keep.stage
        if first > self._oldest or data.edits != self._edits or self._mapped.moves:
            self._anew(t, time)
            return
        new = data.arrivals - self._arrivals
        if new == 1 and arrived is not None and arrived[0] >= first:
            round_, points, rewards, noise_var = arrived
            self._arrivals += 1
            self._learn(points, rewards, noise_var)
            if round_ < self._oldest:
                self._oldest = round_
        elif not new:
            self.posterior.rollback()
        elif not self._append(first):
            self._anew(t, time)
            return
        if self.ages:
            self._pass(time)

    def use(
        self,
        model: Model,
        winsorize: Callable[[Array], Array] | None,
        t: int,
        time: float,
        *,
        keeps_prior: bool = False,
    ) -> None:
        """Start again under another model; ``keeps_prior``: it differs in epsilon only."""
        self.model, self.winsorize = model, winsorize
        if not keeps_prior:
            self.posterior = self._make(model)
        self._anew(t, time)

    def _append(self, first: float) -> bool:
        """Learn the new rows that count; whether that is possible: none is of an earlier time."""
        data, ends = self._data, self._data.ends
        held = ends[self._arrivals - 1] if self._arrivals else 0
        for start, end in pairwise([held, *ends[self._arrivals :]]):
            self._arrivals += 1
            round_ = data.rounds.item(start)
            if round_ >= first:
                if self.ages:
                    time = data.times.item(start)
                    if time < self._now:
                        return False
                    self._pass(time)
                self._learn_rows(slice(start, end))
                self._oldest = min(self._oldest, round_)
        return True

    def _anew(self, t: int, time: float) -> None:
        """Condition an empty posterior on all rows that count."""
        data, rows = self._data, self._data.since(self._keep.first(t))
        if self._mapped.moves:
            self._move(t)
        self.posterior.forget()
        self._begin()
        self._arrivals = self._together = data.arrivals
        rounds = data.rounds[rows]
        if len(rounds):
            self._oldest = float(rounds.min())
            if self.ages:
                self._learn_by_time(rows, time)
            elif data.noise_of(rows) is None:
                self._replay(rows, [0], [0.0])
            else:
                self._learn_rows(rows)
        if self.ages:
            self._pass(time)

    def _move(self, t: int) -> None:
        """Let a map that changes with the round be that of round t."""
        rows = self._data.since(self._keep.first(t))
        self._mapped.reach(t, self._data.points[rows], self._data.rewards[rows])
        self.posterior = self._make(self.model)

    def _learn_by_time(self, rows: slice | NDArray[np.intp], time: float) -> None:
        """Learn rows in one call for each time, oldest first, and let time pass until the last."""
        data, epsilon = self._data, self.model.epsilon
        every = np.arange(data.size)[rows]
        every = every[np.argsort(data.times[every], kind="stable")]
        if not self.posterior.ages:
            age = 2.0 * math.log(GONE) / math.log(1.0 - epsilon) if epsilon < 1.0 else 0.0
            every = every[data.times[every] >= time - 1.0 - age]
        times, first = np.unique(data.times[every], return_index=True)
        if self.posterior.ages:
            self._now = min(START, float(times[0]))
            for now, part in zip(times.tolist(), np.split(every, first[1:]), strict=True):
                self._pass(now)
                self._learn_rows(part)
        else:
            passed = np.diff([*times, time]).tolist()
            decays = [epsilon_per(dt, epsilon) for dt in passed]
            self._replay(every, first.tolist(), decays)
            self._now = time

    def _replay(
        self, rows: slice | NDArray[np.intp], starts: Sequence[int], decays: Sequence[float]
    ) -> None:
        """Learn rows in parts, with the decay after each; in a box by one factorization."""
        points, rewards = (
            self._mapped.coordinates(self._data.points[rows]),
            self._data.rewards[rows],
        )
        given, parts = self.given(rewards), pairwise([*starts, len(rewards)])
        self.posterior.replay(
            (points[start:end], given[start:end], epsilon)
            for (start, end), epsilon in zip(parts, decays, strict=True)
        )
        self.best_reward = float(rewards.max(initial=-math.inf))
        self.best_given = float(given.max(initial=-math.inf))

    def _learn_rows(self, rows: slice | NDArray[np.intp]) -> None:
        data = self._data
        points = self._mapped.coordinates(data.points[rows])
        self._learn(points, data.rewards[rows], data.noise_of(rows))

    def _learn(self, points: Points, rewards: Array, noise_var: Array | None) -> None:
        given = rewards if self.winsorize is None else self.winsorize(rewards)
        self.posterior.learn(points, given, noise_var)
        for reward in rewards.tolist():
            if reward > self.best_reward:
                self.best_reward = reward
                self.best_given = reward if given is rewards else float(given.max())

    def _pass(self, time: float) -> None:
        """Let time pass until then."""
        elapsed = time - self._now
        if elapsed > 0.0:
            self.posterior.drift(self.model.epsilon, elapsed)
            self._now = time

    def reset(self, model: Model) -> None:
        """Return to the prior of a model, before round 1; the data are dropped already."""
        self.model, self.winsorize = model, None
        self.posterior = self._make(model)
        self._begin()

    def snapshot(self) -> State:
        """What does not follow from the data, as a copy in plain data."""
        own = {"arrivals": self._arrivals, "together": self._together, "now": self._now}
        best = {"oldest": self._oldest, "best_reward": self.best_reward}
        return own | best | {"posterior": None if self._follows else self.posterior.snapshot()}

    @property
    def _follows(self) -> bool:
        """Whether a posterior on arms follows from the data: they may take far less storage."""
        exact = isinstance(self.posterior, ArmPosterior) and not self.posterior.hallucinated
        return exact and not self.ages and not self._keep.forgets and not self._mapped.moves

    def restore(
        self, state: State, model: Model, winsorize: Callable[[Array], Array] | None, t: int
    ) -> None:
        """Return to the state of a snapshot, after the data, the model and the other parts."""
        self.reset(model)
        data, self.winsorize = self._data, winsorize
        last, together = (whole(state[key], key, 0) for key in ("arrivals", "together"))
        if not together <= last <= data.arrivals:
            raise ValueError("the snapshot holds more than there are data")
        if state["posterior"] is None:  # repeat the calls
            first, ends = self._keep.first(t), [0, *data.ends]
            rows = np.flatnonzero(data.rounds[: ends[together]] >= first)
            if len(rows):
                self._learn_rows(rows)
            for start, end in pairwise(ends[together : last + 1]):
                if data.rounds[start] >= first:
                    self._learn_rows(slice(start, end))
        else:
            if self._mapped.moves:
                self._move(t)
            self.posterior.restore(state["posterior"])
        self._arrivals, self._together = last, together
        self._oldest, self.best_reward = float(state["oldest"]), float(state["best_reward"])
        self.best_given = float(self.given(np.array([self.best_reward]))[0])
        self._now, self._edits = float(state["now"]), data.edits
