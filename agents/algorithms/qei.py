"""qEI by the kriging believer.

Paper: Ginsbourger, Le Riche & Carraro (2008), as a baseline of ren2024.
Assumes: Gaussian noise of known variance.
Departures: 1. it is the sequential heuristic, not the joint q-point improvement; 2. those of `EI`.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.batch import Batch
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class QEI(GPAgent):
    r"""EI for one action after the other, with posterior means in place of the pending rewards.

    .. math:: x_{t,i} = \arg\max_x EI(x \mid y_{t,j} = \mu(x_{t,j}), \, j < i)

    Args:
        incumbent: see `EI`.
        margin: see `EI`.
        augmented: see `EI`.
        batch: a batch rule.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        incumbent: str = "posterior-mean",
        margin: float = 0.0,
        augmented: bool = False,
        batch: Batch = "believer",
        **parts: Any,
    ) -> None:
        rule = Improvement("improvement", incumbent, margin, augmented)
        super().__init__(problem, rng, rule, batch=batch, **parts)
