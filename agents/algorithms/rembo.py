"""REMBO.

Paper: Wang et al. (2013), "Bayesian Optimization in a Billion Dimensions via Random Embeddings",
Algorithm 2, as a baseline of tranthe2020.
Assumes: the function varies in few directions, of any orientation.
Departures: 1. any acquisition, GP-UCB by default; 2. one embedding, not several interleaved;
3. those of `GPAgent`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpbandits_env.agents.action_map import ActionMap
from gpbandits_env.agents.embeddings import BoxMap, Embedding, gaussian_embedding
from gpbandits_env.agents.embeddings.agent import EmbeddedAgent
from gpbandits_env.agents.search import search_for
from gpbandits_env.errors import unknown
from gpbandits_env.problem import Problem

KERNELS_ON = ("y", "x")


class REMBO(EmbeddedAgent):
    """x = clip(A y) with a Gaussian A; y in [-sqrt d, sqrt d]^d is what is searched.

    Args:
        problem: where it acts; its domain is a box.
        rng: its own randomness, of which A is drawn first.
        kernel_on: "y": the belief is over y. "x": it is over the clipped points x, with the
            problem's own kernel; then what is told of points outside the embedding counts where it
            was seen, and clipped points that coincide are one. (Section 3 has both.)
        settings: those of `EmbeddedAgent`.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        kernel_on: str = "y",
        search: Mapping[str, Any] | str | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(kernel_on, str) or kernel_on not in KERNELS_ON:
            raise unknown("kernel_on of rembo", kernel_on, KERNELS_ON)
        self._on_x = kernel_on == "x"
        super().__init__(problem, rng, search=search, **settings)
        if self._on_x:
            through = BoxMap(self.embedding, problem.domain)
            self.search = search_for(problem.domain, search, rng, through)

    def _drawn(self, dim: int, low_dim: int, rng: np.random.Generator) -> Embedding:
        return gaussian_embedding(dim, low_dim, rng)

    def _mapped(self, problem: Problem) -> ActionMap | None:
        return ActionMap(problem) if self._on_x else super()._mapped(problem)
