"""The documentation's page of results of a paper, written from the reference files."""

from pathlib import Path
from typing import Any

from gpbandits_env.errors import StoreError
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.metrics import KNOWN
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.scenario import Picture, Scenario

MARKS = {True: "holds", False: "**does not hold**", None: "not checked"}


def plot_stem(root: Path, id: str) -> Path:
    """Where the plot of a scenario stands in the documentation, less the suffix."""
    return root / "docs" / "results" / id.replace("/", "-")


def write_page(root: Path, paper: str) -> Path:
    """Write docs/results/PAPER.md from the reference files of the paper's scenarios.

    What is said of them by hand, in scenarios/reference/PAPER/summary.md, comes first.

    Args:
        root: the checkout.
        paper: the paper's short name.
    Raises:
        StoreError: the page cannot be written.
    """
    parts = [
        f"# Results: {paper}",
        "Mean over the trials ± standard error, at the last round. The command above each table "
        "repeats it. Last come other readings of the paper (its "
        "CHOICEs); the last column says which.",
    ]
    summary = root / "scenarios" / "reference" / paper / "summary.md"
    if summary.is_file():
        parts.append(summary.read_text(encoding="utf-8").strip())
    for scenario in registry.scenarios().values():
        if scenario.id.startswith(f"{paper}/"):
            parts += _section(scenario, root)
    path = root / "docs" / "results" / f"{paper}.md"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def _section(scenario: Scenario | Picture, root: Path) -> list[str]:
    if isinstance(scenario, Picture):
        shown = picture(scenario, root)
        return [f"## {scenario.id}", *shown] if shown else []
    kept = references.load_from(root / "scenarios", scenario.id)
    return section(scenario, kept, root) if kept is not None else []


def picture(found: Picture, root: Path) -> list[str]:
    """The part of the page about one illustration; empty if it is not drawn in the checkout."""
    stem = plot_stem(root, found.id)
    if not stem.with_name(f"{stem.name}.png").is_file():
        return []
    return [
        f"{found.title[0].upper()}{found.title[1:]} ({found.source}), drawn by",
        f"```sh\ngpbandits run {found.id}\n```",
        f"![{found.title}]({stem.name}.png)",
    ]


def section(scenario: Scenario, kept: dict[str, Any], root: Path) -> list[str]:
    """The part of the page about one scenario: heading, size, command, tables, plots, notes."""
    stem = plot_stem(root, scenario.id)
    parts = [
        f"## {scenario.id}",
        f"{scenario.title[0].upper()}{scenario.title[1:]} ({scenario.source}): "
        f"{kept['trials']} trials of {kept['horizon']} rounds, base seed {kept['seed']}.",
        f"```sh\ngpbandits reference {scenario.id} --check\n```",
    ]
    notes = {e.label: e.note for e in (*scenario.agents, *scenario.alternatives)}
    for cell in kept["cells"]:
        if cell["params"]:
            parts.append("### " + ", ".join(f"{k} = {v}" for k, v in cell["params"].items()))
        parts += [_table(cell, notes), _findings(cell)]
    parts.append(f"![regret of all agents]({stem.name}.png)")
    with_bounds = stem.with_name(f"{stem.name}-bounds.png")
    if with_bounds.is_file():
        parts.append(f"![regret and the bounds of the theory]({with_bounds.name})")
    parts += said_of(scenario)
    v, m = kept["versions"], kept["machine"]
    parts.append(
        f"Made with gpbandits-env {v['gpbandits-env']}, Python {v['python']}, "
        f"NumPy {v['numpy']}, {', '.join(m['blas'])} on {m['processor']}."
    )
    return parts


def said_of(scenario: Scenario) -> list[str]:
    """Its choices and departures, a list each; none where it has none."""
    lists = {"Choices": scenario.choices, "Departures": scenario.departures}
    return [
        f"{title}:\n\n" + "\n".join(f"- {line}" for line in lines)
        for title, lines in lists.items()
        if lines
    ]


def _table(cell: dict[str, Any], notes: dict[str, str]) -> str:
    known = [name for name in KNOWN if all(name in of for of in cell["agents"].values())]
    lines = [
        "| agent | " + " | ".join(KNOWN[name].title for name in known) + " | setting |",
        "| --- | " + "---: | " * len(known) + "--- |",
    ]
    for label, metrics in cell["agents"].items():
        numbers = [f"{metrics[name][0]:.4g} ± {metrics[name][1]:.2g}" for name in known]
        lines.append(f"| {label} | " + " | ".join(numbers) + f" | {notes.get(label, '')} |")
    return "\n".join(lines)


def _findings(cell: dict[str, Any]) -> str:
    lines = [
        f"- {MARKS[c['holds']]}: {c['statement']} "
        f"({', '.join(f'{name} {value:.4g}' for name, value in c['numbers'].items())})"
        for c in cell["findings"]
    ]
    return "Findings of the paper:\n\n" + "\n".join(lines) if lines else ""
