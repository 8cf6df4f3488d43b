"""The choice of a sampler for a kernel on a domain, and a cache of recent samplers."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar

from gpbandits_env.arrays import positive, whole
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.kernels.kernel import check_on
from gpbandits_env.gp.samplers.box import ProductFeatures
from gpbandits_env.gp.samplers.circulant import MOST_POINTS, can_embed, circulant_sampler
from gpbandits_env.gp.samplers.factors import dense_factor, kronecker_factor, low_rank_factor
from gpbandits_env.gp.samplers.sampler import BoxSampler, Factor, MatrixFactor, Sampler
from gpbandits_env.gp.threads import one_blas_thread

# A full factor of 3000 arms is 72 MB and takes half a second; one of 10,000 takes 14 s and 2.4 GB.
MOST_DENSE = 10_000
# From this size an FFT can beat a product with the full factor. Measured: 14 ns per point of the
# torus, including its normal variate, against 0.14 ns times n^2.
CIRCULANT_FROM = 800
ARMS_SQUARED_A_POINT = 100
# With more arms than this, any torus is preferred to a full factor.
CIRCULANT_ABOVE = 3000
# A low-rank factor is tried up to this rank and this many numbers (128 MB).
LARGEST_RANK, LARGEST_FACTOR = 400, 1 << 24
# Where an FFT is possible, a factor with a larger rank than this is slower.
LARGEST_RANK_WITH_FFT = 256

S = TypeVar("S", bound=Sampler | None)


class SamplerCache:
    """The most recently used samplers, limited in bytes and entries; safe to use from threads.

    Two threads that miss at the same time both make the sampler; samplers of one key are equal,
    also because each is made by one BLAS thread. One of more than ``most_bytes`` is not kept.
    """

    def __init__(self, most_bytes: int, most_entries: int) -> None:
        self.most_bytes, self.most_entries = most_bytes, most_entries
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, Sampler | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """The memory of all samplers, in bytes."""
        return sum(0 if sampler is None else sampler.nbytes for sampler in self._kept.values())

    def get(self, key: Hashable, make: Callable[[], S]) -> S:
        """The sampler of the key, made now if it is not cached; errors of ``make`` propagate."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]  # type: ignore[return-value]
        with one_blas_thread():
            made = make()
        with self._lock:
            if made is None or made.nbytes <= self.most_bytes:
                self._kept.setdefault(key, made)
            while self.nbytes > self.most_bytes or len(self) > self.most_entries:
                self._kept.popitem(last=False)
        return made


_CACHE = SamplerCache(most_bytes=256 << 20, most_entries=64)


def sampler_for(arms: Arms, kernel: Kernel) -> Sampler:
    """The cheapest sampler of GP draws on arms, exact to about 1e-12 of the largest variance.

    It is the first that is possible of: a Kronecker product (a product kernel on a grid of two or
    more axes), a low-rank factor (up to rank n/4 or 400, or 256 where an FFT is possible), an FFT
    circulant embedding (a stationary kernel on an even grid of 800 arms or more, up to 3000 arms
    only if its torus is cheaper than a full factor), and a full factor (up to 10,000 arms; above
    3000, jitter may add to its error). Each process caches the last 64 samplers of up to 256 MB in
    total, so that trials share them.

    Raises:
        InvalidInput: the kernel does not accept the arms, or there are too many for a full factor.
        NotPositiveDefinite: the kernel is no covariance function.
    """
    check_on(kernel, arms.coordinates)
    return _CACHE.get((arms, kernel), lambda: _cheapest(arms, kernel))


def factor_for(
    arms: Arms, kernel: Kernel, max_rank: int, tolerance: float = 1e-12
) -> Factor | None:
    """A cached factor of rank at most ``max_rank``, for a posterior; None if there is none.

    The tolerance is the variance that the factor may miss, relative to the largest variance; on a
    product grid each axis may miss as much.
    """
    check_on(kernel, arms.coordinates)
    tolerance = positive(tolerance, "tolerance", zero=True)
    key = ("factor", arms, kernel, whole(max_rank, "max_rank"), tolerance)
    return _CACHE.get(key, lambda: _factor(arms, kernel, max_rank, tolerance))


def exact_features(box: Box, kernel: Kernel) -> BoxSampler | None:
    """The `ProductFeatures` of a kernel, or None if it has none or too many would be needed."""
    try:
        return ProductFeatures(box, kernel)
    except InvalidInput:
        return None


def _cheapest(arms: Arms, kernel: Kernel) -> Sampler:
    if (product := kronecker_factor(arms, kernel)) is not None:
        return product
    embeds = arms.size >= CIRCULANT_FROM and can_embed(arms, kernel)
    most = min(arms.size // 4, LARGEST_RANK_WITH_FFT if embeds else LARGEST_RANK)
    most = max(1, min(most, LARGEST_FACTOR // arms.size))
    low = low_rank_factor(arms, kernel, most)
    if low is not None:
        return low
    if embeds:
        cheaper = arms.size <= CIRCULANT_ABOVE
        most_points = arms.size**2 // ARMS_SQUARED_A_POINT if cheaper else MOST_POINTS
        embedded = circulant_sampler(arms, kernel, most_points)
        if embedded is not None:
            return embedded
    if arms.size > MOST_DENSE:
        raise InvalidInput(
            f"{arms.size} arms are too many to factorize the kernel {kernel.type_name!r} in full "
            f"(more than {MOST_DENSE}): use fewer arms, or an evenly spaced grid and a stationary "
            "kernel whose lengthscale is short beside the grid"
        )
    return dense_factor(arms, kernel)


def _factor(arms: Arms, kernel: Kernel, max_rank: int, tolerance: float) -> Factor | None:
    if (factor := kronecker_factor(arms, kernel, tolerance)) is not None:
        top = float(kernel.diagonal(arms.coordinates).max())
        factor = factor.thinned(tolerance * top - factor.error)
        if factor.rank <= max_rank:
            return factor
    features = kernel.features(arms.coordinates)
    if features is not None and features.shape[1] <= max_rank:
        return MatrixFactor(features, 0.0)
    return low_rank_factor(arms, kernel, max_rank, tolerance)
