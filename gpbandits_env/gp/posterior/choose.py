"""The choice of a posterior's representation."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Plain, Settings, positive, whole
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.model import terms
from gpbandits_env.gp.posterior.arms import ArmPosterior
from gpbandits_env.gp.posterior.box import BoxPosterior
from gpbandits_env.gp.posterior.covariances import MATRIX_BYTES, check_prior, prior_covariance
from gpbandits_env.gp.posterior.nystrom import NystromPosterior
from gpbandits_env.gp.posterior.posterior import Posterior
from gpbandits_env.gp.posterior.representation import Coefficients, DenseRows, Representation
from gpbandits_env.gp.posterior.states import DiscountedCoefficients, TemporalStates
from gpbandits_env.gp.samplers import Factor, KroneckerFactor, factor_for
from gpbandits_env.gp.temporal import StaticTime, TemporalKernel

KINDS = ("auto", "rows", "coefficients", "nystrom")
DICTIONARY = {"qbar", "per"}
USUAL_HORIZON = 1000
LARGEST_RANK, LARGEST_RANK_CHOSEN = 512, 2048
# The largest variance that a factor may omit, relative to the noise variance. Mean and variance
# then differ from the dense formula by less than 1e-9 over 1500 rounds.
HARMLESS = 1e-10
SMALLEST_TOLERANCE, LARGEST_TOLERANCE = 1e-14, 1e-12
# The covariance of so many numbers takes 134 MB.
MOST_STATES = 4096
# The variance that a filter may omit, relative to the largest, where the exact state is too large.
OMITTED = (1e-8, 1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1)
# One thread of a current processor per microsecond: bytes read, and operations in a product.
BYTES, FLOPS = 9e4, 4e4


def posterior_for(
    domain: Domain,
    kernel: Kernel,
    noise_var: float,
    prior_mean: ArrayLike = 0.0,
    kind: Settings | str = "auto",
    *,
    horizon: int | None = None,
    rng: np.random.Generator | None = None,
    temporal: TemporalKernel | None = None,
    discount: float = 1.0,
) -> Posterior:
    """The posterior of a GP on arms or in a box, before any data.

    Args:
        domain: the n arms, or a box.
        kernel: the prior covariance.
        noise_var: the variance of the noise on a reward, at least 0.
        prior_mean: a number; or on arms one per arm, (n,).
        kind: on arms "rows" (data space), "coefficients" (for kernels with small numerical rank on
            the arms), "auto", the cheaper of the two, or "nystrom" (see `NystromPosterior`, and
            `posterior_kind` for its settings); in a box "auto". The first two are exact to 1e-8 if
            the noise variance is at least 1e-5 of the kernel's; for less, see `Posterior`.
            "coefficients" omits a variance of at most 1e-10 noise_var per arm, and on a grid as
            much for each axis.
        horizon: for "auto", the expected number of observations; 1000 if it is unknown.
        rng: what draws the dictionary of a `NystromPosterior`.
        temporal: if given, the covariance in time; the kind is then "auto". On arms it is a Kalman
            filter (see `TemporalStates`) on at most 4096 numbers. If the exact state is larger, the
            kernel in space is replaced by one of smaller rank, with a warning that states the
            omitted variance.
        discount: the factor in (0, 1] of the weight of each observation per unit of time (see
            `DiscountedCoefficients`). Below 1, the domain is arms and the kind is "auto".
    Raises:
        UnknownName: there is no such kind.
        InvalidInput: the domain does not support the kind, a number is out of range, the kernel
            does not fit the points, or "coefficients" is given with too large a rank or too small a
            noise variance.
    """
    settings = posterior_kind(kind)
    kind = one_of(settings.pop("type"), KINDS, "posterior")
    ages = "a discount" if discount != 1.0 else "a temporal kernel" if temporal is not None else ""
    where = "in a box" if isinstance(domain, Box) else ages and f"with {ages}"
    if where and kind != "auto":
        raise InvalidInput(f"{where} the posterior must be 'auto', got {kind!r}")
    if isinstance(domain, Box):
        if discount != 1.0:
            raise InvalidInput(
                "in a box the posterior supports no discount: choose among candidates, and with "
                "contexts, among a finite set of them"
            )
        return BoxPosterior(domain, kernel, noise_var, prior_mean, temporal)
    if not isinstance(domain, Arms):
        raise InvalidInput(f"the domain of a posterior must be Arms or a Box, got {shown(domain)}")
    if kind == "nystrom":
        return NystromPosterior(domain, kernel, noise_var, prior_mean, rng=rng, **settings)
    check_prior(domain, kernel)
    noise_var = positive(noise_var, "noise_var", zero=True)
    expected = USUAL_HORIZON if horizon is None else whole(horizon, "horizon")
    inside: Representation | None = None
    if ages:
        inside = _states(domain, kernel, noise_var, temporal, discount)
    elif kind != "rows":
        inside = _coefficients(domain, kernel, noise_var, kind == "coefficients", expected)
    if inside is None:
        inside = DenseRows(prior_covariance(domain, kernel), noise_var, _fold_every(domain.size))
    return ArmPosterior(domain, kernel, noise_var, prior_mean, inside)


def posterior_kind(spec: Settings | str, drifts: Sequence[str] = ()) -> Plain:
    """The setting ``posterior`` as a dict with a type; "nystrom" may have ``qbar`` and ``per``.

    Raises:
        InvalidInput: a dict has no type or an unknown field, or a setting for a drift, of which
            ``drifts`` has the names, is given for a Nystrom posterior.
    """
    kind = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(kind, Mapping) or "type" not in kind or set(kind) - {"type", *DICTIONARY}:
        raise InvalidInput(
            "posterior must be 'auto', 'rows', 'coefficients', 'nystrom' or a dict such as "
            f'{{"type": "nystrom", "qbar": 5.0}}, got {shown(spec)}'
        )
    if kind["type"] != "nystrom" and len(kind) > 1:
        raise InvalidInput(f"only the posterior 'nystrom' has a qbar and a per, got {shown(spec)}")
    if kind["type"] == "nystrom" and drifts:
        raise InvalidInput(
            f"a Nystrom posterior does not support {drifts[0]}: leave out {drifts[0]} (reset_every "
            "and window are supported), or use another posterior"
        )
    return dict(kind)


def _coefficients(
    arms: Arms, kernel: Kernel, noise_var: float, chosen: bool, expected: int
) -> Representation | None:
    """Coefficients, if there is a factor and they are requested or cheaper; else None."""
    rank = min(arms.size, LARGEST_RANK_CHOSEN) if chosen else min(arms.size // 2, LARGEST_RANK)
    tolerance = _tolerance(arms, kernel, noise_var)
    usable = rank >= 1 and tolerance >= SMALLEST_TOLERANCE
    factor = factor_for(arms, kernel, rank, tolerance) if usable else None
    if chosen and factor is None:
        raise InvalidInput(
            f"the posterior 'coefficients' needs a kernel with numerical rank at most {rank} on "
            f"these arms and a noise variance of at least {SMALLEST_TOLERANCE / HARMLESS:g} of the "
            f"kernel's (given: {noise_var}); use 'rows'"
        )
    if factor is None or not (chosen or _cost(factor) < _rows_cost(arms.size, expected)):
        return None
    return Coefficients(factor)


def _states(
    arms: Arms, kernel: Kernel, noise_var: float, temporal: TemporalKernel | None, discount: float
) -> TemporalStates:
    """The Kalman filter of a temporal kernel, or the coefficients of weighted observations.

    Raises:
        InvalidInput: it would need more than `MOST_STATES` numbers even without a tenth of the
            variance, or there are both a temporal kernel and a discount, or the discount is out of
            range or there is no noise.
    """
    if discount != 1.0:
        if temporal is not None or noise_var == 0.0 or not 0.0 < discount < 1.0:
            raise InvalidInput(
                f"a discount needs noise, no temporal kernel, and a number in (0, 1], got "
                f"{discount!r} with the noise variance {noise_var!r}"
            )
        temporal = StaticTime()
    assert temporal is not None
    size, parts = temporal.states, terms(kernel, temporal)
    exact = max(_tolerance(arms, kernel, noise_var), SMALLEST_TOLERANCE)
    factors: list[Factor] = []
    for tolerance in (exact, *OMITTED):
        made = [
            factor_for(arms, own, min(arms.size, MOST_STATES // part.states), tolerance)
            for own, part in parts
        ]
        factors = [factor for factor in made if factor is not None]
        width = sum(f.rank * p.states for f, p in zip(factors, temporal.parts, strict=False))
        if len(factors) == len(parts) and width <= MOST_STATES:
            break
    else:
        rank = MOST_STATES // size
        raise InvalidInput(
            f"the temporal kernel {temporal.type_name!r} has {size} states, and the kernel "
            f"{kernel.type_name!r} has a numerical rank above {rank} on these {arms.size} arms: a "
            f"filter supports a product of at most {MOST_STATES}; use fewer harmonics, a Markov "
            "kernel (epsilon), a smoother kernel in space, or fewer arms"
        )
    if tolerance > exact:
        omitted = sum(f.error for f in factors) / float(kernel.diagonal(arms.coordinates).max())
        warnings.warn(
            f"the kernel {kernel.type_name!r} on {arms.size} arms is too rough for an exact filter "
            f"with {size} temporal states: one of rank {sum(f.rank for f in factors)} is used, "
            f"without up to about {100.0 * omitted:.2g}% of the prior variance of an arm",
            stacklevel=2,
        )
    if discount != 1.0:
        return DiscountedCoefficients(factors[0], discount)
    return TemporalStates(factors, temporal)


def _tolerance(arms: Arms, kernel: Kernel, noise_var: float) -> float:
    """The variance that a factor may omit, relative to the largest prior variance."""
    scale = float(kernel.diagonal(arms.coordinates).max())
    return min(HARMLESS * noise_var / (scale or 1.0), LARGEST_TOLERANCE)


def _fold_every(n: int) -> int:
    """The rows from one fold to the next: at most 10% from the best (n = 46 to 2500)."""
    return min(max(n // 8, 32), 256)


def _cost(factor: Factor) -> float:
    """Microseconds of arithmetic per round in coefficient space."""
    columns = sum(factor.ranks) if isinstance(factor, KroneckerFactor) else factor.rank
    return 8 * (factor.size * columns + 2 * factor.rank**2) / BYTES


def _rows_cost(n: int, expected: int) -> float:
    """Microseconds of arithmetic per round in data space, averaged over the horizon."""
    every = _fold_every(n)
    if expected <= 2 * every or 8 * n * n > MATRIX_BYTES:
        return 8 * n * (expected / 2) / BYTES
    return 8 * n * every / BYTES + n * n / FLOPS
