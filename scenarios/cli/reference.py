"""`gpbandits reference`: run a scenario again and compare with its reference results."""

import sys
import tempfile
from pathlib import Path

import click

from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting.tables import text
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.results.report import Report, report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Picture, Scenario
from gpbandits_env.scenarios.study.run import run_study


@click.command()
@click.argument("scenario")
@click.option("--check", is_flag=True, help="Compare with the reference results.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; by default one per processor.")
@click.option("--trials", type=click.IntRange(1), help="Fewer trials, for a quick test.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Results file to keep; an existing one is resumed.",
)
def reference(
    scenario: str, check: bool, jobs: int | None, trials: int | None, out: Path | None
) -> None:
    """Run SCENARIO with its agents and alternatives, and compare with its reference results.

    \b
    Examples:
      gpbandits reference srinivas2010/se-1d --check
    """
    found = registry.get(scenario)
    tool = f"to make new ones, run 'python -m tools.reference {scenario}' in a checkout"
    if not check:
        raise InvalidInput(f"give --check to compare with the reference results; {tool}")
    if isinstance(found, Picture):
        raise InvalidInput(f"{scenario} is an illustration: it has no results to check")
    kept = references.load(scenario)
    if kept is None:
        raise InvalidInput(f"there are no reference results of {scenario}; {tool}")
    with tempfile.TemporaryDirectory() as folder:
        now = references.to_reference(
            run_again(found, out or Path(folder) / "reference.sqlite", jobs, trials)
        )
    if kept["digest"] == now["digest"]:
        click.echo("the results are bit-identical to the reference")
        return
    if [cell["agents"] for cell in kept["cells"]] == [cell["agents"] for cell in now["cells"]]:
        click.echo("all means are bit-identical to those of the reference")
        return
    deviations = references.compare(kept, now)
    for deviation in deviations:
        click.echo(f"differs: {deviation}", err=True)
    if deviations:
        sys.exit(1)
    click.echo("all means are within one standard error of the reference")


def run_again(scenario: Scenario, path: Path, jobs: int | None, trials: int | None) -> Report:
    """Run all agents of a scenario, and print and return the report.

    Raises:
        StoreError: a trial did not finish.
    """
    outcome = run_study(scenario.select(["all"], trials), path, jobs=jobs)
    if outcome.done < outcome.total:
        raise StoreError(f"{outcome.total - outcome.done} trials did not finish")
    with Store.open(path) as store:
        result = report(store)
    click.echo(text(result, pairs=False))
    return result
