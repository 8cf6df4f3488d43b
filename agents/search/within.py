"""A region of a box: where a condition holds under the posterior as it was."""

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.search.base import Within
from gpbandits_env.arrays import Array
from gpbandits_env.posterior import BoxPosterior


class Region:
    """Where a condition on mean and variance holds, whatever is learned or hallucinated later.

    Args:
        posterior: what is known now; copied, O(t^2).
        within: the condition.
    """

    def __init__(self, posterior: BoxPosterior, within: Within) -> None:
        model = (posterior.kernel, posterior.noise_var, posterior.prior_mean)
        self._held, self._within = BoxPosterior(posterior.box, *model), within
        self._held.restore(posterior.snapshot())
        self._seen: tuple[Array, NDArray[np.bool_]] | None = None

    def among(self, candidates: Array) -> NDArray[np.bool_]:
        """The same for points that do not change: worked out once, (n,).

        Args:
            candidates: (n, d); an array asked about last is known by its identity.
        """
        if self._seen is None or self._seen[0] is not candidates:
            self._seen = candidates, self(candidates)
        return self._seen[1]

    def __call__(self, x: Array) -> NDArray[np.bool_]:
        """Which of the points (n, d) lie inside, (n,)."""
        return self._within(*self._held.moments(x))


def penalised(inside: NDArray[np.bool_], values: Array, gradients: Array) -> tuple[Array, Array]:
    """The surface that is -inf outside, so that nothing climbs there."""
    return np.where(inside, values, -np.inf), np.where(inside[:, None], gradients, 0.0)
