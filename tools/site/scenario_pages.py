"""The pages of results, one per paper, and the pages of scenarios, from the reference files."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any, TypeAlias

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.findings.finding import Finding
from gpbandits_env.scenarios.metrics import KNOWN, reported_metrics
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, words

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
MARKS = {True: "holds", False: "**does not hold**", None: "not checked"}
WIDTH, LONGEST = 80, 1500  # characters of a line and of a value
# A scenario, the point of its grid, a finding and its outcome.
Checked: TypeAlias = tuple[Scenario, dict[str, Any], Finding, dict[str, Any]]
REFERENCE = "This command runs the scenario again and compares the results with these:"
MEANS = (
    "Each number is a mean over the trials ± its standard error, at the last round. The last "
    "column of a table names the setting. Where the paper leaves a choice open, the agents "
    "that follow other readings of it come last."
)


def plot_stem(id: str, folder: Path = RESULTS) -> Path:
    """The path of the plot of a scenario, without the suffix."""
    return folder / id.replace("/", "-")


def group_of(id: str) -> str:
    """The paper or the topic of a scenario."""
    return id.partition("/")[0]


def checked() -> Iterator[Checked]:
    """All findings of all reference results, in the order of the scenarios."""
    for s in registry.scenarios().values():
        for cell in (references.load(s.id) or {"cells": []})["cells"]:
            for finding, check in zip(s.findings, cell["findings"], strict=True):
                yield s, cell["params"], finding, check


# -- A page for each paper ------------------------------------------------------------------------


def results() -> dict[str, str]:
    """The source of every page of results, from the reference files of a paper's scenarios.

    The text of scenarios/reference/PAPER/summary.md, which is written by hand, comes first.
    """
    pages = {}
    for group in registry.GROUPS:
        parts = [f"# Results: {group}", *citation(group), MEANS]
        summary = ROOT / "scenarios" / "reference" / group / "summary.md"
        if summary.is_file():
            parts.append(summary.read_text(encoding="utf-8").strip())
        for s in registry.scenarios().values():
            if group_of(s.id) == group and (parts_of := _shown(s, "")):
                title = f"{_capital(s.title)} ({s.source}): {parts_of[0]}."
                parts += [f"## {s.id}", title, *parts_of[1:]]
        pages[f"results/{group}.md"] = "\n\n".join(parts) + "\n"
    return pages


def citation(group: str) -> list[str]:
    """The entry of a paper in docs/bibliography.md by its short name; empty if there is none."""
    text = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    return re.findall(rf"^\| `{group}` \| (.*) \|$", text, re.M)


def _shown(scenario: Scenario, folder: str) -> list[str]:
    """Size, plots, tables, findings, command and notes; empty without reference results.

    ``folder`` is that of the plots, as seen from the page.
    """
    kept = references.load(scenario.id)
    if kept is None:
        return []
    parts = [f"{kept['trials']} trials of {kept['horizon']} rounds, base seed {kept['seed']}"]
    for end, title in (
        ("", "regret of all agents"),
        ("-bounds", "regret and the bounds of the theory"),
    ):
        name = f"{plot_stem(scenario.id).name}{end}.png"
        if (RESULTS / name).is_file():
            parts.append(f"![{title}]({folder}{name})")
    notes = {e.label: e.note for e in (*scenario.agents, *scenario.alternatives)}
    for cell in kept["cells"]:
        if cell["params"]:
            # Attributes of a heading would stand in braces.
            parts.append(f"### {words(cell['params'])}".replace("{", r"\{"))
        metrics = reported_metrics(scenario.metric, kept["optimum_moves"])
        parts += [_table(cell, metrics, notes), *_findings(cell)]
    v, m = kept["versions"], kept["machine"]
    return [
        *parts,
        REFERENCE,
        _command(f"reference {scenario.id} --check"),
        *said_of(scenario),
        f"Made with gpbandits-env {v['gpbandits-env']}, Python {v['python']}, "
        f"NumPy {v['numpy']}, {', '.join(m['blas'])} on {m['processor']}.",
    ]


def _capital(title: str) -> str:
    return title[0].upper() + title[1:]


def _command(words: str) -> str:
    return f"```sh\ngpbandits {words}\n```"


def said_of(scenario: Scenario) -> list[str]:
    """The choices and the departures of a scenario, one list each, if there are any."""
    lists = {"Where the paper is silent": scenario.choices, "Departures": scenario.departures}
    return [
        f"{title}:\n\n" + "\n".join(f"- {line}" for line in lines)
        for title, lines in lists.items()
        if lines
    ]


def _table(cell: dict[str, Any], metrics: list[str], notes: dict[str, str]) -> str:
    known = [name for name in KNOWN if name in metrics]
    rows = [
        [label, *(f"{of[name][0]:.4g} ± {of[name][1]:.2g}" for name in known), notes.get(label, "")]
        for label, of in cell["agents"].items()
    ]
    head = ["agent", *(KNOWN[name].title for name in known), "setting"]
    return markdown(head, rows, right=range(1, len(known) + 1))


def _findings(cell: dict[str, Any]) -> list[str]:
    """The table of findings with the two deciding numbers; all numbers are folded below it."""
    if not cell["findings"]:
        return []
    short, full = [], []
    for c in cell["findings"]:
        numbers = [f"{name} {value:.4g}" for name, value in c["numbers"].items()]
        short.append([c["statement"], MARKS[c["holds"]], ", ".join(numbers[:2])])
        full.append([c["statement"], ", ".join(numbers)])
    return [
        markdown(["finding", "here", "the two numbers"], short),
        "<details markdown>\n<summary>All numbers of these findings</summary>",
        markdown(["finding", "numbers"], full),
        "</details>",
    ]


# -- A page for each scenario, in the site only ---------------------------------------------------


def pages() -> dict[str, str]:
    """The source of every scenario's page."""
    return {f"scenarios/{s.id}.md": _page(s) for s in registry.scenarios().values()}


def by_paper(uris: dict[str, str]) -> list[dict[str, list[dict[str, str]]]]:
    """The entries of the navigation, one per paper."""
    found = defaultdict(list)
    for uri in uris:
        _, paper, name = uri.removesuffix(".md").split("/")
        found[paper].append({name: uri})
    return [{paper: entries} for paper, entries in found.items()]


def overview() -> str:
    """The tables of all scenarios, one per paper."""
    rows = defaultdict(list)
    for s in registry.scenarios().values():
        kept = "table and plot" if references.load(s.id) else "not yet"
        link, size = f"[{s.id}](scenarios/{s.id}.md)", f"{s.trials} trials of {s.horizon} rounds"
        rows[group_of(s.id)].append([link, s.title, size, kept])
    head = ["scenario", "what it is", "size", "results"]
    return "\n\n".join(
        f"## {group}\n\n[All results on one page](results/{group}.md).\n\n{markdown(head, lines)}"
        for group, lines in rows.items()
    )


def _page(scenario: Scenario) -> str:
    cited = " ".join(citation(group_of(scenario.id)))
    parts = [f"# {scenario.id}", f"{_capital(scenario.title)}.", f"{scenario.source}. {cited}"]
    parts += _shown(scenario, "../../results/")[1:] or [
        "No reference results are kept with the code.",
        *said_of(scenario),
        _command(f"run {scenario.id}"),
    ]
    return "\n\n".join([*parts, *_declared(scenario)]) + "\n"


def _declared(s: Scenario) -> list[str]:
    lines = [f'    "{s.env}",', *(_argument(*item) for item in s.env_kwargs.items())]
    lines.append(f"    max_episode_steps={s.horizon},")
    call = "\n".join(["gym.make(", *lines, ")"])
    parts = [
        "## Environment and agents",
        f"Each of the {s.trials} trials has {s.horizon} rounds in this environment:",
        f"```python\n{call}\n```",
    ]
    points = [words(plain(point)) for point in s.points() if point]
    if points:
        parts.append("It runs at each of\n\n" + "\n".join(f"- {point}" for point in points))
    if s.initial:
        parts.append(f"The agents observe {s.initial} random points before round 1.")
    parts.append(_agents(s.agents))
    if s.alternatives:
        parts += ["Other readings of the paper (`--agents all`):", _agents(s.alternatives)]
    return parts


def _agents(entries: tuple[AgentEntry, ...]) -> str:
    rows = []
    for e in entries:
        settings = ", ".join(f"{key}={_python(value)}" for key, value in e.settings.items())
        page = f"[{e.agent}](../../agents/{e.agent}.md)"
        rows.append([e.label, page, f"`{settings}`" if settings else "", e.note])
    return markdown(["label", "agent", "settings", "note"], rows)


def _argument(key: str, value: Any) -> str:
    """A keyword argument on lines of its own, none of which is wider than a column."""
    text = pformat(plain(value), width=WIDTH - len(key), compact=True, sort_dicts=False)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} ..."
    return indent(f"{key}={text},", "    ").replace("\n", "\n" + " " * (len(key) + 1))


def _python(value: Any) -> str:
    text = repr(plain(value))
    return text if len(text) < 300 else text[:280] + " ..."
