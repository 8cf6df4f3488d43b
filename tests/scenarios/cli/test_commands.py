"""Whatever happens, a command line ends with one line that says why, and a documented exit code."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.cli.commands import UNFORESEEN

STRANGE = """
horizon = 5
trials = 1
{top}
[environment]
id = "{env}"
grid = [10]
noise_var = 0.01
kernel = {{ type = "{kernel}", lengthscale = 0.2 }}
[[agents]]
agent = "{agent}"
"""
GOOD = {"env": "gpbandits/StaticGP-v0", "kernel": "se", "agent": "random", "top": ""}


def call(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


def one_line(result, code=2):
    assert result.exit_code == code, result.output
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stderr.startswith("gpbandits: ")
    return result.stderr


def broken(monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setattr("gpbandits_env.scenarios.registry.scenarios", fail)


def test_the_unforeseen_has_its_traceback_and_a_line(monkeypatch):
    broken(monkeypatch, KeyError("x"))
    result = call("list")
    assert result.exit_code == UNFORESEEN
    first, *_, last = result.stderr.splitlines()
    assert first.startswith("Traceback")
    assert last.startswith("gpbandits: unexpected error, KeyError: 'x'. Please report it")


@pytest.mark.parametrize(("error", "words"), [
    (MemoryError(), "more memory than is available"),
    (OSError(28, "No space left on device"), "standard output: No space left on device"),
    (PermissionError(13, "Permission denied", "a.txt"), "a.txt: Permission denied"),
])  # fmt: skip
def test_what_the_system_refuses_is_no_error_of_ours(monkeypatch, error, words):
    broken(monkeypatch, error)
    assert words in one_line(call("list"))


def test_no_command_at_all_says_so():
    result = call()
    assert result.exit_code == 2
    assert (
        result.stderr.strip().splitlines()[-1] == "gpbandits: give one of the commands listed above"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_output_is_told():
    command = [sys.executable, "-m", "gpbandits_env.scenarios.cli", "list"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "gpbandits: standard output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "command", ["list", "run srinivas2010/se-1d --trials 1 --horizon 2 --jobs 2"]
)
def test_closed_streams_stop_no_command(command, closed, tmp_path):
    line = f"'{sys.executable}' -m gpbandits_env.scenarios.cli {command} {closed}"
    done = subprocess.run(line, shell=True, cwd=tmp_path, stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, b"rror" in done.stderr) == (0, False)


@pytest.fixture
def pipe(tmp_path):
    """A pipe that nobody writes to, under every suffix."""
    for suffix in (".sqlite", ".toml", ".csv"):
        os.mkfifo(tmp_path / f"pipe{suffix}")
    return tmp_path / "pipe"


@pytest.mark.parametrize("args", [
    ("report", "{}.sqlite"), ("plot", "{}.sqlite"), ("export", "{}.sqlite"),
    ("compare", "{}.sqlite"), ("claims", "--results", "{}.sqlite"), ("diagnose", "{}.csv"),
    ("run", "{}.toml"), ("new", "{}.toml", "--force"),
    ("run", "srinivas2010/se-1d", "--out", "{}.sqlite"), ("report", "/dev/zero"),
    ("run", "srinivas2010/se-1d", "--fresh", "--out", "/dev/zero"), ("export", "/dev/full"),
])  # fmt: skip
def test_pipes_and_devices_are_refused_at_once(pipe, args):
    start = time.perf_counter()
    assert "file" in one_line(call(*(a.format(pipe) for a in args)))
    assert time.perf_counter() - start < 10.0


def test_files_that_are_too_large_or_deep_are_refused(tmp_path):
    large, deep = tmp_path / "large.toml", tmp_path / "deep.toml"
    with large.open("wb") as file:
        file.truncate(2**33)
    assert "bytes; at most" in one_line(call("run", large))
    deep.write_text(f"a = {'[' * 50_000}")
    assert "deep.toml" in one_line(call("run", deep))


@pytest.fixture
def strange(tmp_path, monkeypatch):
    """A scenario file that names a module, which leaves a mark when it is imported."""
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "mark"
    (tmp_path / "strange_code.py").write_text(f"open({str(mark)!r}, 'w').close()\n")

    def made(**changes):
        (tmp_path / "s.toml").write_text(STRANGE.format(**{**GOOD, **changes}))
        return tmp_path / "s.toml"

    yield made
    assert not mark.exists()
    sys.modules.pop("strange_code", None)


@pytest.mark.parametrize("changes", [
    {"agent": "strange_code:Agent"},
    {"env": "strange_code:gpbandits/StaticGP-v0"},
    {"kernel": "strange_code:Kernel"},
])  # fmt: skip
def test_code_that_a_file_names_is_refused_on_request(strange, changes):
    path = strange(**changes)
    said = one_line(call("run", path, "--no-user-code", "--out", "a.sqlite"))
    assert "code of the module 'strange_code' is not loaded" in said


def test_modules_beside_a_file_are_not_found_then(strange):
    path = str(strange().parent)
    assert path not in sys.path
    done = call("run", strange(), "--no-user-code", "--jobs", 1, "--out", "a.sqlite")
    assert done.exit_code == 0, done.output
    assert path not in sys.path
