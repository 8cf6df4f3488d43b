"""Starting: what is imported when, and that environments are registered where they are needed."""

import json
import os
import subprocess
import sys

import click
import pytest

from gpbandits_env.scenarios.cli.commands import COMMANDS, Group, summary

HEAVY = ("scipy", "gymnasium", "matplotlib", "sqlite3", "joblib")


def python(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["list"], ["list", "bogunovic2016/se"]]
)
def test_what_needs_declarations_only_imports_nothing_heavy(arguments, tmp_path):
    code = (
        "import sys, gpbandits_command\n"
        f"try: gpbandits_command.main({arguments!r})\n"
        "except SystemExit as end: assert not end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert python(code, tmp_path).splitlines()[-1] == "[]"


# Half of a start is the import of other libraries. It is done once: each of these runs in a fork in
# which nothing of this package is imported yet.
FORKS = """
import json, os, sys, traceback
import gymnasium, joblib, scipy.linalg, scipy.optimize, scipy.spatial, scipy.special

assert not [name for name in sys.modules if name.startswith("gpbandits")]
for name, code in json.loads(sys.argv[1]).items():
    if (pid := os.fork()) == 0:
        said = os.open(f"{name}.txt", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        try:
            exec(code, {"__name__": "__main__"})
        except SystemExit as end:
            print("exit", end.code)
        except BaseException:
            traceback.print_exc()
        else:
            print("done")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.waitpid(pid, 0)
"""
COMMAND = (
    "import gpbandits_command as c\ntry: c.main({})\nexcept SystemExit as end: assert not end.code"
)
STARTS = {
    "list": COMMAND.format(["list", "srinivas2010/se-1d"]),
    "agents": COMMAND.format(["agents"]),
    "data": COMMAND.format(["data"]),
    "import": "import gpbandits_env, gymnasium; gymnasium.make('gpbandits/StaticGP-v0')",
    "make": "import gymnasium; gymnasium.make('gpbandits_env:gpbandits/StaticGP-v0')",
    "run": COMMAND.format(
        [*("run", "srinivas2010/se-1d", "--trials", "1", "--horizon", "3"),
         *("--agents", "random", "--jobs", "1")]
    ) + "\nimport sys; print('scipy.stats' in sys.modules)",
}  # fmt: skip


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each of the starts printed, by name."""
    if not hasattr(os, "fork"):
        pytest.skip("it needs fork")
    folder = tmp_path_factory.mktemp("starts")
    command = [sys.executable, "-c", FORKS, json.dumps(STARTS)]
    subprocess.run(command, cwd=folder, check=True, timeout=100)
    return {name: (folder / f"{name}.txt").read_text() for name in STARTS}


@pytest.mark.parametrize("name", ["list", "agents", "data"])
def test_other_commands_start_as_well(said, name):
    assert "Traceback" not in said[name]


def test_a_run_on_arms_registers_the_environments_and_imports_no_statistics(said):
    assert "results/srinivas2010-se-1d.sqlite" in said["run"]
    assert said["run"].endswith("False\ndone\n")


@pytest.mark.parametrize("name", ["import", "make"])
def test_importing_the_package_registers_the_environments(said, name):
    assert said[name].endswith("done\n"), said[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_help_begins_with(name):
    command = Group().get_command(click.Context(click.Command("gpbandits")), name)
    assert command.name == name
    assert " ".join(command.help.split("\n\n")[0].split()) == summary(name)
