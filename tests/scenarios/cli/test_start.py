"""Starting: what is imported when, and that environments are registered where they are needed."""

import subprocess
import sys

import click
import pytest

from gpbandits_env.scenarios.cli.group import COMMANDS, Group, summary

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
        f"gpbandits_command.main({arguments!r}, standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert python(code, tmp_path).splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["tune", "srinivas2010/se-1d"], ["agents"], ["data"]])
def test_other_commands_start_as_well(arguments, tmp_path):
    code = f"import gpbandits_command as c\nc.main({arguments!r}, standalone_mode=False)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert "Traceback" not in done.stderr


def test_a_run_on_arms_registers_the_environments_and_imports_no_statistics(tmp_path):
    code = (
        "import gpbandits_command as c\n"
        "c.main(['run', 'srinivas2010/se-1d', '--trials', '1', '--horizon', '3', '--agents',"
        " 'random', '--jobs', '1'], standalone_mode=False)\n"
        "import sys; print('scipy.stats' in sys.modules)"
    )
    said = python(code, tmp_path)
    assert "results/srinivas2010-se-1d.sqlite" in said
    assert said.endswith("False\n")


@pytest.mark.parametrize(
    "code",
    [
        "import gpbandits_env, gymnasium; gymnasium.make('gpbandits/StaticGP-v0')",
        "import gymnasium; gymnasium.make('gpbandits_env:gpbandits/StaticGP-v0')",
    ],
)
def test_importing_the_package_registers_the_environments(code, tmp_path):
    python(code, tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_help_begins_with(name):
    command = Group().get_command(click.Context(click.Command("gpbandits")), name)
    assert command.name == name
    assert " ".join(command.help.split("\n\n")[0].split()) == summary(name)
