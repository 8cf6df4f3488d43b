"""The interface of batch rules."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, TypeAlias

import numpy as np

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.arrays import Points, Settings
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family


class BatchRule(ABC):
    """Chooses the m actions of a round; a declaration without state.

    Attributes:
        draws_samples: whether it draws posterior samples, which not every search can do.
        scores: whether it scores actions by the acquisition, which not every agent has.
    """

    draws_samples: bool = False
    scores: ClassVar[bool] = False

    @abstractmethod
    def choose(self, now: Round) -> Points:
        """The actions, (m,) arms or (m, d) points of the posterior's domain.

        The posterior is unchanged afterwards: hallucinated points are rolled back.

        Args:
            now: the round: its posterior, search, acquisition, generator and batch size.
        """

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        """Raise `InvalidInput` if the rule does not support an agent.

        The agent has an acquisition rule, or None if it draws posterior samples instead.
        """
        if self.scores and rule is None:
            name = getattr(self, "type_name", type(self).__name__)
            raise InvalidInput(
                f"the rule {name!r} needs an acquisition, and this agent has none, "
                "because it draws samples: use the rule thompson, dpp or ts-rsr, or an agent with "
                "an acquisition, such as gp-ucb or ei"
            )


# A batch rule, as an object, a dict or a name.
Batch: TypeAlias = Settings | BatchRule | str
RULES: Family[BatchRule] = Family("batch rule", BatchRule)


def rule_for(spec: Batch) -> BatchRule:
    """Make a batch rule from a name, a dict {"type": name, ...}, or a rule.

    Raises:
        UnknownName: there is no such rule, or it has no such field.
    """
    return RULES.from_dict({"type": spec} if isinstance(spec, str) else spec)


def in_turn(now: Round, acquisition: Callable[[list[Points]], Acquisition]) -> Points:
    """Choose one action after the other; only the variance is conditioned on earlier ones.

    Args:
        now: the round.
        acquisition: gives the acquisition of the next action, for those already chosen, the last
            of which does not count as hallucinated yet.
    """
    posterior, search = now.posterior, now.search
    if now.m == 1:
        return search.best(acquisition([]), posterior)
    actions: list[Points] = []
    with rolled_back(posterior):
        for _ in range(now.m):
            following = acquisition(actions)
            if actions:
                posterior.hallucinate(actions[-1])
            actions.append(search.best(following, posterior))
    return np.concatenate(actions)


@contextmanager
def rolled_back(posterior: Posterior) -> Iterator[None]:
    """Roll back hallucinated points at the end of the context, also after an exception."""
    try:
        yield
    finally:
        posterior.rollback()
