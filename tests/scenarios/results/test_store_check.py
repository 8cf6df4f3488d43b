"""Damage is found when a file is opened; old files are read; readers and a run share a file."""

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpbandits_env.errors import StoreError
from gpbandits_env.scenarios.results.export import export
from gpbandits_env.scenarios.results.records import TrialKey, TrialRecord
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.results.store_format import FORMAT, pack
from gpbandits_env.scenarios.study import run_study

FORMATS = Path(__file__).parent / "formats"
# The digest that each file had when it was made, by the release that wrote its format.
DIGESTS = {
    "format-2.sqlite": "b75b12ac3c4e31c58070bb9bbfd32cfeaeb0c099da5bca78ac52eaeabe5a63b5",
}
NAN = pack(np.full((12, 1), np.nan)).hex()
NEGATIVE = pack(np.full((12, 1), -1.0)).hex()


def changed(path, *statements):
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    return path


CHANGES = {
    "type": "UPDATE arrays SET dtype = '<i8' WHERE name = 'regret'",
    "nan": f"UPDATE arrays SET data = x'{NAN}' WHERE name = 'regret' AND trial = 1",
    "negative": f"UPDATE arrays SET data = x'{NEGATIVE}' WHERE name = 'regret' AND trial = 1",
    "letter": "UPDATE arrays SET name = 'rewarde' WHERE name = 'rewards' AND trial = 1",
    "agent": "UPDATE trials SET agent = 'ej' WHERE agent = 'ei' AND trial = 2",
    "rounds": "UPDATE trials SET rounds = 11",
    "missing": "DELETE FROM arrays WHERE name = 'optimum' AND trial = 0",
    "orphan": "DELETE FROM trials WHERE trial = 3 AND agent = 'ei'",
    "meta": "DELETE FROM meta WHERE key = 'scenario'",
    "deep": f"UPDATE meta SET value = '{'[' * 100_000}' WHERE key = 'scenario'",
    "text": "UPDATE meta SET value = CAST(x'ff22' AS TEXT) WHERE key = 'scenario'",
    "view": "CREATE VIEW more AS SELECT * FROM trials",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM meta; END",
}
RENUMBERED = [f"UPDATE {t} SET trial = trial + 10" for t in ("trials", "arrays", "seconds")]
SEALED = {
    "renumbered": [s.replace("+ 10", "+ 10 WHERE trial = 0") for s in RENUMBERED],
    "renamed in all": [
        f"UPDATE {t} SET agent = 'random' WHERE agent = 'ei' AND trial > 3" for t in ("trials",)
    ]
    + ["UPDATE trials SET world_seed = '0'"],
    "setting": ["UPDATE meta SET value = replace(value, '12', '13') WHERE key = 'scenario'"],
    "version": ["UPDATE meta SET value = '{}' WHERE key = 'versions'"],
    "no versions": ["DELETE FROM meta WHERE key = 'versions'"],
    "curve": ["INSERT INTO bounds VALUES (0, 'a', 'b', x'00')"],
    "seconds": [f"UPDATE seconds SET data = x'{NEGATIVE}' WHERE name = 'ask'"],
    "digit": ["UPDATE checksums SET sha256 = '0' || substr(sha256, 2)"],
    "trial gone": [f"DELETE FROM {t} WHERE trial = 3" for t in ("trials", "arrays", "seconds")],
}


def refused(path):
    for write in (False, True):
        with pytest.raises(StoreError, match=r"damaged.*delete the file and run again") as found:
            Store.open(path, write=write)
        assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_in_a_file_is_found(stored, name):
    refused(changed(stored, CHANGES[name]))


@pytest.mark.parametrize("name", SEALED)
def test_checksums_cover_all_that_belongs_together(stored, name):
    refused(changed(stored, *SEALED[name]))


def test_damage_of_an_index_is_found(stored):
    """The rows are sound then, but a look-up by key would find no scenario."""
    with closing(sqlite3.connect(stored)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        index = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_meta_1'"
        (page,) = db.execute(index).fetchone()
    data = bytearray(stored.read_bytes())
    data[data.index(b"scenario", (page - 1) * size)] ^= 1
    stored.write_bytes(data)
    refused(stored)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_file_of_every_format_is_read_and_extended(tmp_path, name):
    path = tmp_path / name
    shutil.copy(FORMATS / name, path)
    with Store.open(path) as store:
        assert store.digest() == DIGESTS[name]
        assert len(report(store).cells) == 1
    assert path.read_bytes() == (FORMATS / name).read_bytes()
    with Store.open(path, write=True) as store:
        store.add_session("now", {})
    with Store.open(path) as store:
        assert store.digest() == DIGESTS[name]
        assert store._db.execute("PRAGMA user_version").fetchone()[0] == FORMAT


def test_another_format_is_refused_with_the_command_that_helps(stored):
    with pytest.raises(StoreError, match=r"format 9; .*pip install 'gpbandits-env==[\d.rc]+'"):
        Store.open(changed(stored, "PRAGMA user_version = 9"))


def test_a_small_file_cannot_become_a_large_array(stored, monkeypatch):
    monkeypatch.setattr("gpbandits_env.scenarios.results.store_format.MOST_BYTES", 40)
    with Store.open(stored) as store, pytest.raises(StoreError, match="cut off or too large"):
        store.arrays(0, "ei", "regret")


def many(scenario, path, count):
    """A results file, and records for it that a run may add."""
    scenario = replace(scenario, grid=(), trials=count)
    run_study(replace(scenario, trials=1), path, jobs=1, progress=False)
    with Store.open(path, write=True) as store:
        store.set_meta({"scenario": {**store.scenario, "trials": count}})
        names = [n for (n,) in store._db.execute("SELECT DISTINCT name FROM arrays")]
        rounds = {name: store.arrays(0, "ei", name)[0] for name in names}
        seconds = {n: store.seconds(0, "ei", n)[0] for n in ("ask", "tell", "evaluate")}
    return [
        TrialRecord(TrialKey(0, agent, trial), 1, 2, rounds, seconds)
        for trial in range(1, count)
        for agent in ("gp-ucb", "ei", "random")
    ]


def test_a_file_is_read_while_a_run_writes_it(tiny, tmp_path):
    path = tmp_path / "a.sqlite"
    records, errors, read = many(tiny, path, 30), [], threading.Semaphore(0)

    def write():
        try:
            with Store.open(path, write=True) as store:
                for i, record in enumerate(records):
                    store.add([record])
                    if i % 20 == 19:
                        read.acquire(timeout=60.0)  # so that a slow reader reads more than once
        except Exception as error:
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while writer.is_alive():
        with Store.open(path) as store:
            first = len(store.done())
            export(store, tmp_path / "a.csv")
            report(store)
            assert len(store.done()) == first
            seen.append(first)
        read.release()
    writer.join()
    assert errors == []
    assert seen == sorted(seen)
    assert len(set(seen)) > 1
    assert [p.name for p in tmp_path.iterdir() if "sqlite" in p.name] == ["a.sqlite"]


def test_an_open_reader_does_not_hold_up_a_run(tiny, tmp_path):
    records = many(tiny, tmp_path / "a.sqlite", 3)
    with Store.open(tmp_path / "a.sqlite") as reader:
        with Store.open(tmp_path / "a.sqlite", write=True) as store:
            store._patience = 0.0
            store.add(records)
        assert len(reader.done()) == 3


def test_a_run_waits_for_a_program_that_reads_its_file(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("gpbandits_env.scenarios.results.store_format.RETRY", 0.1)
    records = many(tiny, tmp_path / "a.sqlite", 3)
    other = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM trials")

    def let_go():
        time.sleep(0.3)  # longer than one attempt
        other.execute("ROLLBACK")

    waiting = threading.Thread(target=let_go)
    waiting.start()
    with closing(other), Store.open(tmp_path / "a.sqlite", write=True) as store:
        store.add(records)
        waiting.join()
    with Store.open(tmp_path / "a.sqlite") as store:
        assert len(store.done()) == 9


def locked_for(path, seconds):
    """Another program that neither lets anyone read nor write, and a thread that ends it."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    ending = threading.Timer(seconds, other.close)
    ending.start()
    return ending


def test_a_reader_waits_for_a_run_that_writes(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("gpbandits_env.scenarios.results.store_format.READ_RETRY", 0.01)
    many(tiny, tmp_path / "a.sqlite", 1)
    started = time.monotonic()
    locked_for(tmp_path / "a.sqlite", 0.3)
    with Store.open(tmp_path / "a.sqlite") as store:
        assert time.monotonic() - started > 0.29
        assert len(store.done()) == 3


def test_a_reader_that_has_waited_long_enough_is_told(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("gpbandits_env.scenarios.results.store_format.READ_PATIENCE", 0.1)
    many(tiny, tmp_path / "a.sqlite", 1)
    writing = locked_for(tmp_path / "a.sqlite", 20.0)
    with pytest.raises(StoreError, match="another process is writing"):
        Store.open(tmp_path / "a.sqlite")
    writing.cancel()
    writing.function()
