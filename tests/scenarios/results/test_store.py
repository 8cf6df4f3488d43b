import os
import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from gpbandits_env.errors import StoreError
from gpbandits_env.scenarios.results.records import TrialKey, TrialRecord
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.results.store_format import dtype, pack, unpack
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

SCENARIO = Scenario(
    id="a/test",
    source="a test",
    title="a test",
    env="gpbandits/StaticGP-v0",
    env_kwargs={},
    horizon=10,
    trials=20,
    agents=(AgentEntry("a", "random"),),
)
META = {"scenario": SCENARIO.to_dict()}


def record(trial=0, size=10):
    rounds = {
        "regret": np.arange(2.0 * size).reshape(size, 2),
        "actions": np.arange(2 * size).reshape(size, 2),
        "points": np.random.default_rng(trial).normal(size=(size, 2, 3)),
    }
    return TrialRecord(TrialKey(0, "a", trial), 2**127 + 1, 7, rounds, {"ask": np.ones(size)})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "er.sqlite"


def test_arrays_come_back_bit_for_bit(path):
    with Store.create(path, META) as store:
        store.add([record(1), record(0)])
    with Store.open(path) as store:
        for name, array in record(1).rounds.items():
            got = store.arrays(0, "a", name)[1]
            assert got.dtype == array.dtype
            assert np.array_equal(got, array)
        assert store.arrays(0, "a", "points").shape == (2, 10, 2, 3)
        assert np.array_equal(store.arrays(0, "a", "points")[0], record(0).rounds["points"])
        assert store.trials(0, "a") == [0, 1]
        assert store.seconds(0, "a", "ask").shape == (2, 10)
    with closing(sqlite3.connect(path)) as db, db:
        assert int(db.execute("SELECT world_seed FROM trials").fetchone()[0], 16) == 2**127 + 1


def test_arrays_of_another_byte_order_are_stored_little_endian():
    array = np.arange(6.0).reshape(2, 3)
    other = array.astype(">f8")
    assert (dtype(other), pack(other)) == ("<f8", pack(array))
    np.testing.assert_array_equal(unpack(dtype(other), "[2,3]", pack(other)), array)


def test_the_digest_tells_results_apart_but_not_times(tmp_path):
    def digest(name, *records):
        with Store.create(tmp_path / name, META) as store:
            for one in records:
                store.add([one])
            return store.digest()

    slow = TrialRecord(**{**vars(record()), "seconds": {"ask": np.full(10, 9.0)}})
    other = record()
    other.rounds["regret"][3, 1] = np.nextafter(other.rounds["regret"][3, 1], 100)
    assert digest("a", record(0), record(1)) == digest("b", record(1), slow)
    assert digest("c", record()) != digest("d", other)


def test_a_trial_is_added_once(path):
    with Store.create(path, META) as store:
        store.add([record(0)])
        with pytest.raises(StoreError, match="another run has stored the same trial"):
            store.add([record(1), record(0)])
        assert store.trials(0, "a") == [0]  # of a failed addition nothing stays


@pytest.mark.skipif(os.name == "nt", reason="Windows removes no file that is open")
def test_a_run_whose_file_another_replaces_stops(path):
    with Store.create(path, META) as store:
        store.add([record(0)])
        Store.remove(path)
        Store.create(path, META).close()
        with pytest.raises(StoreError, match="another process has replaced or removed the file"):
            store.add([record(1)])


def test_a_full_disk_keeps_what_was_stored(path):
    with Store.create(path, META) as store:
        store.add([record(0)])
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="the disk is full"):
            store.add([record(1, size=20_000)])
    with Store.open(path, write=True) as store:
        assert store.trials(0, "a") == [0]
        store.add([record(1)])


def test_a_file_that_is_there_is_not_overwritten(path):
    Store.create(path, META).close()
    with pytest.raises(StoreError, match="already exists"):
        Store.create(path, META)


def test_not_a_store(tmp_path):
    for name, content in (("text", b"hello" * 1000), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(StoreError, match="not a results file"):
            Store.open(tmp_path / name)
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as db, db:
        db.execute("CREATE TABLE trials (x)")
    with pytest.raises(StoreError, match="not a results file"):
        Store.open(tmp_path / "other.sqlite")
    with pytest.raises(StoreError, match="no such file"):
        Store.open(tmp_path / "none")
    with pytest.raises(StoreError, match="folder"):
        Store.open(tmp_path)


def test_a_newer_schema_is_refused(path):
    Store.create(path, META).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 3")
    with pytest.raises(StoreError, match="format 3; this release reads format 2"):
        Store.open(path)


def test_a_damaged_file_is_told(path):
    with Store.create(path, META) as store:
        store.add([record(i) for i in range(20)])
    data = bytearray(path.read_bytes())
    data[len(data) // 4 :] = b"\xff" * (len(data) - len(data) // 4)
    path.write_bytes(data)
    with pytest.raises(StoreError), Store.open(path) as store:
        store.digest()


def test_a_damaged_schema_is_told_whatever_sqlite_quotes_of_it(path):
    """SQLite quotes the damaged text in its message, and it may be no UTF-8."""
    Store.create(path, META).close()
    data = path.read_bytes()
    for place in (match.start() for match in re.finditer(b"CREATE TABLE", data)):
        path.write_bytes(data[: place + 3] + b"\xf6" + data[place + 4 :])
        assert not Store.is_empty(path)
        with pytest.raises(StoreError):
            Store.open(path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_file_is_read_and_not_written(path):
    Store.create(path, META).close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with Store.open(path) as store:
            assert store.scenario == META["scenario"]
        with pytest.raises(StoreError, match="cannot be"), Store.open(path, write=True) as store:
            store.add([record()])
    finally:
        path.parent.chmod(0o755)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        Store.create(tmp_path / "file" / "a.sqlite", META)


def test_a_file_in_use_is_told(path):
    Store.create(path, META).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        store = Store(path, sqlite3.connect(path, timeout=0.01, isolation_level=None))
        with pytest.raises(StoreError, match="another process is writing"), store:
            store.add([record()])
        other.execute("ROLLBACK")
