"""The pages of results: docs/results/PAPER.md, and one page per scenario on the site."""

import re
from collections import defaultdict
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any

from gpbandits_env.files import write_text
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.metrics import KNOWN, reported_metrics
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, words

MARKS = {True: "holds", False: "**does not hold**", None: "not checked"}
WIDTH, LONGEST = 80, 1500  # characters of a line and of a value
PLOT = re.compile(r"!\[([^\]]*)\]\(([^)]+\.png)\)")


def kept_of(root: Path, id: str) -> dict[str, Any] | None:
    """The reference results of a scenario in the checkout, if there are any."""
    return references.load(id, root / "scenarios")


def plot_stem(root: Path, id: str) -> Path:
    """The path of the plot of a scenario in the documentation, without the suffix."""
    return root / "docs" / "results" / id.replace("/", "-")


# -- A page for each paper, kept in the checkout --------------------------------------------------


def write_page(root: Path, paper: str) -> Path:
    """Write docs/results/PAPER.md from the reference files of the paper's scenarios.

    The text of scenarios/reference/PAPER/summary.md, which is written by hand, comes first.

    Args:
        root: the checkout.
        paper: the paper's short name.
    Raises:
        StoreError: the page cannot be written.
    """
    parts = [
        f"# Results: {paper}",
        *citation(root, paper),
        "Each number is a mean over the trials ± its standard error, at the last round. The last "
        "column of a table names the setting. Where the paper leaves a choice open, the agents "
        "that follow other readings of it come last.",
    ]
    summary = root / "scenarios" / "reference" / paper / "summary.md"
    if summary.is_file():
        parts.append(summary.read_text(encoding="utf-8").strip())
    for scenario in registry.scenarios().values():
        shown = _shown(scenario, root) if scenario.id.startswith(f"{paper}/") else []
        parts += [f"## {scenario.id}", *shown] if shown else []
    path = root / "docs" / "results" / f"{paper}.md"
    return write_text(path, "\n\n".join(parts) + "\n", "text")


def citation(root: Path, paper: str) -> list[str]:
    """The entry of a paper in docs/bibliography.md by its short name; empty if there is none."""
    listed = root / "docs" / "bibliography.md"
    text = listed.read_text(encoding="utf-8") if listed.is_file() else ""
    return [f"{found[1]}" for found in re.finditer(rf"^\| `{paper}` \| (.*) \|$", text, re.M)]


def _shown(scenario: Scenario, root: Path) -> list[str]:
    """Plots, tables, findings, command and notes; empty without reference results."""
    stem, title = plot_stem(root, scenario.id), _capital(scenario.title)
    kept = kept_of(root, scenario.id)
    if kept is None:
        return []
    size = f"{kept['trials']} trials of {kept['horizon']} rounds, base seed {kept['seed']}"
    parts = [f"{title} ({scenario.source}): {size}.", f"![regret of all agents]({stem.name}.png)"]
    if stem.with_name(f"{stem.name}-bounds.png").is_file():
        parts.append(f"![regret and the bounds of the theory]({stem.name}-bounds.png)")
    notes = {e.label: e.note for e in (*scenario.agents, *scenario.alternatives)}
    for cell in kept["cells"]:
        if cell["params"]:
            parts.append(f"### {words(cell['params'])}")
        metrics = reported_metrics(scenario.metric, kept["optimum_moves"])
        parts += [_table(cell, metrics, notes), *_findings(cell)]
    v, m = kept["versions"], kept["machine"]
    return [
        *parts,
        "This command runs the scenario again and compares the results with these:",
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


def pages(root: Path) -> dict[str, str]:
    """The source of every scenario's page."""
    return {f"scenarios/{s.id}.md": _page(s, root) for s in registry.scenarios().values()}


def by_paper(uris: dict[str, str]) -> list[dict[str, list[dict[str, str]]]]:
    """The entries of the navigation, one per paper."""
    found = defaultdict(list)
    for uri in uris:
        _, paper, name = uri.removesuffix(".md").split("/")
        found[paper].append({name: uri})
    return [{paper: entries} for paper, entries in found.items()]


def overview(root: Path) -> str:
    """The tables of all scenarios, one per paper."""
    rows = defaultdict(list)
    for s in registry.scenarios().values():
        size = f"{s.trials} trials of {s.horizon} rounds"
        shown = "table" if kept_of(root, s.id) else "not yet"
        stem = plot_stem(root, s.id)
        shown += " and plot" if stem.with_name(f"{stem.name}.png").is_file() else ""
        link = f"[{s.id}](scenarios/{s.id}.md)"
        rows[s.id.partition("/")[0]].append([link, s.title, size, shown])
    parts = []
    for paper, lines in rows.items():
        parts.append(f"## {paper}")
        if (root / "docs" / "results" / f"{paper}.md").is_file():
            parts.append(f"[All results on one page](results/{paper}.md).")
        parts.append(markdown(["scenario", "what it is", "size", "results"], lines))
    return "\n\n".join(parts)


def _page(scenario: Scenario, root: Path) -> str:
    shown = _shown(scenario, root)
    cited = " ".join(citation(root, scenario.id.partition("/")[0]))
    parts = [f"# {scenario.id}", f"{_capital(scenario.title)}.", f"{scenario.source}. {cited}"]
    if not shown:
        parts += ["No reference results are kept with the code.", *said_of(scenario)]
        parts.append(_command(f"run {scenario.id}"))
    parts += [_placed(part, root) for part in shown[1:]]
    parts += _declared(scenario)
    return "\n\n".join(parts) + "\n"


def _placed(text: str, root: Path) -> str:
    """The paths of plots from a scenario's page; missing plots are left out."""

    def place(found: re.Match[str]) -> str:
        there = (root / "docs" / "results" / found[2]).is_file()
        return f"![{found[1]}](../../results/{found[2]})" if there else ""

    return PLOT.sub(place, text)


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
