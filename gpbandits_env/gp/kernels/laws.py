"""Checks that a user's own kernel satisfies the laws of a covariance function."""

import json
import pickle
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from gpbandits_env.arrays import Array, Settings, finite_array
from gpbandits_env.errors import GPBanditsError, InvalidInput, LawBroken
from gpbandits_env.gp.kernels.kernel import Kernel, kernel_from_dict
from gpbandits_env.laws import agree, keep_all

# The step of central differences, relative to the spread of the points or to a parameter.
STEP = 1e-5
# Points for the eigenvalues: with few points, a profile that is no covariance in 2-D may pass.
MANY = 150
# Draws for the spectral law, and the largest allowed error of their mean in standard errors.
FREQUENCIES, ERRORS = 40_000, 5.5


def check_kernel(
    kernel: Kernel | Settings,
    dim: int | Iterable[int] | None = None,
    points: ArrayLike | None = None,
) -> None:
    """Check that a kernel satisfies all laws; methods that raise `InvalidInput` are skipped.

    The laws cover values, gradients in the points and hyper-parameters (against differences),
    claimed properties (stationary, a product over axes, features), the spectral sampler (by Monte
    Carlo), dicts, JSON, pickles, equality and hashes. The check takes about 50 ms.

    Args:
        kernel: an instance with typical hyper-parameters, or its dict.
        dim: one or several dimensions of random points in [-1, 1]^dim; by default those among 1, 2
            and 5 that the kernel accepts.
        points: (n, d) with n >= 2, instead of random points.
    Raises:
        LawBroken: a law fails; the message names it, what was found and what was expected.
        InvalidInput: the argument is not a kernel, the kernel does not accept these points, or
            there are fewer than two.
    """
    kernel = kernel_from_dict(kernel)
    if dim is None:
        dim = [d for d in (1, 2, 5) if _accepts(kernel, d)] or kernel.dim or 1
    rng = np.random.default_rng(20100621)
    places = [rng.uniform(-1, 1, (21, d)) for d in ([dim] if isinstance(dim, int) else dim)]
    for place in places if points is None else [finite_array(points, "points", 2)]:
        if len(place) < 2:
            raise InvalidInput(f"points must be two or more, got {len(place)}")
        kernel.check_points(place)
        half = len(place) * 4 // 7
        name, where = f"the kernel {kernel.type_name!r}", f" in {place.shape[1]} dimension(s)"
        module = type(kernel).__module__
        keep_all(LAWS, name, where, module, kernel, place[:half], place[half:])


def _accepts(kernel: Kernel, dim: int) -> bool:
    try:
        kernel.check_points(np.zeros((1, dim)))
    except InvalidInput:
        return False
    return kernel.dim in (None, dim)


def symmetric_values(kernel: Kernel, x: Array, z: Array) -> None:
    """k(x, z) = k(z, x), and a block of a matrix equals the matrix of those points."""
    whole = kernel(np.concatenate([x, z]))
    agree("the matrix and its transpose", whole, whole.T)
    agree("k(x, z) and the block of k([x, z])", kernel(x, z), whole[: len(x), len(x) :])
    agree("k(z, x) and the transpose of k(x, z)", kernel(z, x), kernel(x, z).T)
    agree("the diagonal", kernel.diagonal(x), kernel(x).diagonal())


def positive_semidefinite_values(kernel: Kernel, x: Array, z: Array) -> None:
    """No eigenvalue of a matrix is below 0, also for many or repeated points."""
    matrices = [kernel(np.concatenate([x, z, x[:2]]))]
    if not kernel.on_indices:
        rng, low, high = np.random.default_rng(0), x.min(axis=0), x.max(axis=0)
        many = low + (high - low) * rng.random((MANY, x.shape[1]))
        matrices += [kernel(many), kernel(x[0] + 0.2 * (many - x[0]))]
    for matrix in matrices:
        least, trace = float(np.linalg.eigvalsh(matrix)[0]), float(np.trace(matrix))
        if not least >= -1e-11 * trace:
            raise LawBroken(f"a matrix of trace {trace:.3g} has the eigenvalue {least:.3g}")


def fresh_values(kernel: Kernel, x: Array, z: Array) -> None:
    """Results are new, writable arrays, and arguments are unchanged."""
    before, x_copy, z_copy = kernel(x, z).copy(), x.copy(), z.copy()
    for result in (kernel(x, z), kernel.diagonal(x), *kernel.parameter_gradients(x, z).values()):
        if not result.flags.writeable:
            raise LawBroken("a result is read-only: return new arrays")
        result[:] = np.nan
    agree("k(x, z) after an earlier result was written to", kernel(x, z), before)
    agree("x after k(x, z)", x, x_copy)
    agree("z after k(x, z)", z, z_copy)


def gradients_in_the_points(kernel: Kernel, x: Array, z: Array) -> None:
    """Gradients agree with differences of values, and `columns` contracts them."""
    try:
        gradient = kernel.gradient(x, z)
    except InvalidInput:
        return
    spread = float(np.ptp(x)) or 1.0
    size = float(np.abs(kernel(x)).max()) / spread

    def differences(values: Callable[[Array], Array]) -> Array:
        steps = STEP * spread * np.eye(x.shape[1])
        slopes = [(values(x + s) - values(x - s)) / (2 * STEP * spread) for s in steps]
        return np.stack(slopes, axis=-1)

    # Next to a kink, at distance 0, second derivatives are unbounded.
    apart = (cdist(x, z) > 0.05 * spread)[:, :, None]
    wanted = differences(lambda at: kernel(at, z))
    agree("gradient(x, z)", gradient * apart, wanted * apart, 1e-6, size)
    at_itself = kernel.gradient(x, x)
    agree("gradient(x, x), which must be finite", at_itself, np.nan_to_num(at_itself))
    wanted = differences(kernel.diagonal)
    agree("diagonal_gradient(x)", kernel.diagonal_gradient(x), wanted, 1e-6, size)
    weights = np.cos(np.arange(float(len(x) * len(z)))).reshape(len(x), len(z))
    values, pulled = kernel.columns(z, z.mean(axis=0)).pull(x)
    agree("columns(z).pull(x)", values, kernel(x, z), 1e-9)
    wanted = np.einsum("ij,ijk->ik", weights, gradient)
    agree("the gradients of columns(z).pull(x)", pulled(weights), wanted, 1e-9, size)


def hyper_parameters(kernel: Kernel, x: Array, z: Array) -> None:
    """They can be set, and derivatives in their logarithms agree with differences of values."""
    values, slopes = kernel.parameters(), kernel.parameter_gradients(x, z)
    if list(slopes) != list(values):
        raise LawBroken(f"parameter_gradients has {list(slopes)}, parameters has {list(values)}")
    size = float(np.abs(kernel(x)).max())
    for name, value in values.items():
        up, down = (kernel.with_parameters({name: value * np.exp(s)}) for s in (STEP, -STEP))
        agree(f"with_parameters of {name}", up.parameters()[name], value * np.exp(STEP))
        wanted = (up(x, z) - down(x, z)) / (2 * STEP)
        agree(f"parameter_gradients in {name}", slopes[name], wanted, 1e-6, size)
    if kernel.with_parameters(values) != kernel:
        raise LawBroken("with_parameters(parameters()) does not equal the kernel")


def factors(kernel: Kernel, x: Array, z: Array) -> None:
    """The kernel scaled by 2.5 has 2.5 times the values."""
    try:
        scaled = kernel.scaled(2.5)
    except InvalidInput:
        return
    agree("scaled(2.5)(x, z)", scaled(x, z), 2.5 * kernel(x, z))


def stationarity(kernel: Kernel, x: Array, z: Array) -> None:
    """The values of a kernel that claims to be stationary depend on x - z alone."""
    if kernel.is_stationary:
        shift = 0.3 * (float(np.ptp(x)) or 1.0)
        agree("k(x + c, z + c)", kernel(x + shift, z + shift), kernel(x, z), 1e-9)


def axes(kernel: Kernel, x: Array, z: Array) -> None:
    """The product of `axis_kernels` is the kernel."""
    if (kernels := kernel.axis_kernels(x.shape[1])) is not None:
        parts = [own(x[:, [j]], z[:, [j]]) for j, own in enumerate(kernels)]
        agree("the product of axis_kernels", np.prod(parts, axis=0), kernel(x, z), 1e-11)


def products_of_features(kernel: Kernel, x: Array, z: Array) -> None:
    """The products of `features`, where there are any, are the kernel."""
    if (phi := kernel.features(np.concatenate([x, z]))) is not None:
        products = phi[: len(x)] @ phi[len(x) :].T
        agree("the products of features", products, kernel(x, z), 1e-9)


def spectrum(kernel: Kernel, x: Array, z: Array) -> None:
    """k(x, z) = k(0) E cos(w . (x - z)) over `frequencies` w, within Monte Carlo error."""
    try:
        w = kernel.frequencies(np.random.default_rng(0), FREQUENCIES, x.shape[1])
    except InvalidInput:
        return
    if w.shape != (FREQUENCIES, x.shape[1]):
        raise LawBroken(f"frequencies has shape {w.shape}, not {(FREQUENCIES, x.shape[1])}")
    x, z = x[: len(z)], z[: len(x)]
    waves = np.cos((x - z) @ w.T)
    variance = float(kernel.diagonal(x[:1])[0])
    off = variance * waves.mean(axis=1) - kernel(x, z).diagonal()
    errors = variance * (waves.std(axis=1) / np.sqrt(FREQUENCIES) + 1e-9)
    if not (worst := float(np.abs(off / errors).max())) < ERRORS:
        raise LawBroken(f"the mean cosine of frequencies is {worst:.3g} standard errors off")


def dicts_pickles_and_hashes(kernel: Kernel, x: Array, z: Array) -> None:
    """A kernel read back from its dict, through JSON, or from a pickle equals the original."""
    ways: dict[str, Callable[[], Kernel]] = {
        "its dict": lambda: kernel_from_dict(json.loads(json.dumps(kernel.to_dict()))),
        "a pickle": lambda: pickle.loads(pickle.dumps(kernel)),
    }
    for way, back in ways.items():
        try:
            again = back()
        except (GPBanditsError, TypeError, AttributeError, pickle.PicklingError) as error:
            raise LawBroken(f"the kernel cannot be read back from {way}: {error}") from None
        if again != kernel or hash(again) != hash(kernel):
            raise LawBroken(f"the kernel read back from {way} differs, or its hash does")
        agree(f"k(x, z) of the kernel read back from {way}", again(x, z), kernel(x, z))


LAWS: tuple[Callable[[Kernel, Array, Array], None], ...] = (
    *(symmetric_values, positive_semidefinite_values, fresh_values, gradients_in_the_points),
    *(hyper_parameters, factors, stationarity, axes, products_of_features, spectrum),
    dicts_pickles_and_hashes,
)
