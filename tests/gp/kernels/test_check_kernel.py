"""`check_kernel` names the law that a kernel breaks."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, LawBroken
from gpbandits_env.gp.kernels import (
    Kernel,
    Linear,
    Matern52,
    SquaredExponential,
    Stationary,
    check_kernel,
)


@dataclass(frozen=True)
class Quadratic(Stationary):
    """1 / (1 + r^2), with a mistake at a time in the subclasses."""

    def profile(self, r):
        return 1.0 / (1.0 + r * r)

    def slope(self, r):
        return 2.0 * self.profile(r) ** 2

    def spectral_scales(self, rng, count):
        return np.sqrt(2.0 * rng.exponential(size=(count, 1)))


@dataclass(frozen=True)
class Asymmetric(Linear):
    def __call__(self, x, z=None):
        return super().__call__(x, z) + 0.1 * x[:, :1]


@dataclass(frozen=True)
class OtherDiagonal(Quadratic):
    def diagonal(self, x):
        return np.full(len(x), 2.0 * self.variance)


@dataclass(frozen=True)
class Indefinite(Stationary):
    """A triangle is a covariance on the line, not in the plane."""

    def profile(self, r):
        return np.maximum(0.0, 1.0 - r)

    def slope(self, r):
        return np.divide(1.0, r, out=np.zeros_like(r), where=(r > 0) & (r < 1))


@dataclass(frozen=True)
class ReadOnly(Quadratic):
    def diagonal(self, x):
        return np.broadcast_to(self.variance, len(x))


@dataclass(frozen=True)
class Kept(Linear):
    memory: ClassVar[dict] = {}

    def __call__(self, x, z=None):
        z = x if z is None else z
        return self.memory.setdefault((x.tobytes(), z.tobytes()), super().__call__(x, z))


@dataclass(frozen=True)
class WrongSlope(Quadratic):
    def slope(self, r):
        return self.profile(r) ** 2


@dataclass(frozen=True)
class NoDiagonalGradient(Linear):
    def diagonal_gradient(self, x):
        return self.variance * x


@dataclass(frozen=True)
class OwnValues(SquaredExponential):
    def __call__(self, x, z=None):
        return super().__call__(2.0 * x, None if z is None else 2.0 * z)

    def gradient(self, x, z):
        return 2.0 * super().gradient(2.0 * x, 2.0 * z)

    def parameter_gradients(self, x, z=None):
        return super().parameter_gradients(2.0 * x, None if z is None else 2.0 * z)


@dataclass(frozen=True)
class WrongParameterGradient(Linear):
    def parameter_gradients(self, x, z=None):
        return {"variance": self(x, z) / self.variance}


@dataclass(frozen=True)
class MissingParameterGradient(Linear):
    def parameter_gradients(self, x, z=None):
        return {}


@dataclass(frozen=True)
class WrongFactor(Linear):
    def scaled(self, factor):
        return super().scaled(factor**2)


@dataclass(frozen=True)
class NotStationary(Linear):
    is_stationary = True
    diagonal_gradient = Linear.diagonal_gradient


@dataclass(frozen=True)
class HalfOfTheFeatures(Linear):
    def features(self, x):
        return 0.5 * x


@dataclass(frozen=True)
class NoProduct(Matern52):
    def axis_kernels(self, dim):
        return (self,) * dim


@dataclass(frozen=True)
class WrongSpectrum(Quadratic):
    def spectral_scales(self, rng, count):
        return np.sqrt(rng.exponential(size=(count, 1)))


@dataclass(frozen=True)
class ShortSpectrum(Quadratic):
    def frequencies(self, rng, count, dim):
        return super().frequencies(rng, count, dim)[:, 0]


@dataclass(frozen=True)
class Forgetful(Linear):
    def to_dict(self):
        return {**super().to_dict(), "variance": 1.0}


@dataclass(frozen=True)
class Nameless(Linear):
    __hash__ = object.__hash__


BROKEN = [
    (Asymmetric(0.9), "symmetric_values", "transpose"),
    (OtherDiagonal(0.5), "symmetric_values", "the diagonal"),
    (Indefinite(1.2), "positive_semidefinite_values in 2", "has the eigenvalue -"),
    (ReadOnly(0.5), "fresh_values", "read-only"),
    (Kept(0.9), "fresh_values", "written to"),
    (WrongSlope(0.5), "gradients_in_the_points", "gradient"),
    (NoDiagonalGradient(0.9), "gradients_in_the_points", "diagonal_gradient"),
    (OwnValues(0.5), "gradients_in_the_points", "columns"),
    (WrongParameterGradient(0.5), "hyper_parameters", "parameter_gradients in variance"),
    (MissingParameterGradient(0.5), "hyper_parameters", "parameters has"),
    (WrongFactor(0.5), "factors", "scaled"),
    (NotStationary(0.5), "stationarity", "x . c"),
    (NoProduct(0.5), "axes in 2", "axis_kernels"),
    (HalfOfTheFeatures(), "products_of_features", "features"),
    (WrongSpectrum(0.5), "spectrum", "standard errors"),
    (ShortSpectrum(0.5), "spectrum", "shape"),
    (Forgetful(0.5), "dicts_pickles_and_hashes", "read back from its dict differs"),
    (Nameless(0.5), "dicts_pickles_and_hashes", "or its hash does"),
]


@pytest.mark.parametrize(
    ("kernel", "law", "detail"), BROKEN, ids=[type(k).__name__ for k, _, _ in BROKEN]
)
def test_a_broken_law_is_named(kernel, law, detail):
    with pytest.raises(
        LawBroken, match=f"{type(kernel).__name__}' breaks the law of {law}.*{detail}"
    ):
        check_kernel(kernel)


def test_what_keeps_all_laws_passes(all_kernels):
    check_kernel(Quadratic(0.5, 3.0))
    for kernel in all_kernels:  # in other dimensions the laws are tested one by one
        check_kernel(kernel, 2, np.arange(12.0)[:, None] if kernel.on_indices else None)


def test_a_kernel_defined_within_a_function_cannot_be_found_again():
    @dataclass(frozen=True)
    class Local(Linear):
        pass

    with pytest.raises(LawBroken, match="cannot be read back from its dict"):
        check_kernel(Local(), dim=2)


def test_only_what_is_claimed_is_tried():
    @dataclass(frozen=True)
    class Shy(Kernel):
        def __call__(self, x, z=None):
            return 1.0 + x @ (x if z is None else z).T

        def diagonal(self, x):
            return 1.0 + (x * x).sum(axis=1)

    with pytest.raises(LawBroken, match="dict"):  # past values, gradients, factors and spectrum
        check_kernel(Shy())


def test_points_and_dimensions_are_chosen():
    check_kernel(Indefinite(1.2), dim=1)
    check_kernel(SquaredExponential((0.3, 0.5, 0.7)))
    with pytest.raises(InvalidInput, match="3 lengthscales"):
        check_kernel(SquaredExponential((0.3, 0.5, 0.7)), dim=2)
    with pytest.raises(LawBroken):
        check_kernel(NoProduct(0.5), points=np.random.default_rng(0).random((9, 2)))
    with pytest.raises(InvalidInput, match="points must be two or more, got 1"):
        check_kernel(SquaredExponential(0.3), points=np.zeros((1, 2)))
    with pytest.raises(InvalidInput, match="a kernel must be a dict"):
        check_kernel("se")


def test_a_kernel_may_be_its_dict_and_a_class_is_refused_with_what_to_give():
    check_kernel({"type": "se", "lengthscale": 0.3}, dim=1)
    with pytest.raises(InvalidInput, match=r"give an object, SquaredExponential\(\.\.\.\)"):
        check_kernel(SquaredExponential)


def test_an_attribute_that_is_no_field_is_refused():
    """Without the decorator, kernels that differ in it would be equal, as in a cache."""

    class Own(Kernel):
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x, z=None):
            return np.exp(-np.abs(x[:, None] - (x if z is None else z)).sum(axis=-1) / self.scale)

        def diagonal(self, x):
            return np.ones(len(x))

    with pytest.raises(InvalidInput, match=r"Own sets scale, which is no field.*@dataclass"):
        Own(0.3)

    class Linked(SquaredExponential):
        def linked(self):
            self.link = 3

    with pytest.raises(InvalidInput, match="Linked sets link, which is no field"):
        Linked(0.3).linked()
