"""The commands, loaded when they are needed; a mistake is exit code 2 and one line."""

import os
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from gpbandits_env.errors import GPBanditsError
from gpbandits_env.scenarios.cli.stopping import answered, dying_quietly, exit_code
from gpbandits_env.specs import no_user_code

# As EX_SOFTWARE of BSD's sysexits.
UNFORESEEN = 70
# Name: where it is ("module.function"), and the first line of its help. The list of commands
# imports none of them, since most need SciPy, Gymnasium or matplotlib.
COMMANDS = {
    "run": (
        "run.run",
        "Run SCENARIO (an id, or a .toml file), then print its table and findings and plot it.",
    ),
    "report": (
        "results.report",
        "Print means, standard errors, ranks, comparisons and findings of FILES.",
    ),
    "plot": (
        "results.plot",
        "Plot FILE as PNG and SVG: its scenario's panels, or average, cumulative, simple regret.",
    ),
    "export": ("results.export", "Write every round of FILE as a table: one row an action."),
    "compare": (
        "compare.compare_command",
        "Compare agents over all scenarios in FILES: ranks, scores, profiles, who beats whom.",
    ),
    "published": (
        "compare.published",
        "Compare the results of FILES with the paper's own table, with ranks.",
    ),
    "list": ("listing.list_scenarios", "Show all scenarios, or everything about one."),
    "agents": ("inventory.list_agents", "Show all agents that --agents takes."),
    "tasks": (
        "inventory.list_tasks",
        "Show all tasks and test functions that gpbandits/Task-v0 takes.",
    ),
    "data": ("inventory.data", "Show the data sets: which are there, and how to get the others."),
    "reference": (
        "reference.reference",
        "Run SCENARIO with its agents and every CHOICE, and compare with its reference results.",
    ),
    "tune": (
        "diagnose.tune",
        "Learn epsilon and the block length N from the training rows of SCENARIO.",
    ),
    "new": (
        "run.new",
        "Write a scenario FILE (TOML) to start from: a commented template, or a paper's scenario.",
    ),
    "animate": (
        "animate.animate",
        "Show AGENT at work in the first environment instance of SCENARIO as an animated GIF.",
    ),
    "diagnose": (
        "diagnose.diagnose",
        "Say whether the readings of FILE drift, how fast, and which model to use.",
    ),
}


class Group(click.Group):
    """The commands of `COMMANDS`, whose errors are one line each, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, function = COMMANDS[name][0].partition(".")
        with dying_quietly():  # nothing was begun yet
            loaded = import_module(f"gpbandits_env.scenarios.cli.{module}")
        found: click.Command = getattr(loaded, function)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in COMMANDS.items()])

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line; exit 2 on a user's mistake, 128 + its number on a signal."""
        standalone = options.pop("standalone_mode", True)
        if isinstance(sys.stdout, TextIOWrapper):  # names of files need not be valid text
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with answered():
                code = super().main(*args, **options | {"standalone_mode": False})
                sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            _fail("name a command of the list above", 2)
        except click.ClickException as error:
            _fail(error.format_message(), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted", exit_code())
        except Exception as error:
            _end(error)
        if standalone:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def _end(error: Exception) -> NoReturn:
    """End with one line: of a user's mistake, of the system's refusal, or of a defect of ours."""
    if isinstance(error, GPBanditsError):
        _fail(str(error), 2)
    if isinstance(error, MemoryError):
        _fail("this needs more memory than there is", 2)
    if isinstance(error, OSError):
        _silence()
        about = f"{error.filename}: " if error.filename else "standard output: "
        _fail(about + (error.strerror or str(error)), 2)
    what = f"{type(error).__name__}: {error}"[:300]
    _fail(
        f"an error that gpbandits did not foresee, {what}. {_kept_traceback(error)}. Please report "
        "it, unless the traceback ends in a module of your own",
        UNFORESEEN,
    )


def _kept_traceback(error: Exception) -> str:
    """Write the traceback to a new file, and say where it is."""
    # Needed for what should not happen; they are slow to import.
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(prefix="gpbandits-", suffix=".log", delete=False) as file:
            words = f"gpbandits {' '.join(sys.argv[1:])}\n{text}"
            file.write(words.encode(errors="backslashreplace"))
    except OSError:
        click.echo(text, err=True)
        return "The full traceback is above"
    return f"The full traceback is in {file.name}"


def _silence() -> None:
    """Drop what could not be written to the standard output: nothing more is written at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    words = " ".join(message.split()) or "the command cannot be run"
    click.echo(f"gpbandits: {words}", err=True)
    sys.exit(code)


def _refuse_user_code(context: click.Context, _: click.Parameter, refused: bool) -> None:
    if refused:
        context.with_resource(no_user_code("run without --no-user-code if you trust it"))


no_user_code_option = click.option(
    "--no-user-code",
    is_flag=True,
    expose_value=False,
    callback=_refuse_user_code,
    help="Refuse agents, kernels and environments named as 'module:Name'.",
)
