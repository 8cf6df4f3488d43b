"""The algebra of BKB's posterior: features of a dictionary, and what they make of the data.

Source: Calandriello et al. (2019), Section 3.
"""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.posterior.covariances import PriorCovariance

# Eigenvalues of K_S below this part of the largest count as 0. Rounding of the kernel alone changes
# a feature of relative eigenvalue v by about 1e-16 / v, which shows where past points outside the
# dictionary lean on it. Held against 60 digits (1000 arms, neighbours in the dictionary): mostly
# within 1e-8, at worst 7e-5 in the mean and 5e-7 in the variance.
CUT_OFF = 1e-13


@dataclass(frozen=True)
class Solved:
    """The posterior under one dictionary: mean, variance (n,), and two (r, n) blocks.

    The covariance of two arms is k(x, x') - features^T features' + lambda white^T white'.
    """

    mean: Array
    var: Array
    features: Array
    white: Array


def solved(
    prior: PriorCovariance,
    prior_mean: Array,
    noise_var: float,
    dictionary: IntArray,
    data: tuple[Array, Array],
) -> Solved:
    """Mean and variance at all arms, O(n m^2 + m^3); repeated points share one feature vector.

    Args:
        prior: K(arms, arms).
        prior_mean: (n,).
        noise_var: lambda > 0.
        dictionary: (m,) distinct arms.
        data: (n,) pulls of each arm, and (n,) the sums of their rewards less the prior mean.
    """
    counts, sums = data
    observed = np.flatnonzero(counts)
    cross = prior.rows(dictionary)
    features = nystrom_features(cross[:, dictionary], cross)  # z(x) for all arms
    weighted = features[:, observed] * np.sqrt(counts[observed])
    matrix = weighted @ weighted.T  # Z^T Z
    matrix.flat[:: len(matrix) + 1] += noise_var  # A
    inverse = np.linalg.inv(np.linalg.cholesky(matrix))
    white = inverse @ features
    mean = prior_mean + (inverse @ (features[:, observed] @ sums[observed])) @ white
    # z^T Z^T Z A^-1 z = z^T z - lambda z^T A^-1 z.
    missed = np.maximum(prior.diagonal - np.einsum("ij,ij->j", features, features), 0.0)
    var = missed + noise_var * np.einsum("ij,ij->j", white, white)
    return Solved(mean, var, features, white)


def nystrom_features(gram: Array, cross: Array) -> Array:
    """The features (K_S^(1/2))^+ k_S(x), turned into the eigenbasis of K_S: (r, n), r <= m.

    Eigenvalues of K_S below `CUT_OFF` of the largest count as 0. The turn leaves every product of
    two feature vectors as it is.

    Args:
        gram: (m, m) K_S; may be singular.
        cross: (m, n) k_S at n points.
    """
    if not len(gram):
        return cross[:0].copy()
    values, vectors = np.linalg.eigh(gram)
    kept = values > CUT_OFF * values[-1]
    features: Array = (vectors[:, kept] / np.sqrt(values[kept])).T @ cross
    return features
