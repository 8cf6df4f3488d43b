"""Connections to a results file: shared with other processes, or to a private copy of it."""

import sqlite3
from contextlib import closing
from pathlib import Path

# Seconds between two attempts to lock a file that others use (Ctrl-C works in between).
RETRY = 5.0


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection in a mode of SQLite: "ro", "rw" or "rwc"."""
    # Transactions are explicit. The rollback journal (SQLite's default) keeps the file consistent
    # after a kill or a power cut, works on network file systems and read-only mounts, and leaves
    # one file. (A write-ahead log would leave a second file after a kill.)
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=RETRY, isolation_level=None)


def copied(path: Path) -> sqlite3.Connection:
    """A private copy of a file, in memory or, if it is large, in SQLite's temporary folder.

    A killed run may have left a journal, which SQLite must write back to the file before reading.
    """
    try:
        return _copy(path, "ro")
    except sqlite3.OperationalError as error:
        if not any(sign in str(error) for sign in ("readonly", "unable to open")):
            raise
        return _copy(path, "rw")


def _copy(path: Path, mode: str) -> sqlite3.Connection:
    copy = sqlite3.connect("", isolation_level=None)
    try:
        with closing(connect(path, mode)) as source:
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master")  # takes the lock or raises
            source.backup(copy)
    except BaseException:
        copy.close()
        raise
    return copy
