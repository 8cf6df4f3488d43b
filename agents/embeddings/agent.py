"""What agents share that believe and search in the small box of an embedding."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.action_map import ActionMap
from gpbandits_env.agents.any_acquisition import AnyAcquisition
from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.agents.embeddings.places import EmbeddedMap
from gpbandits_env.arrays import whole
from gpbandits_env.domains import Box
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
        super().__init__(problem, rng, self._mapped(problem), **settings)

    def _mapped(self, problem: Problem) -> ActionMap | None:
        """How points of the small box are played."""
        return EmbeddedMap(self.embedding, problem) if isinstance(problem.domain, Box) else None

    def default_beta(self) -> Mapping[str, Any]:
        """Theorem 2 over 5, for the small box."""
        half = self.embedding.half
        return {"type": "continuous", "scale": 0.2, "dim": len(half), "r": 2.0 * float(half.max())}

    @abstractmethod
    def _drawn(self, dim: int, low_dim: int, rng: np.random.Generator) -> Embedding:
        """The embedding."""
