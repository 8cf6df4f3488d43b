"""The format of a results file: its tables, how arrays are packed into them, and connections.

The format is a number, SQLite's ``user_version``. Format 2:

    meta      key, value (JSON)   "scenario": the resolved scenario, "versions", "machine",
                                  "problems": what identifies each cell's environment (see
                                  `study.rehearsal`); "kernels": each cell's kernel in words
    trials    cell, agent, trial, world_seed, agent_seed, rounds
    arrays    cell, agent, trial, name, dtype, shape, data
    bounds    cell, name, metric, data        theory curves, float64
    seconds   cell, agent, trial, name, data  float64; wall-clock time
    sessions  started, info (JSON)            one row per run: jobs, versions, machine
    failures  cell, agent, trial, error, traceback
    checksums item, sha256        of each trial, curve and entry of meta: see `store_check`

``data`` is zlib-compressed, little-endian, C order; ``shape`` a JSON list; ``dtype`` in NumPy's
notation ("<f8"). Everything except `seconds`, `sessions` and `failures` is bit-identical in every
run of the scenario with the same versions on the same kind of machine, unless a clock of the
environment measures the thinking. `Store.digest` covers the
scenario, the trials, their arrays and the bounds.
"""

import json
import sqlite3
import time
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

APPLICATION_ID = 0x47504245  # "GPBE"
FORMAT = 2
# Larger than any array of a results file.
MOST_BYTES = 2**31
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE trials (
    cell INTEGER NOT NULL, agent TEXT NOT NULL, trial INTEGER NOT NULL,
    world_seed TEXT NOT NULL, agent_seed TEXT NOT NULL, rounds INTEGER NOT NULL,
    PRIMARY KEY (cell, agent, trial));
CREATE TABLE arrays (
    cell INTEGER NOT NULL, agent TEXT NOT NULL, trial INTEGER NOT NULL, name TEXT NOT NULL,
    dtype TEXT NOT NULL, shape TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (cell, agent, name, trial));
CREATE TABLE bounds (
    cell INTEGER NOT NULL, name TEXT NOT NULL, metric TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (cell, name));
CREATE TABLE seconds (
    cell INTEGER NOT NULL, agent TEXT NOT NULL, trial INTEGER NOT NULL, name TEXT NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (cell, agent, name, trial));
CREATE TABLE sessions (started TEXT NOT NULL, info TEXT NOT NULL);
CREATE TABLE failures (
    cell INTEGER NOT NULL, agent TEXT NOT NULL, trial INTEGER NOT NULL, error TEXT NOT NULL,
    traceback TEXT NOT NULL, PRIMARY KEY (cell, agent, trial));
CREATE TABLE checksums (item TEXT PRIMARY KEY, sha256 TEXT NOT NULL);
"""
STATEMENTS = [" ".join(statement.split()) for statement in SCHEMA.split(";") if statement.strip()]
# Seconds between two attempts to lock a file that others use (Ctrl-C works in between).
RETRY = 5.0
# The same for a reader, and the seconds for which it waits. SQLite looks ever more rarely during an
# attempt, ten times a second in the end, and would miss the moments in which a run does not write.
READ_RETRY, READ_PATIENCE = 0.1, 60.0


def to_json(value: Any) -> str:
    """Compact text, the same for equal values."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def dtype(array: NDArray[Any]) -> str:
    """NumPy's notation of the type, little-endian."""
    return array.dtype.newbyteorder("<").str


def pack(array: NDArray[Any]) -> bytes:
    """The compressed bytes of an array."""
    return zlib.compress(np.ascontiguousarray(array, dtype=dtype(array)).tobytes(), 1)


def unpack(dtype: str, shape: str, data: bytes) -> NDArray[Any]:
    """The array that was packed; ValueError or TypeError if it is damaged."""
    return np.frombuffer(inflate(data), dtype=dtype).reshape(json.loads(shape))


def inflate(data: bytes) -> bytes:
    """Decompressed bytes; ValueError if they are truncated, or larger than any array."""
    stream = zlib.decompressobj()
    found = stream.decompress(data, MOST_BYTES)
    if not stream.eof:
        raise ValueError("an array is cut off or too large")
    return found


def connect(path: Path, mode: str, retry: float = RETRY) -> sqlite3.Connection:
    """A connection in a mode of SQLite: "ro", "rw" or "rwc"."""
    # Transactions are explicit. The rollback journal (SQLite's default) keeps the file consistent
    # after a kill or a power cut, works on network file systems and read-only mounts, and leaves
    # one file. (A write-ahead log would leave a second file after a kill.)
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=retry, isolation_level=None)


def patiently(db: sqlite3.Connection, sql: str, patience: float) -> None:
    """Execute a statement; while others lock the file, attempt it again for so many seconds."""
    end = time.monotonic() + patience
    while True:
        try:
            db.execute(sql)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        else:
            return


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
        with closing(connect(path, mode, READ_RETRY)) as source:
            source.execute("BEGIN")
            patiently(source, "SELECT count(*) FROM sqlite_master", READ_PATIENCE)  # takes the lock
            source.backup(copy)
    except BaseException:
        copy.close()
        raise
    return copy
