"""`python -m gpbandits_env.scenarios.cli`: the command line without its script."""

from gpbandits_env.scenarios.cli import main

main(prog_name="gpbandits")
