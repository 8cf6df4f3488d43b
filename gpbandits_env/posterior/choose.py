"""Which back a posterior gets."""

from numpy.typing import ArrayLike

from gpbandits_env.arrays import positive, whole
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.posterior.back import Back
from gpbandits_env.posterior.base import ArmPosterior
from gpbandits_env.posterior.coefficients import CoefficientsBack
from gpbandits_env.posterior.covariances import prior_covariance
from gpbandits_env.posterior.rows import RowsBack
from gpbandits_env.samplers import Factor, factor_for

BACKS = ("auto", "rows", "coefficients")
LARGEST_RANK = 512
USUAL_HORIZON = 1000
# The variance that a factor leaves out may be at most this part of the noise variance.
HARMLESS = 1e-10
SMALLEST_TOLERANCE, LARGEST_TOLERANCE = 1e-14, 1e-12


def posterior_on(
    arms: Arms,
    kernel: Kernel,
    noise_var: float,
    prior_mean: ArrayLike = 0.0,
    back: str = "auto",
    horizon: int | None = None,
) -> ArmPosterior:
    """The posterior of a GP on arms, before any data.

    Args:
        arms: the n arms.
        kernel: the prior covariance.
        noise_var: variance of the noise on a reward, at least 0.
        prior_mean: a number, or (n,) one an arm.
        back: "rows" (data space), "coefficients" (when the kernel's numerical rank on the arms is
            small), or "auto", the cheaper of the two. Both are exact to 1e-8; coefficients leave
            out a variance of at most 1e-10 noise_var an arm, and are not used if that cannot be.
        horizon: how many observations to expect, for "auto"; 1000 if it is not known.

    Raises:
        UnknownName: no such back.
        InvalidInput: numbers out of range, points that the kernel cannot be called on, or
            "coefficients" for a kernel of too large a rank or too small a noise variance.
    """
    if back not in BACKS:
        raise unknown("back", back, BACKS)
    kernel.check_points(arms.coordinates)
    noise_var = positive(noise_var, "noise_var", zero=True)
    expected = USUAL_HORIZON if horizon is None else whole(horizon, "horizon")
    made = _coefficients(arms, kernel, noise_var, back, expected) if back != "rows" else None
    return ArmPosterior(arms, kernel, noise_var, prior_mean, made or _rows(arms, kernel, noise_var))


def _rows(arms: Arms, kernel: Kernel, noise_var: float) -> Back:
    return RowsBack(prior_covariance(arms, kernel), noise_var, *_folds(arms.size))


def _folds(n: int) -> tuple[int, int]:
    """When to fold: rows before the first time, and between later times."""
    return max(64, n // 2), 128


def _coefficients(
    arms: Arms, kernel: Kernel, noise_var: float, back: str, expected: int
) -> Back | None:
    asked = back == "coefficients"
    rank = min(arms.size, 4 * LARGEST_RANK) if asked else _worthwhile_rank(arms.size, expected)
    factor = _harmless_factor(arms, kernel, noise_var, rank)
    if factor is not None:
        return CoefficientsBack(factor)
    if asked:
        raise InvalidInput(
            f"coefficients need a kernel of rank at most {rank} on these arms at a tolerance of "
            f"{HARMLESS} noise_var (given: {noise_var}); use back='rows'"
        )
    return None


def _worthwhile_rank(n: int, expected: int) -> int:
    """The largest rank at which coefficients cost no more than rows."""
    return min(n // 2, LARGEST_RANK, max(32, expected // 2))


def _harmless_factor(arms: Arms, kernel: Kernel, noise_var: float, rank: int) -> Factor | None:
    scale = float(kernel.diagonal(arms.coordinates).max())
    tolerance = min(HARMLESS * noise_var, LARGEST_TOLERANCE * scale)
    if rank < 1 or tolerance < SMALLEST_TOLERANCE * scale:
        return None
    return factor_for(arms, kernel, rank, tolerance)
