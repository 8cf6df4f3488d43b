"""Batches by an acquisition: chosen one after the other, or drawn from a distribution."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Improvement, Round
from gpbandits_env.agents.batch.rule import RULES, BatchRule, in_turn
from gpbandits_env.arrays import Array, Points, positive, whole
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.problem import Problem

# What the acquisition is divided by in a Boltzmann policy.
SPREADS: dict[str, Callable[[Array], float]] = {"sd": np.std, "range": np.ptp}


@RULES.register("hallucinate")
@dataclass(frozen=True)
class Hallucinate(BatchRule):
    """After each choice, the variance is conditioned on it; the mean is held fixed.

    Source: Desautels, Krause & Burdick (2014), GP-BUCB, Algorithm 2.
    """

    scores = True

    def choose(self, now: Round) -> Points:
        acquisition = now.acquisition()
        if now.m == 1:
            return now.search.best(acquisition, now.posterior)
        return in_turn(now, lambda actions: acquisition)


@RULES.register("believer")
@dataclass(frozen=True)
class KrigingBeliever(BatchRule):
    """Each action is chosen as if those before it had given their posterior means as rewards.

    Conditioning on a reward equal to the mean does not change the mean. The variance decreases, and
    the incumbent becomes at least that reward. Pending actions of earlier rounds are those before
    too, except under a context.

    Source: Ginsbourger, Le Riche & Carraro (2008), the kriging believer.
    """

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        if not isinstance(rule, Improvement):
            raise InvalidInput(
                "the rule 'believer' needs an agent with an incumbent, such as ei or mpi: use the "
                "rule 'hallucinate' for other agents"
            )

    def choose(self, now: Round) -> Points:
        rule, posterior = now.rule, now.posterior
        assert isinstance(rule, Improvement)
        level = rule.level(now)
        if len(now.pending) and level > -np.inf and now.search.incumbents(posterior) is None:
            points, feasibility = np.asarray(now.pending), now.search.feasibility
            if feasibility is not None:
                points = points[feasibility.likely(points)]
            level = float(posterior.mean_at(points).max(initial=level))

        def believed(actions: list[Points]) -> Acquisition:
            nonlocal level
            if actions and level > -np.inf:
                level = max(level, float(posterior.mean_at(actions[-1])[0]))
            return rule.above(level, posterior)

        return in_turn(now, believed)


@RULES.register("randomised-believer")
@dataclass(frozen=True)
class RandomisedBeliever(BatchRule):
    """Each action is chosen as if those before it had given rewards drawn from the posterior.

    A draw conditions the next one and the acquisition, mean and variance. Actions of earlier rounds
    that are pending come first. With one action and none pending it is the acquisition itself.

    **CHOICE**: a drawn reward has noise, as the posterior assumes of rewards; there are no first
    rounds of uncertainty sampling, which the rule ``initialised`` adds.

    Cost: a copy of the posterior.
    Source: Sugiura, Takeuchi & Takeno (2026), randomised kriging believer, from its abstract.
    """

    scores = True

    def choose(self, now: Round) -> Points:
        if now.m == 1 and not len(now.pending):
            return now.search.best(now.acquisition(), now.posterior)
        believed = replace(now, posterior=deepcopy(now.posterior))
        believed.posterior.rollback()  # the pending ones, which get rewards here
        for point in now.pending:
            believe(believed, np.asarray(point)[None])
        actions: list[Points] = []
        for _ in range(now.m):
            if actions:
                believe(believed, actions[-1])
            if len(now.failed):
                believed.posterior.hallucinate(now.failed)
            actions.append(now.search.best(believed.acquisition(), believed.posterior))
        return np.concatenate(actions)


def believe(now: Round, point: Points) -> None:
    """Condition the posterior of a round on a reward that is drawn from it, at one point."""
    posterior = now.posterior
    mean, var = float(posterior.mean_at(point)[0]), float(posterior.var_at(point)[0])
    sd = np.sqrt(max(var, 0.0) + posterior.noise_var)
    reward = mean + sd * now.rng.standard_normal(1)
    posterior.learn(point, reward)
    now.best_reward = max(now.best_reward, float(reward[0]))


@RULES.register("boltzmann")
@dataclass(frozen=True)
class Boltzmann(BatchRule):
    r"""Stochastic policy (SP): each action is drawn independently from a Boltzmann distribution.

    .. math:: P(x) \propto \exp(b_t \, a(x)), \quad b_t = c \log(1 + t_0 + t) / s(a)

    **CHOICE**: b_t is ours. s(a) is the standard deviation of the acquisition a over all arms, or
    in a box over a new set of candidates. The expected improvement enters as it is, not as its
    logarithm. With ``scale=3, over="range", earlier=14`` b_t is that of the public code of ren2024
    after 15 initial points; that code takes the posterior mean for a.

    Args:
        scale: the factor c, above 0.
        over: what s(a) is: "sd", or "range" for the largest minus the smallest value.
        earlier: t_0, at least 0, which adds to the number of the round.
    Source: Garcia-Barcos & Martinez-Cantin (2019), Fully distributed Bayesian optimization with
        stochastic policies, Section 3.
    """

    scores = True
    scale: float = 1.0
    over: str = "sd"
    earlier: int = 0

    def __post_init__(self) -> None:
        positive(self.scale, "scale")
        one_of(self.over, SPREADS, "spread of the rule 'boltzmann'")
        whole(self.earlier, "earlier", 0)

    def choose(self, now: Round) -> Points:
        actions, mean, var = now.search.candidates_of(now.posterior)
        acquisition, feasibility = now.acquisition(), now.search.feasibility
        score = acquisition.score(mean, var)
        if feasibility is not None:
            acquisition = acquisition.in_logarithms(float(score.min()))
            score = acquisition.score(mean, var) + feasibility.log_probability(actions)
        top = score.max()
        if acquisition.logarithmic:
            value = np.exp(score - top) if np.isfinite(top) else np.zeros_like(score)
        else:
            value = score - top
        sharpness = self.scale * np.log(1.0 + self.earlier + now.t)
        spread = SPREADS[self.over](value)
        weights = np.exp(sharpness * (value - value.max()) / (spread if spread > 0 else 1.0))
        return actions[now.rng.choice(len(weights), now.m, p=weights / weights.sum())]
