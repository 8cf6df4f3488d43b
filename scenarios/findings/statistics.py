"""Means, standard errors and paired comparisons."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array


@dataclass(frozen=True)
class Paired:
    """Two agents compared over the trials that both have run.

    Args:
        mean_a: mean of the first.
        mean_b: mean of the second.
        difference: mean of a - b.
        se: standard error of that mean; NaN for one trial.
        trials: how many.
    """

    mean_a: float
    mean_b: float
    difference: float
    se: float
    trials: int


def mean_and_error(values: Array, axis: int = 0) -> tuple[Array, Array]:
    """Mean over the trials, and its standard error (NaN for one trial).

    Args:
        values: any shape with the trials along ``axis``.
        axis: the trials' axis.
    """
    count = values.shape[axis]
    mean: Array = values.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan)
    error: Array = values.std(axis=axis, ddof=1) / np.sqrt(count)
    # Trials that are all alike have no spread; the mean's rounding would show one.
    return mean, np.where(np.ptp(values, axis=axis) == 0.0, 0.0, error)


def paired(a: Array, b: Array) -> Paired:
    """Compare two agents trial by trial.

    Args:
        a: (trials,) the first agent's figure.
        b: (trials,) the second's, same trials in the same order.
    """
    difference, se = mean_and_error(a - b)
    return Paired(float(a.mean()), float(b.mean()), float(difference), float(se), len(a))
