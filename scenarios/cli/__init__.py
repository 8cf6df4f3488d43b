"""The command line: `gpbandits COMMAND`."""

import click

import gpbandits_env
from gpbandits_env.scenarios.cli.commands import Group


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(gpbandits_env.__version__, prog_name="gpbandits")
def main() -> None:
    """Run, report and plot experiments with Gaussian-process bandits.

    \b
    Examples:
      gpbandits list
      gpbandits run srinivas2010/se-1d
      gpbandits report results/srinivas2010-se-1d.sqlite
    """
