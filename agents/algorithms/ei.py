"""Expected improvement (EI).

Paper: Mockus et al. (1978), as a baseline of srinivas2010, Section 6.
Assumes: Gaussian noise of known variance.
Departures: 1. computed in logarithms (Ament et al. 2023), the same argmax; 2. the incumbent is the
largest posterior mean at an observed point, since srinivas2010 does not say (option: "observed");
3. those of `GPAgent`.
"""

from typing import Any

from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.problem import Problem


class EI(GPAgent):
    r"""The action with the largest expected improvement.

    .. math::
        x_t = \arg\max_x E[\max(f(x) - \xi - \delta, 0)]
        = \arg\max_x \sigma(x) (z \Phi(z) + \phi(z)), \quad z = (\mu(x) - \xi - \delta) / \sigma(x)

    with the incumbent xi and the margin delta.

    Args:
        incumbent: the value to improve on: "posterior-mean", "observed" or "max-mean"; see
            `acquisitions.rules.Improvement`.
        margin: how far above it an improvement starts, at least 0, in reward units.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        incumbent: str = "posterior-mean",
        margin: float = 0.0,
        **parts: Any,
    ) -> None:
        super().__init__(problem, rng, Improvement("improvement", incumbent, margin), **parts)
