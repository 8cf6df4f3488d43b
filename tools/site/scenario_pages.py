"""One page a scenario: what is declared, and the reference results with plot and command."""

import json
import re
from pathlib import Path
from typing import Any

import results_pages as results

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.scenario import AgentEntry, Picture, Scenario

PLOT = re.compile(r"!\[([^\]]*)\]\(([^)]+\.png)\)")


def kept_of(root: Path, id: str) -> dict[str, Any] | None:
    """The reference results of a scenario in the checkout, if there are any."""
    return references.load_from(root / "scenarios", id)


def pages(root: Path) -> dict[str, str]:
    """The source of every scenario's page."""
    return {f"scenarios/{s.id}.md": _page(s, root) for s in registry.scenarios().values()}


def by_paper(uris: dict[str, str]) -> list[dict[str, list[dict[str, str]]]]:
    """Entries of the navigation, one a paper."""
    found: dict[str, list[dict[str, str]]] = {}
    for uri in uris:
        _, paper, name = uri.removesuffix(".md").split("/")
        found.setdefault(paper, []).append({name: uri})
    return [{paper: entries} for paper, entries in found.items()]


def overview(root: Path) -> str:
    """All scenarios, a table a paper."""
    tables: dict[str, list[str]] = {}
    for s in registry.scenarios().values():
        paper = s.id.partition("/")[0]
        tables.setdefault(paper, ["| scenario | what | size | results |", "|" + " --- |" * 4])
        size, shown = "a picture", ""
        if isinstance(s, Scenario):
            size = f"{s.trials} trials of {s.horizon} rounds"
            shown = "table" if kept_of(root, s.id) else "not yet"
            stem = results.plot_stem(root, s.id)
            shown += " and plot" if stem.with_name(f"{stem.name}.png").is_file() else ""
        tables[paper].append(f"| [{s.id}](scenarios/{s.id}.md) | {s.title} | {size} | {shown} |")
    return "\n\n".join(
        f"## {paper}\n\n{_on_one_page(root, paper)}" + "\n".join(rows)
        for paper, rows in tables.items()
    )


def _on_one_page(root: Path, paper: str) -> str:
    there = (root / "docs" / "results" / f"{paper}.md").is_file()
    return f"[All results on one page](results/{paper}.md).\n\n" if there else ""


def _page(scenario: Scenario | Picture, root: Path) -> str:
    head = [
        f"# {scenario.id}",
        f"{scenario.title[0].upper()}{scenario.title[1:]}.",
        scenario.source,
    ]
    if isinstance(scenario, Picture):
        shown = results.picture(scenario, root)[1:] or [_run(scenario.id)]
        return "\n\n".join([*head, *(_placed(part, root) for part in shown)]) + "\n"
    return "\n\n".join([*head, *_played(scenario, root), *_declared(scenario)]) + "\n"


def _played(scenario: Scenario, root: Path) -> list[str]:
    kept = kept_of(root, scenario.id)
    if kept is None:
        parts = [_run(scenario.id), "No reference results are kept with the code."]
        return [*parts, *results.said_of(scenario)]
    parts = ["## Results", *results.section(scenario, kept, root)[2:]]
    return [_placed(re.sub(r"^### ", "#### ", part), root) for part in parts]


def _run(id: str) -> str:
    return f"```sh\ngpbandits run {id}\n```"


def _placed(text: str, root: Path) -> str:
    """Plots by their path from a scenario's page; one that is not there is left out."""

    def place(found: re.Match[str]) -> str:
        there = (root / "docs" / "results" / found[2]).is_file()
        return f"![{found[1]}](../../results/{found[2]})" if there else ""

    return PLOT.sub(place, text)


def _declared(s: Scenario) -> list[str]:
    call = "".join(f", {key}={_python(value)}" for key, value in s.env_kwargs.items())
    parts = [
        "## What is played",
        f"{s.trials} trials of {s.horizon} rounds in"
        f'\n\n```python\ngym.make("{s.env}"{call}, max_episode_steps={s.horizon})\n```',
    ]
    points = [point for point in s.points() if point]
    if points:
        swept = "\n".join(
            "- " + ", ".join(f"{k} = {_python(v)}" for k, v in point.items()) for point in points
        )
        parts.append(f"at each of\n\n{swept}")
    if s.initial:
        parts.append(f"{s.initial} random points are told before round 1.")
    parts.append(_agents(s.agents))
    if s.alternatives:
        parts += ["Other readings of the paper (`--agents all`):", _agents(s.alternatives)]
    return parts


def _agents(entries: tuple[AgentEntry, ...]) -> str:
    rows = ["| label | agent | settings | |", "| --- | --- | --- | --- |"]
    for e in entries:
        settings = ", ".join(f"{key}={_python(value)}" for key, value in e.settings.items())
        code = f"`{settings}`" if settings else ""
        rows.append(f"| {e.label} | [{e.agent}](../../agents/{e.agent}.md) | {code} | {e.note} |")
    return "\n".join(rows)


def _python(value: Any) -> str:
    plain = json.loads(json.dumps(value))
    text = repr(plain)
    return text if len(text) < 300 else text[:280] + " ..."
