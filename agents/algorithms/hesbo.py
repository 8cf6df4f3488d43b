"""HeSBO.

Paper: Nayebi, Munteanu and Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
Subspaces", Algorithm 1, as a baseline of tranthe2020.
Assumes: the function varies in few directions, of any orientation.
Departures: 1. any acquisition, GP-UCB by default; 2. those of `GPAgent`.
"""

import numpy as np

from gpbandits_env.agents.embeddings import Embedding, HashEmbedding
from gpbandits_env.agents.embeddings.agent import EmbeddedAgent


class HeSBO(EmbeddedAgent):
    """Every coordinate copies one of d, chosen by a random hash, with a random sign."""

    def _drawn(self, dim: int, low_dim: int, rng: np.random.Generator) -> Embedding:
        return HashEmbedding(dim, low_dim, rng)
