"""What a batch rule is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.specs import Family

if TYPE_CHECKING:
    from gpbandits_env.agents.gp_agent import GPAgent


class BatchRule(ABC):
    """Chooses the m actions of a round; a declaration that keeps nothing between rounds."""

    @abstractmethod
    def choose(self, agent: "GPAgent") -> NDArray[Any]:
        """The actions (m,) or (m, d), in the terms of the agent's posterior.

        What the posterior holds is the same afterwards: what was hallucinated is rolled back.

        Args:
            agent: its posterior, search, acquisition, generator and batch size are used.
        """

    def check(self, agent: "GPAgent") -> None:
        """Refuse an agent that the rule makes no sense for; by default none.

        Raises:
            InvalidInput: with the reason.
        """
        return


RULES: Family[BatchRule] = Family("batch rule")


def rule_for(spec: Mapping[str, Any] | BatchRule | str) -> BatchRule:
    """The rule of a name, a dict {"type": name, ...}, or a rule.

    Raises:
        UnknownName: no such rule, or it has no such field.
    """
    return RULES.from_dict({"type": spec} if isinstance(spec, str) else spec)


def in_turn(agent: "GPAgent", acquisition: Callable[[int], Acquisition]) -> NDArray[Any]:
    """One action after the other, the variance conditioned on those before, the mean held.

    Args:
        agent: whose posterior and search are used.
        acquisition: of the i-th action, i = 0, 1, ...
    """
    posterior, search, m = agent.posterior, agent.search, agent.batch_size
    if m == 1:
        return search.best(acquisition(0), posterior)
    actions = []
    for i in range(m):
        actions.append(search.best(acquisition(i), posterior))
        if i + 1 < m:
            posterior.hallucinate(actions[-1])
    posterior.rollback()
    return np.concatenate(actions)
