"""On a full disk every command that writes ends in one line and leaves everything as it was.

A limit on the size of files stands in for the disk: what goes beyond it fails, as a full disk does.
"""

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest

SCRIPT = """
import json, os, resource, shutil, sys
from pathlib import Path
from click.testing import CliRunner
from gpbandits_env.scenarios.cli import main

def call(args, limit=resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    result = CliRunner().invoke(main, args)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    return result

def there():
    return {p.name: p.read_bytes() for p in Path().rglob("*") if p.is_file()}

def found(args, shares):
    before = there()
    assert call(args).exit_code == 0
    new = {name: data for name, data in there().items() if before.get(name) != data}
    least = min(len(data) for data in new.values())
    for stale in (True, False):     # over what an earlier call wrote, and over nothing
        if not stale:
            for name in new:
                Path(name).unlink()
        expected = there()
        for share in shares:
            result = call(args, int(share * least))
            lines = result.stderr.strip().splitlines()
            yield result.exit_code, lines, there() == expected

commands, shares = json.loads(sys.argv[1])
tried = {}
for name, args in commands.items():
    os.makedirs(name)
    shutil.copy("a.sqlite", name)
    os.chdir(name)
    tried[name] = list(found(args, shares))
    os.chdir("..")
print(json.dumps(tried))
"""
COMMANDS = {
    "html": ["report", "a.sqlite", "--html", "a.html"],
    "plot": ["plot", "a.sqlite"],
    "csv": ["export", "a.sqlite"],
    "parquet": ["export", "a.sqlite", "--out", "a.parquet"],
    "new": ["new", "t.toml", "--force"],
    "compare": ["compare", "a.sqlite"],
}


def full(names, folder, store, shares):
    store.rename(folder / "a.sqlite")
    command = [sys.executable, "-c", SCRIPT, json.dumps([{n: COMMANDS[n] for n in names}, shares])]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    for name, tried in json.loads(run.stdout).items():
        assert len(tried) == 2 * len(shares)
        for code, lines, same in tried:
            assert code == 2, name
            assert len(lines) == 1, lines
            assert lines[0].startswith("gpbandits: ")
            assert same, lines


@pytest.fixture
def store(run, tiny):
    return run("kept.sqlite", replace(tiny, grid={}, trials=2)).path


@pytest.mark.skipif(sys.platform == "win32", reason="limits are of POSIX")
def test_nothing_is_lost_and_nothing_is_left(tmp_path, store):
    full(["html", "csv", "new"], tmp_path, store, [0.6])


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_at_twenty_places(name, tmp_path, store):
    full([name], tmp_path, store, [random.Random(name).random() for _ in range(10)])


RUN = """
import json, resource, sys
from pathlib import Path
from click.testing import CliRunner
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.results.store import Store

def run(name, limit=resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    small = ["--trials", "3", "--horizon", "60", "--jobs", "1", "--out", name]
    result = CliRunner().invoke(main, ["run", "srinivas2010/se-1d", *small])
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    return result

def held(name):
    if not Path(name).exists() or Store.is_empty(name):
        return None, 0
    with Store.open(name) as store:
        return store.digest(), len(store.done())

assert run("whole.sqlite").exit_code == 0
size = Path("whole.sqlite").stat().st_size
found = []
for i, share in enumerate(json.loads(sys.argv[1])):
    name = f"{i}.sqlite"
    result = run(name, int(share * size))
    kept, others = held(name)[1], [p.name for p in Path().glob(f"{name}?*")]
    again = run(name)
    same = held(name) == held("whole.sqlite")
    found.append([result.exit_code, result.stderr, kept, others, again.exit_code, same])
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits are of POSIX")
def test_a_run_keeps_its_trials_at_twenty_places_and_resumes(tmp_path):
    # What is written after the last trial is less than a twentieth.
    shares = [0.95 * random.Random(f"run {i}").random() for i in range(20)]
    command = [sys.executable, "-c", RUN, json.dumps(shares)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for code, errors, kept, others, again, same in found:
        last = errors.strip().splitlines()[-1]
        assert code == 2, errors
        assert last.startswith("gpbandits: "), errors
        assert "Traceback" not in errors
        assert kept < 15
        assert others == []  # no journal
        assert again == 0
        assert same
    assert len({kept for _, _, kept, *_ in found}) > 2
