"""What a campaign keeps of each evaluation, and how it is written to a file."""

import base64
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.agents.base import BROKEN
from gpbandits_env.agents.field.dimensions import number
from gpbandits_env.agents.field.space import Space
from gpbandits_env.arrays import LARGEST, listed, numbers, positive, whole
from gpbandits_env.errors import InvalidInput, StoreError, shown

PENDING, DONE, FAILED = "pending", "done", "failed"


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
    """One evaluation: asked for, or told of without being asked for.

    Args:
        id: counted from 0.
        params: the values by name.
        status: "pending", "done" or "failed".
        value: what was measured; None unless done.
        time: when it was told; None where no time passes.
        reason: why it failed, if that was said.
    """

    id: int
    params: dict[str, Any]
    status: str = PENDING
    value: float | None = None
    time: float | None = None
    reason: str = ""


def measured(value: Any, *, worst: float) -> float:
    """One value as it is kept: a finite number, or NaN for an evaluation that failed.

    Args:
        value: what the user gave.
        worst: the infinity that says it failed too: of the wrong sign to be a best value.
    Raises:
        InvalidInput: no number (words, truth values, several numbers), the other infinity, or a
            number of size above 1e150.
    """
    says = "a value is one number (NaN says that the evaluation failed)"
    try:
        number = numbers(value, "value")
    except InvalidInput:
        raise InvalidInput(f"{says}, got {shown(value)}") from None
    kind = np.asarray(value).dtype.kind
    if number.ndim or kind == "b" or (kind == "O" and not isinstance(value, int)):
        raise InvalidInput(f"{says}, got {shown(value)}")
    if np.isnan(number) or number == worst:
        return float("nan")
    if not abs(number) <= LARGEST:
        raise InvalidInput(f"{says}, finite and {LARGEST:g} at most in size, got {shown(value)}")
    return float(number)


def at_path(file: Any) -> Path:
    """The path that a user gave.

    Raises:
        InvalidInput: no string and no path.
    """
    if not isinstance(file, (str, os.PathLike)) or "\0" in os.fsdecode(file):
        raise InvalidInput(f"a campaign's file is a string or a path, got {shown(file)}")
    return Path(os.fsdecode(file))


def records_of(state: Any, space: Space, now: float) -> list[Record]:
    """The records of a file, checked.

    Args:
        state: a list of dicts.
        space: of their params.
        now: the time of the file.
    Raises:
        InvalidInput: something that no campaign writes.
    """
    found = []
    for index, fields in enumerate(listed(state, "records")):
        try:
            found.append(_checked(Record(**fields), index, space, now))
        except BROKEN as error:
            raise InvalidInput(f"record {index}: {shown(error)}") from None
    return found


def _checked(record: Record, index: int, space: Space, now: float) -> Record:
    if whole(record.id, "id", 0) != index:
        raise InvalidInput(f"id must be {index}, got {shown(record.id)}")
    if record.status not in (PENDING, DONE, FAILED):
        raise InvalidInput(f"status must be pending, done or failed, got {shown(record.status)}")
    if (record.value is None) == (record.status == DONE):
        raise InvalidInput(f"a value belongs to what is done, got {shown(record.value)}")
    if record.value is not None:
        number(record.value, "value")
    if record.time is not None and positive(record.time, "time", zero=True) > now:
        raise InvalidInput(f"time must be {now} at most, got {record.time}")
    if not isinstance(record.reason, str):
        raise InvalidInput(f"reason must be a string, got {shown(record.reason)}")
    return replace(record, params=space.kept(record.params))


def plain(value: Any) -> Any:
    """Nested data with arrays and tuples as what JSON can hold; `lively` reads it back."""
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"__array__": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return {"__tuple__": [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def lively(value: Any) -> Any:
    """What `plain` made plain, to the bit."""
    if isinstance(value, list):
        return [lively(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__array__" in value:
        data = np.frombuffer(base64.b64decode(value["__array__"]), dtype=value["dtype"])
        return data.reshape(value["shape"]).copy()
    if "__tuple__" in value:
        return tuple(lively(item) for item in value["__tuple__"])
    return {key: lively(item) for key, item in value.items()}


def write(path: Path, state: dict[str, Any]) -> bytes:
    """Write a state; a reader, or a kill in the midst of it, meets the old file or the new one.

    Returns:
        The digest of what is in the file now; see `digest_of`.
    Raises:
        InvalidInput: something in it cannot be held by JSON.
        StoreError: the disk is full, or there is no such folder; an old file is as it was.
    """
    try:
        text = json.dumps(plain(state)).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this campaign cannot be saved: {error}") from None
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}; the campaign in memory holds "
            "all that was asked and told (`pending` lists what is on its way), and the next "
            "change, or save(), writes all of it"
        ) from None
    return sha256(text).digest()


def digest_of(path: Path) -> bytes | None:
    """What tells one content of a file from another; None where there is no file to read."""
    try:
        return sha256(path.read_bytes()).digest()
    except OSError:
        return None


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The state in a file, and the file's digest.

    Raises:
        InvalidInput: there is no such file, or it holds something else.
    """
    try:
        text = path.read_bytes()
        state = lively(json.loads(text))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(f"{path} holds no campaign: {shown(error)}") from None
    if not isinstance(state, dict) or state.get("format") != 1:
        raise InvalidInput(f"{path} holds no campaign")
    return state, sha256(text).digest()
