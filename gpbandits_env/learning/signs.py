r"""A Gaussian process that is observed only by its sign: the model of a classification.

.. math:: P(y_i = 1 \mid f) = \Phi(f(x_i)), \quad f \sim GP(m, k)

Expectation propagation replaces each label by a Gaussian observation of f, its site, such that the
marginal distributions of f agree. With these observations, any Gaussian-process posterior is that
of the classification. All sites are updated together. A large variance of f lets the probability
change abruptly between points that are close, which a regression on labels can only do with a short
lengthscale.

Source: Rasmussen & Williams (2006), Sections 3.6 and 5.5.2.
Departures: 1. sites are updated in parallel, with damping; 2. hyperparameters maximize the
approximate evidence times a prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import Bounds, minimize
from scipy.special import erfcx, log_ndtr

from gpbandits_env.arrays import Array
from gpbandits_env.kernels import Matern52

# The prior on the unit cube: the medians and standard deviations of the logarithms of the
# lengthscale, in units of sqrt(d), and of the variance. Failures are rarely random, so the variance
# may be very large. The mean, in standard deviations of f, is standard normal.
LENGTHSCALE, LENGTHSCALE_SD = 0.5, 1.0
VARIANCE, VARIANCE_SD = 1e3, 3.0
# The bounds of the logarithms around their medians, and of the mean.
REACH, REACH_VARIANCE = 3.0, 11.5
# The logarithms of several lengthscales differ from the common one by this in the sum of squares.
DIFFERENCES = 5.0
# Hyperparameters are learned from at most this many labels, the last ones.
LAST = 300
# Evaluations of the evidence per fit; sweeps of expectation propagation, and when they end.
EVALUATIONS, SWEEPS, TOLERANCE = 25, 60, 1e-4
# The least precision of a site, and the least that remains of a marginal precision without a site.
LEAST, LEFT = 1e-12, 1e-8
# Below this argument, an asymptotic formula replaces a difference of numbers that are almost equal.
FAR = -1e3


class Approximation(NamedTuple):
    """The sites of f - m, as precisions and precisions times targets (n,), and the evidence.

    ``gradient`` is an (n, n) matrix B: the derivative of the log evidence in the direction of
    covariances K is sum(B K) / 2. ``pull`` (n,) is its derivative in the prior means.
    """

    precision: Array
    shift: Array
    log_evidence: float
    gradient: Array
    pull: Array


@dataclass(frozen=True)
class SignModel:
    """The learned prior of f, in units in which the noise of a label has variance 1.

    Args:
        lengthscales: one for each group of coordinates.
        variance: the variance of f.
        mean: the mean of f.
        groups: the group of each coordinate of a point.
    """

    lengthscales: tuple[float, ...]
    variance: float
    mean: float
    groups: tuple[int, ...]

    @property
    def kernel(self) -> Matern52:
        """The covariance of f."""
        return Matern52(tuple(self.lengthscales[g] for g in self.groups), self.variance)

    @staticmethod
    def prior(groups: Sequence[int]) -> "SignModel":
        """The median of the prior, for these groups of coordinates."""
        lengthscale = LENGTHSCALE * len(groups) ** 0.5
        return SignModel((lengthscale,) * (max(groups) + 1), VARIANCE, 0.0, tuple(groups))

    def fitted(self, points: Array, labels: Array) -> "SignModel":
        """The most likely model, by a search from this one; O(n^3) for n labels, at most `LAST`.

        Args:
            points: (n, d) in the unit cube.
            labels: (n,) of -1 or 1.
        """
        points, labels = points[-LAST:], labels[-LAST:]
        center, precision = self._normal()
        sites: list[Approximation] = []

        def loss(u: Array) -> tuple[float, Array]:
            model = self._of(u)
            grams = model.kernel.parameter_gradients(points)
            at = propagated(grams["variance"], labels, model.mean, *sites[-1:])
            sites.append(at)
            own = {name: 0.5 * float(np.vdot(at.gradient, gram)) for name, gram in grams.items()}
            in_mean = float(at.pull.sum())
            by_coordinate = [own[f"lengthscale.{j}"] for j in range(points.shape[1])]
            in_scales = np.bincount(self.groups, by_coordinate)
            # The last entry of u is the mean in standard deviations of f.
            in_variance = own["variance"] + 0.5 * in_mean * model.mean
            slope = np.array([*in_scales, in_variance, in_mean * model.variance**0.5])
            away = u - center
            pulled = precision @ away
            return 0.5 * float(away @ pulled) - at.log_evidence, pulled - slope

        start = np.log([*self.lengthscales, self.variance, 1.0])
        start[-1] = self.mean / self.variance**0.5
        reach = np.array([*[REACH] * len(self.lengthscales), REACH_VARIANCE, REACH])
        limits = np.stack([center - reach, center + reach])
        found = minimize(
            loss,
            np.clip(start, *limits),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(*limits),
            options={"maxfun": EVALUATIONS},
        )
        return self._of(found.x)

    def _normal(self) -> tuple[Array, Array]:
        """The mean and the precision matrix of the normal prior of u; see `_of`."""
        median, n = self.prior(self.groups), len(self.lengthscales)
        center = np.array([*np.log([*median.lengthscales, median.variance]), 0.0])
        covariance = np.diag([*[min(3.0, DIFFERENCES / n)] * n, VARIANCE_SD**2, 1.0])
        covariance[:n, :n] += LENGTHSCALE_SD**2 - covariance[0, 0] / n
        return center, np.linalg.inv(covariance)

    def _of(self, u: Array) -> "SignModel":
        """The model with these logarithms, and last the mean in standard deviations of f."""
        *scales, variance = np.exp(u[:-1]).tolist()
        return SignModel(tuple(scales), variance, float(u[-1]) * variance**0.5, self.groups)

    def targets(self, points: Array, labels: Array) -> tuple[Array, Array]:
        """Observations of f in place of labels (n,) at points (n, d): values and noise variances.

        Cost: O(n^3).
        """
        at = propagated(self.kernel(points), labels, self.mean)
        return self.mean + at.shift / at.precision, 1.0 / at.precision


def site(mean: Array, var: Array, labels: Array) -> tuple[Array, Array]:
    """The observation of f that moves N(mean, var) as a label does: value and noise variance.

    All arrays are (n,). The moments are those of N(f | mean, var) Phi(label f); see eqs.
    (3.58)-(3.59) of Rasmussen & Williams.
    """
    scale = np.sqrt(1.0 + var)
    z = labels * mean / scale
    hazard = np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))  # phi(z) / Phi(z)
    far = z < FAR
    left = np.where(far, 1.0 / np.where(far, z, 1.0) ** 2, 1.0 - hazard * (z + hazard))
    noise_var = 1.0 / np.maximum((1.0 - left) / (1.0 + var * left), LEAST)
    return mean + labels * hazard / scale * (noise_var + var), noise_var


def propagated(
    gram: Array, labels: Array, mean: float, start: Approximation | None = None
) -> Approximation:
    """Expectation propagation for labels (n,) with prior covariances (n, n) and a prior mean.

    Cost: O(n^3) per sweep. Other sites to start from save sweeps.
    """
    n, damping, last = len(labels), 1.0, np.inf
    precision = np.full(n, LEAST) if start is None else start.precision
    shift = np.zeros(n) if start is None else start.shift
    at = _Marginals(gram, precision, shift)
    for _ in range(SWEEPS):
        values, noise_var = site(mean + at.mean, at.var, labels)
        new = 1.0 / noise_var, (values - mean) / noise_var
        change = max(_change(precision, new[0]), _change(shift, new[1]))
        if change < TOLERANCE:
            break
        damping = max(0.3, 0.7 * damping) if change > last else damping
        last = change
        precision = precision + damping * (new[0] - precision)
        shift = shift + damping * (new[1] - shift)
        at = _Marginals(gram, precision, shift)
    return at.approximation(labels, mean)


class _Marginals:
    """The marginal distributions of f - m without their own sites: means and variances (n,)."""

    def __init__(self, gram: Array, precision: Array, shift: Array) -> None:
        self._precision, self._shift, self._root = precision, shift, np.sqrt(precision)
        scaled = self._root[:, None] * gram
        b = scaled * self._root
        b.flat[:: len(b) + 1] += 1.0
        self._factor = np.linalg.cholesky(b)
        half = solve_triangular(self._factor, scaled, lower=True)
        var = np.maximum(np.diag(gram) - np.einsum("ij,ij->j", half, half), LEAST)
        self._prior = gram @ shift
        self._inner = self._prior - half.T @ (half @ shift)
        without = np.maximum(1.0 / var - precision, LEFT / var)
        self.var = 1.0 / without
        self.mean = (self._inner / var - shift) * self.var

    def approximation(self, labels: Array, mean: float) -> Approximation:
        """The sites, and the evidence of the labels; eqs. (3.65) and (5.27)."""
        precision, shift, root = self._precision, self._shift, self._root
        z = labels * (mean + self.mean) / np.sqrt(1.0 + self.var)
        together = precision + 1.0 / self.var
        evidence = log_ndtr(z) + 0.5 * np.log1p(precision * self.var)
        evidence += 0.5 * shift * self._inner - 0.5 * shift**2 / together
        pulled = self.mean * (precision * self.mean - 2.0 * shift) / self.var
        evidence += 0.5 * pulled / together - np.log(np.diag(self._factor))
        pull = shift - root * cho_solve((self._factor, True), root * self._prior)
        inverse = cho_solve((self._factor, True), np.diag(root))
        gradient = np.outer(pull, pull) - root[:, None] * inverse
        return Approximation(precision, shift, float(evidence.sum()), gradient, pull)


def _change(old: Array, new: Array) -> float:
    """The largest change, relative to the largest number and 1."""
    return float(np.abs(new - old).max() / (1.0 + np.abs(old).max()))
