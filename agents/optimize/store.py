"""A campaign's file: written in one step, read back to the bit."""

import base64
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.errors import InvalidInput, StoreError, shown

# Format 1 said "maximise", and "back" in the state of a posterior.
FORMAT = 2


def at_path(file: Any) -> Path:
    """The path that a user gave.

    Raises:
        InvalidInput: no string and no path.
    """
    if not isinstance(file, (str, os.PathLike)) or "\0" in os.fsdecode(file):
        raise InvalidInput(f"a campaign's file is a string or a path, got {shown(file)}")
    return Path(os.fsdecode(file))


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
    if not isinstance(state, dict) or state.get("format") not in (1, FORMAT):
        raise InvalidInput(f"{path} holds no campaign")
    if state["format"] == 1:
        _rename(state, "maximise", "maximize")
        agent = state.get("state")
        _rename(
            agent.get("posterior") if isinstance(agent, dict) else None, "back", "representation"
        )
    return state, sha256(text).digest()


def _rename(entries: Any, old: str, new: str) -> None:
    if isinstance(entries, dict) and old in entries:
        entries[new] = entries.pop(old)
