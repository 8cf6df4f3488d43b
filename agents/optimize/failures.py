"""Where evaluations fail.

A model of success is told 1 where an evaluation has a value and -1 where it failed. It counts as
the slack of a constraint: scores are multiplied by the probability that it is positive. The model
is a regression on these labels (least-squares classification; Rasmussen & Williams 2006, Section
6.5).

Source: Gelbart, Snoek & Adams (2014), "Bayesian Optimization with Unknown Constraints", for
constraints of which only the violation is seen.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.constraints import check_search
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.optimize.space_agent import SpaceAgent, agent_for
from gpbandits_env.agents.search.base import ArmSearch
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.agents.search.round import RoundSearch
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import Posterior


class Failures:
    """A model of success, made at the first failure.

    Args:
        space: the space of the campaign.
        agent: the agent whose choices are to succeed; if it searches subspaces or embeddings of the
            space, there is no model.
    """

    def __init__(self, space: Space, agent: GPAgent) -> None:
        self._space, self._supported = space, True
        self._model: SpaceAgent | None = None
        try:
            check_search(space, agent, "a model of failures", ArmSearch, BoxSearch, RoundSearch)
        except InvalidInput:
            self._supported = False

    def tell(self, new: Sequence[Record], records: Sequence[Record]) -> None:
        """Observe which of the new evaluations failed; ``records`` are all of the campaign."""
        if not self._supported:
            return
        if self._model is None:
            if all(record.status != "failed" for record in records):
                return
            self._model = self._made()
            new = records
        closed = [record for record in new if record.status != "pending"]
        if closed:
            labels = [1.0 if record.status == "done" else -1.0 for record in closed]
            self._model.tell_known(closed, labels)

    def learn_anew(self, records: Sequence[Record]) -> None:
        """Forget all evaluations, and observe these."""
        self._model = None
        self.tell(records, records)

    def slack(self, records: Sequence[Record]) -> list[Posterior]:
        """The posterior of success, if some evaluations failed and some did not."""
        if self._model is None or all(record.status != "done" for record in records):
            return []
        return [self._model.agent.posterior]

    def snapshot(self) -> dict[str, Any]:
        """The state, as a copy in plain data."""
        return {} if self._model is None else self._model.snapshot()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Return to the state of a snapshot."""
        self._model = self._made() if state else None
        if self._model is not None:
            self._model.restore(state)

    def _made(self) -> SpaceAgent:
        return SpaceAgent(self._space, agent_for(self._space, "max-mean", 0, {}))
