"""Rules that make the acquisition of each round, and the round that they and batch rules see."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gpbandits_env.agents.acquisitions.functions import UCB, Acquisition, LogEI, LogPI
from gpbandits_env.agents.acquisitions.schedules import Beta, schedule_for
from gpbandits_env.agents.search.base import Search
from gpbandits_env.arrays import positive
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.problem import Problem

INCUMBENTS = ("posterior-mean", "observed", "max-mean")
VARIANTS: dict[str, type[LogEI] | type[LogPI]] = {"improvement": LogEI, "probability": LogPI}
# The usual margin of each, in reward units.
MARGINS = {"ei": ("improvement", 0.0), "mpi": ("probability", 0.01)}
NAMES = ("ucb", *MARGINS, "ts")
# Betas are computed for so many rounds at once: alone each would cost as much as half a round.
BLOCK = 1024


class AcquisitionRule(ABC):
    """Makes the acquisition of each round, whose parameters change with the round and the data."""

    def prepared(self, problem: Problem, arms: int | None) -> Self:
        """The same rule with what it needs of the problem.

        Args:
            problem: the agent's.
            arms: the number of arms that the posterior is on; None in a box.
        Raises:
            InvalidInput: the problem does not say what is needed.
        """
        return self

    @abstractmethod
    def at(self, now: "Round") -> Acquisition:
        """The acquisition of a round."""


class Fixed(AcquisitionRule):
    """The same acquisition in every round.

    Args:
        acquisition: that one.
    """

    def __init__(self, acquisition: Acquisition) -> None:
        self._acquisition = acquisition

    def at(self, now: "Round") -> Acquisition:
        return self._acquisition


@dataclass(slots=True)
class Round:
    """The next round.

    Args:
        posterior: what is known; hallucinated points are rolled back by whoever added them.
        search: finds actions under it.
        rule: makes the acquisition; None for an agent that draws samples of the function instead.
        rng: the randomness of the round.
        m: the number of actions to choose.
        t: the number of the round, from 1.
        best_reward: the largest reward that the posterior is conditioned on; -inf without data.
    """

    posterior: Any
    search: Search
    rule: AcquisitionRule | None
    rng: np.random.Generator
    m: int
    t: int
    best_reward: float

    def acquisition(self) -> Acquisition:
        """The acquisition of this round.

        Raises:
            InvalidInput: the agent has none.
        """
        if self.rule is None:
            raise InvalidInput("this agent has no acquisition: it draws samples of the function")
        return self.rule.at(self)


class ConfidenceBound(AcquisitionRule):
    """The upper confidence bound mu + sqrt(beta_t) sigma.

    Args:
        beta: a schedule, its dict, or a number; see `schedules`.
        factor: multiplies beta_t.
    Source: srinivas2010, eq. (6).
    """

    def __init__(self, beta: Beta, *, factor: float = 1.0) -> None:
        self._beta, self._factor = beta, factor

    def prepared(self, problem: Problem, arms: int | None) -> Self:
        self.schedule = schedule_for(self._beta, problem, arms)
        self._block, self._betas = -1, [0.0]
        return self

    def beta(self, t: int, gain: float) -> float:
        """beta_t, given the information gained before it, in nats."""
        if self.schedule.needs_gain:
            return self._factor * float(self.schedule(t, gain))
        block, i = divmod(t - 1, BLOCK)
        if block != self._block:
            first = block * BLOCK + 1
            betas = self._factor * self.schedule(np.arange(first, first + BLOCK))
            self._block, self._betas = block, betas.tolist()
        return self._betas[i]

    def at(self, now: Round) -> Acquisition:
        return UCB(self.beta(now.t, now.posterior.information_gain))  # eq. (6)


@dataclass(frozen=True)
class Improvement(AcquisitionRule):
    """Improvement on the incumbent, the best so far: expected, or how probable.

    Args:
        variant: "improvement", E max(f - incumbent - margin, 0), or "probability",
            P(f > incumbent + margin); both computed in logarithms.
        incumbent: "posterior-mean", the largest posterior mean at an observed point; "observed",
            the largest reward that the posterior is conditioned on; or "max-mean", the largest
            posterior mean of any action. Before any data all are the largest prior mean; so is the
            first where all data have faded away.
        margin: how far above the incumbent an improvement starts, at least 0, in reward units.
    Raises:
        UnknownName: no such variant or incumbent.
        InvalidInput: a negative margin.
    """

    variant: str = "improvement"
    incumbent: str = "posterior-mean"
    margin: float = 0.0

    def __post_init__(self) -> None:
        for kind, value, known in (
            ("variant of the improvement", self.variant, VARIANTS),
            ("incumbent", self.incumbent, INCUMBENTS),
        ):
            if not isinstance(value, str) or value not in known:
                raise unknown(kind, value, known)
        positive(self.margin, "margin", zero=True)

    def level(self, now: Round) -> float:
        """The incumbent of a round."""
        if self.incumbent == "max-mean":
            return now.search.largest_mean(now.posterior)
        if self.incumbent == "observed" and now.best_reward > -np.inf:
            return now.best_reward
        observed = now.posterior.mean_at_observed()  # nothing where all has faded
        return float(np.max(observed if len(observed) else now.posterior.prior_mean))

    def at(self, now: Round) -> LogEI | LogPI:
        return VARIANTS[self.variant](self.level(now), self.margin)


def rule_named(
    name: str, margin: float | None, beta: Beta | None, searched: Box
) -> AcquisitionRule | None:
    """The rule of an agent whose acquisition is a setting.

    Args:
        name: "ucb"; "ei" or "mpi", with the largest posterior mean at an observed point as the
            incumbent; or "ts", which gives None: the agent draws samples of the function.
        margin: of "ei" (0 if not given) and "mpi" (0.01), in reward units.
        beta: of "ucb"; if not given, Theorem 2 of srinivas2010 over 5 for the box that is searched.
        searched: that box.
    Raises:
        UnknownName: no such name.
        InvalidInput: a negative margin.
    """
    if not isinstance(name, str) or name not in NAMES:
        raise unknown("acquisition", name, NAMES)
    if margin is not None:
        positive(margin, "margin", zero=True)
    if name in MARGINS:
        variant, usual = MARGINS[name]
        return Improvement(variant, margin=usual if margin is None else margin)
    if name == "ts":
        return None
    side = float((searched.high - searched.low).max())
    theorem = {"type": "continuous", "scale": 0.2, "dim": searched.dim, "r": side}
    return ConfidenceBound(theorem if beta is None else beta)
