"""Turns errors of SQLite, of the file system and of damaged data into one clear error."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, get_origin

from gpbandits_env.errors import InvalidInput, StoreError, shown
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.specs import kinds_of

# The exceptions that reading damaged data may raise, besides that of zlib.
UNREADABLE = (ValueError, TypeError, OverflowError, MemoryError, RecursionError)
_JSON = {str: str, int: int, bool: bool, Mapping: dict, tuple: list}


def _json_kinds(cls: Any) -> dict[str, type[Any]]:
    """The JSON types of the fields of a declaration, except those of unions."""
    kinds = {name: _JSON.get(get_origin(kind) or kind) for name, kind in kinds_of(cls).items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}


# The entries of the scenario in a results file, and their types.
SCENARIO = _json_kinds(Scenario) | {"points": list, "seed": int, "agents": dict, "initial": dict}
OPTIONAL = {f.name for f in fields(Scenario) if f.metadata.get("later")}
# The entries that contain dicts, and what each dict contains.
HOLDING: dict[str, dict[str, type[Any]]] = {
    "points": {},
    "agents": {name: kind for name, kind in _json_kinds(AgentEntry).items() if name != "label"},
    "findings": {"type": str},
    "bounds": {"type": str},
}


def check_resolved(plain: Any, path: Path) -> dict[str, Any]:
    """The scenario of a results file, checked.

    Raises:
        StoreError: an entry is missing or has another type.
    """
    if not isinstance(plain, dict):
        raise damaged(path, "it does not say what was run")
    required = {key: kind for key, kind in SCENARIO.items() if key in plain or key not in OPTIONAL}
    _check(plain, required, "scenario", path)
    for key, kinds in HOLDING.items():
        held = plain[key]
        for inner in held.values() if isinstance(held, dict) else held:
            if not isinstance(inner, dict):
                raise damaged(path, f"the scenario's {key} cannot be read")
            _check(inner, kinds, key, path)
    if plain["horizon"] < 1 or plain["trials"] < 1:
        raise damaged(path, "the scenario has no rounds or no trials")
    return plain


def _check(plain: Mapping[str, Any], kinds: Mapping[str, type[Any]], of: str, path: Path) -> None:
    for key, kind in kinds.items():
        if key not in plain:
            raise damaged(path, f"{of}: {key!r} is missing")
        if not isinstance(plain[key], kind) or isinstance(plain[key], bool) != (kind is bool):
            raise damaged(path, f"{of}: {key!r} is {shown(plain[key])}")


def damaged(path: Path, what: object) -> StoreError:
    """The error about a damaged file."""
    return StoreError(f"{path} is damaged ({what}); restore a copy or run again with --fresh")


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one clear error."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise StoreError(
            f"{path}: another run has stored the same trial in the meantime; "
            "let it finish, or use another --out"
        ) from None
    except (sqlite3.Error, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: {_explain(str(error))}") from None
    except InvalidInput as error:  # raised by `check_regular`
        raise StoreError(str(error)) from None
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{path}: {error.strerror or error}") from None


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Turn the exceptions of unpacking damaged data into one clear error."""
    try:
        yield
    except StoreError:
        raise
    except (zlib.error, *UNREADABLE) as error:
        raise damaged(path, error) from None


def _explain(message: str) -> str:
    cures = {
        "not a database": "not a results file of gpbandits",
        "no such": "the file is damaged; restore a copy or run again with --fresh",
        "decode": "the file is damaged; restore a copy or run again with --fresh",
        "malformed": "the file is damaged; restore a copy or run again with --fresh",
        "readonly": "the file cannot be written; check its permissions or use another --out",
        "unable to open": "the file cannot be opened; check folder and permissions",
        "full": "the disk is full; free some space and run again: all finished trials are kept",
        "disk I/O": "the disk refused to write (full?); all finished trials are kept",
        "locked": "another process is writing to the file; let it finish or use another --out",
    }
    for sign, cure in cures.items():
        if sign in message:
            return f"{cure} (SQLite: {message})"
    return f"SQLite: {message}"
