"""The suggestions and records of a campaign, and the checks of values from users and files."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from gpbandits_env.agents.optimize.dimensions import number
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import LARGEST, positive, whole
from gpbandits_env.errors import InvalidInput, shown

RecordStatus: TypeAlias = Literal["pending", "done", "failed"]


@dataclass(frozen=True)
class Suggestion:
    """The parameters to evaluate next.

    Args:
        id: the id for `tell` or `fail`.
        params: the values by name.
    """

    id: int
    params: dict[str, Any]


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
    """

    id: int
    params: dict[str, Any]
    status: RecordStatus = "pending"
    value: float | None = None
    time: float | None = None
    reason: str = ""
    constraints: dict[str, float] = field(default_factory=dict)

    @classmethod
    def restored(
        cls,
        state: Mapping[str, Any],
        index: int,
        space: Space,
        now: float,
        bounds: Collection[str] = (),
    ) -> "Record":
        """A record from the snapshot of a campaign; raises `InvalidInput` if it is invalid."""
        try:
            record = cls(**state)
            if whole(record.id, "id", 0) != index:
                raise InvalidInput(f"id must be {index}")
            if record.status not in get_args(RecordStatus):
                raise InvalidInput("status must be pending, done or failed")
            if (record.value is None) == (record.status == "done"):
                raise InvalidInput(
                    f"exactly the records that are done have a value, got {shown(record.value)}"
                )
            if record.value is not None:
                number(record.value, "value")
            if record.time is not None and positive(record.time, "time", zero=True) > now:
                raise InvalidInput(f"time must be at most {now}, got {record.time}")
            told = {n: number(v, f"constraint {n!r}") for n, v in dict(record.constraints).items()}
            if list(told) != list(bounds if record.status == "done" else ()):
                raise InvalidInput(f"it needs values of the constraints {list(bounds)}")
            if not isinstance(record.reason, str):
                raise InvalidInput(f"reason must be a string, got {shown(record.reason)}")
            return replace(record, params=space.check(record.params), constraints=told)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"record {index}: {error}, in {shown(state)}") from None


def measured(value: Any, *, worst: float) -> float:
    """A finite value, or NaN for a failed evaluation, given as NaN or as the infinity ``worst``.

    An array of one number counts as that number, and a boolean as 0 or 1.

    Raises:
        InvalidInput: the value is no number, the other infinity, or above 1e150 in size.
    """
    says = "a value must be one number (NaN means that the evaluation failed)"
    single = value
    if hasattr(value, "__array__") and np.size(value) == 1:
        single = np.asarray(value).ravel()[0]
    if isinstance(single, (bool, np.bool_)):
        single = float(single)
    try:
        found = number(single, "value", finite=False)
    except InvalidInput:
        raise InvalidInput(f"{says}, got {shown(value)}") from None
    if np.isnan(found) or found == worst:
        return float("nan")
    if not abs(found) <= LARGEST:
        raise InvalidInput(f"{says}, finite and at most {LARGEST:g} in size, got {shown(value)}")
    return found
