"""Draws from a posterior on a box: whole functions, or values at given points."""

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.posterior.conditioning import Conditioning
from gpbandits_env.posterior.elimination import root
from gpbandits_env.posterior.paths import Paths, shown
from gpbandits_env.posterior.threads import OneThread
from gpbandits_env.samplers import BoxSampler, FourierFeatures

# Up to so many points a joint draw is always by a factor.
FEW_POINTS = 128


def draw_paths(
    data: Conditioning, rng: np.random.Generator, size: int, features: int | BoxSampler
) -> Paths:
    """Functions given the observed points; see `BoxPosterior.paths`."""
    model, log, count = data.model, data.log, data.n_observed
    with OneThread():
        basis = _basis(data, rng, features)
        xi = rng.standard_normal((size, basis.rank))
        if not count:
            return Paths(model.prior_mean, basis, xi, None, np.zeros((size, 0)))
        points, fade = log.points[:count].copy(), log.fade()
        fade = None if fade is None else fade[:count]
        there = basis.features(points)
        seen = shown(rng, there, xi, model.noise_var, fade, log.stamps[:count])
        missed = log.rewards[:count] - model.prior_mean - seen
        white = data.white[:count, :count]
        weights = (missed @ white.T) @ white
        if fade is not None:
            weights *= fade
        return Paths(model.prior_mean, basis, xi, model.columns(points), weights)


def draw_values(data: Conditioning, rng: np.random.Generator, size: int, x: Array) -> Array:
    """(size, n) values at points (n, d) given the observed points; see `BoxPosterior.sample`."""
    model, count = data.model, data.n_observed
    exact = model.exact_features if len(x) > FEW_POINTS else None
    if exact is not None and exact.rank < len(x):
        return draw_paths(data, rng, size, exact)(x)
    draws: Array = rng.standard_normal((size, len(x)))
    covariance = model.kernel(x, x)
    with OneThread():
        if count:
            cross = data.columns(x)[:, :count]
            v = cross @ data.regression.white[:count, :count].T
            covariance -= v @ v.T
        draws = draws @ root(0.5 * (covariance + covariance.T)).T
        draws += model.prior_mean
        if count:
            draws += v @ data.log.beta[:count]
    return draws


def _basis(data: Conditioning, rng: np.random.Generator, features: int | BoxSampler) -> BoxSampler:
    if isinstance(features, BoxSampler):
        return features
    model = data.model
    return model.exact_features or FourierFeatures(model.kernel, model.box.dim, features, rng)
