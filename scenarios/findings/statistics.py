"""Means, standard errors and paired comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array


@dataclass(frozen=True)
class Paired:
    """Agents a and b compared over the trials that both have run.

    ``se`` is the standard error of the mean of a - b, NaN for one trial.
    """

    mean_a: float
    mean_b: float
    difference: float
    se: float
    trials: int


def mean_and_error(values: Array, axis: int = 0) -> tuple[Array, Array]:
    """The mean over the trials along ``axis``, and its standard error (NaN for one trial)."""
    count = values.shape[axis]
    mean: Array = values.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan)
    error: Array = values.std(axis=axis, ddof=1) / np.sqrt(count)
    # Identical trials have no spread, but rounding of the mean would show one.
    return mean, np.where(np.ptp(values, axis=axis) == 0.0, 0.0, error)


def paired(a: Array, b: Array) -> Paired:
    """Compare two agents by their (trials,) figures of the same trials in the same order."""
    difference, se = mean_and_error(a - b)
    return Paired(float(a.mean()), float(b.mean()), float(difference), float(se), len(a))


def one_instance(regrets: Mapping[str, Array]) -> str:
    """A remark on agents whose trials are all identical; "" if there are none.

    Without noise and without randomness of its own, an agent repeats the same trial. Its standard
    error is then 0 because there is one environment instance, not because the result is certain.

    Args:
        regrets: agent -> its regret, (trials, ...).
    """
    alike = [
        label
        for label, values in regrets.items()
        if len(values) > 1 and values.any() and (values == values[0]).all()
    ]
    if not alike:
        return ""
    count = len(regrets[alike[0]])
    return f"all {count} trials of {' and of '.join(alike)} are identical: one environment instance"
