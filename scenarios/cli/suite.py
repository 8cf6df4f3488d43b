"""`gpbandits suite`: run a frozen suite of problems for an agent, and check its archive."""

import shlex
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from gpbandits_env.display import aligned, counted
from gpbandits_env.errors import InvalidInput, StoreError, one_of
from gpbandits_env.scenarios.cli import options
from gpbandits_env.scenarios.cli.commands import exit_code
from gpbandits_env.scenarios.cli.run import ADDRESS, ENGINE
from gpbandits_env.scenarios.scenario import AgentEntry, label_of
from gpbandits_env.scenarios.study.engines import Engine
from gpbandits_env.scenarios.study.files import look_for_modules, parse_settings
from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import absent, archived, entries
from gpbandits_env.scenarios.suite.card_page import save_card
from gpbandits_env.scenarios.suite.rows import FILE, load
from gpbandits_env.scenarios.suite.run import DIFFERENT, SuiteOutcome, rerun, run_suite, sampled
from gpbandits_env.scenarios.suite.seeds import exposed, opponents

NAME = click.argument("name", metavar="[SUITE]", default="core-v1")


@click.group()
def suite() -> None:
    """Compare an agent with every other one on a frozen suite of problems.

    \b
    Examples:
      gpbandits suite list
      gpbandits suite run core-v1 --agent my_agents:Mine
      gpbandits suite check --sample 10
    """


@suite.command("list")
@NAME
def list_problems(name: str) -> None:
    """List the problems of a suite, and the agents of its archive."""
    problems, rows = suites.problems(name), archived(name)
    table, titles = [["problem", "rounds", "trials", "agents"]], ["tags"]
    for id, problem in problems.items():
        agents = sum(key[1] == id for key in rows)
        sizes = [str(problem.horizon), str(problem.trials), str(agents)]
        table.append([id, *sizes])
        titles.append(f"{', '.join(problem.tags):30}  {problem.title}")
    click.echo("\n".join(map("{}  {}".format, aligned(table), titles)))
    click.echo(f"\nagents of the archive: {', '.join(dict.fromkeys(agent for agent, _ in rows))}\n")
    agents_by = defaultdict(list)
    for label, reasons in absent(name).items():
        for why, ids in reasons.items():
            agents_by[why].append(f"{label} ({len(ids)})")
    click.echo("absent agents, and from how many problems each")
    for why, labels in agents_by.items():
        click.echo(f"  {why}: {', '.join(labels)}")


@suite.command()
@NAME
@click.option("--agent", required=True, help="A name, or 'module:Class' for your own.")
@options.settings(help="A setting of the agent.")
@click.option("--label", help="Its name on the card; by default that of the agent.")
@click.option("--problem", "problems", multiple=True, help="Only this problem; may be repeated.")
@options.trials(help="Only so many trials of each problem.")
@options.JOBS
@ENGINE
@ADDRESS
@options.out(
    help="Folder of the results, which are resumed; by default results/SUITE-LABEL, and for a part "
    "of the problems or trials results/SUITE-LABEL-part."
)
@click.option("--fresh", is_flag=True, help="Run all trials again, after a change of the agent.")
@click.option(
    "--seeds",
    type=click.IntRange(1),
    help="Draw new instances too, with this seed, and run the five best agents and random on them.",
)
def run(
    name: str,
    agent: str,
    settings: tuple[str, ...],
    label: str | None,
    problems: tuple[str, ...],
    engine: str,
    address: str | None,
    out: Path | None,
    seeds: int | None,
    **given: Any,
) -> None:
    """Run an agent on all problems of a suite, and print its card.

    The other agents are in the archive. The same command resumes an interrupted run.

    \b
    Examples:
      gpbandits suite run core-v1 --agent my_agents:Mine
      gpbandits suite run core-v1 --agent gp-ucb --set beta=2 --label gp-ucb/2
      gpbandits suite run core-v1 --agent my_agents:Mine --seeds 2027
    """
    look_for_modules()
    label_used = label_of(agent) if label is None else label
    entry = AgentEntry(label_used, agent, parse_settings(settings))
    given |= {"problems": problems or None, "engine": Engine(engine, address)}
    last = public = run_suite(name, entry, folder=out, **given)
    _conclude(public)
    words = ["gpbandits", "suite", "run", name, "--agent", agent]
    said = {"set": settings, "label": [label], "problem": problems, "trials": [given["trials"]]}
    for option, values in (said | {"seeds": [seeds]}).items():
        words += [word for v in values if v is not None for word in (f"--{option}", str(v))]
    notes = [f"made on {datetime.now(UTC):%Y-%m-%d} by: {shlex.join(words)}"]
    if seeds is not None and not public.failures:
        folder, beside = public.folder / f"seed{seeds}", opponents(public)
        last = run_suite(name, entry, folder=folder, rivals=beside, seed=seeds, **given)
        _conclude(last)
        if not last.failures:
            found = exposed(public, last)
            click.echo(f"{found}\n")
            notes.insert(0, found.sentence)
    if public.rows:
        card = public.card(*notes)
        click.echo(card)
        for file in save_card(card, public.folder / "card"):
            click.echo(f"card     {file}")
    _end_on_failures(last)


def _conclude(outcome: SuiteOutcome) -> None:
    for id, why in outcome.refused.items():
        click.echo(f"left out {id}: {why}", err=True)
    if outcome.interrupted:
        kept = f"stopped; what is done is kept in {outcome.folder}; the same command resumes it"
        click.echo(kept, err=True)
        sys.exit(exit_code())
    click.echo(f"results  {outcome.folder}\n")


def _end_on_failures(outcome: SuiteOutcome) -> None:
    for id, (first, *more) in outcome.failures.items():
        many = counted(1 + len(more), "trial")
        said = f"{many} of {id} failed, the first of which is {first.key}: {first.error}"
        click.echo(f"{first.traceback}gpbandits: {said}\n", err=True)
    if outcome.failures:
        kept = f"gpbandits: the trials that are done are kept in {outcome.folder}"
        click.echo(f"{kept}; mend the agent, and the same command runs the others", err=True)
        sys.exit(1)


@suite.command()
@NAME
@click.option("--sample", type=click.IntRange(1), default=20, show_default=True, help="Trials.")
@click.option("--agent", help="Only this agent; with --rows, its name or 'module:Class'.")
@click.option("--rows", type=options.PATH, help="Check these rows of a run instead of the archive.")
@options.settings(help="With --rows: a setting of the agent.")
def check(
    name: str,
    sample: int,
    agent: str | None,
    rows: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Run some trials of the archive again, and compare their digests.

    The bits are the same on the same kind of processor with the same BLAS. On others they may
    differ, and where an agent breaks a tie differently, so does the trial. With --rows, the trials
    are those of somebody else's run, which is checked in the same way.

    \b
    Examples:
      gpbandits suite check --sample 50
      gpbandits suite check --rows results/core-v1-Mine/rows.npz --agent my_agents:Mine
    """
    look_for_modules()
    problems, known, found = suites.problems(name), entries(), Counter[str]()
    wanted = [row for row in archived(name).values() if agent in (None, row.agent)]
    if rows is not None:
        if agent is None:
            raise InvalidInput("--rows needs --agent, the name or 'module:Class' of their agent")
        rows = rows / FILE if rows.is_dir() else rows
        if not rows.is_file():
            raise StoreError(f"{rows}: no such file; 'gpbandits suite run' writes one")
        wanted = list(load(rows).values())
        known = {r.agent: AgentEntry(r.agent, agent, parse_settings(settings)) for r in wanted}
    elif settings:
        raise InvalidInput("--set needs --rows: agents of the archive have settings of their own")
    elif agent is not None:
        one_of(agent, known, "agent of the archive", suites.HINT)
    if not wanted:
        raise InvalidInput(f"{rows or f'the archive of {name}'} has no rows of {agent or 'agents'}")
    for row, trial in sampled(wanted, sample):
        problem = problems[one_of(row.problem, problems, "problem", suites.HINT)]
        verdict = rerun(row, problem, known[row.agent], trial)
        found[verdict] += 1
        click.echo(f"{row.agent:<16} {row.problem:<26} trial {trial:<3} {verdict}")
    click.echo(", ".join(f"{verdict}: {count}" for verdict, count in found.items()))
    if found[DIFFERENT]:
        sys.exit(1)
