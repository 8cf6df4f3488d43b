"""Batches by an acquisition: one action after the other, or drawn from a distribution."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Improvement, Round
from gpbandits_env.agents.batch.base import (
    RULES,
    BatchRule,
    in_turn,
    needs_acquisition,
    rolled_back,
)
from gpbandits_env.arrays import Array, positive
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


@RULES.register("hallucinate")
@dataclass(frozen=True)
class Hallucinate(BatchRule):
    """After each choice the variance is conditioned on it as well; the mean is held.

    Source: Desautels, Krause & Burdick (2014), GP-BUCB, Algorithm 2.
    """

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        needs_acquisition(self, rule)

    def choose(self, now: Round) -> NDArray[Any]:
        acquisition = now.acquisition()
        if now.m == 1:
            return now.search.best(acquisition, now.posterior)
        return in_turn(now, lambda i: acquisition)


@RULES.register("believer")
@dataclass(frozen=True)
class KrigingBeliever(BatchRule):
    """Maximize, pretend that y = mu(x) was seen there, update mean and variance, repeat.

    A fantasy at the mean leaves the mean as it is: the variance shrinks, and the incumbent is at
    least the fantasy.

    Source: Ginsbourger, Le Riche & Carraro (2008), the kriging believer.
    """

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        if not isinstance(rule, Improvement):
            raise InvalidInput(
                "the rule 'believer' raises an incumbent, which this agent does not have; without "
                "one it would be 'hallucinate'"
            )

    def choose(self, now: Round) -> NDArray[Any]:
        posterior, search = now.posterior, now.search
        assert isinstance(now.rule, Improvement)
        acquisition = now.rule.at(now)
        actions = []
        with rolled_back(posterior):
            for i in range(now.m):
                actions.append(search.best(acquisition, posterior))
                if i + 1 < now.m:
                    level = float(posterior.mean_at(actions[-1])[0])
                    acquisition = replace(acquisition, incumbent=max(acquisition.incumbent, level))
                    posterior.hallucinate(actions[-1])
        return np.concatenate(actions)


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
