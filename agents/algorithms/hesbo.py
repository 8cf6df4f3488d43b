"""HeSBO.

Paper: Nayebi, Munteanu and Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
Subspaces", Algorithm 1, as a baseline of tranthe2020.
Assumes: the function varies only in a few directions, of any orientation.
Departures: 1. any acquisition can be used, GP-UCB by default; 2. those of `GPAgent`.
"""

from functools import partial

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import NAMED
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.embeddings.action_map import box_of
from gpbandits_env.agents.embeddings.embedding import EmbeddedMap, HashEmbedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import whole
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child


def _hashing(problem: Problem, rng: Generator, keep: Keep, *, d: int) -> EmbeddedMap:
    dim = box_of(problem).dim
    return EmbeddedMap(problem, HashEmbedding(dim, whole(d, "d"), child(rng)))


class HeSBO(GPAgent):
    r"""GP-UCB in one hashing embedding: each coordinate copies one of d, with a random sign.

    .. math:: x_i = s_i \, y_{h(i)}, \quad s_i \in \{-1, 1\}, \quad h(i) \in \{1, \ldots, d\}

    The domain must be a box. The posterior is on y (see `EmbeddedMap`). The embedding is drawn
    when the agent is made.

    Args:
        d: the dimension of y.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `Named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the small box.
    """

    PARTS = Parts(acquisition=NAMED, action_map=partial(_hashing, d=5))
