"""Results as one web page that holds everything: tables, findings and plots, no other file."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from gpbandits_env.files import check_output, write_text
from gpbandits_env.scenarios.metrics import KNOWN
from gpbandits_env.scenarios.reporting import setup
from gpbandits_env.scenarios.reporting.plots import plot
from gpbandits_env.scenarios.reporting.tables import pairs_of, rows_of
from gpbandits_env.scenarios.results.report import AgentResult, CellReport, Report, report
from gpbandits_env.scenarios.results.store import Store


def page(paths: Sequence[str | Path], metric: str | None = None) -> str:
    """The page of some results files, in their order, ranked by a metric or each by its own.

    Several studies have a summary of all of them first.

    Raises:
        UnknownName: no such metric.
        StoreError: a file cannot be read or holds no finished trial.
    """
    studies = [_study(Path(path), metric) for path in paths]
    templates = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    cells = [(study["found"], cell) for study in studies for cell in study["found"].cells]
    return templates.get_template("page.html").render(
        title=f"{len(studies)} studies" if len(studies) > 1 else studies[0]["title"],
        studies=studies,
        summary=[_summary(found, cell) for found, cell in cells],
        standings=_standings([cell for _, cell in cells]),
        rows_of=rows_of,
        pairs_of=pairs_of,
    )


def save_page(paths: Sequence[str | Path], target: Path, metric: str | None = None) -> Path:
    """Write the page of some results files.

    Raises:
        StoreError: a file cannot be read, or the page cannot be written.
        InvalidInput: the page would be written over one of the files, or over no web page.
        UnknownName: no such metric.
    """
    reads = [Path(path) for path in paths]
    check_output(target, "html", reads)
    return write_text(target, page(paths, metric), "html", reads)


def _study(path: Path, metric: str | None) -> dict[str, Any]:
    with Store.open(path) as store, tempfile.TemporaryDirectory() as folder:
        found = report(store, metric)
        (drawn,) = plot(store, Path(folder) / "plot", suffixes=(".svg",))
        picture = drawn.read_text(encoding="utf-8")
        said = setup.environments(store)
        # What all cells have in common is said once.
        common = {k: v for k, v in said[0].items() if all(other.get(k) == v for other in said)}
        return {
            "title": f"{found.scenario['id']}: {found.scenario['title']}",
            "found": found,
            "ranked_by": KNOWN[found.metric].title,
            "trials": max(agent.trials for cell in found.cells for agent in cell.agents),
            "common": common,
            "own": [{k: v for k, v in e.items() if k not in common} for e in said],
            "agents": setup.agents(found.scenario),
            # To stand in a page, without the XML declaration and document type.
            "plot": picture[picture.index("<svg") :],
            "versions": store.described("versions"),
            "processor": store.described("machine").get("processor", ""),
        }


def _summary(found: Report, cell: CellReport) -> dict[str, Any]:
    """A row of the summary: the two best agents of a cell, and how many findings hold."""
    order = sorted(cell.agents, key=lambda agent: agent.mean[found.metric])
    checked = [check.holds for check in cell.findings if check.holds is not None]
    return {
        "id": found.scenario["id"],
        "params": cell.params,
        "metric": KNOWN[found.metric].title,
        "best": [_said(agent, found.metric) for agent in order[:2]],
        "findings": f"{sum(checked)} of {len(checked)}" if checked else "",
    }


def _said(agent: AgentResult, metric: str) -> str:
    return f"{agent.label}: {agent.mean[metric]:.4g} ± {agent.se[metric]:.2g}"


def _standings(cells: Sequence[CellReport]) -> list[list[str]]:
    """Of agents in more than one cell: in how many, the mean rank, and in how many it is first."""
    ranks: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    for cell in cells:
        best = min(agent.rank for agent in cell.agents)
        for agent in cell.agents:
            ranks.setdefault(agent.label, []).append(agent.rank)
            first[agent.label] = first.get(agent.label, 0) + (agent.rank == best)
    several = [label for label, found in ranks.items() if len(found) > 1]
    order = sorted(several, key=lambda label: float(np.mean(ranks[label])))
    return [[k, str(len(ranks[k])), f"{np.mean(ranks[k]):.2f}", str(first[k])] for k in order]
