"""Functions drawn from a Gaussian process, on arms and in a box, with their maxima."""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import TypeAlias

import numpy as np

from gpbandits_env.arrays import Array, Points, frozen
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.kernels.kernel import check_on
from gpbandits_env.gp.model import terms
from gpbandits_env.gp.samplers import (
    BoxSampler,
    FourierFeatures,
    exact_features,
    joined_features,
    sampler_for,
)
from gpbandits_env.rewards.drift import Drift, Path, TemporalDrift
from gpbandits_env.rewards.functions.function import ArmFunction, Function
from gpbandits_env.rewards.functions.maximum import BoxMaximum
from gpbandits_env.rewards.functions.process import RewardPath, RewardProcess, StaticProcess
from gpbandits_env.seeding import stream

# A normal variate exceeds 40 standard deviations with probability below 1e-340. That does not
# occur in double precision, so 40 standard deviations bound every draw.
NEVER_BEYOND = 40.0
# The number of random features of a draw in a box.
FEATURES = 1024


class _GPDraws(StaticProcess):
    """Draws of GP(0, k) on arms or in a box."""

    kernel: Kernel

    def bounds(self) -> tuple[float, float]:
        limit = NEVER_BEYOND * float(np.sqrt(self.kernel.diagonal(self.domain.span).max()))
        return -limit, limit


class GPOnArms(_GPDraws):
    """Draws f = Phi xi of GP(0, k) on arms, with white xi, exact to the stated sampler error.

    Args:
        arms: the n arms.
        kernel: the covariance k.
    """

    def __init__(self, arms: Arms, kernel: Kernel) -> None:
        self.domain: Arms = arms
        self.kernel = kernel
        self.sampler = sampler_for(arms, kernel)

    def draw(self, rng: np.random.Generator) -> ArmFunction:
        """A function on the arms. Cost: one call of the sampler."""
        return ArmFunction(self.sampler(rng.standard_normal(self.sampler.rank)))

    def vectors(self, rng: np.random.Generator, size: int) -> Array:
        """``size`` independent draws, as vectors linear in white noise: values (size, n)."""
        return self.sampler.draw(rng, size)

    def function_of(self, *vectors: Array) -> ArmFunction:
        """The function of a vector, or the sum of several.

        Weighted sums of vectors give weighted sums of functions.
        """
        return ArmFunction(reduce(np.add, vectors))


class BoxFunction(Function):
    """f(x) = phi(x) . xi in a box, with the sampler's features phi and white coefficients xi (r,).

    The coefficients and the maximizer (d,) are stored and marked read-only. The stated maximum may
    be below the true maximum by ``accuracy``.
    """

    def __init__(
        self, sampler: BoxSampler, coefficients: Array, best: Array, accuracy: float
    ) -> None:
        self.sampler = sampler
        self.coefficients: Array = frozen(coefficients)
        self.best_action = frozen(best)
        self.optimum = float(self(best[None])[0])
        self.accuracy = accuracy

    def __call__(self, actions: Points) -> Array:
        """The values (m,) at points (m, d). Cost: m r feature evaluations."""
        return self.sampler.features(actions) @ self.coefficients

    def __reduce__(self) -> tuple[object, ...]:
        return BoxFunction, (self.sampler, self.coefficients, self.best_action, self.accuracy)


class GPOnBox(_GPDraws):
    """Draws of a GP in a box, by exact product features or random Fourier features.

    Random features are drawn once, from a separate random stream. All functions therefore have the
    same covariance, which differs from the kernel by ``sampler.error``.

    Args:
        box: the domain.
        kernel: the covariance k.
        sampler: other features than these, of the same kernel.
    """

    def __init__(self, box: Box, kernel: Kernel, sampler: BoxSampler | None = None) -> None:
        self.domain: Box = box
        self.kernel = kernel
        if sampler is None:
            check_on(kernel, box.span)
            rng = stream("gpbandits_env", "features of a box")
            exact = exact_features(box, kernel)
            sampler = exact or FourierFeatures(kernel, box.dim, FEATURES, rng)
        self.sampler: BoxSampler = sampler

    @cached_property
    def maximum(self) -> BoxMaximum:
        """The search for the maximum of a draw.

        Raises:
            InvalidInput: draws vary too fast in this box (see `BoxMaximum`).
        """
        maximum = BoxMaximum(self.sampler, self.domain)
        maximum.check()
        return maximum

    def draw(self, rng: np.random.Generator) -> BoxFunction:
        """A function and its maximum. Cost: one search of the box (see `BoxMaximum`)."""
        return self.function_of(rng.standard_normal(self.sampler.rank))

    def vectors(self, rng: np.random.Generator, size: int) -> Array:
        """``size`` independent draws, as vectors linear in white noise: coefficients (size, r)."""
        return rng.standard_normal((size, self.sampler.rank))

    def function_of(self, *vectors: Array) -> BoxFunction:
        """The function of the vectors of all terms, with its maximum; one search of the box."""
        vector = np.concatenate(vectors)
        best, accuracy = self.maximum(vector)
        return BoxFunction(self.sampler, vector, best, accuracy)


Draws: TypeAlias = GPOnArms | GPOnBox


class DriftPath(RewardPath):
    """A path of GP draws, as reward functions."""

    def __init__(self, paths: Sequence[Path], read: Callable[..., Function]) -> None:
        self._paths, self._read = paths, read
        self.function = read(*(path.values for path in paths))

    def advance(self, dt: float = 1.0) -> None:
        self.function = self._read(*[path.advance(dt) for path in self._paths])


class DriftProcess(RewardProcess):
    """GP draws that drift: on arms through their values, in a box through their coefficients.

    Both are linear in white noise, so a drift applies to either and its law is exact. Under a
    temporal drift by terms, each term of the kernel has a path of its own.

    Cost of a round: the draws of the drift, and in a box one search for the maximum.
    """

    def __init__(self, draws: Draws, drift: Drift) -> None:
        self.drift, self.domain = drift, draws.domain
        self.draws: Draws = draws
        self._terms: list[tuple[Draws, Drift]] = [(draws, drift)]
        if isinstance(drift, TemporalDrift) and len(drift.kernel.parts) > 1:
            pairs, domain = terms(draws.kernel, drift.kernel), draws.domain
            self._terms = [(gp_on(domain, own), TemporalDrift(part)) for own, part in pairs]
            if isinstance(draws, GPOnBox):
                own = [each.sampler for each, _ in self._terms if isinstance(each, GPOnBox)]
                self.draws = GPOnBox(draws.domain, draws.kernel, joined_features(own))
                _ = self.draws.maximum

    def begin(self, rng: np.random.Generator) -> DriftPath:
        paths = [Path(drift, draws.vectors, rng) for draws, drift in self._terms]
        return DriftPath(paths, self.draws.function_of)

    def bounds(self) -> tuple[float, float]:
        """The bounds of a draw, or wide bounds if the drift does not keep the marginal law."""
        return self.draws.bounds() if self.drift.keeps_marginal else super().bounds()


def gp_on(domain: Arms | Box, kernel: Kernel) -> GPOnArms | GPOnBox:
    """Draws of GP(0, kernel) on arms or in a box."""
    return GPOnArms(domain, kernel) if isinstance(domain, Arms) else GPOnBox(domain, kernel)
