"""The points a posterior on a box is conditioned on, and the factor of their covariance."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, flag, positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels.columns import Columns
from gpbandits_env.posterior.arms import BLOCK, observed_gain
from gpbandits_env.posterior.box_model import Model
from gpbandits_env.posterior.box_state import Log
from gpbandits_env.posterior.regression import Regression
from gpbandits_env.posterior.threads import OneThread
from gpbandits_env.posterior.whitening import Whitening

# Points whose correlation with the present has shrunk below this are dropped: the mean then errs
# by at most 1e-8 of its size, the variance by 1e-16.
FADED = 1e-8
# Dropping means a new factor, so it waits until it pays: for so many, and for a quarter of all.
FEWEST_DROPPED, PART_DROPPED = 32, 0.25
NUMBERS = ("jitter", "kept_jitter", "clock")


class Conditioning:
    """Observed points, then hallucinated ones; the inverse of the Cholesky factor grows with them.

    Args:
        model: the prior and the noise.

    Attributes:
        model: the prior and the noise.
        log: the points, rewards and times.
        jitter: the largest amount by which a squared pivot was lifted.
        gain: the information gained from the observed points, also those dropped since.
        version: grows with every change.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.log, self._whitening = Log(model.box.dim), Whitening()
        self.jitter, self.gain = 0.0, 0.0
        self.version = 0
        self._kept: tuple[int, float] | None = None  # Points and jitter before hallucination.
        self._columns: Columns | None = None
        self._regression: Regression | None = None

    @property
    def count(self) -> int:
        """The number of points, hallucinated ones included."""
        return self.log.count

    @property
    def n_observed(self) -> int:
        """The number of observed points; they come first."""
        return self.log.count if self._kept is None else self._kept[0]

    @property
    def white(self) -> Array:
        """W (count, count), the inverse of the Cholesky factor: a view, good until a change."""
        return self._whitening.matrix

    @property
    def columns(self) -> Columns:
        """The kernel at the points, good until a change."""
        if self._columns is None:
            self._columns = self.model.columns(self.log.points)
        return self._columns

    @property
    def regression(self) -> Regression:
        """How moments follow from covariances with the points, good until a change."""
        if self._regression is None:
            self._regression = Regression(self.white, self.log.beta, self.log.fade())
        return self._regression

    def append(self, x: Array, rewards: Array | None) -> None:
        """Points (k, d) seen now, with their rewards (k,) or without; block by block."""
        with OneThread():
            for start in range(0, len(x), BLOCK):
                part = slice(start, start + BLOCK)
                self._append(x[part], None if rewards is None else rewards[part])

    def mark(self) -> None:
        """What is appended from here on is hallucinated."""
        if self._kept is None:
            self._kept = self.log.count, self.jitter

    def rollback(self) -> None:
        """Drop all hallucinated points."""
        if self._kept is not None:
            self.truncate(*self._kept)
            self._kept = None

    def truncate(self, count: int, jitter: float) -> None:
        """Back to the first ``count`` points and the jitter there was then, to the bit."""
        self.log.count = count
        self._whitening.truncate(count)
        self.jitter = jitter
        self._changed()

    def fade(self, epsilon: float, passed: float) -> None:
        """Time passes; points that have faded away are dropped when it pays."""
        log = self.log
        if epsilon == 1.0:
            self.truncate(0, self.jitter)
            log.clear()
            return
        log.clock -= 0.5 * passed * math.log1p(-epsilon)
        dead = log.faded(FADED)
        if dead and dead >= min(log.count, max(FEWEST_DROPPED, PART_DROPPED * log.count)):
            jitter, gain = self.jitter, self.gain
            log.drop(dead)
            self.refactor(self.model)
            self.jitter, self.gain = max(jitter, self.jitter), gain
        self._changed()

    def clear(self) -> None:
        """Back to the prior."""
        self._kept = None
        self.truncate(0, 0.0)
        self.log.clear()
        self.gain = 0.0

    def refactor(self, model: Model) -> None:
        """W and all that hangs on it anew from the observed points, under another model."""
        self.rollback()
        self.model, log = model, self.log
        self._whitening.truncate(0)
        self.jitter, self.gain = 0.0, 0.0
        with OneThread():
            for start in range(0, log.count, BLOCK):
                part = slice(start, min(start + BLOCK, log.count))
                cross = model.kernel(log.points[part], log.points[: part.stop])
                cross *= np.exp(-np.abs(log.stamps[part, None] - log.stamps[: part.stop]))
                log.beta[part] = self._grow(cross[:, :start], cross[:, start:], log.rewards[part])
        self._changed()

    def snapshot(self) -> dict[str, Any]:
        """A copy of the state."""
        kept, jitter = self._kept or (0, 0.0)
        return self.log.snapshot() | self._whitening.snapshot() | {
            "jitter": self.jitter,
            "information_gain": self.gain,
            "hallucinated": self._kept is not None,
            "kept": kept,
            "kept_jitter": jitter,
        }  # fmt: skip

    def check(self, state: Mapping[str, Any]) -> None:
        """Nothing, if `restore` can take the snapshot.

        Raises:
            InvalidInput: it cannot.
        """
        count = self.log.check(state)
        self._whitening.check(state, count)
        if whole(state["kept"], "snapshot entry 'kept'", 0) > count:
            raise InvalidInput(f"snapshot entry 'kept' must be at most {count}")
        flag(state["hallucinated"], "snapshot entry 'hallucinated'")
        if state["information_gain"] != math.inf:  # as it is without noise
            positive(state["information_gain"], "snapshot entry 'information_gain'", zero=True)
        for key in NUMBERS:
            positive(state[key], f"snapshot entry {key!r}", zero=True)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot that was checked."""
        self.log.restore(state)
        self._whitening.restore(state)
        self.jitter, self.gain = float(state["jitter"]), float(state["information_gain"])
        kept = int(state["kept"]), float(state["kept_jitter"])
        self._kept = kept if state["hallucinated"] else None
        self._changed()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_columns": None, "_regression": None}

    def _append(self, x: Array, rewards: Array | None) -> None:
        cross = np.zeros((len(x), 0))
        if self.log.count:
            cross, fade = self.columns(x), self.log.fade()
            if fade is not None:
                cross *= fade
        beta = self._grow(cross, self.model.kernel(x, x), rewards)
        self.log.extend(x, np.zeros(len(x)) if rewards is None else rewards, beta)
        self._changed()

    def _grow(self, cross: Array, gram: Array, rewards: Array | None) -> Array:
        """One more block of W; the new points' whitened surprises (k,)."""
        past, noise_var = self.log.beta[: self._whitening.count], self.model.noise_var
        gram.flat[:: len(gram) + 1] += self.model.least_noise
        left, corner, pivots, jitter = self._whitening.extend(cross, gram, self.model.floor)
        self.jitter = max(self.jitter, jitter, self.model.least_noise - noise_var)
        if rewards is None:
            return np.zeros(len(gram))
        for pivot in pivots.tolist():
            self.gain += observed_gain(max(pivot - noise_var, 0.0), noise_var)
        return np.asarray(corner @ (rewards - self.model.prior_mean - left @ past))

    def _changed(self) -> None:
        """Forget what was worked out from the state as it was."""
        self.version += 1
        self._columns, self._regression = None, None
