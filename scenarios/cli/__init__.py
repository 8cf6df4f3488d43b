"""The command line: `gpbandits COMMAND`."""

import click

import gpbandits_env
from gpbandits_env.scenarios.cli import (
    animate,
    beside,
    compare,
    diagnose,
    listing,
    new,
    reference,
    results,
    run,
    tune,
)
from gpbandits_env.scenarios.cli.group import Group


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(gpbandits_env.__version__, prog_name="gpbandits")
def main() -> None:
    """Gaussian-process bandit experiments: run them, report them, plot them.

    \b
    Examples:
      gpbandits list
      gpbandits run srinivas2010/se-1d
      gpbandits report results/srinivas2010-se-1d.sqlite
    """


for command in (
    *run.COMMANDS,
    *results.COMMANDS,
    *compare.COMMANDS,
    *beside.COMMANDS,
    *listing.COMMANDS,
    *reference.COMMANDS,
    *tune.COMMANDS,
    *new.COMMANDS,
    *animate.COMMANDS,
    *diagnose.COMMANDS,
):
    main.add_command(command)
