"""Checks that a results file is undamaged, by checksums.

A checksum covers an item as a whole: a trial with its key, its seeds, and the names, types, shapes
and data of its arrays; its clock times; a theory curve; an entry of the meta table. So a changed
digit or letter, a renumbered trial or a missing row is found when the file is opened. All errors of
SQLite, of the file system and of damaged data become one clear error.
"""

import hashlib
import json
import re
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.scenarios.results.store_format import APPLICATION_ID, FORMAT, STATEMENTS, to_json

# The exceptions that reading damaged data may raise, besides that of zlib.
UNREADABLE = (ValueError, TypeError, OverflowError, MemoryError, RecursionError)
# Not --fresh, with which a suite runs its other problems again too.
AGAIN = "restore a copy, or delete the file and run again"
KEY = "cell, agent, trial"
BY_NAME = "ORDER BY cell, agent, name, trial"
# Kind of item, number of columns of its key, and its rows, in the order in which they count.
ITEMS = (
    ("meta", 1, "SELECT key, value FROM meta"),
    ("bounds", 2, "SELECT cell, name, metric, data FROM bounds"),
    ("trial", 3, f"SELECT {KEY}, world_seed, agent_seed, rounds FROM trials"),
    ("trial", 3, f"SELECT {KEY}, name, dtype, shape, data FROM arrays {BY_NAME}"),
    ("seconds", 3, f"SELECT {KEY}, name, data FROM seconds {BY_NAME}"),
)


def damaged(path: Path, what: object) -> StoreError:
    """The error about a damaged file."""
    return StoreError(f"{path} is damaged ({what}); {AGAIN}")


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
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: {_explain(error)}") from None
    except InvalidInput as error:  # raised by `check_regular`
        raise StoreError(str(error)) from None
    except StoreError:
        raise
    except OSError as error:
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


def _explain(error: Exception) -> str:
    signs = f"{getattr(error, 'sqlite_errorname', '')} {error}"
    again = f"the file is damaged; {AGAIN}"
    cures = dict.fromkeys(("no such", "decode", "malformed"), again) | {
        "not a database": "not a results file of gpbandits, whose name ends in .sqlite",
        "DBMOVED": "another process has replaced or removed the file, as --fresh does",
        "readonly": "the file cannot be written; check its permissions or use another --out",
        "unable to open": "the file cannot be opened; check folder and permissions",
        "full": "the disk is full; free some space and run again: all finished trials are kept",
        "disk I/O": "the disk refused to write (full?); all finished trials are kept",
        "locked": "another process is writing to the file; let it finish or use another --out",
    }
    for sign, cure in cures.items():
        if sign in signs:
            return f"{cure} (SQLite: {error})"
    return f"SQLite: {error}"


def checksum(rows: list[tuple[Any, ...]]) -> str:
    """SHA-256 of rows of numbers, words and bytes, with the bytes last in each row."""
    total = hashlib.sha256()
    for row in rows:
        _feed(total, row)
    return total.hexdigest()


def _feed(total: Any, row: tuple[Any, ...]) -> None:
    *head, last = row
    if isinstance(last, bytes):
        total.update(to_json([*head, len(last)]).encode() + last)
    else:
        total.update(to_json(row).encode())


def checksums(db: sqlite3.Connection) -> dict[str, str]:
    """The correct checksum of each item of an open file.

    An item is a JSON list, e.g. ["meta", key]. Clock times are separate, because all other
    checksums are the same in every run.
    """
    totals: dict[tuple[Any, ...], Any] = defaultdict(hashlib.sha256)
    for kind, width, sql in ITEMS:
        for row in db.execute(sql):
            _feed(totals[kind, *row[:width]], row)
    return {to_json(item): total.hexdigest() for item, total in totals.items()}


def check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` unless an open file is a results file, damaged or not, of any format."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is not a results file of gpbandits")


def check_format(db: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` unless an open file is a results file of the present format."""
    check_ours(db, path)
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT:
        raise StoreError(
            f"{path} has format {version}; this release reads format {FORMAT}: use the release "
            f"that wrote it{_release(db)}, or run again with another --out"
        )
    found = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    if sorted(" ".join(sql.split()) for (sql,) in found) != sorted(STATEMENTS):
        raise damaged(path, "its tables, views or triggers are not those of a results file")


def _release(db: sqlite3.Connection) -> str:
    try:
        (text,) = db.execute("SELECT value FROM meta WHERE key = 'versions'").fetchone()
        version = str(json.loads(text)["gpbandits-env"])
    except (sqlite3.Error, ValueError, TypeError, KeyError, RecursionError):
        return ""
    known = re.fullmatch(r"\d[\w.]{0,40}", version)
    return f" (pip install 'gpbandits-env=={version}')" if known else ""


def check_sound(db: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` if anything in an open file is damaged."""
    if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise damaged(path, "SQLite: malformed")
    with decoding(path):
        kept = dict(db.execute("SELECT item, sha256 FROM checksums"))
        now = checksums(db)
        for item in sorted(kept.keys() | now.keys()):
            if kept.get(item) != now.get(item):
                raise damaged(path, f"the checksum of {item[:200]} is wrong")
