"""Covariance functions, with gradients and a plain dict form."""

from gpbandits_env.kernels.base import KERNELS, Kernel, Radial, kernel_from_dict
from gpbandits_env.kernels.check import check_kernel
from gpbandits_env.kernels.compose import Product, Sum
from gpbandits_env.kernels.empirical import Empirical
from gpbandits_env.kernels.linear import Linear
from gpbandits_env.kernels.matern import Matern, Matern12, Matern32, Matern52
from gpbandits_env.kernels.stationary import SquaredExponential, Stationary

__all__ = [
    "KERNELS",
    "Empirical",
    "Kernel",
    "Linear",
    "Matern",
    "Matern12",
    "Matern32",
    "Matern52",
    "Product",
    "Radial",
    "SquaredExponential",
    "Stationary",
    "Sum",
    "check_kernel",
    "kernel_from_dict",
]
