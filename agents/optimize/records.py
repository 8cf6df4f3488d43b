"""A campaign's suggestions and records, and the checks of what a user or a file says of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from gpbandits_env.agents.optimize.dimensions import number
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import LARGEST, positive, whole
from gpbandits_env.errors import InvalidInput, shown

RecordStatus: TypeAlias = Literal["pending", "done", "failed"]


@dataclass(frozen=True)
class Suggestion:
    """What to evaluate next.

    Args:
        id: to `tell` or `fail` it by.
        params: the values by name.
    """

    id: int
    params: dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One evaluation, suggested or not.

    Args:
        id: counted from 0.
        params: the values by name.
        status: "pending", "done" or "failed".
        value: what was measured; None unless done.
        time: when it was closed; None while it is pending.
        reason: why it failed, if that was said.
    """

    id: int
    params: dict[str, Any]
    status: RecordStatus = "pending"
    value: float | None = None
    time: float | None = None
    reason: str = ""

    @classmethod
    def restored(cls, state: Mapping[str, Any], index: int, space: Space, now: float) -> "Record":
        """A record of a campaign's snapshot, or `InvalidInput` for what no campaign writes."""
        try:
            record = cls(**state)
            if whole(record.id, "id", 0) != index:
                raise InvalidInput(f"id must be {index}")
            if record.status not in get_args(RecordStatus):
                raise InvalidInput("status must be pending, done or failed")
            if (record.value is None) == (record.status == "done"):
                raise InvalidInput(f"a value belongs to what is done, got {shown(record.value)}")
            if record.value is not None:
                number(record.value, "value")
            if record.time is not None and positive(record.time, "time", zero=True) > now:
                raise InvalidInput(f"time must be {now} at most, got {record.time}")
            if not isinstance(record.reason, str):
                raise InvalidInput(f"reason must be a string, got {shown(record.reason)}")
            return replace(record, params=space.check(record.params))
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"record {index}: {error}, in {shown(state)}") from None


def measured(value: Any, *, worst: float) -> float:
    """A finite value, or NaN for an evaluation that failed: NaN, or the infinity ``worst``.

    An array of one number is that number, and a truth value is 0 or 1.

    Raises:
        InvalidInput: no number, the other infinity, or a number of size above 1e150.
    """
    says = "a value is one number (NaN says that the evaluation failed)"
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
        raise InvalidInput(f"{says}, finite and {LARGEST:g} at most in size, got {shown(value)}")
    return found
