"""The commands that read a results file: `report`, `plot`, `export`."""

import json
from pathlib import Path

import click

from gpbandits_env.display import counted
from gpbandits_env.errors import InvalidInput
from gpbandits_env.files import write_text
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.metrics import KNOWN
from gpbandits_env.scenarios.reporting.html import page
from gpbandits_env.scenarios.reporting.plots import plot as draw
from gpbandits_env.scenarios.results.export import export as write_table
from gpbandits_env.scenarios.results.report import report as summarise
from gpbandits_env.scenarios.results.store import Store

_file = click.argument("file", type=options.PATH)


@click.command()
@options.FILES
@click.option(
    "--metric", type=click.Choice(list(KNOWN)), help="Metric to rank by; by default the scenario's."
)
@options.as_json()
@click.option("--html", type=options.PATH, help="Write a self-contained HTML page.")
def report(files: tuple[Path, ...], metric: str | None, as_json: bool, html: Path | None) -> None:
    """Print means, standard errors, ranks and comparisons of the results in FILES.

    \b
    Examples:
      gpbandits report results/srinivas2010-se-1d.sqlite
      gpbandits report results/srinivas2010-se-1d.sqlite --metric simple_regret
      gpbandits report results/srinivas2010-se-1d.sqlite --json > report.json
      gpbandits report results/*.sqlite --html report.html
    """
    if html is not None and as_json:
        raise InvalidInput("give --json or --html, not both: each replaces the printed report")
    if html is not None:
        written = write_text(html, page(files, metric), "html", files)
        click.echo(f"page     {written}")
        return
    results = []
    for file in files:
        with Store.open(file) as store:
            results.append(summarise(store, metric))
    if as_json:
        plain = [result.to_dict() for result in results]
        click.echo(json.dumps(plain[0] if len(plain) == 1 else plain, indent=2))
        return
    click.echo("\n\n".join(map(str, results)))


@click.command()
@_file
@options.out(help="Name of the plots (.png and .svg).")
@click.option("--log", is_flag=True, help="Draw regret on a logarithmic axis.")
@click.option("--bounds", is_flag=True, help="Add the theory curves of the scenario to the plot.")
@options.agents(help="Labels of the agents to draw, separated by commas.")
def plot(file: Path, out: Path | None, log: bool, bounds: bool, agents: list[str] | None) -> None:
    """Plot the results in FILE as PNG and SVG, with the panels that its scenario declares.

    A scenario without panels gets average and cumulative regret against rounds, and simple
    regret if the optimum does not move.

    \b
    Examples:
      gpbandits plot results/srinivas2010-se-1d.sqlite
      gpbandits plot results/srinivas2010-se-1d.sqlite --log --bounds --out figures/se-1d
      gpbandits plot results/srinivas2010-se-1d.sqlite --agents gp-ucb,ei
    """
    with Store.open(file) as store:
        if agents is not None:
            store.restrict(agents)
        files = draw(store, out, log=log, bounds=bounds)
    for name in files:
        click.echo(name)


@click.command()
@_file
@options.out(help="Output file, .csv or .parquet.")
def export(file: Path, out: Path | None) -> None:
    """Write every round of FILE to a table with one row per action.

    \b
    Examples:
      gpbandits export results/srinivas2010-se-1d.sqlite
      gpbandits export results/srinivas2010-se-1d.sqlite --out rounds.parquet
    """
    with Store.open(file) as store:
        target = out or file.with_suffix(".csv")
        rows = write_table(store, target)
    click.echo(f"{target}: {counted(rows, 'row')}")
