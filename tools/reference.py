"""`python -m tools.reference SCENARIO` makes the reference results that the documentation shows."""

import tempfile
from pathlib import Path

import click

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.cli.compare import run_again
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.store import Store
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
    with tempfile.TemporaryDirectory() as folder:
        path = out or Path(folder) / "reference.sqlite"
        run_again(registry.get(scenario), path, jobs, None)
        with Store.open(path) as store:
            kept = evidence.gather(store, claims.measures(scenario), claims.units(scenario))
        click.echo(evidence.save(kept, FOLDER / f"{scenario}.npz"))


if __name__ == "__main__":
    reference()
