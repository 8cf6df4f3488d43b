"""The commands, loaded when they are needed; a mistake is exit code 2 and one line."""

import sys
from importlib import import_module
from typing import Any

import click

from gpbandits_env.errors import GPBanditsError

INTERRUPTED = 130
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
        found: click.Command = getattr(
            import_module(f"gpbandits_env.scenarios.cli.{module}"), function
        )
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in COMMANDS.items()])

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line; exit 2 on a user's mistake, 130 on Ctrl-C."""
        standalone = options.pop("standalone_mode", True)
        try:
            code = super().main(*args, **options | {"standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(2)
        except click.ClickException as error:
            _fail(error.format_message(), error.exit_code)
        except click.Abort:
            _fail("interrupted", INTERRUPTED)
        except GPBanditsError as error:
            _fail(str(error), 2)
        if standalone:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def _fail(message: str, code: int) -> None:
    click.echo("gpbandits: " + " ".join(message.split()), err=True)
    sys.exit(code)
