"""What a batch rule is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family


class BatchRule(ABC):
    """Chooses the m actions of a round; a declaration that keeps nothing between rounds."""

    @abstractmethod
    def choose(self, now: Round) -> NDArray[Any]:
        """The actions (m,) or (m, d), in the terms of the agent's posterior.

        The posterior is the same afterwards: hallucinated points are rolled back.

        Args:
            now: the round: its posterior, search, acquisition, generator and batch size.
        """

    def check(self, rule: AcquisitionRule | None, problem: Problem) -> None:
        """Refuse an agent that the rule makes no sense for; by default none.

        Args:
            rule: the agent's acquisition rule, or None if it draws samples instead.
            problem: the agent's.
        Raises:
            InvalidInput: with the reason.
        """
        return


# A rule, its dict, or its name.
Batch: TypeAlias = Mapping[str, Any] | BatchRule | str
RULES: Family[BatchRule] = Family("batch rule")


def rule_for(spec: Batch) -> BatchRule:
    """The rule of a name, a dict {"type": name, ...}, or a rule.

    Raises:
        UnknownName: no such rule, or it has no such field.
    """
    if isinstance(spec, BatchRule):
        return spec
    return RULES.from_dict({"type": spec} if isinstance(spec, str) else spec)


def needs_acquisition(batch: BatchRule, rule: AcquisitionRule | None) -> None:
    """For rules that score actions.

    Raises:
        InvalidInput: an agent without an acquisition of its own.
    """
    if rule is None:
        raise InvalidInput(
            f"the rule {batch.type_name!r} scores actions by an acquisition, and this agent has "  # type: ignore[attr-defined]
            "none: it draws samples; take the rule thompson, dpp or ts-rsr, or an agent that has "
            "one, such as gp-ucb or ei"
        )


def in_turn(now: Round, acquisition: Callable[[int], Acquisition]) -> NDArray[Any]:
    """One action after the other, the variance conditioned on those before, the mean held.

    Args:
        now: the round.
        acquisition: of the i-th action, i = 0, 1, ...
    """
    posterior, search, m = now.posterior, now.search, now.m
    if m == 1:
        return search.best(acquisition(0), posterior)
    actions = []
    with rolled_back(posterior):
        for i in range(m):
            actions.append(search.best(acquisition(i), posterior))
            if i + 1 < m:
                posterior.hallucinate(actions[-1])
    return np.concatenate(actions)


@contextmanager
def rolled_back(posterior: Any) -> Iterator[None]:
    """What is hallucinated meanwhile is dropped at the end, also if something is raised."""
    try:
        yield
    finally:
        posterior.rollback()
