"""Commands that say what there is to choose from: `agents`, `tasks`, `data`."""

import click

from gpbandits_env import agents, datasets
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.functions import TEST_FUNCTIONS
from gpbandits_env.tasks import TASKS


@click.command("agents")
def list_agents() -> None:
    """Show all agents that --agents takes.

    \b
    Examples:
      gpbandits agents
    """
    for name in agents.names():
        click.echo(f"{name:<13} {_first_line(name)}")
    for name in agents.adapter_names():
        click.echo(f"{name:<13} {_first_line(name)} (needs the extra '{name}')")
    click.echo("\n'MODULE:CLASS' names an agent of your own.")


def _first_line(agent: str) -> str:
    """What the documentation of an agent's class begins with."""
    return str(agent_class(agent).__doc__).strip().splitlines()[0].replace("`", "")


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
