r"""The Nystrom posterior of Budgeted Kernel Bandits (BKB), based on a few of the observed points.

.. math::
    z(x) = (K_S^{1/2})^+ k_S(x), \quad A = Z^T Z + \lambda I, \quad
    \tilde\mu(x) = z(x)^T A^{-1} Z^T y, \\
    \tilde\sigma^2(x) = (k(x, x) - z(x)^T Z^T Z A^{-1} z(x)) / \lambda

S is a dictionary of past points and lambda = s^2 is the noise variance. In units of the reward, the
posterior variance is lambda times the one above.

Source: Calandriello et al. (2019), "Gaussian Process Optimization with Adaptive Sketching",
Section 3 and Algorithm 1.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, IntArray, State, finite_array, frozen, positive, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.kernels.kernel import hyper
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.posterior.covariances import check_prior, one_per_arm, prior_covariance
from gpbandits_env.gp.posterior.posterior import Posterior
from gpbandits_env.gp.threads import OneThread

# The theory requires hundreds (`bkb_qbar`). Where points are drawn once per pull, an arm that is
# pulled often is in the dictionary about qbar times, and missing with probability exp(-qbar), which
# is 1 in 150 for qbar = 5.
QBAR = 5.0
# What is drawn: an arm once, or each of its pulls.
PER = ("arm", "pull")
# Eigenvalues of K_S below this part of the largest count as 0. Rounding changes a feature with
# relative eigenvalue v by about 1e-16 / v. Compared with 60 digits (1000 arms, neighbors in the
# dictionary), errors are mostly below 1e-8, and at worst 7e-5 in the mean and 5e-7 in the variance.
CUT_OFF = 1e-13
# What depends on the dictionaries that were drawn, with the data that it is a part of.
DRAWN = ("_counts", "_sums", "_copies", "_sampling_var")


@dataclass(frozen=True)
class Solution:
    """Mean and variance (n,) under one dictionary, and two (r, n) blocks.

    The covariance of two arms is k(x, x') - features^T features' + lambda white^T white'.
    """

    mean: Array
    var: Array
    features: Array
    white: Array


class NystromPosterior(Posterior):
    """The posterior of f ~ GP(prior_mean, k) on n arms from a dictionary of m past points.

    It does not support drift. A round costs O(n m^2 + m^3) with m distinct points in the
    dictionary, for any number of rounds. `condition` adds the data of one round under the present
    dictionary, and then draws a new one. Hallucinated points condition the present covariance.

    Args:
        arms: the n arms.
        kernel: the prior covariance.
        noise_var: s^2 > 0, the lambda of the formulas.
        prior_mean: a number, or one per arm, (n,).
        qbar: the factor of the probabilities with which points are included; by default 5.
        per: "arm", the default, includes an arm with n pulls once, with probability
            min(1, qbar sigma~^2 n), as the public code of BKB's authors does; "pull" includes each
            of its pulls with probability min(1, qbar sigma~^2), as in Algorithm 1.
        rng: the generator of the dictionary.

    Attributes:
        size: the number of distinct points in the dictionary.
        jitter: 0.0; nothing is added to a diagonal.
        information_gain: I(y; f) in nats, with the data of each round under its own dictionary.
    Raises:
        InvalidInput: a number is out of range, or the prior mean has the wrong shape.
    """

    prior_mean: Array

    def __init__(
        self,
        arms: Arms,
        kernel: Kernel,
        noise_var: float,
        prior_mean: ArrayLike = 0.0,
        *,
        qbar: float | None = None,
        per: str | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        check_prior(arms, kernel)
        self.domain = self.arms = arms
        if not isinstance(rng, np.random.Generator):
            raise InvalidInput(
                f"a Nystrom posterior needs a generator rng for its dictionary, got {shown(rng)}"
            )
        self.kernel, self._rng = kernel, rng
        self.noise_var = hyper(noise_var, "the noise_var of a Nystrom posterior")
        self.prior_mean = one_per_arm(prior_mean, arms.size)
        self.qbar = positive(QBAR if qbar is None else qbar, "qbar")
        self.per = one_of(per or PER[0], PER, "way to draw a dictionary")
        self.jitter = 0.0
        self._prior = prior_covariance(arms, kernel)
        self._counts, self._sums, self._copies = np.zeros((3, arms.size))
        self._sampling_var = np.empty(arms.size)
        # The rows of hallucinated arms as in `ArmPosterior`, and the variance given these arms.
        self._rows: list[Array] = []
        self._given: Array | None = None
        self.forget()

    @property
    def mean(self) -> Array:  # type: ignore[override]
        return frozen(self._solved.mean[:])

    @property
    def var(self) -> Array:  # type: ignore[override]
        return frozen((self._solved.var if self._given is None else self._given)[:])

    @property
    def observed(self) -> IntArray:
        return np.flatnonzero(self._counts)

    @property
    def dictionary(self) -> IntArray:
        """The distinct arms of the dictionary in increasing order, a new array (m,)."""
        return np.flatnonzero(self._copies)

    @property
    def rank(self) -> int:
        """The number of features: eigenvalues of K_S that do not count as 0, at most `size`."""
        return len(self._solved.features)

    def learn(self, points: IntArray, rewards: Array, noise_var: Array | None = None) -> None:
        self.rollback()
        if not len(points):
            return
        self._sampling_var[:] = self.var
        self.information_gain += self._gain(points)
        np.add.at(self._counts, points, 1.0)
        np.add.at(self._sums, points, rewards - self.prior_mean[points])
        self.redraw()

    def redraw(self) -> None:
        """Draw a new dictionary from all past points, as `condition` does.

        The variance is the one under which the last round was chosen (Algorithm 1: p_{t+1} by
        sigma~_t).
        """
        self.rollback()
        seen = self.observed
        chance, pulls = self.qbar * self._sampling_var[seen] / self.noise_var, self._counts[seen]
        self._copies[:] = 0.0
        if self.per == "arm":
            self._copies[seen] = self._rng.random(len(seen)) < chance * pulls
        else:
            self._copies[seen] = self._rng.binomial(pulls.astype(np.int64), np.minimum(1.0, chance))
        self._redrawn()

    def hallucinate(self, points: ArrayLike) -> None:
        indices = self.arms.check(points)
        given = self.var.copy()
        for arm in indices.tolist():
            row = self._covariance(arm)
            for earlier in self._rows:
                row -= earlier[arm] * earlier
            row /= math.sqrt(given[arm] + self.noise_var)
            given -= row * row
            np.maximum(given, 0.0, out=given)
            self._rows.append(row)
        self._given = given

    def rollback(self) -> None:
        self._rows, self._given = [], None

    def covariance(self, points: ArrayLike) -> Array:
        indices = self.arms.check(points)
        covariance = self._among(indices)
        for row in self._rows:
            covariance -= np.outer(row[indices], row[indices])
        return covariance

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Joint draws of f at all arms given the data, (size, n), by one O(n^3) factorization."""
        factor = root(self._among(np.arange(self.arms.size)))
        draws = rng.standard_normal((whole(size, "size", 0), self.arms.size))
        return self._solved.mean + draws @ factor.T

    def forget(self) -> None:
        for array in (self._counts, self._sums, self._copies):
            array[:] = 0.0
        self._sampling_var[:] = self._prior.diagonal
        self.information_gain = 0.0
        self.rollback()
        self._redrawn()

    def state(self) -> State:
        gain = np.array(self.information_gain)
        return {name: getattr(self, name).copy() for name in DRAWN} | {"information_gain": gain}

    def restore(self, state: State) -> None:
        shape = self._counts.shape
        found = {name: finite_array(state[name], name) for name in (*DRAWN, "information_gain")}
        if any(found[name].shape != shape for name in DRAWN):
            raise InvalidInput(f"the arrays of a Nystrom posterior must have shape {shape}")
        self.rollback()
        for name in DRAWN:
            getattr(self, name)[:] = found[name]
        self.information_gain = float(found["information_gain"])
        self._redrawn()

    def drift(self, epsilon: float, dt: float) -> None:
        raise InvalidInput(
            f"a Nystrom posterior does not support drift, got epsilon={epsilon!r}: use "
            "reset_every or window, or another posterior"
        )

    def _redrawn(self) -> None:
        self.size = int(np.count_nonzero(self._copies))
        self.__dict__.pop("_solved", None)

    def _gain(self, indices: IntArray) -> float:
        """1/2 log det(I + C / s^2) for new observations, including repeats."""
        if len(indices) == 1:
            return 0.5 * math.log1p(self.var.item(int(indices[0])) / self.noise_var)
        distinct, times = np.unique(indices, return_counts=True)
        scaled = np.sqrt(times)[:, None] * self._among(distinct) * np.sqrt(times)
        return 0.5 * float(np.linalg.slogdet(np.eye(len(times)) + scaled / self.noise_var)[1])

    def _among(self, arms: IntArray) -> Array:
        """The covariance among arms given the data, without hallucinated points, (k, k)."""
        solved = self._solved
        features, white = solved.features[:, arms], solved.white[:, arms]
        covariance = self._prior.rows(arms)[:, arms]
        covariance += self.noise_var * (white.T @ white) - features.T @ features
        covariance.flat[:: len(arms) + 1] = solved.var[arms]
        return 0.5 * (covariance + covariance.T)

    def _covariance(self, arm: int) -> Array:
        """The covariance of one arm with all arms, a new array (n,)."""
        solved = self._solved
        row = self.noise_var * (solved.white[:, arm] @ solved.white)
        row -= solved.features[:, arm] @ solved.features
        row += self._prior.row(arm)
        return row

    @cached_property
    def _solved(self) -> Solution:
        """The present posterior, O(n m^2 + m^3) after a change."""
        with OneThread():
            prior, counts, dictionary = self._prior, self._counts, self.dictionary
            seen = self.observed
            cross = prior.rows(dictionary)
            features = nystrom_features(cross[:, dictionary], cross)  # z(x) for all arms
            weighted = features[:, seen] * np.sqrt(counts[seen])
            matrix = weighted @ weighted.T  # Z^T Z
            matrix.flat[:: len(matrix) + 1] += self.noise_var  # A
            inverse = np.linalg.inv(np.linalg.cholesky(matrix))
            white = inverse @ features
            mean = self.prior_mean + (inverse @ (features[:, seen] @ self._sums[seen])) @ white
            # z^T Z^T Z A^-1 z = z^T z - lambda z^T A^-1 z.
            missed = np.maximum(prior.diagonal - np.einsum("ij,ij->j", features, features), 0.0)
            var = missed + self.noise_var * np.einsum("ij,ij->j", white, white)
            return Solution(mean, var, features, white)


def nystrom_features(gram: Array, cross: Array) -> Array:
    """The features (K_S^(1/2))^+ k_S(x), rotated into the eigenbasis of K_S: (r, n), r <= m.

    ``gram`` (m, m) is K_S, and ``cross`` (m, n) is k_S at n points. The rotation does not change
    inner products of feature vectors.
    """
    if not len(gram):
        return cross[:0].copy()
    values, vectors = np.linalg.eigh(gram)
    kept = values > CUT_OFF * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])).T @ cross
