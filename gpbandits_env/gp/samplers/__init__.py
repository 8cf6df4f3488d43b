"""Exact and approximate draws of a Gaussian process, linear in white coefficients."""

from gpbandits_env.gp.samplers.box import FourierFeatures as FourierFeatures
from gpbandits_env.gp.samplers.box import ProductFeatures as ProductFeatures
from gpbandits_env.gp.samplers.box import joined_features as joined_features
from gpbandits_env.gp.samplers.choose import exact_features as exact_features
from gpbandits_env.gp.samplers.choose import factor_for as factor_for
from gpbandits_env.gp.samplers.choose import sampler_for as sampler_for
from gpbandits_env.gp.samplers.circulant import CirculantSampler as CirculantSampler
from gpbandits_env.gp.samplers.circulant import circulant_sampler as circulant_sampler
from gpbandits_env.gp.samplers.factors import DenseFactor as DenseFactor
from gpbandits_env.gp.samplers.factors import KroneckerFactor as KroneckerFactor
from gpbandits_env.gp.samplers.factors import dense_factor as dense_factor
from gpbandits_env.gp.samplers.factors import kronecker_factor as kronecker_factor
from gpbandits_env.gp.samplers.factors import low_rank_factor as low_rank_factor
from gpbandits_env.gp.samplers.sampler import BoxSampler as BoxSampler
from gpbandits_env.gp.samplers.sampler import Factor as Factor
from gpbandits_env.gp.samplers.sampler import MatrixFactor as MatrixFactor
from gpbandits_env.gp.samplers.sampler import Sampler as Sampler
from gpbandits_env.gp.samplers.sobol import sobol as sobol
