"""Exact and approximate draws of a Gaussian process, linear in white coefficients."""

from gpbandits_env.samplers.base import BoxSampler, Factor, MatrixFactor, Sampler
from gpbandits_env.samplers.box import FourierFeatures, ProductFeatures
from gpbandits_env.samplers.choose import box_sampler_for, exact_features, factor_for, sampler_for
from gpbandits_env.samplers.circulant import CirculantSampler, circulant_sampler
from gpbandits_env.samplers.factors import DenseFactor, LowRankFactor, dense_factor, low_rank_factor
from gpbandits_env.samplers.kronecker import KroneckerFactor, kronecker_factor

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
    "exact_features",
    "factor_for",
    "kronecker_factor",
    "low_rank_factor",
    "sampler_for",
]
