"""SciPy's L-BFGS-B within bounds, as all of this library calls it."""

from collections.abc import Callable
from typing import Any

from scipy.optimize import minimize

from gpbandits_env.arrays import Array


def descend(
    of: Callable[[Array], tuple[float, Array]],
    start: Array,
    low: Array,
    high: Array,
    **options: float,
) -> Any:
    """A minimum of a function that returns its value and its slope, as SciPy's `OptimizeResult`.

    Args:
        of: the function.
        start: where to start, (d,).
        low: the lower bounds, (d,).
        high: the upper bounds, (d,).
        options: those of L-BFGS-B, such as ``maxfun``.
    """
    bounds = list(zip(low.tolist(), high.tolist(), strict=True))
    return minimize(of, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
