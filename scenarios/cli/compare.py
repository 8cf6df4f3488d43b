"""Commands that compare: agents, and our results with the reference."""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import click

from gpbandits_env.display import counted
from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.metrics import METRICS
from gpbandits_env.scenarios.reporting.comparison_plot import figure
from gpbandits_env.scenarios.reporting.style import write
from gpbandits_env.scenarios.reporting.tables import aligned, booktabs, text
from gpbandits_env.scenarios.results import evidence, references
from gpbandits_env.scenarios.results.comparison import (
    REFERENCE,
    Comparison,
    agents_of,
    anytime,
    compare,
    gather,
    gather_curves,
)
from gpbandits_env.scenarios.results.report import Report, report
from gpbandits_env.scenarios.results.statistics import record
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study.run import run_study


@click.command("compare")
@options.FILES
@click.option(
    "--metric",
    type=click.Choice(list(METRICS)),
    default="average_regret",
    show_default=True,
    help="Metric to compare.",
)
@options.agents(help="Labels; by default those in all files.")
@click.option("--reference", metavar="A", help="Agent whose score is 1; by default random.")
@click.option("--baseline", metavar="A", help="Test this agent against each other one only.")
@click.option("--latex", is_flag=True, help="Print a LaTeX table (booktabs) and draw no plot.")
@options.out(help="Name of the plots (.png and .svg).")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the bootstrap.")
@options.as_json(help="Print JSON and draw no plot.")
def compare_command(
    files: tuple[Path, ...],
    metric: str,
    agents: list[str] | None,
    reference: str | None,
    baseline: str | None,
    latex: bool,
    out: Path | None,
    seed: int,
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
    compared = compare(gather(files, metric, agents), reference, baseline, seed=seed)
    # Cumulative regret only grows; divided by the rounds it falls.
    falling = "average_regret" if metric == "cumulative_regret" else metric
    over = anytime(gather_curves(files, falling, agents), reference)
    if as_json:
        plain = {"metric": metric, **compared.to_dict(), "anytime": asdict(over)}
        click.echo(json.dumps(plain, indent=2))
        return
    if latex:
        click.echo(latex_table(compared, METRICS[metric].title))
        return
    click.echo("\n".join(_text(compared, METRICS[metric].title)))
    if baseline:
        click.echo(f"{compared.sentence(baseline)}.")
    own = [file for file in files if not str(file).startswith(REFERENCE)]
    stem = out or (own[0].parent if own else Path()) / "comparison"
    for file in write(figure(compared, agents_of(files), over), stem, reads=files):
        click.echo(f"plot     {file}")


def _text(compared: Comparison, title: str) -> list[str]:
    head = ["agent", "mean rank", "wins", "score (IQM, 95%)"]
    rows = [[s.label, f"{s.rank:.2f}", str(s.wins), str(s.score)] for s in compared.agents]
    labels = [s.label for s in compared.agents]
    beats = [
        [a, *("" if a == b else f"{compared.improvement[a, b].value:.2f}" for b in labels)]
        for a in labels
    ]
    means = [
        [name, *(f"{found[label][0]:.4g}" for label in labels)]
        for name, found in compared.scenarios.items()
    ]
    return [
        f"{counted(len(compared.scenarios), 'scenario')}, {title}; {compared.ends}",
        "",
        *aligned([head, *rows]),
        "",
        "probability that the agent of the row beats the agent of the column",
        *aligned([["", *labels], *beats]),
        "",
        *_tested(compared),
        f"mean {title}",
        *aligned([["scenario", *labels], *means]),
        "",
        *(f"note: {note}" for note in compared.notes),
    ]


def _tested(compared: Comparison) -> list[str]:
    """The tests of pairs of agents, as lines; none if there are none."""
    rows = [
        [f"{t.a} - {t.b}", f"{t.effect:+.3f}", f"{t.p:.2g}", t.better or "-", str(t.trials)]
        for t in compared.tests
    ]
    head = ["lower regret of", "effect", "p (Holm)", "better at 5%", "paired trials"]
    how = "(by signed ranks of paired trials; a few bad trials can give the higher mean)"
    return [*aligned([head, *rows]), how, ""] if rows else []


def latex_table(compared: Comparison, title: str) -> str:
    """The comparison as a LaTeX table that needs the package booktabs."""
    rows = []
    for s in compared.agents:
        _, wins, losses = record(s.label, compared.tests)
        interval = f"[{s.score.low:.3f}, {s.score.high:.3f}]"
        cells = (f"{s.rank:.2f}", f"{s.score.value:.3f}", interval, str(wins), str(losses))
        rows.append([s.label, *cells])
    trials = max((t.trials for t in compared.tests), default=0)
    caption = (
        f"{counted(len(compared.scenarios), 'scenario')}, {title}: mean rank; interquartile mean "
        f"of the scores with its 95% bootstrap interval ({compared.ends}); agents with "
        "significantly higher and lower regret (stratified signed-rank test over "
        f"{trials} paired trials, Holm's adjustment, 5%). Computed with gpbandits-env."
    )
    return booktabs(caption, ["agent", "rank", "score", "interval", "beats", "loses to"], rows)


@click.command()
@click.argument("scenario")
@click.option("--check", is_flag=True, help="Compare with the reference results.")
@options.JOBS
@options.trials(help="Fewer trials, for a quick test.")
@options.out(help="Results file to keep; an existing one is resumed.")
def reference(
    scenario: str, check: bool, jobs: int | None, trials: int | None, out: Path | None
) -> None:
    """Run SCENARIO with its agents and alternatives, and compare with its reference results.

    \b
    Examples:
      gpbandits reference srinivas2010/se-1d --check --trials 2
    """
    found = registry.get(scenario)
    tool = f"to make new ones, run 'python -m tools.reference {scenario}' in a checkout"
    if not check:
        raise InvalidInput(f"give --check to compare with the reference results; {tool}")
    kept, values = references.load(scenario), evidence.load(scenario)
    if kept is None or values is None:
        raise InvalidInput(f"there are no reference results of {scenario}; {tool}")
    with tempfile.TemporaryDirectory() as folder:
        path = out or Path(folder) / "reference.sqlite"
        now = references.to_reference(run_again(found, path, jobs, trials))
        with Store.open(path) as store:
            different = evidence.differences(values, evidence.gather(store))
    if kept["digest"] == now["digest"]:
        click.echo("the results are bit-identical to the reference")
        return
    if not different:
        run = counted(now["trials"], "trial")
        click.echo(f"the values of {run} are those of the reference, to the digits that are kept")
        return
    for line in (*references.conditions(kept, now), *different):
        click.echo(line, err=True)
    deviations = references.compare(kept, now)
    for deviation in deviations:
        click.echo(f"differs: {deviation}", err=True)
    if deviations:
        sys.exit(1)
    click.echo(
        f"all means are within {references.TOLERANCE:g} standard errors (of the difference) of the "
        "reference"
    )


def run_again(scenario: Scenario, path: Path, jobs: int | None, trials: int | None) -> Report:
    """Run all agents of a scenario, and print and return the report.

    Raises:
        StoreError: a trial did not finish.
    """
    outcome = run_study(scenario.select(["all"], trials), path, jobs=jobs)
    if outcome.done < outcome.total:
        raise StoreError(f"{counted(outcome.total - outcome.done, 'trial')} did not finish")
    with Store.open(path) as store:
        result = report(store)
    click.echo(text(result, pairs=False))
    return result
