"""R-GP-UCB: GP-UCB that discards all data at the start of each block of N rounds.

Paper: bogunovic2016, Algorithm 1; N of Corollary 4.1 with the constants of its Section 5.1.
Assumes: what GP-UCB assumes, within each block.
Departures: 1. ties (see `leader`) go to the lowest index; 2. beta_t = c1 log(c2 t), which is
negative for small t if c2 < 1, is clipped at 0. As in the paper, t counts all rounds, not those of
the block; 3. the paper has no late rewards: those of actions of an earlier block are dropped.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory.time_varying import block_length_matern, block_length_se
from gpbandits_env.problem import Problem


class RGPUCB(GPAgent):
    """GP-UCB on the data since the last reset; it resets in the rounds 1, N + 1, 2N + 1, ...

    Args:
        reset_every: the block length N; by default the paper's, which needs the problem's epsilon
            and horizon.
        beta: see `GPUCB`; 0.8 log(4 t) by default.
    Raises:
        InvalidInput: no block length is given, and the problem does not determine one.
    Source: bogunovic2016, Algorithm 1.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=LOG_TIME))

    def __init__(
        self, problem: Problem, rng: Generator, *, reset_every: int | None = None, **settings: Any
    ) -> None:
        block = paper_block_length(problem) if reset_every is None else reset_every
        super().__init__(problem, rng, reset_every=block, **settings)


def paper_block_length(problem: Problem) -> int:
    """The block length N of Corollary 4.1 for the problem's kernel, epsilon and horizon.

    Raises:
        InvalidInput: one of them is unknown, or the paper has no formula for the kernel.
    """
    if problem.epsilon is None or problem.horizon is None:
        missing = "epsilon" if problem.epsilon is None else "horizon"
        raise InvalidInput(f"r-gp-ucb needs reset_every: the problem does not state its {missing}")
    nu = problem.kernel.smoothness
    if nu == np.inf:
        return block_length_se(problem.epsilon, problem.horizon)
    if nu is None:
        raise InvalidInput(
            f"r-gp-ucb needs reset_every: the paper has no block length for the kernel "
            f"{problem.kernel.type_name!r}"
        )
    return block_length_matern(problem.epsilon, problem.horizon, nu, problem.domain.dim)
