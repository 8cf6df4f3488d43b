"""Which representation a posterior gets."""

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import positive, whole
from gpbandits_env.domains import Arms, Box, Domain
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.posterior.arms import ArmPosterior
from gpbandits_env.posterior.base import Posterior
from gpbandits_env.posterior.box import BoxPosterior
from gpbandits_env.posterior.coefficients import Coefficients
from gpbandits_env.posterior.covariances import MATRIX_BYTES, check_prior, prior_covariance
from gpbandits_env.posterior.dense_rows import DenseRows
from gpbandits_env.posterior.nystrom import NystromPosterior
from gpbandits_env.posterior.representation import Representation
from gpbandits_env.samplers import Factor, KroneckerFactor, factor_for

REPRESENTATIONS = ("auto", "rows", "coefficients")
KINDS = (*REPRESENTATIONS, "nystrom")
USUAL_HORIZON = 1000
LARGEST_RANK, LARGEST_RANK_CHOSEN = 512, 2048
# The variance that a factor leaves out may be at most this part of the noise variance. Against the
# dense formula, mean and variance then differ by less than 1e-9 over 1500 rounds.
HARMLESS = 1e-10
SMALLEST_TOLERANCE, LARGEST_TOLERANCE = 1e-14, 1e-12
# One thread of a current processor, per microsecond: bytes read, and operations in a product.
BYTES, FLOPS = 9e4, 4e4


def posterior_on(
    arms: Arms,
    kernel: Kernel,
    noise_var: float,
    prior_mean: ArrayLike = 0.0,
    representation: str = "auto",
    horizon: int | None = None,
) -> ArmPosterior:
    """The posterior of a GP on arms, before any data.

    Args:
        arms: the n arms.
        kernel: the prior covariance.
        noise_var: variance of the noise on a reward, at least 0.
        prior_mean: a number, or (n,) one per arm.
        representation: "rows" (data space), "coefficients" (for kernels of small numerical rank on
            the arms), or "auto", the cheaper of the two. Both are exact to 1e-8; coefficients leave
            out a variance of at most 1e-10 noise_var per arm.
        horizon: how many observations to expect, for "auto"; 1000 if it is not known.

    Raises:
        UnknownName: no such representation.
        InvalidInput: numbers out of range, points that the kernel cannot be called on, or
            "coefficients" for a kernel of too large a rank or too small a noise variance.
    """
    if not isinstance(representation, str) or representation not in REPRESENTATIONS:
        raise unknown("representation", representation, REPRESENTATIONS)
    check_prior(arms, kernel)
    noise_var = positive(noise_var, "noise_var", zero=True)
    expected = USUAL_HORIZON if horizon is None else whole(horizon, "horizon")
    inside: Representation | None = None
    if representation != "rows":
        inside = _coefficients(arms, kernel, noise_var, representation == "coefficients", expected)
    if inside is None:
        inside = DenseRows(prior_covariance(arms, kernel), noise_var, *_folds(arms.size))
    return ArmPosterior(arms, kernel, noise_var, prior_mean, inside)


def posterior_for(
    domain: Domain,
    kernel: Kernel,
    noise_var: float,
    prior_mean: ArrayLike = 0.0,
    kind: str = "auto",
    *,
    qbar: float | None = None,
    horizon: int | None = None,
    rng: np.random.Generator | None = None,
) -> Posterior:
    """The posterior of a GP on arms or in a box, before any data.

    Arguments are those of `posterior_on`. The kind on arms is one of its representations, or
    "nystrom", whose dictionary has the parameter ``qbar`` (5 if it is not given) and is drawn by
    ``rng``. In a box the kind is "auto" and the prior mean a number.

    Raises:
        UnknownName: no such kind.
        InvalidInput: a kind that the domain does not have, settings of another kind, or what the
            posterior refuses.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown("posterior", kind, KINDS)
    if qbar is not None and kind != "nystrom":
        raise InvalidInput(f"qbar is a setting of the posterior 'nystrom', got it with {kind!r}")
    if isinstance(domain, Box):
        if kind != "auto":
            raise InvalidInput(f"in a box the posterior has one representation, got {shown(kind)}")
        return BoxPosterior(domain, kernel, noise_var, prior_mean)
    if not isinstance(domain, Arms):
        raise InvalidInput(f"a posterior is on Arms or in a Box, got {shown(domain)}")
    if kind != "nystrom":
        return posterior_on(domain, kernel, noise_var, prior_mean, kind, horizon)
    return NystromPosterior(domain, kernel, noise_var, prior_mean, qbar=qbar, rng=rng)


def _coefficients(
    arms: Arms, kernel: Kernel, noise_var: float, chosen: bool, expected: int
) -> Representation | None:
    """Coefficients if there is a factor, and the user chose them or they are cheaper."""
    rank = min(arms.size, LARGEST_RANK_CHOSEN) if chosen else min(arms.size // 2, LARGEST_RANK)
    scale = float(kernel.diagonal(arms.coordinates).max())
    tolerance = min(HARMLESS * noise_var / (scale or 1.0), LARGEST_TOLERANCE)
    usable = rank >= 1 and tolerance >= SMALLEST_TOLERANCE
    factor = factor_for(arms, kernel, rank, tolerance) if usable else None
    if chosen and factor is None:
        raise InvalidInput(
            f"representation 'coefficients' needs a kernel of numerical rank at most {rank} on "
            f"these arms and a noise variance of at least {SMALLEST_TOLERANCE / HARMLESS:g} of the "
            f"kernel's (given: {noise_var}); use representation='rows'"
        )
    if factor is None or not (chosen or _cost(factor) < _rows_cost(arms.size, expected)):
        return None
    return Coefficients(factor)


def _folds(n: int) -> tuple[int, int]:
    """When to fold: rows before the first time, and between later times.

    Measured at n = 46, 357, 1000 and 2500: within 10% of the best over 500 to 2000 rounds.
    """
    every = min(max(n // 8, 32), 256)
    return 2 * every, every


def _cost(factor: Factor) -> float:
    """Microseconds of arithmetic in a round of coefficient space."""
    columns = sum(factor.ranks) if isinstance(factor, KroneckerFactor) else factor.rank
    return 8 * (factor.size * columns + 2 * factor.rank**2) / BYTES


def _rows_cost(n: int, expected: int) -> float:
    """Microseconds of arithmetic in a round of data space, on average over the horizon."""
    first, every = _folds(n)
    if expected <= first or 8 * n * n > MATRIX_BYTES:
        return 8 * n * (expected / 2) / BYTES
    return 8 * n * every / BYTES + n * n / FLOPS
