"""The results of a study: one SQLite file.

The main process of a study is the only writer. It adds trials in transactions, so that a trial is
stored completely or not at all: a process killed at any moment leaves a file that the next run
reads and completes. `store_format` describes the schema.
"""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Plain, Settings
from gpbandits_env.display import Displayed
from gpbandits_env.errors import StoreError, one_of
from gpbandits_env.files import check_regular
from gpbandits_env.scenarios.results import store_check
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey, TrialRecord
from gpbandits_env.scenarios.results.store_format import (
    APPLICATION_ID,
    FORMAT,
    STATEMENTS,
    connect,
    copied,
    dtype,
    inflate,
    pack,
    patiently,
    to_json,
    unpack,
)

# Seconds for which a run waits for others that read or write its file.
PATIENCE = 600.0
REPLACE_CHECKSUM = "INSERT OR REPLACE INTO checksums VALUES (?, ?)"
# The arguments of `unpack` for 1-D float64, whose length is not stored.
FLOATS = "SELECT '<f8', '[-1]', data"
OF_AGENT = "WHERE cell = ? AND agent = ? AND name = ? ORDER BY trial"


class Store(Displayed):
    """An open results file. Use `Store.create` or `Store.open` in a ``with`` statement."""

    def __init__(self, path: Path, connection: sqlite3.Connection, patience: float = 0.0) -> None:
        self.path = path
        self._db = connection
        self._patience = patience
        self._restricted: frozenset[str] | None = None

    def _facts(self) -> Plain:
        return {"path": self.path}

    @classmethod
    def create(cls, path: str | Path, meta: Settings) -> Self:
        """Create a file and its folder; ``meta`` are JSON-able entries, including "scenario"."""
        path = Path(path)
        with store_check.clear_errors(path):
            check_regular(path)
            if path.exists() and not cls.is_empty(path):
                raise StoreError(f"{path} already exists")
            path.parent.mkdir(parents=True, exist_ok=True)
            store = cls(path, connect(path, "rwc"), PATIENCE)
        with store.transaction() as db:
            # A fresh file gets all of this or nothing: a kill leaves an empty file at worst.
            for statement in STATEMENTS:
                db.execute(statement)
            store.set_meta(meta)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
        return store

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Self:
        """Open and check an existing file, with ``write`` to add trials.

        A reader gets a private copy of the file at this moment. It does not see what a run adds
        later, and holds no lock for which a run would wait.

        Cost: O(bytes in the file).

        Raises:
            StoreError: it is damaged, no results file of this format, or cannot be read.
        """
        path = Path(path)
        with store_check.clear_errors(path):
            check_regular(path)
            if not path.exists():
                raise StoreError(f"{path}: no such file; 'gpbandits run' makes one")
            connection = connect(path, "rw") if write else copied(path)
            store = cls(path, connection, PATIENCE if write else 0.0)
            try:
                with store.transaction() as db:  # other runs add no trials meanwhile
                    store_check.check_format(db, path)
                    store_check.check_sound(db, path)
            except BaseException:
                store.close()
                raise
        return store

    @staticmethod
    def remove(path: Path) -> None:
        """Delete a results file, even a damaged one; StoreError for any other file."""
        with store_check.clear_errors(path):
            check_regular(path)
            with closing(connect(path, "rw")) as db:
                store_check.check_ours(db, path)
            path.unlink()

    @classmethod
    def is_empty(cls, path: str | Path) -> bool:
        """Whether the file is what a kill during `create` leaves: empty, or empty after a rollback.

        The latter is a half-written file with its rollback journal; reading it makes it empty.
        """
        path = Path(path)
        if not path.is_file():
            return False
        try:
            with closing(connect(path, "rw")) as db:
                db.execute("SELECT count(*) FROM sqlite_master")
            return path.stat().st_size == 0
        except (sqlite3.Error, OSError, UnicodeDecodeError):
            return False  # `open` reports what is wrong

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def meta(self, key: str) -> Any:
        """An entry of the meta table; None if it is missing."""
        rows = self._all("SELECT value FROM meta WHERE key = ?", key)
        return json.loads(rows[0][0]) if rows else None

    def set_meta(self, entries: Settings) -> None:
        """Replace entries of the meta table, in one transaction."""
        rows = [(key, to_json(value)) for key, value in entries.items()]
        sums = [
            (to_json(["meta", key]), store_check.checksum([(key, value)])) for key, value in rows
        ]
        with self.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            db.executemany(REPLACE_CHECKSUM, sums)

    @property
    def scenario(self) -> Plain:
        """The resolved scenario."""
        return self.meta("scenario")

    def add(self, records: Iterable[TrialRecord | TrialFailure]) -> None:
        """Add trials, either all of them or none.

        Raises:
            StoreError: a trial is already stored, or the file cannot be written (disk full);
                earlier trials are kept.
        """
        with self.transaction() as db:
            for record in records:
                if isinstance(record, TrialRecord):
                    _insert(db, record)
                else:
                    row = (*astuple(record.key), record.error, record.traceback)
                    db.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", row)

    def add_session(self, started: str, info: Settings) -> None:
        """Record the start of a run; failures of earlier runs are deleted, to be tried again."""
        with self.transaction() as db:
            db.execute("INSERT INTO sessions VALUES (?, ?)", (started, to_json(info)))
            db.execute("DELETE FROM failures")

    def add_bounds(self, cell: int, curves: Mapping[str, tuple[str, Array]]) -> None:
        """Keep the theory curves of a cell: name -> (metric, curve)."""
        rows = [(cell, name, metric, pack(c)) for name, (metric, c) in curves.items()]
        sums = [(to_json(["bounds", *row[:2]]), store_check.checksum([row])) for row in rows]
        with self.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO bounds VALUES (?, ?, ?, ?)", rows)
            db.executemany(REPLACE_CHECKSUM, sums)

    def bounds(self, cell: int) -> dict[str, tuple[str, Array]]:
        """The theory curves of a cell."""
        rows = self._all(f"{FLOATS}, name, metric FROM bounds WHERE cell = ? ORDER BY name", cell)
        return {name: (metric, unpack(*array)) for *array, name, metric in rows}

    def done(self) -> set[TrialKey]:
        """The trials that are stored."""
        return {TrialKey(*row) for row in self._all("SELECT cell, agent, trial FROM trials")}

    def failures(self) -> list[TrialFailure]:
        """The trials that raised in the last run."""
        rows = self._all("SELECT * FROM failures ORDER BY cell, agent, trial")
        return [TrialFailure(TrialKey(*row[:3]), row[3], row[4]) for row in rows]

    def cells(self) -> list[int]:
        """The cells with results of agents that are shown; StoreError if there are none."""
        found = [cell for cell in range(len(self.scenario["points"])) if self.labels(cell)]
        if not found:
            failed = [f": {f.key} raised {f.error}" for f in self.failures()[:1]]
            why = failed or [" yet; 'gpbandits run' resumes it"]
            raise StoreError(f"{self.path} contains no finished trial{why[0]}")
        return found

    def labels(self, cell: int) -> list[str]:
        """The agents with results in a cell, in the scenario's order."""
        found = {row[0] for row in self._all("SELECT agent FROM trials WHERE cell = ?", cell)}
        if self._restricted is not None:
            found &= self._restricted
        return [label for label in self.scenario["agents"] if label in found]

    def restrict(self, agents: Collection[str]) -> None:
        """Restrict `labels` to these agents from now on, so that only they are shown."""
        for label in agents:
            one_of(label, self.scenario["agents"], "agent in this file")
        self._restricted = frozenset(agents)

    def trials(self, cell: int, agent: str) -> list[int]:
        """The stored trials of an agent, in order."""
        sql = "SELECT trial FROM trials WHERE cell = ? AND agent = ? ORDER BY trial"
        return [row[0] for row in self._all(sql, cell, agent)]

    def has(self, cell: int, agent: str, name: str) -> bool:
        """Whether an array of an agent's trials was kept."""
        return bool(self._all(f"SELECT 1 FROM arrays {OF_AGENT} LIMIT 1", cell, agent, name))

    def arrays(self, cell: int, agent: str, name: str) -> NDArray[Any]:
        """An array of `TrialRecord` of all trials of an agent, in order: (trials, T, ...).

        Raises:
            StoreError: it was not kept, or the file is damaged.
        """
        sql = f"SELECT dtype, shape, data FROM arrays {OF_AGENT}"
        return self._stacked(sql, cell, agent, name)

    def seconds(self, cell: int, agent: str, name: str) -> Array:
        """Wall-clock seconds per round, (trials, T) (see `records.SECONDS_FIELDS`)."""
        return self._stacked(f"{FLOATS} FROM seconds {OF_AGENT}", cell, agent, name)

    def _stacked(self, sql: str, cell: int, agent: str, name: str) -> NDArray[Any]:
        rows = self._all(sql, cell, agent, name)
        if not rows:
            raise StoreError(f"{self.path} has no {name} of agent {agent!r}")
        if len(rows) != len(self.trials(cell, agent)):
            raise store_check.damaged(self.path, f"a trial of agent {agent!r} has no {name}")
        with store_check.decoding(self.path):
            return np.stack([unpack(*row) for row in rows])

    def digest(self) -> str:
        """SHA-256 of the scenario, its theory curves and its trials, without their times."""
        total = hashlib.sha256()
        total.update(to_json(self.meta("scenario")).encode())
        for cell, name, metric, data in self._each("SELECT * FROM bounds ORDER BY cell, name"):
            total.update(to_json([cell, name, metric]).encode() + inflate(data))
        for row in self._each("SELECT * FROM trials ORDER BY cell, agent, trial"):
            total.update(to_json(list(row)).encode())
        for *head, data in self._each("SELECT * FROM arrays ORDER BY cell, agent, trial, name"):
            total.update(to_json(head).encode() + inflate(data))
        return total.hexdigest()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Keep other writers out, and write all or nothing; a part of an outer transaction."""
        if self._db.in_transaction:
            yield self._db
            return
        with store_check.clear_errors(self.path):
            patiently(self._db, "BEGIN IMMEDIATE", self._patience)
            try:
                yield self._db
                patiently(self._db, "COMMIT", self._patience)
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _each(self, sql: str, *values: Any) -> Iterator[Any]:
        with store_check.clear_errors(self.path):
            yield from self._db.execute(sql, values)

    def _all(self, sql: str, *values: Any) -> list[Any]:
        return list(self._each(sql, *values))


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
    # In the order in which `checksums` reads them: by name.
    results = [(*key, *seeds, horizon), *sorted(arrays)]
    for item, parts in (("trial", results), ("seconds", sorted(rows))):
        db.execute(REPLACE_CHECKSUM, (to_json([item, *key]), store_check.checksum(parts)))
