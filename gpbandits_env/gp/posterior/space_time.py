r"""The prior covariance of a function of a box that moves in time, as the present sees it.

.. math:: \mathrm{Cov}(f_t(x), f_s(z)) = \sum_i k_i(x, z) T_i(t, s)

Most models have one term.
"""

import math
from functools import cached_property, reduce

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Kernel, Sum
from gpbandits_env.gp.kernels.columns import Columns, ScaledColumns, SumColumns
from gpbandits_env.gp.kernels.kernel import check_on
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.model import terms
from gpbandits_env.gp.posterior.whitening import BoxData
from gpbandits_env.gp.samplers import BoxSampler, FourierFeatures, exact_features, joined_features
from gpbandits_env.gp.temporal import MarkovTime, TemporalKernel

# With epsilon, time is measured in the logarithm of correlation, so that epsilon may change: after
# one unit the correlation is 1/e.
UNIT_DECAY = MarkovTime(-math.expm1(-2.0))


class SpaceTime:
    """The terms k_i T_i of a prior covariance.

    Args:
        box: the domain of x.
        kernel: the covariance in space; a sum, if there are several terms.
        temporal: the covariance in time; None for that of the epsilon of `Posterior.advance`.
    Raises:
        InvalidInput: the kernel is for other points, or the prior variance changes with time, and
            the kernel has none.
    """

    def __init__(self, box: Box, kernel: Kernel, temporal: TemporalKernel | None) -> None:
        self._box, self._given, self._time = box, temporal, temporal or UNIT_DECAY
        self._terms, self.stationary = terms(kernel, self._time), self._time.stationary
        self._centre = 0.5 * (box.low + box.high)
        # A convex prior variance, such as that of the linear kernel, is largest at a corner.
        farthest = np.where(np.abs(box.low) > np.abs(box.high), box.low, box.high)
        self._corners = np.stack([box.low, box.high, farthest])
        check_on(kernel, self._corners)
        if not self.stationary:
            kernel.scaled(1.0)  # an error that a later time would raise

    def __call__(self, x: Array, z: Array, t: Array, s: Array) -> Array:
        """The covariances of points x at times t with points z at times s, (k, m)."""
        return reduce(np.add, [kernel(x, z) * in_time(t, s) for kernel, in_time in self._terms])

    def left(self, age: float) -> float:
        """The largest correlation with the present after so much time."""
        return float(np.abs(self._time.transition(age)).max())

    def spreads(self, now: float) -> list[float]:
        """The factors of the variances of the terms at a time."""
        if self._given is None:
            return [1.0]
        return [in_time.spread(now) for _, in_time in self._terms]

    def present(self, now: float) -> Kernel:
        """The covariance among points at a time."""
        parts = [
            kernel if math.isclose(spread, 1.0, rel_tol=1e-12) else kernel.scaled(spread)
            for (kernel, _), spread in zip(self._terms, self.spreads(now), strict=True)
        ]
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))

    def largest(self, present: Kernel) -> float:
        """The largest variance in the box."""
        return float(present.diagonal(self._corners).max())

    def fades(self, now: float, stamps: Array) -> list[Array]:
        """For each term the covariances in time of the present with stamps, over its variance."""
        pairs = zip(self._terms, self.spreads(now), strict=True)
        return [in_time(np.array([now]), stamps)[0] / spread for (_, in_time), spread in pairs]

    def decay(self, now: float, stamps: Array) -> Array | None:
        """The common decay of the covariances with data, oldest first, (t,); None for 1."""
        still = self._given is None and len(stamps) and stamps[0] == now
        if not len(stamps) or still or len(self._terms) > 1:
            return None
        return self.fades(now, stamps)[0]

    def columns(self, present: Kernel, points: Array, now: float, stamps: Array) -> Columns:
        """The covariances of the present function with data, up to their common decay."""
        if len(self._terms) == 1:
            return present.columns(points, self._centre)
        pairs = zip(present.parts, self.fades(now, stamps), strict=True)
        return SumColumns([ScaledColumns(k.columns(points, self._centre), f) for k, f in pairs])

    def seen(
        self, rng: np.random.Generator, basis: BoxSampler, xi: Array, data: BoxData, n: int
    ) -> Array:
        """Noisy values (size, n) of functions with coefficients xi (size, rank) at the first data.

        Args:
            rng: the generator.
            basis: the features of all terms.
            xi: the coefficients of the present functions.
            data: the data.
            n: how many of them.
        """
        now, stamps, noise = data.clock, data.stamps[:n], data.noise[:n]
        still = self._given is None and self.decay(now, stamps) is None
        total = np.zeros((len(xi), n))
        laws = zip(self._terms, self.spreads(now), self.fades(now, stamps), strict=True)
        parts = zip(basis.parts, basis.split(xi), laws, strict=True)
        for part, own, ((_, in_time), spread, fade) in parts:
            features = part.features(data.points[:n])
            values = own @ features.T
            white = rng.standard_normal(values.shape)
            if still:
                white *= np.sqrt(noise)
            else:
                left = in_time(stamps, stamps) - spread * np.outer(fade, fade)
                covariance = (features @ features.T) * left
                covariance.flat[:: len(covariance) + 1] += noise
                values *= fade
                white = white @ root(covariance).T
            total += values + white
            noise = np.zeros_like(noise)  # only once
        return total

    @cached_property
    def exact_features(self) -> BoxSampler | None:
        """The `exact_features` of all terms; None if a term has none."""
        made = [exact_features(self._box, kernel) for kernel, _ in self._terms]
        return joined_features([part for part in made if part]) if all(made) else None

    def random_features(self, count: int, rng: np.random.Generator) -> BoxSampler:
        """So many random features of each term."""
        made = [FourierFeatures(kernel, self._box.dim, count, rng) for kernel, _ in self._terms]
        return joined_features(made)
