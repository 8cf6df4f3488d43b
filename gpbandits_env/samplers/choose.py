"""Which sampler suits a kernel on a domain."""

from functools import lru_cache
from typing import Any

import numpy as np

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.samplers.base import BoxSampler, Factor, Sampler
from gpbandits_env.samplers.circulant import CirculantSampler, can_embed
from gpbandits_env.samplers.dense import dense_factor, low_rank_factor, need_low_rank
from gpbandits_env.samplers.fourier import FourierFeatures
from gpbandits_env.samplers.kronecker import KroneckerFactor, kronecker_factor
from gpbandits_env.samplers.products import ProductFeatures

KINDS = ("auto", "dense", "lowrank", "kronecker", "circulant")
BOX_KINDS = ("auto", "fourier", "product")
# A full factor of 3000 arms is 72 MB and takes a fraction of a second.
MOST_DENSE = 3000
# From here on an FFT beats a product with the full factor.
CIRCULANT_FROM = 1200
MOST_PRODUCT_FEATURES = 4096


def sampler_for(
    arms: Arms, kernel: Kernel, kind: str = "auto", tolerance: float = 1e-12
) -> Sampler:
    """Exact GP draws on arms, by the cheapest way.

    "auto" takes, in this order: a Kronecker product (a product kernel on a grid of 2 or more
    axes), a low-rank factor, an FFT circulant embedding (a stationary kernel on an even grid of
    many arms), a dense factor. The last 8 samplers are kept, so that trials share them.

    Args:
        arms: the n arms.
        kernel: the covariance.
        kind: "auto", "dense", "lowrank", "kronecker" or "circulant".
        tolerance: of the factors of low rank, relative to the largest variance.
    Raises:
        UnknownName: another kind.
        InvalidInput: the kind does not fit the kernel or the arms, or no kind does.
    """
    if kind not in KINDS:
        raise unknown("sampler", kind, KINDS)
    kernel.check_points(arms.coordinates)
    return _sampler(arms, kernel, kind, tolerance)


def factor_for(
    arms: Arms, kernel: Kernel, max_rank: int, tolerance: float = 1e-12
) -> Factor | None:
    """A factor of numerical rank at most ``max_rank`` for a learner, or None.

    Args:
        arms: the n arms.
        kernel: the covariance.
        max_rank: the largest rank that is worth while.
        tolerance: relative to the largest variance.
    """
    return _factor(arms, kernel, max_rank, tolerance)


def box_sampler_for(
    box: Box,
    kernel: Kernel,
    kind: str = "auto",
    features: int = 1024,
    rng: np.random.Generator | None = None,
) -> BoxSampler:
    """GP draws on a box: exact product features where they are few, else random Fourier ones.

    Args:
        box: where.
        kernel: the covariance; stationary.
        kind: "auto", "product" or "fourier".
        features: the number of random features.
        rng: draws the random frequencies; needed for "fourier" only.
    Raises:
        UnknownName: another kind.
        InvalidInput: the kernel does not allow the kind.
    """
    if kind not in BOX_KINDS:
        raise unknown("sampler on a box", kind, BOX_KINDS)
    kernel.check_points(box.low[None, :])
    if kind == "auto":
        kind = "product" if ProductFeatures.fits(box, kernel, MOST_PRODUCT_FEATURES) else "fourier"
    if kind == "product":
        return ProductFeatures(box, kernel)
    return FourierFeatures(kernel, box.dim, features, rng or np.random.default_rng(0))


@lru_cache(maxsize=8)
def _sampler(arms: Arms, kernel: Kernel, kind: str, tolerance: float) -> Sampler:
    makers: dict[str, Any] = {
        "kronecker": lambda: kronecker_factor(arms, kernel, tolerance),
        "lowrank": lambda: need_low_rank(
            low_rank_factor(arms, kernel, arms.size, tolerance), kernel, arms.size
        ),
        "circulant": lambda: CirculantSampler(arms, kernel),
        "dense": lambda: dense_factor(arms, kernel),
    }
    made: Sampler = makers[kind]() if kind != "auto" else _cheapest(arms, kernel, tolerance)
    return made


def _cheapest(arms: Arms, kernel: Kernel, tolerance: float) -> Sampler:
    if arms.axes and arms.dim > 1 and kernel.axis_kernels(arms.dim):
        return kronecker_factor(arms, kernel, tolerance)
    low = low_rank_factor(arms, kernel, max_rank=min(arms.size // 4, 400), tolerance=tolerance)
    if low is not None:
        return low
    if arms.size >= CIRCULANT_FROM and can_embed(arms, kernel):
        return CirculantSampler(arms, kernel)
    if arms.size > MOST_DENSE:
        raise InvalidInput(
            f"{arms.size} arms are too many to factorise the kernel {kernel.type_name!r} densely "
            f"(more than {MOST_DENSE}); use an even grid with a stationary kernel, fewer arms, "
            "or sampler='dense' if you have the memory"
        )
    return dense_factor(arms, kernel)


@lru_cache(maxsize=8)
def _factor(arms: Arms, kernel: Kernel, max_rank: int, tolerance: float) -> Factor | None:
    kernel.check_points(arms.coordinates)
    if arms.axes and arms.dim > 1 and kernel.axis_kernels(arms.dim):
        factor: KroneckerFactor = kronecker_factor(arms, kernel, tolerance)
        if factor.rank <= max_rank:
            return factor
    return low_rank_factor(arms, kernel, max_rank, tolerance)
