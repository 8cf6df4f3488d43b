"""Batches drawn from a distribution over actions that an acquisition defines."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.batch.base import RULES, BatchRule, needs_acquisition
from gpbandits_env.agents.round import AcquisitionRule, Round
from gpbandits_env.arrays import Array, positive
from gpbandits_env.problem import Problem


@RULES.register("boltzmann")
@dataclass(frozen=True)
class Boltzmann(BatchRule):
    r"""Stochastic policy (SP): each action is drawn on its own with P(x) ~ exp(b_t a(x)).

    **CHOICE**: b_t = scale log(1 + t) / sd(a), with sd(a) the standard deviation of the acquisition
    a over the actions there are (in a box: a fresh set of candidates). The expected improvement is
    taken as it is, not as its logarithm.

    Args:
        scale: above 0.
    Source: Garcia-Barcos & Martinez-Cantin (2019), Fully distributed Bayesian optimization with
        stochastic policies, Section 3.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        positive(self.scale, "scale")

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        needs_acquisition(self, rule)

    def choose(self, now: Round) -> NDArray[Any]:
        actions, mean, var = now.search.options(now.posterior)
        acquisition = now.acquisition()
        score = acquisition.score(mean, var)
        weights = policy(score, acquisition.logarithmic, self.scale * np.log(1.0 + now.t))
        drawn = now.rng.choice(len(weights), now.m, p=weights)
        return actions[drawn]


def policy(score: Array, logarithmic: bool, sharpness: float) -> Array:
    """The probabilities (n,), proportional to exp(sharpness a / sd(a)).

    Args:
        score: (n,) a, or its logarithm.
        logarithmic: whether it is the logarithm.
        sharpness: b_t sd(a).
    """
    top = score.max()
    if logarithmic:
        value = np.exp(score - top) if np.isfinite(top) else np.zeros_like(score)
    else:
        value = score - top
    spread = value.std()
    weights: Array = np.exp(sharpness * (value - value.max()) / (spread if spread > 0 else 1.0))
    return weights / weights.sum()
