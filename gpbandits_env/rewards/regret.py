"""Regret, defined once: how far the value of an action is below the best value.

It always uses noiseless values and the maximum of the function of the same round. With f*_t the
maximum in round t, m actions per round and T rounds:

    instantaneous, per action     r_{t,i} = f*_t - f_t(x_{t,i})        srinivas2010, Section 2
    per batch                     r_t     = sum_i r_{t,i}              ren2024, Section 2
    cumulative                    R_T     = sum_{t <= T} r_t
    average, per action           R_T / (T m)
    simple                        S_T     = min_{t <= T, i} r_{t,i}

On a finite domain no regret is negative. In a box the maximum is found by search, and a value may
exceed it by the stated accuracy of the search.
"""

import numpy as np

from gpbandits_env.arrays import Array

# Bound methods of the ufuncs save time: an environment step takes only microseconds.
_sum = np.add.reduce
_min = np.minimum.reduce


def instantaneous(optimum: float | Array, values: Array) -> Array:
    """The regret of each action, f* - f(x); a new array.

    Args:
        optimum: the maximum of the round's function, broadcast against the values.
        values: noiseless values, any shape.
    """
    return optimum - values


def cumulative(regret: Array) -> Array:
    """R_1, ..., R_T from the regret of each action, (T, m) or (T,); returns (T,)."""
    return np.cumsum(_sum(_rounds(regret), axis=-1))


def simple(regret: Array) -> Array:
    """S_1, ..., S_T, the smallest regret so far, from (T, m) or (T,); returns (T,)."""
    return np.minimum.accumulate(_min(_rounds(regret), axis=-1))


def average(regret: Array) -> Array:
    """R_t / (t m) for t = 1, ..., T from (T, m) or (T,); returns (T,)."""
    rounds = _rounds(regret)
    return cumulative(rounds) / (np.arange(1, len(rounds) + 1) * rounds.shape[1])


def counted(cumulative: float, simple: float, regret: Array) -> tuple[float, float]:
    """R_t and S_t from R_{t-1}, S_{t-1} and the regret of each action of round t, (m,)."""
    return cumulative + float(_sum(regret)), min(simple, min(regret.tolist()))


def counted_each(cumulative: Array, simple: Array, regret: Array) -> tuple[Array, Array]:
    """`counted` for B instances, (B,), from the regrets (B, m); bit-identical to single calls."""
    return cumulative + _sum(regret, axis=1), np.minimum(simple, _min(regret, axis=1))


def _rounds(regret: Array) -> Array:
    array = np.asarray(regret, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
