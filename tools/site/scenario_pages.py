"""The pages of scenarios, and those with all means of a paper, from the kept values."""

import re
from collections import defaultdict
from functools import cache
from itertools import groupby
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any

from jinja2 import Environment, FileSystemLoader
from kept_numbers import load
from result_pictures import address, ends

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims.claim import Claim, paper
from gpbandits_env.scenarios.claims.judge import Verdict
from gpbandits_env.scenarios.cli.claims import judged
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.metrics import KNOWN, reported_metrics
from gpbandits_env.scenarios.reporting.plots import telling
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.results.evidence import Evidence
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, words

ROOT = Path(__file__).parents[2]
TITLES = {"": "regret of all agents", "-bounds": "regret and the bounds of the theory"}
WIDTH = 80  # characters of a line
MEANS = (
    "Each number is a mean over the trials ± its standard error, at the last round. The last "
    "column of a table names the setting. Where the paper leaves a choice open, the agents "
    "that follow other readings of it come last."
)


def group_of(id: str) -> str:
    """The paper or the topic of a scenario."""
    return id.partition("/")[0]


def literal(text: str) -> str:
    """Text in one line, in which no character has a meaning in Markdown, except in code."""
    escaped = re.sub(r"(`[^`]*`)|([\\*_|$\[\]])", lambda f: f[1] or f"\\{f[2]}", text)
    return " ".join(escaped.replace("<", "&lt;").split())


@cache
def verdicts(group: str) -> list[tuple[Claim, Verdict, dict[str, Verdict]]]:
    """The claims of a paper with their verdicts in the main reading and in the others."""
    of = paper(group)
    return [(claim, *judged(claim, of, load)) for claim in of.claims]


def short(claim: Claim) -> str:
    """The name of a claim without its paper."""
    return claim.id.partition("/")[2]


def concerned(claim: Claim) -> list[str]:
    """The ids of the scenarios whose values decide a claim, or that would."""
    checked = dict.fromkeys(id for check in claim.check for id in check.scenario)
    return list(checked or claim.scenarios)


# -- All means of a paper -------------------------------------------------------------------------


def results() -> dict[str, str]:
    """The source of every page of means, from the reference files of a paper's scenarios."""
    pages = {}
    for group in registry.GROUPS:
        parts = [f"# All means: {group}", *citation(group), MEANS]
        for s in registry.scenarios().values():
            if group_of(s.id) == group and (kept := load(s.id)):
                link = f"[{_capital(s.title)}](../scenarios/{s.id}.md): {_size(kept)}."
                parts += [f"## {s.id}", link, *_tables(s, kept)]
        pages[f"results/{group}.md"] = "\n\n".join(parts) + "\n"
    return pages


def citation(group: str) -> list[str]:
    """The entry of a paper in docs/bibliography.md by its short name; empty if there is none."""
    text = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    return re.findall(rf"^\| `{group}` \| (.*) \|$", text, re.M)


def pictures(id: str, root: str) -> list[str]:
    """The plots of a scenario; ``root`` is that of the site, as seen from the page."""
    return [f"![{id}: {TITLES[end]}]({root}{address(id, end)})" for end in ends(id)]


def _size(kept: Evidence) -> str:
    return f"{kept.trials} trials of {kept.horizon} rounds, base seed {kept.study['seed']}"


def _tables(scenario: Scenario, kept: Evidence) -> list[str]:
    notes = {e.label: e.note for e in (*scenario.agents, *scenario.alternatives)}
    metrics = reported_metrics(scenario.metric, kept.study["optimum_moves"])
    parts, names = [], telling(kept.points)
    for cell, params in enumerate(kept.points):
        if names:
            # Attributes of a heading would stand in braces.
            told = words({name: params[name] for name in names})
            parts.append(f"### {told}".replace("{", r"\{"))
        parts.append(_table(kept, cell, metrics, notes))
    return parts


def _capital(title: str) -> str:
    return title[0].upper() + title[1:]


def _table(kept: Evidence, cell: int, metrics: list[str], notes: dict[str, str]) -> str:
    known = [name for name in KNOWN if name in metrics]
    rows = [
        [
            label,
            *("{:.4g} ± {:.2g}".format(*kept.summary(cell, label, name)) for name in known),
            notes.get(label, ""),
        ]
        for label in kept.labels(cell)
    ]
    head = ["agent", *(KNOWN[name].title for name in known), "setting"]
    table = markdown(head, rows, right=range(1, len(known) + 1))
    return f'<div class="wide" markdown>\n\n{table}\n\n</div>'


# -- A page for each scenario, in the site only ---------------------------------------------------


def pages() -> dict[str, str]:
    """The source of every scenario's page."""
    return {f"scenarios/{s.id}.md": _page(s) for s in registry.scenarios().values()}


def by_paper() -> list[dict[str, list[dict[str, str]]]]:
    """The entries of the navigation, one per paper."""
    found = defaultdict(list)
    for id, scenario in registry.scenarios().items():
        page = ROOT / "docs" / "papers" / f"{group_of(id)}.md"
        title = page.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        found[title].append({_capital(scenario.title): f"scenarios/{id}.md"})
    return [{title: entries} for title, entries in found.items()]


def overview() -> str:
    """The tables of all scenarios, one per paper."""
    groups = groupby(registry.scenarios().values(), lambda s: group_of(s.id))
    return made.get_template("scenarios.md").render(groups=groups, load=load)


def _page(scenario: Scenario) -> str:
    group, kept = group_of(scenario.id), load(scenario.id)
    return made.get_template("scenario.md").render(
        s=scenario,
        group=group,
        kept=kept,
        title=_capital(scenario.title),
        cited=" ".join(citation(group)),
        pictures=pictures(scenario.id, "../../") if kept else (),
        tables="\n\n".join([f"{_size(kept)}.", *_tables(scenario, kept)]) if kept else "",
        claims=[found for found in verdicts(group) if scenario.id in concerned(found[0])],
        points=[words(plain(point)) for point in scenario.points() if point],
    )


def _settings(entry: AgentEntry) -> str:
    settings = ", ".join(f"{key}={plain(value)!r}" for key, value in entry.settings.items())
    return f"`{settings}`" if settings else ""


def _argument(key: str, value: Any) -> str:
    """A keyword argument on lines of its own, none of which is wider than a column."""
    text = pformat(plain(value), width=WIDTH - len(key), compact=True, sort_dicts=False)
    return indent(f"{key}={text},", "    ").replace("\n", "\n" + " " * (len(key) + 1))


made = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"))
made.filters |= {"literal": literal, "short": short}
made.globals |= {"argument": _argument, "settings": _settings}
