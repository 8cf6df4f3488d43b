"""Batches in which each action believes that those before it gave what was expected."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions.rules import Improvement
from gpbandits_env.agents.batch.base import RULES, BatchRule, rolled_back
from gpbandits_env.agents.round import AcquisitionRule, Round
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem


@RULES.register("believer")
@dataclass(frozen=True)
class KrigingBeliever(BatchRule):
    """Maximise, pretend that y = mu(x) was seen there, update mean and variance, repeat.

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
