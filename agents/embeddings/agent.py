"""What agents share that believe and search in the small box of an embedding."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gpbandits_env.agents.any_acquisition import AnyAcquisition
from gpbandits_env.agents.candidates import Places
from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.agents.embeddings.places import EmbeddedPlaces
from gpbandits_env.agents.refit import Model, Refit
from gpbandits_env.arrays import whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning import InputScaling
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child


class EmbeddedAgent(AnyAcquisition):
    """Its belief and its search live in d coordinates y, its actions are their lifts.

    The problem's kernel is one of x; that of y has its lengthscale over the embedding's stretch, so
    that the two agree on average (unless it is learned). What it is told of points outside the
    embedding's image counts at the nearest point of it (see `EmbeddedPlaces`).

    Args:
        problem: where it acts; its domain is a box.
        rng: its own randomness, of which the embedding is drawn first.
        d: the number of coordinates y.
        settings: those of `AnyAcquisition`.
    """

    def __init__(
        self, problem: Problem, rng: np.random.Generator, *, d: int = 5, **settings: Any
    ) -> None:
        self._low_dim = whole(d, "d")
        if isinstance(problem.domain, Box):
            self.embedding = self._drawn(problem.domain.dim, self._low_dim, child(rng))
        super().__init__(problem, rng, **settings)
        if self.refit is not None:
            model = problem.replaced(kernel=self._given.kernel)
            self.refit = Refit(self.refit.learning, model, self.places.domain)

    def default_beta(self, on_arms: bool) -> Mapping[str, Any]:
        """Theorem 2 over 5, for the small box."""
        half = self.embedding.half
        return {"type": "continuous", "scale": 0.2, "dim": len(half), "r": 2.0 * float(half.max())}

    @property
    def _given(self) -> Model:
        """The model of the belief before anything is learned."""
        given = super()._given
        scaling = InputScaling.of(self.problem.domain)
        return replace(given, kernel=kernel_on_y(given.kernel, scaling, self.embedding.stretch))

    @abstractmethod
    def _drawn(self, dim: int, low_dim: int, rng: np.random.Generator) -> Embedding:
        """The embedding."""

    def _belief_lives(self, candidates: int | None) -> Places:
        if candidates is not None:
            raise InvalidInput("the small box of an embedding is searched whole: no candidates")
        assert isinstance(self.problem.domain, Box)
        return EmbeddedPlaces(self.embedding, self.problem.domain)


def kernel_on_y(kernel: Kernel, scaling: InputScaling, stretch: float) -> Kernel:
    """The kernel of y that has, on average over axes, the correlations of a kernel of x.

    Several lengthscales count by their geometric mean; a kernel that has none stays as it is.

    Args:
        kernel: of x, in the units of the box.
        scaling: of the box to [-1, 1]^D.
        stretch: how much longer a step is in [-1, 1]^D than in y.
    """
    return kernel.with_lengthscale(
        lambda ell: float(np.exp(np.mean(np.log(np.asarray(ell) / scaling.unit)))) / stretch
    )
