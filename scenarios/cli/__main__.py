"""`python -m gpbandits_env.scenarios.cli`: the command line without the console script."""

from gpbandits_env.scenarios.cli import main

main(prog_name="gpbandits")
