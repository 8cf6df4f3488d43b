r"""A Gaussian process that is observed only by its sign: the model of a classification.

.. math:: P(y_i = 1 \mid f) = (1 - q) \Phi(f(x_i)), \quad f \sim GP(m, k)

The chance q that a label is -1 whatever f is may be 0 or learned. A label of -1 where f is positive
with probability p is then due to chance with probability p q / (p q + 1 - p): alone among labels of
1 it says little, and beside others, or once it was repeated, it says that f is negative.

Expectation propagation replaces each label by a Gaussian observation of f, its site, such that the
marginal distributions of f agree. With these observations, any Gaussian-process posterior is that
of the classification. All sites are updated together. A large variance of f lets the probability
change abruptly between points that are close, which a regression on labels can only do with a short
lengthscale.

Source: Rasmussen & Williams (2006), Sections 3.6 and 5.5.2.
Departures: 1. sites are updated in parallel, with damping and Anderson's acceleration;
2. hyperparameters maximize the approximate evidence times a prior; 3. where chance makes a site's
precision negative, it is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import erfcx, expit, log_ndtr, logit

from gpbandits_env.arrays import Array, leading
from gpbandits_env.gp.descent import descend
from gpbandits_env.gp.kernels import Matern52

# The prior on the unit cube: the medians and standard deviations of the logarithms of the
# lengthscale, in units of sqrt(d), and of the variance. Failures are rarely random, so the variance
# may be very large. The mean, in standard deviations of f, is standard normal.
LENGTHSCALE, LENGTHSCALE_SD = 0.5, 1.0
VARIANCE, VARIANCE_SD = 1e3, 3.0
# The median of the chance, if it is learned, and the standard deviation of its logit.
CHANCE, CHANCE_SD = 0.1, 2.5
# The chances from which it is searched, because failures may look like those of a place or not.
SMALL, LARGE = 0.02, 0.25
# The bounds of the logarithms around their medians, of the mean, and of the logit.
REACH, REACH_VARIANCE, REACH_CHANCE = 3.0, 11.5, 4.0
# The logarithms of lengthscales differ from the common one by at most this in the sum of squares,
# on average.
DIFFERENCES = 5.0
# Hyperparameters are learned from at most this many labels, the last ones.
LAST = 300
# Evaluations of the evidence per search; sweeps of expectation propagation, and when they end. With
# a larger tolerance the evidence is not smooth, and processors end their searches elsewhere.
EVALUATIONS, SWEEPS, TOLERANCE = 25, 200, 1e-8
# Sweeps before the first accelerated one, those that it uses, and the growth that stops them.
WAIT, MEMORY, GROWTH = 5, 6, 2.0
# Where rounding prevents the tolerance, below this, so many sweeps without progress are the last.
ROUNDED, PATIENCE = 1e-5, 10
# The largest noise variance in whose units a change is counted.
LARGEST = 1e6
# The least precision of a site, and the least that remains of a marginal precision without a site.
LEAST, LEFT = 1e-12, 1e-8
# Below this argument, an asymptotic formula replaces a difference of numbers that are almost equal.
FAR = -1e3


class Approximation(NamedTuple):
    """The sites of f - m, as precisions and precisions times targets (n,), and the evidence.

    ``gradient`` is an (n, n) matrix B: the derivative of the log evidence in the direction of
    covariances K is sum(B K) / 2. ``pull`` (n,) is its derivative in the prior means, and
    ``in_chance`` that in the chance, or 0 without one.
    """

    precision: Array
    shift: Array
    log_evidence: float
    gradient: Array
    pull: Array
    in_chance: float


@dataclass(frozen=True)
class SignModel:
    """The learned prior of f, in units in which the noise of a label has variance 1.

    Args:
        lengthscales: one for each group of coordinates.
        variance: the variance of f.
        mean: the mean of f.
        groups: the group of each coordinate of a point.
        chance: the probability of a label -1 wherever f is positive; 0 is never learned anew.
    """

    lengthscales: tuple[float, ...]
    variance: float
    mean: float
    groups: tuple[int, ...]
    chance: float = 0.0

    @property
    def kernel(self) -> Matern52:
        """The covariance of f."""
        return Matern52(tuple(self.lengthscales[g] for g in self.groups), self.variance)

    @staticmethod
    def prior(groups: Sequence[int], chance: float = 0.0) -> "SignModel":
        """The median of the prior, for these groups of coordinates."""
        lengthscale = LENGTHSCALE * len(groups) ** 0.5
        return SignModel((lengthscale,) * (max(groups) + 1), VARIANCE, 0.0, tuple(groups), chance)

    def fitted(self, points: Array, labels: Array) -> "SignModel":
        """The most likely model, by a search from this one, and with a chance by one more.

        Cost: O(n^3) for the last n labels, at most `LAST`.

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
            at = propagated(grams["variance"], labels, model.mean, model.chance, *sites[-1:])
            sites.append(at)
            own = {name: 0.5 * float(np.vdot(at.gradient, gram)) for name, gram in grams.items()}
            in_mean = float(at.pull.sum())
            by_coordinate = [own[f"lengthscale.{j}"] for j in range(points.shape[1])]
            in_scales = np.bincount(self.groups, by_coordinate)
            # The mean is in standard deviations of f, the chance as its logit.
            in_variance = own["variance"] + 0.5 * in_mean * model.mean
            in_logit = at.in_chance * model.chance * (1.0 - model.chance)
            slope = np.array([*in_scales, in_variance, in_mean * model.variance**0.5, in_logit])
            slope = slope[: len(u)]
            away = u - center
            pulled = precision @ away
            return 0.5 * float(away @ pulled) - at.log_evidence, pulled - slope

        reach = np.array([*[REACH] * len(self.lengthscales), REACH_VARIANCE, REACH, REACH_CHANCE])
        limits = center + np.stack([-reach, reach])[:, : len(center)]
        found = [
            descend(loss, np.clip(start, *limits), limits, maxfun=EVALUATIONS)
            for start in self._starts()
        ]
        return self._of(found[int(leading(np.array([-one.fun for one in found])))].x)

    def _starts(self) -> list[Array]:
        """This model, and one from which the search finds another reason of the labels -1."""
        rest = [np.log(self.variance), self.mean / self.variance**0.5]
        own = np.array([*np.log(self.lengthscales), *rest])
        if not self.chance:
            return [own]
        center, _ = self._normal()
        center[-2:] = (0.0, logit(SMALL)) if self.chance > CHANCE else (1.0, logit(LARGE))
        return [np.append(own, logit(self.chance)), center]

    def _normal(self) -> tuple[Array, Array]:
        """The mean and the precision matrix of the normal prior of u; see `_of`."""
        median, n = self.prior(self.groups), len(self.lengthscales)
        center = np.array([*np.log([*median.lengthscales, median.variance]), 0.0, logit(CHANCE)])
        covariance = np.diag([*[min(3.0, DIFFERENCES / n)] * n, VARIANCE_SD**2, 1.0, CHANCE_SD**2])
        covariance[:n, :n] += LENGTHSCALE_SD**2 - covariance[0, 0] / n
        size = n + 3 if self.chance else n + 2
        return center[:size], np.linalg.inv(covariance[:size, :size])

    def _of(self, u: Array) -> "SignModel":
        """The model with these logarithms, mean in standard deviations of f, and logit."""
        n = len(self.lengthscales)
        *scales, variance = np.exp(u[: n + 1]).tolist()
        chance = float(expit(u[n + 2])) if self.chance else 0.0
        mean = float(u[n + 1]) * variance**0.5
        return SignModel(tuple(scales), variance, mean, self.groups, chance)

    def targets(self, points: Array, labels: Array) -> tuple[Array, Array]:
        """Observations of f instead of labels (n,) at points (n, d): values and noise variances."""
        at = propagated(self.kernel(points), labels, self.mean, self.chance)
        return self.mean + at.shift / at.precision, 1.0 / at.precision


def site(mean: Array, var: Array, labels: Array, chance: float = 0.0) -> tuple[Array, Array]:
    """The observation of f that moves N(mean, var) as a label does: value and noise variance.

    All arrays are (n,). The moments are those of N(f | mean, var) times the probability of the
    label; see eqs. (3.58)-(3.59) of Rasmussen & Williams.
    """
    scale = np.sqrt(1.0 + var)
    z = labels * mean / scale
    # The share of the label that f explains, times phi(z) / Phi(z): the derivative of log Z.
    share = np.exp(_log_explained(z, chance) - _log_evidence(z, labels, chance))
    slope = share * np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))
    far = (z < FAR) & (share > 0.0)
    left = np.where(far, 1.0 / np.where(far, z, 1.0) ** 2, 1.0 - slope * (z + slope))
    noise_var = 1.0 / np.maximum((1.0 - left) / (1.0 + var * left), LEAST)
    return mean + labels * slope / scale * (noise_var + var), noise_var


def _log_explained(z: Array, chance: float) -> Array:
    return np.asarray(np.log1p(-chance) + log_ndtr(z))


def _log_evidence(z: Array, labels: Array, chance: float) -> Array:
    """The log-probability of labels: log Z."""
    explained = _log_explained(z, chance)
    if not chance:
        return explained
    return np.where(labels > 0.0, explained, np.logaddexp(explained, np.log(chance)))


def propagated(
    gram: Array, labels: Array, mean: float, chance: float = 0.0, start: Approximation | None = None
) -> Approximation:
    """Expectation propagation for labels (n,) with prior covariances (n, n) and a prior mean.

    Cost: O(n^3) per sweep. Other sites to start from save sweeps.
    """
    cold = np.full(len(labels), LEAST), np.zeros(len(labels))
    sites = np.stack(cold if start is None else (start.precision, start.shift))
    at, damping, wait = _Marginals(gram, *sites), 1.0, WAIT
    least, last, idle, tried = np.inf, np.inf, 0, list[Array]()
    for _ in range(SWEEPS):
        values, noise_var = site(mean + at.mean, at.var, labels, chance)
        full = np.stack([1.0 / noise_var, (values - mean) / noise_var])
        moves = full - sites
        change = float((np.abs(moves).max(1) / (1.0 + np.abs(sites).max(1))).max())
        idle = 0 if change < least else idle + 1
        if change < TOLERANCE or (change < ROUNDED and idle >= PATIENCE):
            break
        accelerated = len(tried) > wait
        if change > (GROWTH * least if accelerated else last):
            damping = max(0.5, 0.7 * damping)
            if accelerated:  # it begins anew after twice as many plain sweeps
                wait, least = 2 * wait, change
                tried.clear()
        least, last = min(least, change), change
        tried.append(np.stack([sites, moves]))
        if len(tried) > wait:
            new = _accelerated(np.array(tried[-MEMORY:]), noise_var, damping)
        else:
            new = sites + damping * moves
        new[0] = np.maximum(new[0], 0.5 * np.minimum(sites[0], full[0]))
        sites, at = new, _Marginals(gram, *new)
    return at.approximation(labels, mean, chance)


def _accelerated(tried: Array, noise_var: Array, damping: float) -> Array:
    """Sites (2, n) by Anderson's acceleration, from the last ones and their moves (m, 2, 2, n)."""
    # A precision is in units of itself, a shift in those of its square root.
    noise_var = np.minimum(noise_var, LARGEST)
    units = np.stack([noise_var, np.sqrt(noise_var)])
    others = tried[:-1] - tried[-1]
    ahead = (others[:, 1] * units).reshape(len(others), -1)
    shares = np.linalg.lstsq(ahead.T, (tried[-1, 1] * units).ravel(), rcond=1e-10)[0]
    sites, moves = tried[-1] - np.tensordot(shares, others, 1)
    return np.asarray(sites + damping * moves)


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

    def approximation(self, labels: Array, mean: float, chance: float) -> Approximation:
        """The sites, and the evidence of the labels; eqs. (3.65) and (5.27)."""
        precision, shift, root = self._precision, self._shift, self._root
        z = labels * (mean + self.mean) / np.sqrt(1.0 + self.var)
        together = precision + 1.0 / self.var
        known = _log_evidence(z, labels, chance)
        evidence = known + 0.5 * np.log1p(precision * self.var)
        evidence += 0.5 * shift * self._inner - 0.5 * shift**2 / together
        pulled = self.mean * (precision * self.mean - 2.0 * shift) / self.var
        evidence += 0.5 * pulled / together - np.log(np.diag(self._factor))
        pull = shift - root * cho_solve((self._factor, True), root * self._prior)
        inverse = cho_solve((self._factor, True), np.diag(root))
        gradient = np.outer(pull, pull) - root[:, None] * inverse
        # The probability of a label is linear in the chance, with the value 0 or 1 at 1.
        unlikely = np.where(labels > 0.0, np.inf, known) if chance else np.zeros_like(known)
        in_chance = float(np.expm1(-unlikely).sum()) / (1.0 - chance)
        total = float(evidence.sum())
        return Approximation(precision, shift, total, gradient, pull, in_chance)
