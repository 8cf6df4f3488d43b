"""What SQLite, the file system and damaged data say, as one clear error about a results file."""

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpbandits_env.errors import StoreError


@contextmanager
def speaking_of(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into one clear error."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise StoreError(
            f"{path}: another run has stored the same trial meanwhile; "
            "let it finish, or use another --out"
        ) from None
    except (sqlite3.Error, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: {_explain(str(error))}") from None
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{path}: {error.strerror or error}") from None


@contextmanager
def making_sense_of(path: Path) -> Iterator[None]:
    """Turn what unpacking damaged data may raise into one clear error."""
    try:
        yield
    except (zlib.error, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise StoreError(
            f"{path} is damaged ({error}); restore a copy or run again with --fresh"
        ) from None


def _explain(message: str) -> str:
    cures = {
        "not a database": "not a results file of gpbandits",
        "no such": "the file is damaged; restore a copy or run again with --fresh",
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
