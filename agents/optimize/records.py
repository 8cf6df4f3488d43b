"""The evaluations of a campaign, and what the agent observed of them and when."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.inputs import (
    constraints_by_name,
    measured,
    moment,
    number,
    single,
)
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import LARGEST, Plain, State, positive, whole
from gpbandits_env.errors import InvalidInput, shown

# This many values that are all equal say nothing about where larger ones are.
FEWEST_EQUAL = 3
# This many equal values of one point are no coincidence where at least three values are different.
CERTAIN = 10
# Values whose spread is below this part of their size are learned as differences from the first
# one, once there are so many: ties and rounding are relative to the size of rewards.
FAR, FEWEST_FOR_ORIGIN = 1e-3, 5
# A worst value that is this many times as far from the others as these from each other, and that
# several points have, is probably a penalty.
APART = 10.0

RecordStatus: TypeAlias = Literal["pending", "done", "failed"]
# The values of constraints: by name, or in the order of the bounds.
Limits: TypeAlias = Mapping[str, float] | Sequence[float] | None


@dataclass(frozen=True)
class Suggestion:
    """The parameters to evaluate next.

    Args:
        id: the id for `tell` or `fail`.
        params: the values by name.
    """

    id: int
    params: Plain


@dataclass(frozen=True)
class Record:
    """One evaluation, suggested or not.

    Args:
        id: the id, counted from 0.
        params: the values by name.
        status: "pending", "done" or "failed".
        value: the measured value; None unless the status is "done".
        time: the time when it was reported; None while it is pending.
        reason: why it failed, if known.
        constraints: the measured values of black-box constraints by name; empty without any.
        noise: the standard deviation of the noise of the value, if it was told with it.
    """

    id: int
    params: Plain
    status: RecordStatus = "pending"
    value: float | None = None
    time: float | None = None
    reason: str = ""
    constraints: dict[str, float] = field(default_factory=dict)
    noise: float | None = None


class Told(NamedTuple):
    """A value that the agent observed, or what passed without one.

    Args:
        id: that of its record; None if only time or a round without a value passed.
        elapsed: the time that passed before.
        pace: the time that its round took afterwards; None if no round was counted.
    """

    id: int | None
    elapsed: float
    pace: float | None = None


class CampaignLog:
    """The evaluations of a campaign. It checks what is reported, and knows no agent.

    Args:
        space: the space of the parameters.
        maximize: whether the largest value is best, or the smallest.
        bounds: the upper bounds of the black-box constraints by name.

    Attributes:
        space: as given.
        bounds: as given.
        records: all evaluations; the index is the id.
        now: the present time.
        told: what the agent observed, in order.
        origin: the value whose reward is 0. It is the first value where values are far from 0
            compared with their spread, so that rewards keep its digits, and else 0.
    """

    def __init__(self, space: Space, maximize: bool, bounds: Mapping[str, float]) -> None:
        self.space, self.bounds = space, dict(bounds)
        self.sign = 1.0 if maximize else -1.0
        self.records: list[Record] = []
        self._at: dict[tuple[Any, ...], list[int]] = {}
        self.now = self.origin = 0.0
        self.told: list[Told] = []

    def of(self, status: RecordStatus) -> list[Record]:
        """The records with a status."""
        return [record for record in self.records if record.status == status]

    def new(self, params: Params) -> Record:
        """A record with the next id, which is not in the log yet."""
        return Record(len(self.records), dict(params))

    def put(self, record: Record) -> Record:
        """Add a record, or replace the one with its id."""
        if record.id == len(self.records):
            self._at.setdefault(self.space.key(record.params), []).append(record.id)
        self.records[record.id : record.id + 1] = [record]
        return record

    def pending(self, id: "int | Suggestion | Record") -> Record:
        """The pending record of an id or a suggestion; raises `InvalidInput` if there is none."""
        index = _id_of(id)
        if index >= len(self.records) or self.records[index].status != "pending":
            known = [record.id for record in self.of("pending")]
            ended = index < len(self.records)
            raise InvalidInput(
                f"no evaluation with id {index} is pending; the pending ids are {shown(known)}"
                f"{f'; correct({index}, value) replaces a value' if ended else ''}"
            )
        return self.records[index]

    def ended(self, id: "int | Suggestion | Record") -> Record:
        """The record of an id that is done or failed; raises `InvalidInput` if there is none."""
        index = _id_of(id)
        if index >= len(self.records):
            raise InvalidInput(f"there is no evaluation with id {index}, only {len(self.records)}")
        if self.records[index].status == "pending":
            raise InvalidInput(f"evaluation {index} is pending: tell({index}, value) gives a value")
        return self.records[index]

    def measured(
        self, record: Record, value: Any, constraints: Limits, noise: float | None = None
    ) -> Record:
        """The record with its value, constraints and noise, or as failed if they mean that."""
        sd = np.nan if noise is None else number(noise, "noise", finite=False)
        own = None if np.isnan(sd) else positive(sd, "noise", zero=True)
        found = measured(value, worst=-self.sign * np.inf)
        if np.isnan(found):
            missing = np.ma.is_masked(value) or np.isnan(value)
            reason = "the value was NaN" if missing else "the value was infinite"
        elif (limits := self._limits(constraints)) is None:
            reason = "the value of a constraint was NaN"
        else:
            return replace(record, status="done", value=found, constraints=limits, noise=own)
        return replace(record, status="failed", constraints={}, noise=None, reason=reason)

    def _limits(self, given: Limits) -> dict[str, float] | None:
        """The checked values of all constraints; None if one is NaN: the evaluation failed."""
        told = {} if given is None else constraints_by_name(self.bounds, given)
        if told.keys() != self.bounds.keys():
            own = f"a value comes with those of the constraints {list(self.bounds)}"
            none = "this campaign has no constraints"
            raise InvalidInput(f"{own if self.bounds else none}, got {shown(given)}")
        found = {name: single(told[name], f"constraint {name!r}") for name in self.bounds}
        if any(abs(self.bounds[name] - value) > LARGEST for name, value in found.items()):
            raise InvalidInput(
                f"values of constraints must be NaN or at most {LARGEST:g} from their bounds, got "
                f"{shown(given)}"
            )
        return None if np.isnan(list(found.values())).any() else found

    def feasible(self, record: Record) -> bool:
        """Whether an evaluation has a value and its measured constraints hold."""
        limits = self.bounds.items()
        return record.status == "done" and all(record.constraints[n] <= b for n, b in limits)

    @property
    def best(self) -> Record | None:
        """The feasible record with the best value."""
        return max(filter(self.feasible, self.records), key=self.reward, default=None)

    def reward(self, record: Record) -> float:
        """The value of a record that is done, as a reward to be maximized."""
        return self.sign * (float(record.value or 0.0) - self.origin)

    def moves_origin(self) -> bool:
        """Whether the origin, which was 0, has just become the first value."""
        if self.origin:
            return False
        values = [float(record.value or 0.0) for record in self.of("done")]
        spread = max(values) - min(values)
        if len(values) >= FEWEST_FOR_ORIGIN and 0.0 < spread < FAR * max(map(abs, values)):
            self.origin = values[0]
        return bool(self.origin)

    def checked_time(self, time: float) -> float:
        """A time that is not before the present; raises `InvalidInput` for others."""
        when = moment(time, "time")
        if when < self.now:
            raise InvalidInput(
                f"time must not be before the present time {self.now}, got {when}: report a late "
                "value with the present time, or collect values and report them in order"
            )
        return when

    def told_at(self, id: int | None, when: float, pace: float | None = None) -> None:
        """A value was observed at a time, or with no id only time passed until then; see `Told`."""
        self.told.append(Told(id, when - self.now, pace))
        self.now = when + (pace or 0.0)
        if id is not None:
            self.put(replace(self.records[id], time=self.now))

    def mark(self) -> tuple[list[Record], list[Told], float, float]:
        """The present content, for `return_to`."""
        return list(self.records), list(self.told), self.now, self.origin

    def return_to(self, mark: tuple[Sequence[Record], list[Told], float, float]) -> None:
        """Return to the content of a mark."""
        records, self.told, self.now, self.origin = mark
        self.records, self._at = [], {}
        for record in records:
            self.put(record)

    def correct(self, record: Record) -> None:
        """Replace a record that is done or failed by a corrected one."""
        old = self.records[record.id]
        self.put(record)
        if old.status == "failed" and record.status == "done":
            self.told.append(Told(record.id, 0.0))
        elif record.status == "failed":  # its round and its time passed all the same
            self.told = [one._replace(id=None) if one.id == record.id else one for one in self.told]

    def observed(self) -> list[tuple[Record | None, float, Told]]:
        """What the agent observed, in order, each with its record and reward."""
        records = [None if one.id is None else self.records[one.id] for one in self.told]
        rewards = [0.0 if record is None else self.reward(record) for record in records]
        return list(zip(records, rewards, self.told, strict=True))

    @property
    def flat(self) -> bool:
        """Whether there are several values and all are equal."""
        values = [record.value for record in self.of("done")]
        return len(values) >= FEWEST_EQUAL and len(set(values)) == 1

    @property
    def penalty(self) -> float | None:
        """The worst value, if it seems to stand for failed evaluations, else None."""
        firsts = (self.records[ids[0]] for ids in self._at.values())
        rewards = [self.sign * record.value for record in firsts if record.value is not None]
        worst = min(rewards, default=0.0)
        others = {reward for reward in rewards if reward != worst}
        if rewards.count(worst) < FEWEST_EQUAL or len(others) < FEWEST_EQUAL:
            return None
        apart = min(others) - worst > APART * (max(others) - min(others))
        return self.sign * worst if apart else None

    @property
    def n_points(self) -> int:
        """The number of different parameters."""
        return len(self._at)

    def has(self, params: Params) -> bool:
        """Whether these parameters were suggested or observed."""
        return self.space.key(params) in self._at

    def earlier_values(self, record: Record) -> list[float | None]:
        """The values of evaluations of the same parameters that were told before."""
        ids = self._at[self.space.key(record.params)]
        told = [one.id for one in self.told if one.id in ids]
        order = [*told, *(i for i in ids if i not in told)]  # those told at once, by their ids
        return [self.records[i].value for i in order[: order.index(record.id)]]

    @property
    def noisy(self) -> bool:
        """Whether a value has noise: it was told, or a repeated evaluation returned another one."""
        told = any(record.noise for record in self.records)
        return told or any(len(set(values)) > 1 for values in self._values_again())

    @property
    def repeats_itself(self) -> bool:
        """Whether all evaluations that were repeated returned the same value.

        It is False while none was repeated. If most values occur at several points, repeated ones
        may agree by coincidence; then one must have returned a value of its own three times, or
        any value ten times where there are more than two different ones.
        """
        repeated = self._values_again()
        if not repeated or self.noisy:
            return False
        values = (self.records[ids[0]].value for ids in self._at.values())
        points = Counter(value for value in values if value is not None)
        if 2 * len(points) > points.total():
            return True
        if len(points) > 2 and max(map(len, repeated)) >= CERTAIN:
            return True
        return any(len(again) > 2 and points[again[0]] == 1 for again in repeated)

    def _values_again(self) -> list[list[float]]:
        """The values of the parameters that have several, for each of them."""
        again = ([self.records[i].value for i in ids] for ids in self._at.values() if len(ids) > 1)
        found = ([value for value in values if value is not None] for values in again)
        return [values for values in found if len(values) > 1]

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        records = [asdict(record) for record in self.records]
        own = {"now": self.now, "told": list(self.told), "origin": self.origin}
        return {"records": records, **own}

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        check = self.space.check  # options as the space has them
        records = [Record(**{**one, "params": check(one["params"])}) for one in state["records"]]
        told = [Told(*one) for one in state["told"]]
        self.return_to((records, told, state["now"], state["origin"]))


def _id_of(given: Any) -> int:
    """The id of a suggestion or a record, or the id itself."""
    if isinstance(given, (Suggestion, Record)):
        return given.id
    if isinstance(given, (Mapping, list, tuple, np.ndarray)):
        raise InvalidInput(
            f"an evaluation is named by its suggestion or its id, got {shown(given)}: "
            "observe(params, value) takes parameters"
        )
    return whole(given, "id", 0)
