"""HeSBO.

Paper: Nayebi, Munteanu and Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
Subspaces", Algorithm 1, as a baseline of tranthe2020.
Assumes: the function varies only in a few directions, of any orientation.
Departures: 1. any acquisition can be used, GP-UCB by default; 2. those of `GPAgent`.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import box_of
from gpbandits_env.agents.embeddings import BoxMap, EmbeddedMap, HashEmbedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import whole
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import child


class HeSBO(GPAgent):
    r"""GP-UCB in one hashing embedding: each coordinate copies one of d, with a random sign.

    .. math:: x_i = s_i \, y_{h(i)}, \quad s_i \in \{-1, 1\}, \quad h(i) \in \{1, \ldots, d\}

    The domain must be a box. The posterior is on y (see `EmbeddedMap`). The embedding is drawn
    when the agent is made.

    Args:
        d: the dimension of y.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `rule_named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the small box.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        d: int = 5,
        acquisition: str = "ucb",
        beta: Beta | None = None,
        **parts: Any,
    ) -> None:
        box = box_of(problem, self)
        self.embedding = HashEmbedding(box.dim, whole(d, "d"), child(rng))
        through = BoxMap(self.embedding, box)
        rule = rule_named(acquisition, beta, through.small)
        super().__init__(problem, rng, rule, EmbeddedMap(problem, through), **parts)
