"""The pages of scenarios, and those with all means of a paper, from the reference files."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from pprint import pformat
from textwrap import indent
from typing import Any

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims.judge import Claim, Verdict, paper
from gpbandits_env.scenarios.cli.claims import judged
from gpbandits_env.scenarios.declare import plain
from gpbandits_env.scenarios.metrics import KNOWN, reported_metrics
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.results import evidence, references
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, words

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
WIDTH, LONGEST = 80, 1500  # characters of a line and of a value
REFERENCE = "This command runs the scenario again and compares the results with these:"
MEANS = (
    "Each number is a mean over the trials ± its standard error, at the last round. The last "
    "column of a table names the setting. Where the paper leaves a choice open, the agents "
    "that follow other readings of it come last."
)
load = cache(evidence.load)


def plot_stem(id: str, folder: Path = RESULTS) -> Path:
    """The path of the plot of a scenario, without the suffix."""
    return folder / id.replace("/", "-")


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
            if group_of(s.id) == group and (kept := references.load(s.id)):
                link = f"[{_capital(s.title)}](../scenarios/{s.id}.md): {_size(kept)}."
                parts += [f"## {s.id}", link, *_tables(s, kept)]
        pages[f"results/{group}.md"] = "\n\n".join(parts) + "\n"
    return pages


def citation(group: str) -> list[str]:
    """The entry of a paper in docs/bibliography.md by its short name; empty if there is none."""
    text = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    return re.findall(rf"^\| `{group}` \| (.*) \|$", text, re.M)


def pictures(id: str, folder: str) -> list[str]:
    """The kept plots of a scenario; ``folder`` is theirs, as seen from the page."""
    titles = {"": "regret of all agents", "-bounds": "regret and the bounds of the theory"}
    names = {f"{plot_stem(id).name}{end}.png": title for end, title in titles.items()}
    kept = {name: title for name, title in names.items() if (RESULTS / name).is_file()}
    return [f"![{id}: {title}]({folder}{name})" for name, title in kept.items()]


def _size(kept: dict[str, Any]) -> str:
    return f"{kept['trials']} trials of {kept['horizon']} rounds, base seed {kept['seed']}"


def _tables(scenario: Scenario, kept: dict[str, Any]) -> list[str]:
    notes = {e.label: e.note for e in (*scenario.agents, *scenario.alternatives)}
    metrics = reported_metrics(scenario.metric, kept["optimum_moves"])
    parts = []
    for cell in kept["cells"]:
        if cell["params"]:
            # Attributes of a heading would stand in braces.
            parts.append(f"### {words(cell['params'])}".replace("{", r"\{"))
        parts.append(_table(cell, metrics, notes))
    return parts


def _shown(scenario: Scenario) -> list[str]:
    """Plots, tables, claims, command and notes; empty without reference results."""
    kept = references.load(scenario.id)
    if kept is None:
        return []
    v, m = kept["versions"], kept["machine"]
    return [
        *pictures(scenario.id, "../../results/"),
        f"{_size(kept)}.",
        *_tables(scenario, kept),
        *_claims(scenario.id),
        REFERENCE,
        _command(f"reference {scenario.id} --check"),
        *said_of(scenario),
        f"Made with gpbandits-env {v['gpbandits-env']}, Python {v['python']}, "
        f"NumPy {v['numpy']}, {', '.join(m['blas'])} on {m['processor']}.",
    ]


def _claims(id: str) -> list[str]:
    """The claims that are judged by a scenario, with the verdicts in the main reading."""
    page = f"../../papers/{group_of(id)}.md"
    rows = [
        [f"[{literal(claim.says)}]({page}#{claim.id.partition('/')[2]})", main.verdict]
        for claim, main, _ in verdicts(group_of(id))
        if id in concerned(claim)
    ]
    return [markdown(["claim that is judged by this scenario", "verdict"], rows)] if rows else []


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


# -- A page for each scenario, in the site only ---------------------------------------------------


def pages() -> dict[str, str]:
    """The source of every scenario's page."""
    return {f"scenarios/{s.id}.md": _page(s) for s in registry.scenarios().values()}


def by_paper(uris: dict[str, str]) -> list[dict[str, list[dict[str, str]]]]:
    """The entries of the navigation, one per paper."""
    found = defaultdict(list)
    for uri in uris:
        _, group, name = uri.removesuffix(".md").split("/")
        found[group].append({name: uri})
    return [{group: entries} for group, entries in found.items()]


def overview() -> str:
    """The tables of all scenarios, one per paper."""
    rows = defaultdict(list)
    for s in registry.scenarios().values():
        kept = "table and plot" if references.load(s.id) else "not yet"
        link, size = f"[{s.id}](scenarios/{s.id}.md)", f"{s.trials} trials of {s.horizon} rounds"
        rows[group_of(s.id)].append([link, s.title, size, kept])
    head = ["scenario", "what it is", "size", "results"]
    return "\n\n".join(
        f"## {group}\n\n[What the claims come to](papers/{group}.md), and "
        f"[all means on one page](results/{group}.md).\n\n{markdown(head, lines)}"
        for group, lines in rows.items()
    )


def _page(scenario: Scenario) -> str:
    cited = " ".join(citation(group_of(scenario.id)))
    parts = [f"# {scenario.id}", f"{_capital(scenario.title)}.", f"{scenario.source}. {cited}"]
    parts += _shown(scenario) or [
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
