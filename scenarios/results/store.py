"""The results of a study: one SQLite file.

The driver of a study is the only writer. Trials are added in transactions, so that a trial is
there whole or not at all: a process killed at any moment leaves a file that the next run reads
and completes. Its schema is that of `store_format`.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.errors import StoreError, one_of
from gpbandits_env.files import check_regular
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey, TrialRecord
from gpbandits_env.scenarios.results.store_errors import (
    check_resolved,
    clear_errors,
    damaged,
    decoding,
)
from gpbandits_env.scenarios.results.store_format import (
    APPLICATION_ID,
    SCHEMA,
    SCHEMA_VERSION,
    dtype,
    pack,
    tables,
    to_json,
    unpack,
)

# What `unpack` takes: of any array, and of one dimension of float64, whose length is not stored.
ARRAY = "SELECT dtype, shape, data FROM arrays"
FLOATS = "SELECT '<f8', '[-1]', data"
OF_TRIAL = "WHERE cell = ? AND agent = ? AND trial = ? AND name = ?"
OF_AGENT = "WHERE cell = ? AND agent = ? AND name = ? ORDER BY trial"


class Store:
    """An open results file; use `Store.create` or `Store.open`, in a ``with`` statement."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._restricted: frozenset[str] | None = None

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Self:
        """A new file, and its folder; ``meta`` are JSON-able entries, "scenario" among them.

        Raises:
            StoreError: the file exists, or cannot be written.
        """
        path = Path(path)
        with clear_errors(path):
            check_regular(path)
            if path.exists() and not cls.is_empty(path):
                raise StoreError(f"{path} exists already")
            path.parent.mkdir(parents=True, exist_ok=True)
            store = cls(path, _connect(path, "rwc"))
        with store._transaction() as db:
            # A fresh file gets all of this or nothing: a kill leaves an empty file at worst.
            for statement in SCHEMA.split(";"):
                db.execute(statement)
            db.executemany("INSERT INTO meta VALUES (?, ?)", _rows(meta))
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        return store

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Self:
        """An existing file; ``write`` to add trials, since reading needs no write permission.

        Raises:
            StoreError: no such file, not a results file, damaged, of a newer version, or not to
                be read or written.
        """
        path = Path(path)
        with clear_errors(path):
            check_regular(path)
            if not path.exists():
                raise StoreError(f"{path}: no such file; 'gpbandits run' makes one")
            store = cls(path, _connect(path, "rw" if write or _recoverable(path) else "ro"))
            try:
                store._check(write)
            except BaseException:
                store.close()
                raise
        return store

    @classmethod
    def is_empty(cls, path: str | Path) -> bool:
        """Whether the file is what a kill during `create` leaves: nothing, or nothing in the end.

        The second is a half-written file with its rollback journal; reading it makes it empty.
        """
        path = Path(path)
        if not path.is_file():
            return False
        try:
            store = cls(path, _connect(path, "rw"))
            with store:
                store._one("SELECT count(*) FROM sqlite_master")
            return path.stat().st_size == 0
        except (sqlite3.Error, OSError):
            return False  # `open` says what is wrong with it

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def meta(self, key: str) -> Any:
        """An entry of the meta table; None without it."""
        with clear_errors(self.path):
            text = self._one("SELECT value FROM meta WHERE key = ?", key)
            return None if text is None else json.loads(text)

    def set_meta(self, entries: Mapping[str, Any]) -> None:
        """Replace entries of the meta table, in one transaction."""
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", _rows(entries))

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario.

        Raises:
            StoreError: the file is damaged.
        """
        return check_resolved(self.meta("scenario"), self.path)

    def add(self, records: Iterable[TrialRecord | TrialFailure]) -> None:
        """Add trials, all of them or none.

        Raises:
            StoreError: a trial is there already, or the file cannot be written (disk full); what
                was stored before stays.
        """
        with self._transaction() as db:
            for record in records:
                if isinstance(record, TrialRecord):
                    _insert(db, record)
                else:
                    row = (*astuple(record.key), record.error, record.traceback)
                    db.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", row)

    def add_session(self, started: str, info: Mapping[str, Any]) -> None:
        """Note that a run begins; failures of earlier ones are forgotten, to be tried again."""
        with self._transaction() as db:
            db.execute("INSERT INTO sessions VALUES (?, ?)", (started, to_json(info)))
            db.execute("DELETE FROM failures")

    def add_bounds(self, cell: int, curves: Mapping[str, tuple[str, Array]]) -> None:
        """Keep the theory curves of a cell: name -> (metric, curve)."""
        rows = [(cell, name, metric, pack(c)) for name, (metric, c) in curves.items()]
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO bounds VALUES (?, ?, ?, ?)", rows)

    def bounds(self, cell: int) -> dict[str, tuple[str, Array]]:
        """The theory curves of a cell."""
        rows = self._all(f"{FLOATS}, name, metric FROM bounds WHERE cell = ? ORDER BY name", cell)
        with decoding(self.path):
            return {name: (metric, unpack(*array)) for *array, name, metric in rows}

    def done(self) -> set[TrialKey]:
        """The trials that are there."""
        return {TrialKey(*row) for row in self._all("SELECT cell, agent, trial FROM trials")}

    def failures(self) -> list[TrialFailure]:
        """The trials that raised in the last run."""
        rows = self._all("SELECT * FROM failures ORDER BY cell, agent, trial")
        return [TrialFailure(TrialKey(*row[:3]), row[3], row[4]) for row in rows]

    def labels(self, cell: int) -> list[str]:
        """The agents with results in a cell, in the scenario's order."""
        found = {row[0] for row in self._all("SELECT agent FROM trials WHERE cell = ?", cell)}
        if self._restricted is not None:
            found &= self._restricted
        return [label for label in self.scenario["agents"] if label in found]

    def restrict(self, agents: Collection[str]) -> None:
        """From now on `labels` names only these agents, so that only they are shown.

        Raises:
            UnknownName: the study has no such agent; nothing has changed then.
        """
        for label in agents:
            one_of(label, self.scenario["agents"], "agent in this file")
        self._restricted = frozenset(agents)

    def trials(self, cell: int, agent: str) -> list[int]:
        """The trials of an agent that are there, in order."""
        sql = "SELECT trial FROM trials WHERE cell = ? AND agent = ? ORDER BY trial"
        return [row[0] for row in self._all(sql, cell, agent)]

    def array(self, key: TrialKey, name: str) -> NDArray[Any]:
        """One array of one trial (see `records.ROUND_FIELDS`).

        Raises:
            StoreError: no such trial, or the array was not kept (actions may not be).
        """
        values, what = (*astuple(key), name), f"{name} of {key}"
        return self._stacked(f"{ARRAY} {OF_TRIAL}", values, what)[0]

    def has(self, key: TrialKey, name: str) -> bool:
        """Whether an array of a trial was kept."""
        return self._one(f"SELECT 1 FROM arrays {OF_TRIAL}", *astuple(key), name) is not None

    def arrays(self, cell: int, agent: str, name: str) -> NDArray[Any]:
        """One array of all trials of an agent, in order: (trials, T, ...).

        Raises:
            StoreError: the agent has no trials there.
        """
        what = f"{name} of agent {agent!r}"
        return self._stacked(f"{ARRAY} {OF_AGENT}", (cell, agent, name), what)

    def forms(self, name: str) -> set[tuple[str, tuple[int, ...]]]:
        """Each type (NumPy's notation) and shape that an array of this name has in some trial."""
        rows = self._all("SELECT DISTINCT dtype, shape FROM arrays WHERE name = ?", name)
        with decoding(self.path):
            return {(dtype, tuple(json.loads(shape))) for dtype, shape in rows}

    def seconds(self, cell: int, agent: str, name: str) -> Array:
        """Wall-clock seconds per round, (trials, T) (see `records.SECONDS_FIELDS`).

        Zeros for the evaluations of older files, which did not measure them.

        Raises:
            StoreError: the agent has no trials there.
        """
        sql, values = f"{FLOATS} FROM seconds {OF_AGENT}", (cell, agent, name)
        if name == "evaluate" and self._one(sql, *values) is None:
            return np.zeros(self.arrays(cell, agent, "optimum").shape)
        return self._stacked(sql, values, f"seconds of agent {agent!r}")

    def _stacked(self, sql: str, values: Sequence[Any], what: str) -> NDArray[Any]:
        rows = self._all(sql, *values)
        if not rows:
            raise StoreError(f"{self.path} has no {what}")
        with decoding(self.path):
            return np.stack([unpack(*row) for row in rows])

    def digest(self) -> str:
        """SHA-256 of everything but time: equal for equal results, however they were run."""
        total = hashlib.sha256()
        with decoding(self.path):
            total.update(to_json(self.meta("scenario")).encode())
            for cell, name, metric, data in self._each("SELECT * FROM bounds ORDER BY cell, name"):
                total.update(to_json([cell, name, metric]).encode() + zlib.decompress(data))
            for row in self._each("SELECT * FROM trials ORDER BY cell, agent, trial"):
                total.update(to_json(list(row)).encode())
            for *head, data in self._each("SELECT * FROM arrays ORDER BY cell, agent, trial, name"):
                total.update(to_json(head).encode() + zlib.decompress(data))
        return total.hexdigest()

    def _check(self, whole: bool) -> None:
        """The file has the format; before a run, it is also sound, so that none fails half-way."""
        if self._one("PRAGMA application_id") != APPLICATION_ID:
            raise StoreError(f"{self.path} is not a results file of gpbandits")
        if (version := self._one("PRAGMA user_version")) != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has schema version {version}, this release reads {SCHEMA_VERSION}: "
                "use the release that wrote it, or run again with another --out"
            )
        for table, columns in tables().items():
            self._db.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        if not whole:
            return
        if self._one("PRAGMA quick_check(1)") != "ok":
            raise sqlite3.DatabaseError("malformed")
        keys = "cell, agent, trial"
        orphans = f"SELECT {keys} FROM arrays EXCEPT SELECT {keys} FROM trials"
        if self._one(orphans) is not None:
            raise damaged(self.path, "it has results of trials that it does not list")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with clear_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _each(self, sql: str, *values: Any) -> Iterator[Any]:
        with clear_errors(self.path):
            yield from self._db.execute(sql, values)

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return list(self._each(sql, *values))

    def _one(self, sql: str, *values: Any) -> Any:
        row = self._db.execute(sql, values).fetchone()
        return None if row is None else row[0]


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Transactions are begun and ended by hand; the rollback journal (SQLite's default) keeps the
    # file whole after a kill or a power cut, and works on network file systems.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=10.0, isolation_level=None)


def _recoverable(path: Path) -> bool:
    """Whether a killed run has left a journal, which SQLite must write to the file to read it."""
    return path.with_name(path.name + "-journal").exists()


def _insert(db: sqlite3.Connection, record: TrialRecord) -> None:
    key = astuple(record.key)
    horizon = len(record.rounds["regret"])
    seeds = f"{record.world_seed:032x}", f"{record.agent_seed:032x}"
    db.execute("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)", (*key, *seeds, horizon))
    arrays = [
        (*key, name, dtype(array), to_json(list(array.shape)), pack(array))
        for name, array in record.rounds.items()
    ]
    db.executemany("INSERT INTO arrays VALUES (?, ?, ?, ?, ?, ?, ?)", arrays)
    rows = [(*key, name, pack(array)) for name, array in record.seconds.items()]
    db.executemany("INSERT INTO seconds VALUES (?, ?, ?, ?, ?)", rows)


def _rows(entries: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, to_json(value)) for key, value in entries.items()]
