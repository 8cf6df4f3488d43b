"""Results as one web page that holds everything: tables, findings and plots, no other file."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gpbandits_env.files import check_output, write_text
from gpbandits_env.scenarios.reporting.plots import plot
from gpbandits_env.scenarios.reporting.tables import rows_of
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store


def page(paths: Sequence[str | Path], metric: str | None = None) -> str:
    """The page of some results files, in their order, ranked by a metric or each by its own.

    Raises:
        UnknownName: no such metric.
        StoreError: a file cannot be read or holds no finished trial.
    """
    studies = [_study(Path(path), metric) for path in paths]
    title = f"{len(studies)} studies" if len(studies) > 1 else studies[0]["title"]
    templates = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("page.html").render(title=title, studies=studies, rows_of=rows_of)


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
        return {
            "title": f"{found.scenario['id']}: {found.scenario['title']}",
            "found": found,
            "trials": max(agent.trials for cell in found.cells for agent in cell.agents),
            # To stand in a page, without the XML declaration and document type.
            "plot": picture[picture.index("<svg") :],
            "versions": store.meta("versions"),
            "processor": store.meta("machine").get("processor", ""),
        }
