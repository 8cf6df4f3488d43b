"""The command line: `gpbandits COMMAND`."""

import click

import gpbandits_env
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
