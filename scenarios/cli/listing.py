"""`gpbandits list`."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

import click

from gpbandits_env.display import counted
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, words

# The width of ids with sizes.
WIDTH = 66


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
    _describe(found)


def _overview(groups: Iterable[str]) -> None:
    for paper in groups:
        click.echo(f"{paper}: {registry.GROUPS[paper]}")
        for family in _families(paper):
            first, *rest = (s.id for s in family)
            ids = ", ".join([first, *(id.removeprefix(_stem(first)) for id in rest)])
            sizes = " / ".join(dict.fromkeys(f"{s.trials} x {s.horizon}" for s in family))
            readings = (other for s in family for other in registry.readings(s.id))
            others = ", ".join(dict.fromkeys(f"@{id.partition('@')[2]}" for id in readings))
            more = f" ({others})" if others else ""
            title = _title([s.title for s in family])
            click.echo(f"  {ids}{sizes:>{WIDTH - len(ids)}}  {title}{more}")
    click.echo(
        "The second column is trials x rounds; names after @ are other readings of the same "
        "experiment, e.g. ID@literal. 'gpbandits list ID' shows one in detail."
    )


def _stem(id: str) -> str:
    """An id without what follows its last hyphen, which is the member of a family."""
    return id.rpartition("-")[0] or id


def _families(paper: str) -> list[list[Scenario]]:
    """The scenarios of a paper; those whose id has one stem and whose titles agree are one."""
    found: list[list[Scenario]] = []
    for id, scenario in registry.scenarios().items():
        if id != registry.base_of(id) or not id.startswith(f"{paper}/"):
            continue
        for family in found:
            titles = [scenario.title, *(s.title for s in family)]
            if _stem(family[0].id) in (_stem(id), id) and sum(map(len, _common(titles))) > 1:
                family.append(scenario)
                break
        else:
            found.append([scenario])
    return found


def _common(titles: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words with which all of these titles begin, and those with which they end."""
    words = [title.split() for title in titles]
    start = _shared(words)
    return start, _shared([left[len(start) :][::-1] for left in words])[::-1]


def _shared(lists: Sequence[Sequence[str]]) -> list[str]:
    places = zip(*lists, strict=False)
    return [first for first, *_ in takewhile(lambda each: len({*each}) == 1, places)]


def _title(titles: Sequence[str]) -> str:
    """One title for several, with dots where they differ."""
    start, end = _common(titles)
    return titles[0] if len(titles) == 1 else " ".join([*start, "...", *end])


def _describe(scenario: Scenario) -> None:
    trials, rounds = counted(scenario.trials, "trial"), counted(scenario.horizon, "round")
    click.echo(f"{scenario.env}, {trials} of {rounds}")
    for key, value in scenario.env_kwargs.items():
        click.echo(f"  {key} = {value}")
    for point in scenario.points():
        if point:
            click.echo(f"  at {words(point)}")
    _section("agents", [_entry(e) for e in scenario.agents])
    _section("alternatives (--agents all)", [_entry(e) for e in scenario.alternatives])
    _section("other readings", registry.readings(scenario.id))
    _section("choices", scenario.choices)
    _section("departures", scenario.departures)


def _entry(entry: AgentEntry) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in entry.settings.items())
    return f"{entry.label:<18} {entry.agent}({settings})  {entry.note}".rstrip()


def _section(title: str, lines: "list[str] | tuple[str, ...]") -> None:
    if lines:
        click.echo(title)
        for line in lines:
            click.echo(f"  {line}")
