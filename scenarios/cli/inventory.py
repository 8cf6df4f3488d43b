"""The commands that list what is available: `agents`, `tasks`, `data`."""

import click

from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.rewards import datasets
from gpbandits_env.rewards.functions import TEST_FUNCTIONS
from gpbandits_env.rewards.tasks import TASKS


@click.command("agents")
def list_agents() -> None:
    """List all agents that --agents accepts.

    \b
    Examples:
      gpbandits agents
    """
    for name in agents.names():
        click.echo(f"{name:<13} {_first_line(name)}")
    for name in agents.adapter_names():
        click.echo(f"{name:<13} {_first_line(name)} (needs the extra '{name}')")
    click.echo("\nName an agent of your own as 'MODULE:CLASS'.")


def _first_line(agent: str) -> str:
    return str(agent_class(agent).__doc__).strip().splitlines()[0].replace("`", "")


@click.command("tasks")
def list_tasks() -> None:
    """List all tasks and test functions that gpbandits/Task-v0 accepts.

    \b
    Examples:
      gpbandits tasks
    """
    for name, task in TASKS.items():
        click.echo(f"{name:<16} {task.summary} ({task.source})")
    for name in TEST_FUNCTIONS:
        click.echo(f"{name:<16} test function")


@click.command()
@click.option("--download", metavar="NAME", help="Download a data set that has a public address.")
def data(download: str | None) -> None:
    """List the data sets: where they are, and how to get missing ones.

    The environment variable GPBANDITS_DATA names the folder of the data files.

    \b
    Examples:
      gpbandits data
      GPBANDITS_DATA=~/readings gpbandits data
      gpbandits data --download metr-la-full
    """
    if download is not None:
        click.echo(datasets.download(download))
        return
    width = max(map(len, datasets.DATASETS))
    for name, dataset in datasets.DATASETS.items():
        path = dataset.find()
        click.echo(f"{name:<{width}} {dataset.summary}")
        for line in [path] if path else ["missing", dataset.how_to_get]:
            click.echo(f"{'':<{width}} {line}")
