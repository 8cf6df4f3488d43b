"""Most probable improvement (MPI), also known as probability of improvement.

Paper: Mockus (1989), as a baseline of srinivas2010, Section 6; the other variant is bedi2022's.
Assumes: Gaussian noise of known variance.
Departures: 1. computed in logarithms, the same argmax; 2. the incumbent is the largest posterior
mean at an observed point and the margin 0.01, since srinivas2010 does not say; 3. those of
`GPAgent`.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class MPI(GPAgent):
    r"""The action with the largest probability of improvement.

    .. math::
        x_t = \arg\max_x P(f(x) > \xi + \delta)
        = \arg\max_x \Phi((\mu(x) - \xi - \delta) / \sigma(x))

    with the incumbent xi and the margin delta.

    Args:
        variant: "probability"; or "improvement", sigma phi(z) + (mu - xi) Phi(z) with
            z = (mu - xi) / sigma, which bedi2022 calls MPI, with xi = max_x mu(x): its settings are
            variant="improvement", incumbent="max-mean", margin=0. ERRATUM: it prints xi = argmax.
        incumbent: as of `EI`.
        margin: at least 0, in reward units; with 0 the last arm is as probable to improve as any
            other.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        variant: str = "probability",
        incumbent: str = "posterior-mean",
        margin: float = 0.01,
        **parts: Any,
    ) -> None:
        super().__init__(problem, rng, Improvement(variant, incumbent, margin), **parts)
