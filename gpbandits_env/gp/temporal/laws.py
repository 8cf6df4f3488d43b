"""The check of a user's own temporal kernels: a covariance, and the same one by the states."""

from typing import Any

import numpy as np

from gpbandits_env.arrays import Array, finite_array, frozen
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.temporal.compose import TemporalCombination
from gpbandits_env.gp.temporal.kernel import TemporalKernel

# The times at which a kernel is checked, and by how much its formula and states may differ.
# They are whole, because a kernel may be for rounds only.
TIMES = frozen(np.array([0.0, 1.0, 3.0, 10.0]))
NEAR = 0.01


def check_in_time(kernel: TemporalKernel | None) -> None:
    """Check the user's own temporal kernels, also in sums and products, at a few times.

    A kernel for boxes only, whose states raise `NotImplementedError`, is checked by its formula.

    Raises:
        InvalidInput: one gives NaN or another shape, or is no covariance or not that of its states.
    """
    if isinstance(kernel, TemporalCombination):
        for each in kernel.kernels:
            check_in_time(each)
    elif kernel is not None and not type(kernel).__module__.startswith("gpbandits_env."):
        _check(kernel, f"the temporal kernel {kernel.type_name!r}")


def _check(kernel: TemporalKernel, name: str) -> None:
    found = _checked(kernel(TIMES, TIMES), (4, 4), f"__call__(t, s) of {name}")
    _checked(kernel(TIMES, TIMES[:3]), (4, 3), f"__call__(t, s) of {name}")
    size = np.abs(found).max()
    if max(np.abs(found - found.T).max(), -np.linalg.eigvalsh(found)[0]) > 1e-6 * size:
        raise InvalidInput(
            f"{name} is no covariance: its __call__ at the times {TIMES.tolist()} must be "
            f"symmetric and positive semidefinite, got {found.round(3).tolist()}"
        )
    try:
        own = [[_by_states(kernel, t, s, name) for s in TIMES.tolist()] for t in TIMES.tolist()]
    except NotImplementedError:
        return
    i, j = divmod(int(np.abs(own - found).argmax()), 4)
    if abs(own[i][j] - found[i, j]) > NEAR * size:
        raise InvalidInput(
            f"{name} has the covariance {found[i, j]:.3g} between the times {TIMES[i]:g} and "
            f"{TIMES[j]:g}, but {own[i][j]:.3g} by its states: __call__(t, s) must be "
            "row(s) @ transition(s - t) @ covariance(t) @ row(t) for t <= s"
        )


def _by_states(kernel: TemporalKernel, one: float, other: float, name: str) -> float:
    """T(t, s) by the states, for the earlier t and the later s of two times."""
    t, s = sorted((one, other))
    n = np.size(kernel.row(t))
    earlier, later = (_checked(kernel.row(at), (n,), f"row(t) of {name}") for at in (t, s))
    carry = _checked(kernel.transition(s - t), (n, n), f"transition(dt) of {name}")
    state = _checked(kernel.covariance(t), (n, n), f"covariance(t) of {name}") @ earlier
    return float(later @ carry @ state)


def _checked(values: Any, shape: tuple[int, ...], what: str) -> Array:
    """The values of a method as an array; an error unless they are finite and have the shape."""
    if (found := finite_array(values, what)).shape != shape:
        raise InvalidInput(f"{what} must have the shape {shape}, got {found.shape}")
    return found
