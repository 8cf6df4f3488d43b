"""Hyper-parameters of a stationary kernel, the noise and a constant mean, from noisy readings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from gpbandits_env.arrays import Array, finite_array, positive, whole
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.kernels import Kernel, Stationary
from gpbandits_env.learning.evidence import Anisotropic, Evidence, Isotropic
from gpbandits_env.learning.priors import Bounded, HyperPriors
from gpbandits_env.learning.scaling import InputScaling, OutputScaling

WHAT = ("lengthscale", "variance", "noise_var")
# Where the starts after the first lie: (lengthscale, variance, noise) as factors on the centres of
# the priors. Smooth with little noise, rough with little noise, smooth with much noise.
STARTS = ((1.0, 1.0, 1.0), (0.25, 1.0, 1.0), (2.0, 1.0, 30.0), (0.25, 3.0, 0.03), (4.0, 3.0, 1.0))


@dataclass(frozen=True)
class Learned:
    """What was learned, in the units of the points and rewards.

    Attributes:
        kernel: with its learned lengthscale(s) and variance.
        noise_var: in reward units squared.
        mean: the prior mean, in reward units.
        log_likelihood: at these values, in nats, of the rewards in units of their deviation.
        starts: the log posterior density, up to a constant, that each start ended at.
        evaluations: of the likelihood, over all starts.
    """

    kernel: Stationary
    noise_var: float
    mean: float
    log_likelihood: float
    starts: tuple[float, ...]
    evaluations: int

    @property
    def lengthscale(self) -> float:
        """The lengthscale, or the geometric mean of several."""
        return float(np.exp(np.mean(np.log(self.kernel.lengthscale))))


def learn(
    kernel: Kernel,
    noise_var: float,
    points: Array,
    rewards: Array,
    *,
    inputs: InputScaling,
    what: Sequence[str] = WHAT,
    ard: bool = False,
    mean: float | None = None,
    priors: HyperPriors | None = None,
    starts: int = 2,
    evaluations: int = 60,
) -> Learned:
    """The most likely hyper-parameters given the readings and priors (maximum a posteriori).

    The first start is the kernel and noise as given (a warm start when they are what was learned
    before), the others are the centres of the priors and multiples of them. With ``ard`` the best
    isotropic model is found first and is where the lengthscales part.

    Cost: O(n^3) an evaluation, 1.5 ms at n = 200 whatever the dimension; with ``ard`` also
    O(n^2 d).

    Args:
        kernel: a stationary kernel in the units of the points.
        noise_var: >= 0, in reward units squared; 0 only if it is learned.
        points: (n, d), n >= 2.
        rewards: (n,).
        inputs: how points scale to [-1, 1]^d, where the priors hold.
        what: which to learn, of "lengthscale", "variance" and "noise_var"; the rest stays.
        ard: a lengthscale per coordinate instead of one (in units of the box's sides).
        mean: the prior mean, if known; else the best constant, at every step.
        priors: and bounds; those of `HyperPriors.default` when not given.
        starts: 1 to 6.
        evaluations: of the likelihood, at most, a start.
    Raises:
        InvalidInput: another kind of kernel, shapes that do not fit, or numbers out of range.
        UnknownName: a word in ``what`` that is not one of the three.
    Source: Rasmussen & Williams (2006), Section 5.4.1.
    """
    family = _checked(kernel, noise_var, what)
    x, y = finite_array(points, "points", 2), finite_array(rewards, "rewards", 1)
    if len(x) != len(y) or len(y) < 2 or x.shape[1:] != inputs.low.shape:
        raise InvalidInput(
            f"points (n, {len(inputs.low)}) and rewards (n,) must agree in n > 1, got "
            f"{x.shape} and {y.shape}"
        )
    outputs = OutputScaling.of(y, mean)
    search = _Search(
        inputs.scale(x),
        outputs.scale(y),
        family,
        None if mean is None else 0.0,
        priors or HyperPriors.default(x.shape[1]),
        tuple(what),
        whole(evaluations, "evaluations"),
    )
    noise = noise_var / outputs.var or search.priors.noise_var.prior.centre
    given = _Values(inputs.lengthscales(family), family.variance / outputs.var, noise)
    found = search.run(given, ard, whole(starts, "starts")).in_units(family, inputs, outputs)
    kept = replace(
        found.kernel,
        lengthscale=(found.kernel if "lengthscale" in what else family).lengthscale,
        variance=(found.kernel if "variance" in what else family).variance,
    )
    noise_kept = found.noise_var if "noise_var" in what else noise_var
    return replace(found, kernel=kept, noise_var=noise_kept)


@dataclass(frozen=True)
class _Values:
    """Hyper-parameters on the scales of the cube and of standard rewards."""

    lengthscales: Array
    variance: float
    noise_var: float

    @property
    def logs(self) -> Array:
        return np.log([*self.lengthscales, self.variance, self.noise_var])

    def pooled(self) -> "_Values":
        one = np.exp(np.mean(np.log(self.lengthscales)))
        return _Values(np.array([one]), self.variance, self.noise_var)


@dataclass(frozen=True)
class _Found:
    values: _Values
    mean: float
    log_likelihood: float
    starts: tuple[float, ...]
    evaluations: int

    def in_units(self, kernel: Stationary, inputs: InputScaling, outputs: OutputScaling) -> Learned:
        ell = self.values.lengthscales
        found = inputs.kernel(kernel, ell[0] if len(ell) == 1 else ell)
        factor = outputs.var
        return Learned(
            found.with_parameters({"variance": self.values.variance * factor}),
            self.values.noise_var * factor,
            outputs.mean + outputs.sd * self.mean,
            self.log_likelihood,
            self.starts,
            self.evaluations,
        )


@dataclass(frozen=True)
class _Search:
    points: Array
    rewards: Array
    kernel: Stationary
    mean: float | None
    priors: HyperPriors
    what: tuple[str, ...]
    evaluations: int

    def run(self, given: _Values, ard: bool, starts: int) -> _Found:
        if "lengthscale" not in self.what:
            alike = np.ptp(given.lengthscales) <= 1e-12 * given.lengthscales.max()
            return self._best(given.pooled() if alike else given, starts, single=alike)
        found = self._best(given.pooled(), starts, single=True)
        if not ard or self.points.shape[1] == 1:
            return found
        level = np.full(self.points.shape[1], found.values.lengthscales[0])
        spread = _Values(level, found.values.variance, found.values.noise_var)
        # What was learned per coordinate before is one start, the isotropic model the other.
        apart = self._best(spread, 1, single=False)
        again = self._best(given, 1, single=False)
        best = max(apart, again, key=lambda end: end.starts[0])
        count = found.evaluations + apart.evaluations + again.evaluations
        return _Found(
            best.values, best.mean, best.log_likelihood, apart.starts + again.starts, count
        )

    def _best(self, given: _Values, starts: int, *, single: bool) -> _Found:
        kind = Isotropic if single else Anisotropic
        evidence = kind(self.kernel, self.points, self.rewards, self.mean)
        priors = self.priors
        bounded = [priors.lengthscale] * len(given.lengthscales)
        bounded += [priors.variance, priors.noise_var]
        free = np.array([*["lengthscale" in self.what] * len(given.lengthscales), *self._others])
        climb = _Climb(evidence, bounded, free, self.evaluations)
        firsts = [given.logs, *(climb.centre(f, given.logs) for f in STARTS[: starts - 1])]
        ends = [climb(first) for first in firsts]
        u, _, _ = max(ends, key=lambda end: end[1])
        theta = np.exp(u)
        return _Found(
            _Values(theta[:-2], float(theta[-2]), float(theta[-1])),
            evidence.mean(u),
            evidence(u)[0],
            tuple(end[1] for end in ends),
            sum(end[2] for end in ends),
        )

    @property
    def _others(self) -> tuple[bool, bool]:
        return "variance" in self.what, "noise_var" in self.what


@dataclass(frozen=True)
class _Climb:
    """L-BFGS-B on the free logarithms, within the bounds."""

    evidence: Evidence
    bounded: list[Bounded]
    free: Array
    evaluations: int

    def centre(self, factors: tuple[float, float, float], given: Array) -> Array:
        """The priors' centres times factors, where free; as given elsewhere."""
        scales = [factors[0]] * (len(given) - 2) + [factors[1], factors[2]]
        centres = [b.prior.centre * f for b, f in zip(self.bounded, scales, strict=True)]
        return np.where(self.free, np.log(centres), given)

    def __call__(self, first: Array) -> tuple[Array, float, int]:
        low = np.log([b.low for b in self.bounded])[self.free]
        high = np.log([b.high for b in self.bounded])[self.free]
        u = first.copy()
        u[self.free] = np.clip(first[self.free], low, high)

        def objective(moved: Array) -> tuple[float, Array]:
            u[self.free] = moved
            value, slope = self._posterior(u)
            # L-BFGS-B's line search backs off from a wall of this height.
            return (-value, -slope[self.free]) if np.isfinite(value) else (1e25, 0.0 * moved)

        end = minimize(
            objective,
            u[self.free],
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={"maxfun": self.evaluations, "ftol": 1e-8, "gtol": 1e-4},
        )
        u[self.free] = end.x
        return u, -float(end.fun), int(end.nfev)

    def _posterior(self, u: Array) -> tuple[float, Array]:
        value, slope = self.evidence(u)
        dim = len(u) - 2
        parts = ((slice(0, dim), self.bounded[0]), (slice(dim, dim + 1), self.bounded[-2]))
        for at, b in (*parts, (slice(dim + 1, dim + 2), self.bounded[-1])):
            density, rise = b.prior(u[at])
            mask = self.free[at]
            value += float(density[mask].sum())
            slope[at] += np.where(mask, rise, 0.0)
        return value, slope


def _checked(kernel: Kernel, noise_var: float, what: Sequence[str]) -> Stationary:
    if not isinstance(kernel, Stationary):
        raise InvalidInput(
            f"hyper-parameters are learned of a stationary kernel (se, matern), got a "
            f"{kernel.type_name!r}; gpbandits_env.learning.fit learns those of any kernel"
        )
    for word in what:
        if word not in WHAT:
            raise unknown("hyper-parameter to learn", word, WHAT)
    if not what:
        raise InvalidInput(f"there is nothing to learn: name some of {WHAT}")
    if positive(noise_var, "noise_var", zero=True) == 0.0 and "noise_var" not in what:
        raise InvalidInput("there is no likelihood without noise: learn noise_var too, or give one")
    return kernel
