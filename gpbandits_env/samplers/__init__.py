"""Exact and approximate draws of a Gaussian process, linear in white coefficients."""

from gpbandits_env.samplers.base import BoxSampler, Factor, MatrixFactor, Sampler
from gpbandits_env.samplers.choose import box_sampler_for, factor_for, sampler_for
from gpbandits_env.samplers.circulant import CirculantSampler, circulant_sampler
from gpbandits_env.samplers.dense import DenseFactor, dense_factor
from gpbandits_env.samplers.fourier import FourierFeatures
from gpbandits_env.samplers.kronecker import KroneckerFactor, kronecker_factor
from gpbandits_env.samplers.lowrank import LowRankFactor, low_rank_factor
from gpbandits_env.samplers.products import ProductFeatures

__all__ = [
    "BoxSampler",
    "CirculantSampler",
    "DenseFactor",
    "Factor",
    "FourierFeatures",
    "KroneckerFactor",
    "LowRankFactor",
    "MatrixFactor",
    "ProductFeatures",
    "Sampler",
    "box_sampler_for",
    "circulant_sampler",
    "dense_factor",
    "factor_for",
    "kronecker_factor",
    "low_rank_factor",
    "sampler_for",
]
