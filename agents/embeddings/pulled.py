"""A belief about points of a large box, seen and searched through an embedding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.agents.search import Search, Within
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box
from gpbandits_env.learning import InputScaling
from gpbandits_env.posterior import BoxPosterior, Paths


@dataclass(frozen=True)
class PulledBack:
    """A posterior of x as one of y, x the lift of y: what a search of the small box needs of it.

    Args:
        posterior: of the large box.
        embedding: of the cube [-1, 1]^D.
        scaling: of the large box to the cube.
    """

    posterior: BoxPosterior
    embedding: Embedding
    scaling: InputScaling

    @property
    def box(self) -> Box:
        """The small box."""
        return Box(-self.embedding.half, self.embedding.half)

    @property
    def size(self) -> int:
        """How many observations."""
        return self.posterior.size

    @property
    def prior_mean(self) -> float:
        """A number."""
        return self.posterior.prior_mean

    @property
    def told(self) -> Array:
        """(t, d) the points observed, or those of the image that are near them."""
        return self.embedding.lower(self.scaling.scale(self.posterior.told))

    def lift(self, y: Array) -> Array:
        """The points of the large box, (n, D)."""
        return self.scaling.unscale(self.embedding.lift(y))

    def pull(self, y: Array, gradients: Array) -> Array:
        """Gradients in x as gradients in y, (n, d)."""
        return self.embedding.pull(y, gradients * self.scaling.unit)

    def moments(self, y: Array) -> tuple[Array, Array]:
        """Mean and variance, (n,) each."""
        return self.posterior.moments(self.lift(y))

    def gradients(self, y: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance (n,) and their gradients (n, d)."""
        mean, var, mean_slope, var_slope = self.posterior.gradients(self.lift(y))
        return mean, var, self.pull(y, mean_slope), self.pull(y, var_slope)

    def mean_at_told(self) -> Array:
        """(t,) at the points of `told`, which need not be those observed."""
        told = self.told
        return self.moments(told)[0] if len(told) else np.empty(0)

    def sample(self, rng: np.random.Generator, size: int, y: Array) -> Array:
        """(size, n) joint draws."""
        return self.posterior.sample(rng, size, self.lift(y))

    def paths(self, rng: np.random.Generator, size: int, **features: Any) -> "PulledPaths":
        """Functions drawn from the posterior."""
        return PulledPaths(self, self.posterior.paths(rng, size, **features))


@dataclass(frozen=True)
class PulledPaths:
    """Functions of x as functions of y."""

    view: PulledBack
    paths: Paths

    def __call__(self, y: Array) -> Array:
        """(size, n) values."""
        return self.paths(self.view.lift(y))

    def climb(self, y: Array, which: IntArray) -> tuple[Array, Array]:
        """One function at each point: values (n,), gradients (n, d)."""
        values, slopes = self.paths.climb(self.view.lift(y), which)
        return values, self.view.pull(y, slopes)


class PulledSearch(Search):
    """The search of a small box for points of the large one.

    Args:
        embedding: gives the embedding of the time being; its small box is always the same.
        scaling: of the large box to the cube.
        small: the search of the small box.
    """

    def __init__(
        self, embedding: Callable[[], Embedding], scaling: InputScaling, small: Search
    ) -> None:
        self._embedding, self._scaling, self._small = embedding, scaling, small

    def _view(self, posterior: BoxPosterior) -> PulledBack:
        return PulledBack(posterior, self._embedding(), self._scaling)

    def best(  # noqa: D102
        self, acquisition: Acquisition, posterior: BoxPosterior, allowed: Any = None
    ) -> NDArray[Any]:
        view = self._view(posterior)
        return view.lift(self._small.best(acquisition, view, allowed))

    def region(self, posterior: BoxPosterior, within: Within) -> Any:  # noqa: D102
        view = self._view(posterior)
        return self._small.region(view, within)

    def sampled(  # noqa: D102
        self, posterior: BoxPosterior, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[Any], Array]:
        view = self._view(posterior)
        places, values = self._small.sampled(view, rng, size)
        return view.lift(places), values

    def options(self, posterior: BoxPosterior) -> tuple[NDArray[Any], Array, Array]:  # noqa: D102
        view = self._view(posterior)
        places, mean, var = self._small.options(view)
        return view.lift(places), mean, var

    def largest_mean(self, posterior: BoxPosterior) -> float:  # noqa: D102
        view = self._view(posterior)
        return self._small.largest_mean(view)
