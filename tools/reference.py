"""`python -m tools.reference SCENARIO` makes the reference results that the documentation shows."""

from pathlib import Path

import click

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.cli.compare import run_again
from gpbandits_env.scenarios.results import evidence
from tools import claims

FOLDER = Path(__file__).resolve().parent.parent / "scenarios" / "reference"


@click.command()
@click.argument("scenario")
@options.JOBS
@options.out(help="Results file; an existing one is resumed.")
def reference(scenario: str, jobs: int | None, out: Path | None) -> None:
    """Run SCENARIO with its agents and every CHOICE; keep the results.

    \b
    Examples:
      python -m tools.reference srinivas2010/se-1d
    """
    asked = {"measures": claims.measures(scenario), "units": claims.units(scenario)}
    kept = run_again(registry.get(scenario), out, jobs, **asked)
    click.echo(evidence.save(kept, FOLDER / f"{scenario}.npz"))


if __name__ == "__main__":
    reference()
