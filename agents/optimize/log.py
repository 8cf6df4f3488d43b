"""The log of a campaign: its evaluations, and what the agent observed of them and when."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gpbandits_env.agents.optimize.constraints import measured_constraints
from gpbandits_env.agents.optimize.dimensions import number
from gpbandits_env.agents.optimize.records import Record, RecordStatus, measured
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import listed, positive, whole
from gpbandits_env.errors import InvalidInput, optional, shown

# So many values that are all equal say nothing about where larger ones are.
FEWEST_EQUAL = 3


class CampaignLog:
    """The evaluations of a campaign. It checks what is reported, and knows no agent.

    Args:
        space: the space of the parameters.
        maximize: whether the largest value is best, or the smallest.
        bounds: the upper bounds of the black-box constraints by name.

    Attributes:
        records: all evaluations; the index is the id.
        now: the present time.
        told: the ids of the values in the order in which the agent observed them, each with the
            time that passed before (None: one round passed after it). Without an id, time passed.
    """

    def __init__(self, space: Space, maximize: bool, bounds: Mapping[str, float]) -> None:
        self._space, self._bounds = space, bounds
        self.sign = 1.0 if maximize else -1.0
        self.records: list[Record] = []
        self.now = 0.0
        self.told: list[tuple[int | None, float | None]] = []

    def of(self, status: RecordStatus) -> list[Record]:
        """The records with a status."""
        return [record for record in self.records if record.status == status]

    def new(self, params: Mapping[str, Any]) -> Record:
        """A record with the next id, which is not in the log yet."""
        return Record(len(self.records), dict(params))

    def put(self, record: Record) -> Record:
        """Add a record, or replace the one with its id."""
        self.records[record.id :] = [record, *self.records[record.id + 1 :]]
        return record

    def pending(self, id: int) -> Record:
        """The pending record with an id; raises `InvalidInput` if there is none."""
        index = whole(id, "id", 0)
        if index >= len(self.records) or self.records[index].status != "pending":
            known = [record.id for record in self.of("pending")]
            raise InvalidInput(
                f"no evaluation with id {index} is pending; the pending ids are {shown(known)}"
            )
        return self.records[index]

    def ended(self, id: int) -> Record:
        """The record with an id that is done or failed; raises `InvalidInput` if there is none."""
        index = whole(id, "id", 0)
        if index >= len(self.records) or self.records[index].status == "pending":
            raise InvalidInput(f"no evaluation with id {index} is done or failed: use tell")
        return self.records[index]

    def measured(self, record: Record, value: Any, constraints: Any) -> Record:
        """The record with its value and constraints, or as failed if they mean that."""
        record, found = replace(record, constraints={}), measured(value, worst=-self.sign * np.inf)
        if not np.isnan(found):
            limits = measured_constraints(self._bounds, constraints)
            if limits is not None:
                return replace(record, status="done", value=found, constraints=limits)
            return replace(record, status="failed", reason="the value of a constraint was NaN")
        reason = "the value was NaN" if np.isnan(value) else "the value was infinite"
        return replace(record, status="failed", reason=reason)

    def reward(self, record: Record) -> float:
        """The value of a record that is done, as a reward to be maximized."""
        return self.sign * float(record.value or 0.0)

    def checked_time(self, time: float) -> float:
        """A time that is not before the present; raises `InvalidInput` for others."""
        when = number(time, "time")
        if when < self.now:
            raise InvalidInput(
                f"time must not be before the present time {self.now}, got {when}: report a late "
                "value with the present time, or collect values and report them in order"
            )
        return when

    def told_at(self, id: int | None, when: float, *, counts: bool = False) -> None:
        """Let the time be ``when``; then a value was observed, if an id is given.

        If it counts, one round passes after it.
        """
        self.told.append((id, None if counts else when - self.now))
        self.now = when + 1.0 if counts else when

    def correct(self, record: Record) -> None:
        """Replace a record that is done or failed by a corrected one."""
        old = self.records[record.id]
        self.put(record)
        if old.status == "failed" and record.status == "done":
            self.told.append((record.id, 0.0))
        elif record.status == "failed":  # its time passed all the same
            self.told = [
                (None, 1.0 if elapsed is None else elapsed) if of == record.id else (of, elapsed)
                for of, elapsed in self.told
            ]

    def observed(self) -> list[tuple[Record | None, float, float | None]]:
        """What the agent observed, in order; see `SpaceAgent.learn_anew`."""
        found: list[tuple[Record | None, float, float | None]] = []
        for id, elapsed in self.told:
            record = None if id is None else self.records[id]
            if record is None:
                found.append((None, 0.0, elapsed))
            elif record.status == "done":
                found.append((record, self.reward(record), elapsed))
        return found

    @property
    def flat(self) -> bool:
        """Whether there are several values and all are equal."""
        values = [record.value for record in self.of("done")]
        return len(values) >= FEWEST_EQUAL and len(set(values)) == 1

    @property
    def repeats_itself(self) -> bool:
        """Whether all evaluations that were repeated returned the same value.

        It is False while none was repeated, and if most values occur at several points, so that
        they may agree by coincidence.
        """
        found: dict[str, list[float | None]] = {}
        for record in self.of("done"):
            found.setdefault(repr(record.params), []).append(record.value)
        repeated = [values for values in found.values() if len(values) > 1]
        distinct = len({values[0] for values in found.values()})
        return (
            bool(repeated)
            and all(len(set(values)) == 1 for values in repeated)
            and 2 * distinct > len(found)
        )

    def to_dataframe(self) -> Any:
        """All records as a table; see `Campaign.to_dataframe`."""
        rest = ("value", "status", "time", "reason")
        table = []
        for record in self.records:
            own = {
                f"params.{name}" if name in ("id", *self._bounds, *rest) else name: value
                for name, value in record.params.items()
            }
            limits = {name: record.constraints.get(name) for name in self._bounds}
            last = {key: getattr(record, key) for key in rest}
            table.append({"id": record.id, **own, **limits, **last})
        return optional("pandas", "pandas").DataFrame(table)

    def snapshot(self) -> dict[str, Any]:
        """The state, as a copy in plain data."""
        records = [asdict(record) for record in self.records]
        return {"records": records, "now": self.now, "told": list(self.told)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Return to the state of a snapshot; raises `InvalidInput` if it is invalid."""
        now = positive(state["now"], "now", zero=True)
        records = [
            Record.restored(fields, index, self._space, now, self._bounds)
            for index, fields in enumerate(listed(state["records"], "records"))
        ]
        told = []
        for id, elapsed in listed(state["told"], "told"):
            of = None if id is None else whole(id, "id", 0, len(records) - 1)
            passed = None if elapsed is None else positive(elapsed, "elapsed", zero=True)
            told.append((of, passed))
        self.now, self.records, self.told = now, records, told
