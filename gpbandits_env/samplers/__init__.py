"""Exact and approximate draws of a Gaussian process, linear in white coefficients."""

from gpbandits_env.samplers.base import BoxSampler, Factor, Sampler
from gpbandits_env.samplers.choose import box_sampler_for, factor_for, sampler_for
from gpbandits_env.samplers.circulant import CirculantSampler
from gpbandits_env.samplers.dense import MatrixFactor, dense_factor, low_rank_factor
from gpbandits_env.samplers.fourier import FourierFeatures
from gpbandits_env.samplers.kronecker import KroneckerFactor, kronecker_factor
from gpbandits_env.samplers.products import ProductFeatures

__all__ = [
    "BoxSampler",
    "CirculantSampler",
    "Factor",
    "FourierFeatures",
    "KroneckerFactor",
    "MatrixFactor",
    "ProductFeatures",
    "Sampler",
    "box_sampler_for",
    "dense_factor",
    "factor_for",
    "kronecker_factor",
    "low_rank_factor",
    "sampler_for",
]
