"""Batches of pure exploration: by variance, everywhere or where the maximum may lie."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.agents.acquisitions import LCB, Variance
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, ConfidenceBound, Round
from gpbandits_env.agents.batch.rule import RULES, BatchRule, in_turn, rolled_back, rule_for
from gpbandits_env.arrays import Points, whole
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.problem import Problem


@RULES.register("max-variance")
@dataclass(frozen=True)
class LargestVariance(BatchRule):
    """The actions with the largest variance, one after the other.

    Source: srinivas2010, eq. (4); ren2024, Appendix B.
    """

    def choose(self, now: Round) -> Points:
        return in_turn(now, lambda actions: Variance())


@RULES.register("initialised")
@dataclass(frozen=True)
class Initialised(BatchRule):
    r"""Maximum variance or uniform points in the first rounds, then another rule.

    After T_init points of largest variance, rho_m is bounded:

    .. math:: \rho_m \le \exp(m \gamma_{T_{init}} / T_{init})

    Uniform points are drawn from the domain of the posterior: an agent whose posterior is on the
    small box of an embedding draws them there.

    Args:
        rounds: the number of first rounds, at least 0.
        then: the other rule, by name or as a dict.
        first: "variance" or "uniform".
    Source: ren2024, Appendix B; Desautels et al. (2014), Algorithm 3.
    """

    rounds: int
    then: BatchRule
    first: str = "variance"

    def __post_init__(self) -> None:
        whole(self.rounds, "rounds", 0)
        one_of(self.first, ("variance", "uniform"), "kind of first rounds")
        object.__setattr__(self, "then", rule_for(self.then))
        object.__setattr__(self, "draws_samples", self.then.draws_samples)

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        self.then.check(rule, problem)

    def choose(self, now: Round) -> Points:
        if now.t > self.rounds:
            return self.then.choose(now)
        if self.first == "uniform":
            return now.search.uniform(now.posterior, now.rng, now.m)
        return LargestVariance().choose(now)


@RULES.register("explore")
@dataclass(frozen=True)
class Explore(BatchRule):
    r"""GP-UCB-PE: the first action by UCB, the others by variance where the maximum may lie.

    .. math:: R^+ = \{x : \mu_t(x) + 2 \sqrt{\beta_{t+1}}\, \sigma_t(x) \ge
        \max_z \mu_t(z) - \sqrt{\beta_t}\, \sigma_t(z)\}

    The mean and the standard deviation are those before the batch. Of a beta that is drawn in each
    round, R^+ has the mean.

    Args:
        region: whether actions are restricted to R^+; many public implementations do not do so.
    Source: Contal et al. (2013), Algorithm 1 and eqs. (3)-(5).
    """

    region: bool = True

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        if not isinstance(rule, ConfidenceBound):
            raise InvalidInput(
                "the rule 'explore' needs confidence bounds: use an agent with the setting beta, "
                "such as ucbpe or gp-ucb"
            )

    def choose(self, now: Round) -> Points:
        posterior, search = now.posterior, now.search
        assert isinstance(now.rule, ConfidenceBound)
        gain = posterior.information_gain
        beta, next_beta = now.rule.beta(now.t, gain), now.rule.beta(now.t + 1, gain)
        actions = [search.best(now.acquisition(), posterior)]
        if now.m == 1:
            return actions[0]
        allowed, safest = None, None
        if self.region:
            safest = search.best(LCB(beta), posterior)
            lower = float(LCB(beta).score(posterior.mean_at(safest), posterior.var_at(safest))[0])
            root = 2.0 * np.sqrt(next_beta)
            allowed = search.region(
                posterior, lambda mean, var: mean + root * np.sqrt(var) >= lower
            )
        with rolled_back(posterior):
            for _ in range(now.m - 1):
                posterior.hallucinate(actions[-1])
                try:
                    actions.append(search.best(Variance(), posterior, allowed))
                except InvalidInput:
                    if safest is None:
                        raise
                    # In many dimensions, a small region may hold no candidate. This point is in it.
                    actions.append(safest)
        return np.concatenate(actions)
