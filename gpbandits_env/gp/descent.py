"""L-BFGS-B of SciPy within bounds."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from scipy.optimize import Bounds, minimize

from gpbandits_env.arrays import Array


def descend(
    of: Callable[[Array], tuple[float, Array]],
    start: Array,
    limits: Sequence[Any] | Array,
    **options: float,
) -> Any:
    """A local minimum of a function, as SciPy's `OptimizeResult`.

    Args:
        of: the function, which returns its value and its gradient (d,).
        start: where to start, (d,).
        limits: the lower and the upper bounds, (2, d).
        options: those of L-BFGS-B, such as ``maxfun``.
    """
    bounds, given = Bounds(*limits), cast(Any, options)
    return minimize(of, start, jac=True, method="L-BFGS-B", bounds=bounds, options=given)
