r"""The log marginal likelihood of a (drifting) Gaussian process, with its gradient.

.. math:: \log p(y) = -\tfrac12 (y - m)^T \Sigma^{-1} (y - m) - \tfrac12 \log\det\Sigma
    - \tfrac n2 \log 2\pi, \quad \Sigma = K \circ D + s^2 I, \quad
    D_{ij} = (1 - \epsilon)^{|t_i - t_j| / 2}

If m is the best mean, the gradient has the same form (envelope theorem).

Source: bogunovic2016, Appendix B, eqs. (24)-(25); Rasmussen & Williams (2006), eqs. (5.8)-(5.9).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from gpbandits_env.arrays import Array, IntArray, positive
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import Kernel, Stationary
from gpbandits_env.gp.kernels.stationary import distances
from gpbandits_env.gp.learning.data import Observations
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import MarkovTime, TemporalKernel

# The step of a difference in the logarithm of a parameter of time. T is exact to 1e-15, and over
# many periods its second derivative is large.
STEP = 1e-8
# An epsilon that is none.
SMALLEST = 1e-100
# Maps alpha alpha^T - Sigma^-1 to the derivatives of log p(y) in the logs of the parameters. It
# takes the pairs i < j (which may be overwritten), the diagonal and the trace.
Pull: TypeAlias = Callable[[Array, Array, float], Array]


class Likelihood(NamedTuple):
    """log p(y), its gradient, and the prior mean, which is given or the best one.

    The gradient is with respect to the logs of the parameters of the covariances and the log noise.
    """

    value: float
    gradient: Array
    mean: float = 0.0


class Covariances(ABC):
    """The prior covariances of n points, as a function of the kernel parameters."""

    def __init__(self, points: Array) -> None:
        self.points = points
        self.i, self.j = np.triu_indices(len(points), 1)
        self.pairs = self.i * len(points) + self.j

    @abstractmethod
    def __call__(self, theta: Array) -> tuple[Array, float | Array, Pull]:
        """The covariances of the pairs i < j, the variances, and the pull-back of gradients."""

    def apart(self, count: int) -> "list[tuple[Covariances, slice]]":
        """The covariances of each of several terms, and their parameters; these alone for one."""
        assert count == 1, "only sums have several terms"
        return [(self, slice(None))]


class KernelCovariances(Covariances):
    """The covariances of any kernel, as a function of some parameters; an n x n matrix for each."""

    def __init__(self, kernel: Kernel, points: Array, names: Sequence[str]) -> None:
        super().__init__(points)
        self._kernel, self._names = kernel, names
        self._fixed = None if names else self._at(kernel)

    def kernel(self, theta: Array) -> Kernel:
        """The kernel with these parameters."""
        values = dict(zip(self._names, theta.tolist(), strict=True))
        return self._kernel.with_parameters(values) if values else self._kernel

    def __call__(self, theta: Array) -> tuple[Array, float | Array, Pull]:
        return self._fixed or self._at(self.kernel(theta))

    def apart(self, count: int) -> list[tuple[Covariances, slice]]:
        if count == 1:
            return super().apart(1)
        found, start = list[tuple[Covariances, slice]](), 0
        for i, term in enumerate(self._kernel.parts):
            stem = f"terms.{i}."
            own = [name.removeprefix(stem) for name in self._names if name.startswith(stem)]
            part = slice(start, start := start + len(own))
            found.append((KernelCovariances(term, self.points, own), part))
        return found

    def _at(self, kernel: Kernel) -> tuple[Array, Array, Pull]:
        gram = kernel(self.points)

        def pull(outer: Array, diagonal: Array, trace: float) -> Array:
            slopes = kernel.parameter_gradients(self.points) if self._names else {}
            own = [slopes[name] for name in self._names]
            return np.array(
                [outer @ g.ravel()[self.pairs] + 0.5 * diagonal @ np.diag(g) for g in own]
            )

        return gram.ravel()[self.pairs], np.diag(gram), pull


class TimedCovariances(Covariances):
    """Covariances in space times those in time, a sum over the terms of the kernel in space.

    The parameters of time come before the others. The derivative in the epsilon of a Markov kernel
    is exact, and those in other parameters of time are forward differences.

    Args:
        inner: the covariances in space; those of a sum if the temporal kernel has several parts.
        temporal: the covariance in time.
        times: (n,).
        names: the names of the parameters of time, which may be none.
    """

    def __init__(
        self, inner: Covariances, temporal: TemporalKernel, times: Array, names: Sequence[str] = ()
    ) -> None:
        if not temporal.stationary and times.min() < 0.0:
            raise InvalidInput(
                f"under the temporal kernel {temporal.type_name!r} time begins at 0, but the first "
                f"of the times is {times.min():g}: count them from the start"
            )
        self.i, self.j, self.pairs = inner.i, inner.j, inner.pairs
        self._terms = inner.apart(len(temporal.parts))
        self._temporal, self._times, self._names = temporal, times, names
        lags = np.abs(times[self.i] - times[self.j])
        # Where T depends on the lag alone, each lag is evaluated once; the first one is 0.
        self._lags, which = np.unique(np.append(0.0, lags), return_inverse=True)
        self._which = which[1:]

    def temporal(self, theta: Array) -> TemporalKernel:
        """The temporal kernel with these parameters."""
        values = dict(zip(self._names, theta.tolist(), strict=True))
        return self._temporal.with_parameters(values) if values else self._temporal

    def _shared(self, temporal: TemporalKernel) -> tuple[Array, float | Array]:
        """The covariances in time of the pairs, and the variances."""
        if temporal.stationary:
            shared = temporal(self._lags, np.zeros(1))[:, 0]
            return shared[self._which], float(shared[0])
        full = temporal(self._times, self._times)
        return full.ravel()[self.pairs], np.diag(full)

    def __call__(self, theta: Array) -> tuple[Array, float | Array, Pull]:
        own, rest = theta[: len(self._names)], theta[len(self._names) :]
        temporal = self.temporal(own)
        each = zip(self._terms, temporal.parts, strict=True)
        terms = [(*inner(rest[part]), *self._shared(in_time)) for (inner, part), in_time in each]

        def pull(outer: Array, diagonal: Array, trace: float) -> Array:
            slopes = np.zeros(len(own))
            for at, (name, value) in enumerate(zip(self._names, own.tolist(), strict=True)):
                if isinstance(temporal, MarkovTime):
                    k, _, _, shared, _ = terms[0]
                    factor = -0.5 * STEP * value / max(1.0 - value, np.finfo(float).tiny)
                    slopes[at] = factor * float((outer * k) @ (shared * self._lags[self._which]))
                    continue
                moved = temporal.with_parameters({name: value * np.exp(STEP)})
                for i, (k, variance, _, shared, spread) in enumerate(terms):
                    if moved.parts[i] != temporal.parts[i]:
                        others, wider = self._shared(moved.parts[i])
                        slopes[at] += (outer * k) @ (others - shared)
                        slopes[at] += 0.5 * float(np.sum(diagonal * variance * (wider - spread)))
            found = [slopes / STEP]
            for _, _, inner_pull, shared, spread in terms:
                own_diagonal = diagonal * spread
                found.append(inner_pull(outer * shared, own_diagonal, float(own_diagonal.sum())))
            return np.concatenate(found)

        pairs = reduce(np.add, [k * shared for k, _, _, shared, _ in terms])
        return pairs, reduce(np.add, [v * spread for _, v, _, _, spread in terms]), pull


class RadialCovariances(Covariances):
    """The covariances of a radial kernel, as a fast function of lengthscale(s) and variance.

    Args:
        kernel: the kernel that provides the profile; its parameters are not used.
        points: (n, d).
        groups: for each coordinate, which of the lengthscales it has; None for one lengthscale of
            all. Then distances are computed once for all evaluations; otherwise each evaluation
            takes a product of (n, n) and (n, d) matrices.
    """

    def __init__(self, kernel: Stationary, points: Array, groups: IntArray | None = None) -> None:
        super().__init__(points)
        self._kernel, self._groups = kernel, groups
        self._distances = self._scaled(1.0) if groups is None else None

    def _scaled(self, lengthscale: float | Array) -> Array:
        return distances(self.points, self.points, lengthscale).reshape(-1)[self.pairs]

    def __call__(self, theta: Array) -> tuple[Array, float | Array, Pull]:
        scales, variance = theta[:-1], float(theta[-1])
        own = scales if self._groups is None else scales[self._groups]
        r = self._scaled(own) if self._distances is None else self._distances / scales[0]
        k, steep = self._kernel.profile_and_slope(r)

        def pull(outer: Array, diagonal: Array, trace: float) -> Array:
            in_variance = variance * (0.5 * trace + float(outer @ k))
            outer *= steep
            outer *= variance
            if self._groups is not None:
                slopes = np.bincount(self._groups, self._in_scales(outer, own), len(scales))
                return np.array([*slopes, in_variance])
            outer *= r
            return np.array([outer @ r, in_variance])

        return variance * k, variance, pull

    def _in_scales(self, weights: Array, scales: Array) -> Array:
        # sum_{i<j} w_ij (x_i - x_j)^2 = sum_i (W 1)_i x_i^2 - x^T W x, W symmetric with diagonal 0
        n, x = len(self.points), self.points / scales
        full = np.zeros((n, n))
        full.reshape(-1)[self.pairs] = weights
        full += full.T
        return np.asarray(full.sum(axis=1) @ x**2 - np.einsum("ij,ij->j", x, full @ x))


class PointLikelihood:
    """The likelihood of observations at any points and times; O(n^3) per call, small constant.

    Args:
        covariances: the prior covariances.
        rewards: (n,).
        mean: the prior mean; None for the best constant in every call.
        noise: (n,) the variances of the noise where they are known, NaN elsewhere; None if none is.
    """

    def __init__(
        self,
        covariances: Covariances,
        rewards: Array,
        mean: float | None = None,
        noise: Array | None = None,
    ) -> None:
        self._prior, self._mean = covariances, mean
        self._noise = noise
        self._right = np.asfortranarray(np.column_stack([rewards, np.ones(len(rewards))]))

    def __call__(self, theta: Array, noise_var: float) -> Likelihood:
        """The likelihood at these parameters; -inf if the covariance cannot be factorized."""
        k, variance, pull = self._prior(theta)
        noise: float | Array = noise_var
        if self._noise is not None:
            noise = np.where(np.isnan(self._noise), noise_var, self._noise)
        factor, failed = self._factor(k, variance + noise)
        if failed:
            return Likelihood(-np.inf, np.zeros(len(theta) + 1))
        of_rewards, of_ones = dpotrs(factor, self._right, lower=1)[0].T
        mean = self._mean
        if mean is None:
            mean = float(of_rewards.sum() / of_ones.sum())
        alpha = of_rewards - mean * of_ones
        fit = float((self._right[:, 0] - mean) @ alpha)
        half_log_det = float(np.log(np.diag(factor)).sum())
        value = -0.5 * fit - half_log_det - 0.5 * len(alpha) * float(np.log(2.0 * np.pi))

        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        trace = float(alpha @ alpha) - float(np.trace(inverse))
        of_noise = trace
        if self._noise is not None:
            of_noise = float((alpha**2 - np.diag(inverse))[np.isnan(self._noise)].sum())
        # alpha alpha^T - Sigma^-1 for the pairs i < j: its product with dSigma is the derivative
        outer = alpha[self._prior.i]
        outer *= alpha[self._prior.j]
        outer -= inverse.T.ravel()[self._prior.pairs]
        in_kernel = pull(outer, alpha**2 - np.diag(inverse), trace)
        in_noise = 0.5 * noise_var * of_noise
        return Likelihood(value, np.array([*in_kernel, in_noise]), mean)

    def _factor(self, covariances: Array, diagonal: float | Array) -> tuple[Array, int]:
        n = len(self._right)
        sigma = np.empty((n, n))
        flat = sigma.reshape(-1)
        flat[self._prior.pairs] = covariances
        flat[:: n + 1] = diagonal
        # The upper triangle in row order is LAPACK's lower triangle in column order: no copy.
        factor, info = dpotrf(sigma.T, lower=1, overwrite_a=1, clean=0)
        return factor, int(info)


def log_marginal_likelihood(model: Model, data: Observations) -> tuple[float, dict[str, float]]:
    """The log density log p(y) of the data under a model, in nats, and its partial derivatives.

    Cost: O(n^3) for n observations, and an n x n matrix per kernel parameter.

    Args:
        model: a model with noise and with epsilon below 1.
        data: the observations.
    Returns:
        The value, and the derivatives by name: in the logs of "noise_var" and of the parameters of
        the kernel and of the temporal kernel, or, without one, in "epsilon" itself.
    Raises:
        InvalidInput: the model has no noise, epsilon 1 or one mean per arm, or does not fit the
            data.
        NotPositiveDefinite: the covariance of the observations cannot be factorized.
    """
    if not isinstance(data, Observations):
        raise InvalidInput(f"data must be Observations, got {type(data).__name__}")
    noise_var, epsilon = positive(model.noise_var, "noise_var"), below_one(model.epsilon)
    # The smallest epsilon is none, in floating point, and its derivative is that at 0.
    temporal = model.temporal or MarkovTime(max(epsilon, SMALLEST))
    in_time, in_space = temporal.parameters(), model.kernel.parameters()
    of_points = KernelCovariances(model.kernel, data.points, (*in_space,))
    covariances = TimedCovariances(of_points, temporal, data.times, (*in_time,))
    rewards = data.rewards - one_mean(model)
    likelihood = PointLikelihood(covariances, rewards, 0.0, data.noise_var)
    at = likelihood(np.array([*in_time.values(), *in_space.values()]), noise_var)
    if not np.isfinite(at.value):
        raise NotPositiveDefinite(
            "the covariance of the observations is not positive definite; "
            f"use a larger noise_var than {noise_var:g}"
        )
    names = (*(f"temporal.{name}" for name in in_time), *in_space, "noise_var")
    slopes = dict(zip(names, at.gradient.tolist(), strict=True))
    if isinstance(temporal, MarkovTime) and model.temporal is None:
        slopes["epsilon"] = slopes.pop("temporal.epsilon") / temporal.epsilon
    return at.value, slopes


def one_mean(model: Model) -> float:
    """The prior mean as one number, because observations do not name their arms."""
    if not isinstance(model.prior_mean, float):
        raise InvalidInput(
            "prior_mean must be one number; subtract any other mean from the rewards"
        )
    return model.prior_mean


def below_one(epsilon: float) -> float:
    """The epsilon, if it is below 1, where the likelihood has a derivative."""
    if epsilon >= 1.0:
        raise InvalidInput(f"epsilon must be below 1 for a likelihood, got {epsilon!r}")
    return epsilon
