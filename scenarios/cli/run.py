"""The commands that run a scenario and write one out: `run`, `new`."""

import re
import shlex
import sys
from pathlib import Path

import click

from gpbandits_env.errors import InvalidInput, UnknownArgument, UnknownName, shown
from gpbandits_env.files import check_output, check_regular, write_text
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.cli.commands import exit_code
from gpbandits_env.scenarios.reporting.plots import plot
from gpbandits_env.scenarios.reporting.style import SUFFIXES, files_of
from gpbandits_env.scenarios.results.export import KINDS
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Scenario
from gpbandits_env.scenarios.study import files
from gpbandits_env.scenarios.study.engines import NAMES, Engine
from gpbandits_env.scenarios.study.run import Outcome, run_study
from gpbandits_env.specs import no_user_code as refuse_user_code

LONGEST = 100  # characters of a file name, which contains the settings
# Options of `gpbandits suite run` too.
ENGINE = click.option(
    "--engine", type=click.Choice(NAMES), default="local", show_default=True, help="Where to run."
)
ADDRESS = click.option(
    "--address",
    help="Address of a running cluster: tcp://HOST:8786 (Dask), auto or HOST:6379 (Ray).",
)


@click.command()
@click.argument("scenario")
@options.agents(help="Agents, by label or name; 'all' adds the alternatives.")
@options.trials(help="Environment instances; by default the scenario's.")
@click.option("--horizon", type=click.IntRange(1), help="Rounds; by default the scenario's.")
@options.JOBS
@options.settings(
    help="Set an argument of the environment, or of the agents (agents.NAME); may be repeated."
)
@ENGINE
@ADDRESS
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Base seed.")
@options.out(help="Results file; an existing one is resumed.")
@click.option("--fresh", is_flag=True, help="Replace the results file instead of resuming it.")
@click.option(
    "--no-user-code",
    is_flag=True,
    help="Refuse agents, environments and all else that is named as 'module:Name'.",
)
def run(
    scenario: str,
    agents: list[str] | None,
    trials: int | None,
    horizon: int | None,
    jobs: int | None,
    settings: tuple[str, ...],
    engine: str,
    address: str | None,
    seed: int,
    out: Path | None,
    fresh: bool,
    no_user_code: bool,
) -> None:
    """Run SCENARIO (an id or a .toml file), print its table, and plot it.

    The same command resumes an interrupted run from the last completed trial. A later run with
    more trials or more agents adds them to the results file.

    \b
    Examples:
      gpbandits run srinivas2010/se-1d
      gpbandits run srinivas2010/se-1d --trials 5 --horizon 200 --out small.sqlite
      gpbandits run srinivas2010/temperature --agents gp-ucb,ei,random
      gpbandits run srinivas2010/se-1d --set noise_var=0.1 --set kernel.lengthscale=0.3
      gpbandits run my_scenario.toml
      gpbandits run bogunovic2016/se --engine dask --address tcp://head:8786
    """
    if no_user_code:
        refused = refuse_user_code("run without --no-user-code if you trust it")
        click.get_current_context().with_resource(refused)
    where, found = Engine(engine, address), files.find(scenario)
    chosen = found.select(agents, trials, horizon)
    chosen = files.with_settings(chosen, files.parse_settings(settings))
    path = out or Path("results") / _file("-".join([scenario, *settings]))
    _check_plots(scenario, path)
    try:
        outcome = run_study(chosen, path, jobs=jobs, engine=where, seed=seed, fresh=fresh)
    except UnknownArgument as error:
        raise UnknownName(f"{error}; --set also takes {', '.join(files.OWN)}") from None
    if outcome.interrupted:
        click.echo(_kept(outcome, "stopped"), err=True)
        sys.exit(exit_code())
    _conclude(chosen, outcome)


def _check_plots(scenario: str, path: Path) -> None:
    """Check, before anything runs, that the plots replace neither the results nor other files."""
    check_regular(path)
    if path.suffix in SUFFIXES:
        raise InvalidInput(
            f"--out {path}: a plot would overwrite the results; end the name in .sqlite"
        )
    if path.suffix[1:] in KINDS:
        raise InvalidInput(
            f"--out {path}: the results are an SQLite file; end the name in .sqlite, and write a "
            "table of it by gpbandits export"
        )
    reads = [path, Path(scenario)]
    for file in files_of(path.with_suffix("")):
        check_output(file, file.suffix[1:], reads)


def _conclude(scenario: Scenario, outcome: Outcome) -> None:
    if outcome.done:
        with Store.open(outcome.path) as store:
            click.echo(report(store).text(pairs=False))
            plots = plot(store)
        click.echo(f"\nresults  {outcome.path}")
        for file in plots:
            click.echo(f"plot     {file}")
    if outcome.failures:
        first = outcome.failures[0]
        click.echo(first.traceback, err=True)
        click.echo(
            f"gpbandits: {scenario.id}: {first.key} raised {first.error} "
            f"({len(outcome.failures)} failed). {_kept(outcome, 'incomplete')}",
            err=True,
        )
        sys.exit(1)


def _kept(outcome: Outcome, state: str) -> str:
    return (
        f"{state}: {outcome.done} of {outcome.total} trials are kept in {outcome.path}; "
        "the same command resumes from there"
    )


def _file(scenario: str) -> str:
    path, dot, settings = scenario.partition(".toml")
    name = Path(path).stem + settings if dot else scenario.replace("/", "-")
    return re.sub(r"[^\w.=+-]+", "_", name)[:LONGEST] + ".sqlite"


@click.command()
@click.argument("file", type=options.PATH, default="my_scenario.toml")
@click.option("--from", "source", metavar="ID", help="Start from this scenario of a paper.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def new(file: Path, source: str | None, force: bool) -> None:
    """Write a scenario FILE (TOML) to start from: a commented template or a paper's scenario.

    \b
    Examples:
      gpbandits new
      gpbandits new drifting.toml && gpbandits run drifting.toml
      gpbandits new se.toml --from bogunovic2016/se
    """
    if file.suffix != ".toml":
        raise InvalidInput(f"{file}: the name of a scenario file must end in .toml")
    if not file.name.isprintable():  # the file contains its name in a comment
        raise InvalidInput(f"{shown(file.name)}: the name of a scenario file must be printable")
    if not file.parent.is_dir():
        raise InvalidInput(f"{file}: the folder {file.parent} does not exist")
    if file.exists() and not force:
        raise InvalidInput(f"{file} already exists; --force overwrites it")
    text = files.template(file.name)
    if source is not None:
        text = files.as_toml(registry.get(source), file.name)
    write_text(file, text, "text")
    click.echo(f"wrote {file}; run it with: gpbandits run {shlex.quote(str(file))}")
    if source is not None:
        click.echo(f"its results are those of {source}")
