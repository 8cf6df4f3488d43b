"""`gpbandits list`."""

from collections.abc import Iterable, Sequence

import click

from gpbandits_env.display import counted
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.scenario import AgentEntry, words


@click.command("list")
@click.argument("scenario", required=False)
def list_scenarios(scenario: str | None) -> None:
    """List all scenarios or those of one paper, or show everything about one.

    \b
    Examples:
      gpbandits list
      gpbandits list srinivas2010
      gpbandits list srinivas2010/se-1d
    """
    if scenario is None or scenario in registry.GROUPS:
        _overview(registry.GROUPS if scenario is None else [scenario])
        return
    found = registry.get(scenario)
    click.echo(f"{found.id}: {found.title}\n{found.source}")
    trials, rounds = counted(found.trials, "trial"), counted(found.horizon, "round")
    click.echo(f"{found.env}, {trials} of {rounds}")
    for key, value in found.env_kwargs.items():
        click.echo(f"  {key} = {value}")
    for point in found.points():
        if point:
            click.echo(f"  at {words(point)}")
    _section("agents", [_entry(e) for e in found.agents])
    _section("alternatives (--agents all)", [_entry(e) for e in found.alternatives])
    _section("other readings", registry.readings(found.id))
    _section("choices", found.choices)
    _section("departures", found.departures)


def _overview(groups: Iterable[str]) -> None:
    for paper in groups:
        click.echo(f"{paper}: {registry.GROUPS[paper]}")
        for id, scenario in registry.scenarios().items():
            if id.startswith(f"{paper}/") and id == registry.base_of(id):
                others = ", ".join(f"@{other.partition('@')[2]}" for other in registry.readings(id))
                title = f"{scenario.title} ({others})" if others else scenario.title
                click.echo(f"  {id:<31}{f'{scenario.trials} x {scenario.horizon}':>11}  {title}")
    click.echo(
        "The second column is trials x rounds; names after @ are other readings of the same "
        "experiment, e.g. srinivas2010/se-1d@noise. 'gpbandits list ID' shows one in detail."
    )


def _entry(entry: AgentEntry) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in entry.settings.items())
    return f"{entry.label:<18} {entry.agent}({settings})  {entry.note}".rstrip()


def _section(title: str, lines: Sequence[str]) -> None:
    if lines:
        click.echo(title)
        for line in lines:
            click.echo(f"  {line}")
