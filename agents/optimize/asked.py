"""Where an agent asked that believes in a box of its own, the small one of an embedding.

Many points of that box may play one and the same point of the space, and what is played is rounded
where dimensions are whole numbers or choices. The function that the agent searches is the one of
the small box: so it is told at the point that it asked for there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import Array, whole


class Asked:
    """The points asked for, by evaluation; for an agent that believes in the space itself, none.

    Args:
        agent: whose `places` they belong to; another embedding (the next stage of SRE) has others.
        space: of the evaluations.
    """

    def __init__(self, agent: GPAgent, space: Space) -> None:
        self._agent, self._space = agent, space
        self._elsewhere = agent.action_map.inner.domain != space.domain
        self._points: dict[int, tuple[int, Array]] = {}

    def note(self, id: int, place: Any) -> None:
        """The evaluation ``id`` is of this place, (1, d) or (1,), of the agent's belief."""
        if self._elsewhere:
            self._points[id] = self._agent.action_map.fingerprint, np.array(place)

    def action(self, record: Record) -> Any:
        """What the agent is told of for a record: (1,) an arm, or (1, d) a point of the space.

        Tell it at once: only that asked for last is remembered by an embedding.
        """
        if (place := self._place(record)) is not None:
            return self._agent.action_map.actions(place)
        return np.array([self._space.action(record.params)])

    def places(self, records: Sequence[Record]) -> Any:
        """The places of the agent's belief that stand for records, (n,) or (n, d); n >= 1."""
        found = [self._place(record) for record in records]
        missing = [r for r, place in zip(records, found, strict=True) if place is None]
        if not missing:
            return np.concatenate([place for place in found if place is not None])
        actions = np.array([self._space.action(record.params) for record in missing])
        checked = self._agent.problem.domain.check(actions)
        others = iter(np.asarray(self._agent.action_map.points(checked)))
        return np.array([next(others) if place is None else place[0] for place in found])

    def _place(self, record: Record) -> Array | None:
        if record.id not in self._points:
            return None
        of, place = self._points[record.id]
        return place if of == self._agent.action_map.fingerprint else None

    def snapshot(self) -> list[Any]:
        """All of it, as `restore` takes it."""
        return [[id, of, place] for id, (of, place) in self._points.items()]

    def restore(self, points: Sequence[Any]) -> None:
        """Go on from a list of `snapshot`.

        Raises:
            InvalidInput, ValueError, TypeError: it is none.
        """
        for id, of, place in points:
            checked = self._agent.action_map.inner.domain.check(place, 1)
            self._points[whole(id, "id", 0)] = whole(of, "fingerprint", 0), checked
