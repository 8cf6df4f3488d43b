"""`gpbandits reference`: make or check the reference results that the docs show."""

import sys
import tempfile
from pathlib import Path

import click

from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting import figures, pages, pictures
from gpbandits_env.scenarios.reporting.tables import text
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Picture
from gpbandits_env.scenarios.study.study import run_study


@click.command()
@click.argument("scenario")
@click.option("--check", is_flag=True, help="Compare with what is kept instead of replacing it.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; one a processor by default.")
@click.option("--trials", type=click.IntRange(1), help="Only to try: fewer worlds, never kept.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="The checkout whose scenarios/reference and docs/results are written.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Results file to keep and resume.")
def reference(
    scenario: str,
    check: bool,
    jobs: int | None,
    trials: int | None,
    root: Path,
    out: Path | None,
) -> None:
    """Run SCENARIO with its agents and every CHOICE, and keep or check the result.

    An illustration, such as srinivas2010/fig-2, is drawn into the documentation.

    \b
    Examples:
      gpbandits reference srinivas2010/se-1d
      gpbandits reference srinivas2010/se-1d --check
    """
    found = registry.get(scenario)
    if isinstance(found, Picture) and (check or trials or out):
        raise InvalidInput(f"{scenario} only draws: it has no trials, and no results to check")
    kept = references.load(scenario) if check else None
    if check and kept is None:
        raise InvalidInput(f"no reference of {scenario} is kept; make one without --check")
    if not check and not (root / "scenarios" / "registry.py").is_file():
        raise InvalidInput(f"{root.absolute()} is not a checkout of gpbandits-env; give --root")
    if isinstance(found, Picture):
        click.echo(pictures.save(found, pages.plot_stem(root, scenario), suffixes=(".png",))[0])
        click.echo(pages.write_page(root, scenario.partition("/")[0]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = out or Path(folder) / "reference.sqlite"
        outcome = run_study(found.select(["all"], trials), path, jobs=jobs)
        if outcome.done < outcome.total:
            raise StoreError(f"{outcome.total - outcome.done} trials were not finished")
        with Store.open(path) as store:
            result = report(store)
            click.echo(text(result, pairs=False))
            if kept is None and trials is None:
                # Other readings of the paper stand in the table.
                store.restrict([e.label for e in found.agents])
                figures.draw(store, pages.plot_stem(root, scenario))
    now = references.to_reference(result)
    if kept is not None:
        _check(kept, now)
    elif trials is None:
        click.echo(references.save(now, root / "scenarios"))
        click.echo(pages.write_page(root, scenario.partition("/")[0]))


def _check(kept: "dict[str, object]", now: "dict[str, object]") -> None:
    if kept["digest"] == now["digest"]:
        click.echo("the same as the reference, bit for bit")
        return
    deviations = references.compare(kept, now)
    for deviation in deviations:
        click.echo(f"differs: {deviation}", err=True)
    if deviations:
        sys.exit(1)
    click.echo("all means are within one standard error of the reference")


COMMANDS = (reference,)
