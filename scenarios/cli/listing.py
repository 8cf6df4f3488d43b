"""Commands that say what there is: `list`, `agents`, `tasks`, `data`."""

import click

from gpbandits_env import agents as learners
from gpbandits_env import datasets
from gpbandits_env.functions import TEST_FUNCTIONS
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.tasks import TASKS


@click.command("list")
@click.argument("scenario", required=False)
def list_scenarios(scenario: str | None) -> None:
    """Show all scenarios, or everything about one.

    \b
    Examples:
      gpbandits list
      gpbandits list srinivas2010/se-1d
    """
    if scenario is None:
        for found in registry.scenarios().values():
            size = "picture"
            if isinstance(found, Scenario):
                size = f"{found.trials} trials of {found.horizon} rounds"
            click.echo(f"{found.id:<28} {found.title} ({size})")
        return
    found = registry.get(scenario)
    click.echo(f"{found.id}: {found.title}\n{found.source}")
    if isinstance(found, Scenario):
        _describe(found)


def _describe(scenario: Scenario) -> None:
    click.echo(f"{scenario.env}, {scenario.trials} trials of {scenario.horizon} rounds")
    for key, value in scenario.env_kwargs.items():
        click.echo(f"  {key} = {value}")
    for point in scenario.points():
        if point:
            click.echo("  at " + ", ".join(f"{k} = {v}" for k, v in point.items()))
    _section("agents", [_entry(e) for e in scenario.agents])
    _section("alternatives (--agents all)", [_entry(e) for e in scenario.alternatives])
    _section("findings", [f.statement for f in scenario.findings])
    _section("choices", scenario.choices)
    _section("departures from the paper", scenario.departures)


def _entry(entry: AgentEntry) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in entry.settings.items())
    return f"{entry.label:<18} {entry.agent}({settings})  {entry.note}".rstrip()


def _section(title: str, lines: "list[str] | tuple[str, ...]") -> None:
    if lines:
        click.echo(title)
        for line in lines:
            click.echo(f"  {line}")


@click.command("agents")
def list_agents() -> None:
    """Show all agents that --agents takes.

    \b
    Examples:
      gpbandits agents
    """
    for name in learners.names():
        click.echo(name)
    for name in learners.adapter_names():
        click.echo(f"{name:<12} (needs the extra '{name}')")


@click.command("tasks")
def list_tasks() -> None:
    """Show all tasks and test functions that gpbandits/Task-v0 takes.

    \b
    Examples:
      gpbandits tasks
    """
    for name, task in TASKS.items():
        click.echo(f"{name:<16} {task.summary} ({task.source})")
    for name in TEST_FUNCTIONS:
        click.echo(f"{name:<16} test function")


@click.command()
@click.option("--download", metavar="NAME", help="Fetch a data set that has a public address.")
def data(download: str | None) -> None:
    """Show the data sets: which are there, and how to get the others.

    Files are looked for in the folder that the environment variable GPBANDITS_DATA names.

    \b
    Examples:
      gpbandits data
      GPBANDITS_DATA=~/readings gpbandits data
      gpbandits data --download metr-la-full
    """
    if download is not None:
        click.echo(datasets.download(download))
        return
    for status in datasets.status():
        click.echo(f"{status.name:<16} {status.summary}")
        click.echo(f"{'':<16} " + (str(status.path) if status.path else "missing"))
        if not status.path:
            click.echo(f"{'':<16} {status.how_to_get}")


COMMANDS = (list_scenarios, list_agents, list_tasks, data)
