"""The batch rule of TS-RSR."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Mean, RegretToSigma
from gpbandits_env.agents.batch.base import RULES, BatchRule, in_turn
from gpbandits_env.agents.round import Round
from gpbandits_env.arrays import Array, whole


@RULES.register("ts-rsr")
@dataclass(frozen=True)
class RegretToSigmaRatio(BatchRule):
    r"""Thompson sampling - regret to sigma ratio.

    .. math:: x_i = \arg\min_x \frac{\tilde f^*_i - \mu_t(x)}{\sigma_t(x \mid x_1..x_{i-1})},
        \quad \tilde f^*_i = \max_x \tilde f_i(x)

    A sample whose maximum is not above the largest posterior mean is drawn anew (Appendix C), at
    most ``redraws`` times. **CHOICE**: after that its maximum is taken to be the largest mean and
    the standard deviation there.

    Args:
        redraws: at least 0.
    Source: ren2024, Algorithm 1 and Appendix C.
    """

    redraws: int = 10

    def __post_init__(self) -> None:
        whole(self.redraws, "redraws", 0)

    def choose(self, now: Round) -> NDArray[Any]:
        maxima = self.maxima(now)
        return in_turn(now, lambda i: RegretToSigma(float(maxima[i])))

    def maxima(self, now: Round) -> Array:
        """The maxima f*_i of m samples, (m,), all above the largest posterior mean."""
        posterior, search = now.posterior, now.search
        surest = search.best(Mean(), posterior)
        floor = float(posterior.mean_at(surest)[0])
        maxima = np.full(now.m, -np.inf)
        for _ in range(self.redraws + 1):
            low = np.flatnonzero(maxima <= floor)
            if not len(low):
                return maxima
            maxima[low] = search.sampled(posterior, now.rng, len(low))[1]
        sd = float(np.sqrt(posterior.var_at(surest)[0]))
        # Where nothing is left to learn any level above the mean ranks the actions alike.
        above = floor + max(sd, 1e-12 * max(1.0, abs(floor)))
        return np.where(maxima <= floor, above, maxima)
