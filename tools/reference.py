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

ROOT = Path(__file__).resolve().parent.parent


@click.command()
@click.argument("scenario")
@options.JOBS
@options.trials(help="Fewer trials, for a quick test; never kept.")
@options.out(help="Results file; an existing one is resumed.")
@click.option("--root", type=options.PATH, default=ROOT, help="The checkout.")
def reference(
    scenario: str, jobs: int | None, trials: int | None, out: Path | None, root: Path
) -> None:
    """Run SCENARIO with its agents and every CHOICE; keep the results.

    \b
    Examples:
      python -m tools.reference srinivas2010/se-1d
    """
    file = root / "scenarios" / "reference" / f"{scenario}.npz"
    with tempfile.TemporaryDirectory() as folder:
        path = out or Path(folder) / "reference.sqlite"
        run_again(registry.get(scenario), path, jobs, trials)
        if trials is not None:
            return
        with Store.open(path) as store:
            measures, units = claims.measures(scenario), claims.units(scenario)
            click.echo(evidence.save(evidence.gather(store, measures, units), file))


if __name__ == "__main__":
    reference()
