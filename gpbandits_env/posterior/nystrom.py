r"""A Gaussian-process posterior through few of its points: Budgeted Kernel Bandits (BKB).

.. math::
    z(x) = (K_S^{1/2})^+ k_S(x), \quad A = Z^T Z + \lambda I, \quad
    \tilde\mu(x) = z(x)^T A^{-1} Z^T y, \\
    \tilde\sigma^2(x) = (k(x, x) - z(x)^T Z^T Z A^{-1} z(x)) / \lambda

with a dictionary S of past points and lambda = s^2, the noise variance. The variance in reward
units is lambda times that.

Source: Calandriello et al. (2019), "Gaussian Process Optimization with Adaptive Sketching",
Section 3 and Algorithm 1.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, frozen, positive, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.kernels import Kernel
from gpbandits_env.kernels.base import hyper
from gpbandits_env.posterior.arms import one_per_arm
from gpbandits_env.posterior.base import Posterior
from gpbandits_env.posterior.covariances import check_prior, prior_covariance
from gpbandits_env.posterior.elimination import root
from gpbandits_env.posterior.nystrom_features import Solved, solved
from gpbandits_env.posterior.state import check_keys, check_shape, entries
from gpbandits_env.posterior.threads import OneThread

# A point pulled often is in the dictionary about qbar times, and out of it with probability
# exp(-qbar): with 2, one in seven is missing in each round; with 5, one in 150. The theory asks for
# hundreds (`bkb_qbar`).
QBAR = 5.0
PER_ARM = ("counts", "sums", "copies", "sampling_var")


class NystromPosterior(Posterior):
    """What is known of f ~ GP(prior_mean, k) on n arms, through a dictionary of m past points.

    Offers what `ArmPosterior` does, but for time: its data cannot fade. Repeated points share one
    feature vector, so a round costs O(n m^2 + m^3), m the distinct points of the dictionary,
    however many rounds have passed.

    `condition` learns the data of one round under the dictionary at hand, then draws a new one.
    Hallucinated points condition the covariance above as it is.

    Args:
        arms: the n arms.
        kernel: the prior covariance.
        noise_var: s^2 > 0, and the lambda of the formulas.
        prior_mean: a number, or (n,) one an arm.
        qbar: how many points to keep: each past point with probability min(1, qbar sigma~^2);
            5 if it is not given.
        rng: what the dictionary is drawn from.

    Attributes:
        jitter: 0.0; nothing is ever added to a diagonal.
        information_gain: I(y; f) in nats of what was told, each round under its own dictionary.

    Raises:
        InvalidInput: a number out of range, or a prior mean of the wrong shape.
    """

    def __init__(
        self,
        arms: Arms,
        kernel: Kernel,
        noise_var: float,
        prior_mean: ArrayLike = 0.0,
        *,
        qbar: float | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        check_prior(arms, kernel)
        self.domain = self.arms = arms
        if not isinstance(rng, np.random.Generator):
            raise InvalidInput(
                f"a Nystrom posterior needs an rng for its dictionary, got {shown(rng)}"
            )
        self.kernel, self._rng = kernel, rng
        self.noise_var = hyper(noise_var, "the noise_var of a Nystrom posterior")
        self.prior_mean = frozen(one_per_arm(prior_mean, arms.size))
        self.qbar = positive(QBAR if qbar is None else qbar, "qbar")
        self.jitter = 0.0
        self._prior = prior_covariance(arms, kernel)
        self._counts, self._sums, self._copies = np.zeros((3, arms.size))
        self._sampling_var = np.empty(arms.size)
        self._solved: Solved | None = None
        # Hallucinated arms, their rows as in `ArmPosterior`, and the variance given them.
        self._pending: list[int] = []
        self._rows: list[Array] = []
        self._given: Array | None = None
        self.forget()

    @property
    def mean(self) -> Array:
        """(n,) posterior mean, read-only."""
        return frozen(self._solve().mean[:])

    @property
    def var(self) -> Array:
        """(n,) posterior variance in reward units, hallucinated points included, read-only."""
        return frozen((self._solve().var if self._given is None else self._given)[:])

    @property
    def sd(self) -> Array:
        """(n,) posterior standard deviation, fresh."""
        return np.sqrt(self.var)

    @property
    def observed(self) -> IntArray:
        """The arms observed at least once since the prior, in order; fresh."""
        return np.flatnonzero(self._counts)

    def mean_at(self, actions: IntArray) -> Array:
        """(k,) the mean at checked arms, fresh."""
        return self.mean[actions]

    def var_at(self, actions: IntArray) -> Array:
        """(k,) the variance at checked arms, fresh, hallucinated points included."""
        return self.var[actions]

    def mean_at_observed(self) -> Array:
        """The posterior mean at each arm of `observed`, fresh."""
        return self.mean[self.observed]

    @property
    def size(self) -> int:
        """The model order: the points in the dictionary, repeats counted, as they are drawn."""
        return int(self._copies.sum())

    @property
    def dictionary(self) -> IntArray:
        """(m,) the distinct arms of the dictionary, in order; fresh."""
        return np.flatnonzero(self._copies)

    def _learn(self, points: IntArray, rewards: Array) -> None:
        self._sampling_var[:] = self.var
        self.information_gain += self._gain(points)
        np.add.at(self._counts, points, 1.0)
        np.add.at(self._sums, points, rewards - self.prior_mean[points])
        self.redraw()

    def redraw(self) -> None:
        """Draw the dictionary anew from the whole history, as `condition` does.

        Each past point joins, independently, with probability min(1, qbar sigma~^2), the variance
        being the one that the last round was chosen with (Algorithm 1: p_{t+1} by sigma~_t). Of an
        arm pulled c times, Binomial(c, p) copies join.
        """
        self.rollback()
        seen = self.observed
        chance = np.minimum(1.0, self.qbar * self._sampling_var[seen] / self.noise_var)
        self._copies[:] = 0.0
        self._copies[seen] = self._rng.binomial(self._counts[seen].astype(np.int64), chance)
        self._solved = None

    def hallucinate(self, actions: ArrayLike) -> None:
        """Shrink the variance as if these arms had been observed too; the mean stays.

        Args:
            actions: (k,) indices of arms.

        Raises:
            InvalidInput: an arm out of range.
        """
        indices = self.arms.check(actions)
        given = self.var.copy()
        for arm in indices.tolist():
            row = self._covariance(arm)
            for earlier in self._rows:
                row -= earlier[arm] * earlier
            row /= math.sqrt(given[arm] + self.noise_var)
            given -= row * row
            np.maximum(given, 0.0, out=given)
            self._rows.append(row)
            self._pending.append(arm)
        self._given = given

    def rollback(self) -> None:
        """Drop all hallucinated points."""
        self._rows, self._pending, self._given = [], [], None

    def covariance(self, actions: ArrayLike) -> Array:
        """(k, k) posterior covariance among arms; hallucinated points are left out.

        Args:
            actions: (k,) indices of arms.

        Raises:
            InvalidInput: an arm out of range.
        """
        indices = self.arms.check(actions)
        solved = self._solve()
        features, white = solved.features[:, indices], solved.white[:, indices]
        covariance = self._prior.rows(indices)[:, indices]
        covariance += self.noise_var * (white.T @ white) - features.T @ features
        covariance.flat[:: len(indices) + 1] = solved.var[indices]
        return 0.5 * (covariance + covariance.T)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """(size, n) joint draws of f at all arms given the data, by one O(n^3) factorisation.

        Args:
            rng: the source of randomness.
            size: the number of draws.
        """
        factor = root(self.covariance(np.arange(self.arms.size)))
        draws = rng.standard_normal((whole(size, "size", 0), self.arms.size))
        return self._solve().mean + draws @ factor.T

    def advance(self, epsilon: float, dt: float = 1.0) -> None:
        """Refused, unless nothing drifts: BKB is for functions that stand still.

        Raises:
            InvalidInput: epsilon is not 0.
        """
        if positive(epsilon, "epsilon", zero=True) > 0.0:
            raise InvalidInput(
                f"the data of a Nystrom posterior cannot fade, got epsilon={epsilon!r}; use "
                "reset_every or window, or an agent without qbar"
            )

    def forget(self) -> None:
        """Back to the prior: no data, no dictionary, no information."""
        for array in (self._counts, self._sums, self._copies):
            array[:] = 0.0
        self._sampling_var[:] = self._prior.diagonal
        self.information_gain = 0.0
        self._solved = None
        self.rollback()

    def snapshot(self) -> dict[str, Any]:
        """The whole state as a plain dict of arrays and numbers, all copied."""
        return {name: getattr(self, f"_{name}").copy() for name in PER_ARM} | {
            "information_gain": self.information_gain,
            "pending": np.array(self._pending, dtype=np.float64),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot, of this posterior or of one made alike (same arms and kernel).

        Raises:
            InvalidInput: the snapshot does not fit; nothing has changed then.
        """
        check_keys(state, self.snapshot())
        for name in PER_ARM:
            check_shape(state, name, (self.arms.size,))
        check_shape(state, "pending", (entries(state, "pending"),))
        pending = self.arms.check(state["pending"].astype(np.int64))
        gain = positive(state["information_gain"], "information_gain", zero=True)
        for name in PER_ARM:
            getattr(self, f"_{name}")[:] = state[name]
        self.information_gain, self._solved = gain, None
        self.rollback()
        if len(pending):
            self.hallucinate(pending)

    def _gain(self, indices: IntArray) -> float:
        """1/2 log det(I + C / s^2) of new observations; repeats enter by their number."""
        if len(indices) == 1:
            return 0.5 * math.log1p(self.var.item(int(indices[0])) / self.noise_var)
        distinct, times = np.unique(indices, return_counts=True)
        scaled = np.sqrt(times)[:, None] * self.covariance(distinct) * np.sqrt(times)
        return 0.5 * float(np.linalg.slogdet(np.eye(len(times)) + scaled / self.noise_var)[1])

    def _covariance(self, arm: int) -> Array:
        """(n,) covariance of one arm with all, fresh."""
        solved = self._solve()
        row = self.noise_var * (solved.white[:, arm] @ solved.white)
        row -= solved.features[:, arm] @ solved.features
        row += self._prior.row(arm)
        return row

    def _solve(self) -> Solved:
        if self._solved is None:
            with OneThread():
                self._solved = solved(
                    self._prior,
                    self.prior_mean,
                    self.noise_var,
                    self.dictionary,
                    (self._counts, self._sums),
                )
        return self._solved
