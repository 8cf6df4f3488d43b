"""Rules that make the acquisition of each round, and the `Round` that they receive."""

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from gpbandits_env.agents.acquisitions.functions import (
    UCB,
    Acquisition,
    Augmented,
    Indifferent,
    LogEI,
    LogPI,
)
from gpbandits_env.agents.acquisitions.functions import AcquisitionRule as AcquisitionRule
from gpbandits_env.agents.acquisitions.schedules import Beta, Schedule, schedule_for
from gpbandits_env.agents.search.search import Search
from gpbandits_env.arrays import Points, descending, flag, positive
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.gp.linalg import root
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.problem import Problem

# A sampled incumbent is the largest of a sample at this many points, whose means are largest.
MOST_SAMPLED = 512
# The variance added to each of them, relative to the largest.
NUGGET = 1e-6
VARIANTS: dict[str, type[LogEI] | type[LogPI]] = {"improvement": LogEI, "probability": LogPI}
# beta_t is computed for this many rounds at once: a single value would cost half a round.
BLOCK = 1024


@dataclass(slots=True)
class Round:
    """The next round.

    Args:
        posterior: the posterior. A part that adds hallucinated points must roll them back.
        search: the search for actions under this posterior.
        rule: the acquisition rule; None for an agent that draws posterior samples instead.
        rng: the generator.
        m: the number of actions to choose.
        t: the number of the round, counted from 1.
        best_reward: the largest reward in the posterior's data; -inf without data.
        pending: the actions of earlier rounds whose rewards have not arrived, which the posterior
            has as hallucinated points.
        failed: points whose evaluation failed, which it has as hallucinated points too.
    """

    posterior: Posterior
    search: Search
    rule: AcquisitionRule | None
    rng: np.random.Generator
    m: int
    t: int
    best_reward: float
    pending: Points | tuple[()] = ()
    failed: Points | tuple[()] = ()

    def acquisition(self) -> Acquisition:
        """The acquisition of this round; `InvalidInput` if the agent or its rule has none."""
        if self.rule is None:
            raise InvalidInput("this agent has no acquisition: it draws posterior samples instead")
        found = self.rule.at(self)
        if found is None:
            raise InvalidInput(f"{type(self.rule).__name__}.at must return an Acquisition")
        return found


class ConfidenceBound(AcquisitionRule):
    r"""The upper confidence bound.

    .. math:: \mu_{t-1}(x) + \sqrt{\beta_t} \, \sigma_{t-1}(x)

    Args:
        beta: a schedule, as an object or a dict, or a number; see `schedules`.
        rho: a factor of sqrt(beta_t), above 0.
    Source: srinivas2010, eq. (6).
    """

    schedule: Schedule

    def __init__(self, beta: Beta, *, rho: float = 1.0) -> None:
        self._beta, self._factor = beta, positive(rho, "rho") ** 2
        self._first, self._betas, self._excess = 1, list[float](), 0.0

    def prepared(self, problem: Problem, arms: int | None) -> Self:
        rule = copy(self)
        rule.schedule = schedule_for(self._beta, problem, arms)
        rule._excess = self._factor * rule.schedule.excess
        rule._betas = []
        return rule

    def beta(self, t: int, gain: float) -> float:
        """beta_t, given the information gained before round t, in nats.

        Raises:
            InvalidInput: a schedule of your own gives no finite number of at least 0.
        """
        if self.schedule.needs_gain:
            beta = self._factor * float(self.schedule(t, gain))
        else:
            if not self._first <= t < self._first + len(self._betas):
                self._first = t - (t - 1) % BLOCK
                betas = self._factor * self.schedule(np.arange(self._first, self._first + BLOCK))
                self._betas = betas.tolist()
            beta = self._betas[t - self._first]
        if not 0.0 <= beta < np.inf:
            raise InvalidInput(
                f"the beta schedule {type(self.schedule).__name__} gives {beta:g} in round {t}: "
                "beta must be finite and at least 0"
            )
        return beta

    def at(self, now: Round) -> Acquisition:
        beta = self.beta(now.t, now.posterior.information_gain)
        if self._excess:
            beta = max(0.0, beta + self._excess * (now.rng.standard_exponential() - 1.0))
        return UCB(beta)  # eq. (6)


@dataclass(frozen=True)
class Improvement(AcquisitionRule):
    """The expected improvement on the incumbent, or the probability of an improvement.

    Args:
        variant: "improvement", E max(f - incumbent - margin, 0), or "probability",
            P(f > incumbent + margin); both are computed in logarithms.
        incumbent: "posterior-mean", the largest posterior mean at an observed point; "observed",
            the largest reward in the posterior's data; "max-mean", the largest posterior mean of
            any action; or "sampled", the largest value of a joint posterior sample at the 512
            observed points of largest mean, drawn anew for each acquisition (Letham et al. 2019
            average over such samples). To each of these values noise is added, of 1e-6 of their
            largest variance. Under a context, observed points are taken in that context.
            Before any data, all are the largest prior mean; so are the first and the last if the
            correlation with all data has decayed to 0. Under constraints, only observed points that
            are likely feasible count, also for "observed", which is then as "posterior-mean";
            before there is such a point, only the probability of feasibility counts (Gardner et al.
            2014). For "max-mean", the mean is then that of the action where the mean and the
            probability together are largest.
        margin: the least improvement that counts, at least 0, in units of the reward.
        augmented: whether the score is multiplied by the factor of `functions.Augmented`, for the
            noise of the posterior.
    Raises:
        UnknownName: there is no such variant or incumbent.
        InvalidInput: the margin is negative, or augmented is neither True nor False.
    """

    variant: str = "improvement"
    incumbent: str = "posterior-mean"
    margin: float = 0.0
    augmented: bool = False

    def __post_init__(self) -> None:
        one_of(self.variant, VARIANTS, "variant of the improvement")
        one_of(self.incumbent, ("posterior-mean", "observed", "max-mean", "sampled"), "incumbent")
        positive(self.margin, "margin", zero=True)
        flag(self.augmented, "augmented")

    def level(self, now: Round) -> float:
        """The incumbent of a round; -inf if no observed point is likely feasible."""
        if self.incumbent == "max-mean":
            return now.search.largest_mean(now.posterior)
        feasibility = now.search.feasibility
        if self.incumbent == "observed" and feasibility is None and now.best_reward > -np.inf:
            return now.best_reward
        posterior, here = now.posterior, now.search.incumbents(now.posterior)
        # Empty if all data have decayed.
        means = posterior.mean_at_observed() if here is None else posterior.mean_at(here)
        if not len(means):
            return float(np.max(posterior.prior_mean))
        sampled = self.incumbent == "sampled"
        if feasibility is None and not sampled:
            return float(means.max())
        points = posterior.observed if here is None else here
        if feasibility is not None:
            likely = feasibility.likely(points)
            points, means = points[likely], means[likely]
        if sampled and len(means):
            top = descending(means)[MOST_SAMPLED - 1 :: -1]
            covariance = posterior.covariance(points[top])
            # Points close together would otherwise magnify the rounding of the covariance.
            covariance.flat[:: len(top) + 1] += NUGGET * covariance.max()
            means = means[top] + root(covariance) @ now.rng.standard_normal(len(top))
        return float(means.max(initial=-np.inf))

    def at(self, now: Round) -> Acquisition:
        return self.above(self.level(now), now.posterior)

    def above(self, level: float, posterior: Posterior) -> Acquisition:
        """The acquisition under a posterior with this incumbent."""
        if level == -np.inf:
            return Indifferent()
        score = VARIANTS[self.variant](level, self.margin)
        return Augmented(score, posterior.noise_var) if self.augmented else score


# EI over the largest posterior mean at an observed point; EI and MPI as in bedi2022.
POSTERIOR_EI = partial(Improvement, "improvement", incumbent="posterior-mean", margin=0.0)
OBSERVED_EI = partial(Improvement, "improvement", incumbent="observed", margin=0.0)
MEAN_EI = partial(Improvement, variant="improvement", incumbent="max-mean", margin=0.0)
# The rules of `Named` that do not depend on the search.
FIXED = {"ei": Improvement(), "mpi": Improvement("probability", margin=0.01), "ts": None}


@dataclass(frozen=True)
class Named:
    """The acquisition of an algorithm that searches part of a box, by name.

    Args:
        acquisition: "ucb"; "ei" or "mpi", with the largest posterior mean at an observed point as
            the incumbent and a margin of 0 or 0.01; or "ts", for which the agent draws posterior
            samples.
        beta: beta_t of "ucb"; by default that of the search, if it has its own, or else
            srinivas2010, Theorem 2, over 5, for the searched box.
    Raises:
        UnknownName: there is no acquisition of that name.
    """

    acquisition: str = "ucb"
    beta: Beta | None = None

    def __post_init__(self) -> None:
        one_of(self.acquisition, ("ucb", *FIXED), "acquisition")

    def of(self, search: Any) -> AcquisitionRule | None:
        """The rule for a search of a box; None for "ts"."""
        if self.acquisition in FIXED:
            return FIXED[self.acquisition]
        searched: Box = search.box
        side = float((searched.high - searched.low).max())
        theorem = {"type": "continuous", "scale": 0.2, "dim": searched.dim, "r": side}
        usual: Beta = search.usual_beta or theorem
        return ConfidenceBound(usual if self.beta is None else self.beta)


# GP-UCB by default.
NAMED = partial(Named, acquisition="ucb", beta=None)


@dataclass(frozen=True)
class Samples:
    """Posterior samples instead of an acquisition.

    Args:
        scale: the factor of the difference between samples and the posterior mean, above 0.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        positive(self.scale, "scale")

    def of(self, search: Search) -> None:
        """No rule; the search scales its samples."""
        search.scale = self.scale


def acquisition_for(
    given: AcquisitionRule | Named | Samples | None,
    problem: Problem,
    inner: Problem,
    search: Search,
) -> AcquisitionRule | None:
    """The acquisition rule of an agent, with what it takes from the problem.

    Args:
        given: the rule; None for an agent without one.
        problem: the problem of the agent.
        inner: the problem on the domain of its posterior.
        search: its search.
    Raises:
        InvalidInput: it is no acquisition rule; the rule needs what the problem does not state; or
            the problem has contexts and the rule compares rewards of different ones.
    """
    if isinstance(given, (Named, Samples)):
        given = given.of(search)
    if given is None:
        return None
    if not isinstance(given, AcquisitionRule):
        name = given.__name__ if isinstance(given, type) else ""
        cure = f": give {name}(...), or partial({name}, ...) for settings" if name else ""
        raise InvalidInput(
            "an acquisition must be an object of a class derived from Acquisition or "
            f"AcquisitionRule, got {shown(given)}{cure}"
        )
    arms = len(inner.domain.span) if inner.domain.finite else None
    if problem.contexts is None:
        return given.prepared(problem, arms)
    rule = given.prepared(inner, arms)
    if getattr(rule, "incumbent", "") == "observed":
        raise InvalidInput(
            "incumbent='observed' compares rewards of different contexts: use 'posterior-mean' or "
            "'max-mean'"
        )
    return rule
