"""What a campaign keeps of each evaluation, and how it is written to a file."""

import base64
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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


def write(path: Path, state: dict[str, Any]) -> None:
    """Write a state; a reader, or a kill in the midst of it, meets the old file or the new one.

    Raises:
        InvalidInput: something in it cannot be held by JSON.
        StoreError: the disk is full, or there is no such folder; an old file is as it was.
    """
    try:
        text = json.dumps(plain(state))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this campaign cannot be saved: {error}") from None
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as file:
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


def read(path: Path) -> dict[str, Any]:
    """The state in a file.

    Raises:
        InvalidInput: there is no such file, or it holds something else.
    """
    try:
        state = lively(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} holds no campaign: {shown(error)}") from None
    if not isinstance(state, dict) or state.get("format") != 1:
        raise InvalidInput(f"{path} holds no campaign")
    return state
