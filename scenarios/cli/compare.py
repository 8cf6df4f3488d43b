"""Commands that compare: agents, and our results with the reference."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from gpbandits_env.display import counted
from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.metrics import METRICS, reported_metrics
from gpbandits_env.scenarios.reporting.style import write
from gpbandits_env.scenarios.results import evidence, references
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study.run import run_study
from gpbandits_env.scenarios.suite import card_page
from gpbandits_env.scenarios.suite.card_figure import figure
from gpbandits_env.scenarios.suite.comparison import REFERENCE, compare, gather


@click.command("compare")
@options.FILES
@click.option(
    "--metric",
    type=click.Choice(["average_regret", "simple_regret"]),
    default="average_regret",
    show_default=True,
    help="Metric to compare.",
)
@options.agents(help="Labels; by default those in all files.")
@click.option("--baseline", metavar="A", help="Test this agent against each other one only.")
@click.option("--latex", is_flag=True, help="Print a LaTeX table (booktabs) and draw no plot.")
@options.out(help="Name of the plots (.png and .svg).")
@options.as_json(help="Print JSON and draw no plot.")
def compare_command(
    files: tuple[Path, ...],
    metric: str,
    agents: list[str] | None,
    baseline: str | None,
    latex: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare agents over all scenarios in FILES: ranks, scores, profiles, pairwise tests.

    A file "reference:SCENARIO" stands for the kept trials of a scenario's reference results.

    \b
    Examples:
      gpbandits compare results/*.sqlite
      gpbandits compare mine.sqlite reference:srinivas2010/se-1d --baseline mine
      gpbandits compare results/ren2024-*.sqlite --metric simple_regret
      gpbandits compare results/*.sqlite --agents gp-ucb,ei --json > comparison.json
    """
    field, title = gather(files, metric, agents), METRICS[metric].title
    found = compare(field, baseline, title=title)
    if as_json:
        click.echo(json.dumps({"metric": metric, **found.to_dict()}, indent=2))
        return
    if latex:
        click.echo(card_page.latex(found))
        return
    click.echo(found)
    own = [file for file in files if not str(file).startswith(REFERENCE)]
    stem = out or (own[0].parent if own else Path()) / "comparison"
    for file in write(figure(found), stem, reads=files):
        click.echo(f"plot     {file}")


@click.command()
@click.argument("scenario")
@options.JOBS
@options.trials(help="Fewer trials, for a quick test.")
@options.out(help="Results file to keep; an existing one is resumed.")
def reference(scenario: str, jobs: int | None, trials: int | None, out: Path | None) -> None:
    """Run SCENARIO with its agents and alternatives, and compare with its reference results.

    \b
    Examples:
      gpbandits reference srinivas2010/se-1d --trials 2
    """
    found = registry.get(scenario)
    kept = evidence.load(scenario)
    if kept is None:
        raise InvalidInput(
            f"there are no reference results of {scenario}; to make them, run "
            f"'python -m tools.reference {scenario}' in a checkout"
        )
    now = run_again(found, out, jobs, trials)
    _end_on(evidence.changed(kept, now))
    different = evidence.differences(kept, now)
    if not different:
        run = counted(now.trials, "trial")
        said = f"the values of {run} are those of the reference, to the digits that are kept"
        same = kept.study["digest"] == now.study["digest"]
        click.echo("the results are bit-identical to the reference" if same else said)
        return
    for line in (*references.conditions(kept, now), *different):
        click.echo(line, err=True)
    metrics = reported_metrics(found.metric, kept.study["optimum_moves"])
    _end_on(references.compare(kept, now, metrics))
    click.echo(
        f"all means are within {references.TOLERANCE:g} standard errors (of the difference) of the "
        "reference"
    )


def _end_on(differences: list[str]) -> None:
    for line in differences:
        click.echo(f"differs: {line}", err=True)
    if differences:
        sys.exit(1)


def run_again(
    scenario: Scenario, out: Path | None, jobs: int | None, trials: int | None = None, **asked: Any
) -> evidence.Evidence:
    """Run all agents of a scenario, print the report, and return the values of the trials.

    Args:
        scenario: the scenario.
        out: the results file, which is resumed if it exists; None keeps none.
        jobs: worker processes; None for one per processor.
        trials: the number of trials; None for the scenario's.
        asked: arguments of `evidence.gather`.
    Raises:
        StoreError: a trial did not finish.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = out or Path(folder) / "reference.sqlite"
        outcome = run_study(scenario.select(["all"], trials), path, jobs=jobs)
        if outcome.done < outcome.total:
            raise StoreError(f"{counted(outcome.total - outcome.done, 'trial')} did not finish")
        with Store.open(path) as store:
            click.echo(report(store).text(pairs=False))
            return evidence.gather(store, **asked)
