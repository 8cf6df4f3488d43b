"""Results as one web page that holds everything: tables, findings and plots, no other file."""

import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from gpbandits_env.errors import StoreError
from gpbandits_env.scenarios.reporting.plots import plot
from gpbandits_env.scenarios.reporting.tables import rows_of
from gpbandits_env.scenarios.results.report import CellReport, Report, report
from gpbandits_env.scenarios.results.store import Store

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #262626; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 3rem; }
h3 { font-size: 1rem; color: #555; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #e6e6e6; text-align: right;
         white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #8c8c8c; }
ul.findings { list-style: none; padding: 0; }
.findings li { padding-left: 10.5rem; text-indent: -10.5rem; }
.mark { display: inline-block; width: 10.5rem; text-indent: 0; white-space: nowrap; }
.holds { color: #007a5a; } .fails { color: #b03a00; font-weight: 600; } .open { color: #777; }
.small, footer { color: #666; font-size: .85rem; }
svg { max-width: 100%; height: auto; background: #fff; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #1a1a1a; } th, td { border-color: #3a3a3a; }
  h3, .small, footer, .open { color: #aaa; } .holds { color: #35c49a; } .fails { color: #ff8a4c; }
}
@media print { body { max-width: none; } }
"""


def page(paths: Sequence[str | Path], metric: str | None = None) -> str:
    """The page of some results files.

    Args:
        paths: the files, shown in this order.
        metric: what ranks and comparisons go by; None for each scenario's own.
    Raises:
        UnknownName: no such metric.
        StoreError: a file cannot be read or holds no finished trial.
    """
    with tempfile.TemporaryDirectory() as folder:
        parts = [_section(Path(path), metric, Path(folder)) for path in paths]
    title = f"{len(parts)} studies" if len(parts) > 1 else parts[0][0]
    contents = "".join(f'<li><a href="#{i}">{escape(t)}</a></li>' for i, (t, _) in enumerate(parts))
    body = "".join(f'<section id="{i}">{text}</section>' for i, (_, text) in enumerate(parts))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>{f'<ul>{contents}</ul>' if len(parts) > 1 else ''}{body}"
        "</body></html>\n"
    )


def save_page(paths: Sequence[str | Path], target: Path, metric: str | None = None) -> Path:
    """Write the page of some results files.

    Raises:
        StoreError: a file cannot be read, or the page cannot be written.
        UnknownName: no such metric.
    """
    text = page(paths, metric)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror or error}") from None
    return target


def _section(path: Path, metric: str | None, folder: Path) -> tuple[str, str]:
    with Store.open(path) as store:
        found = report(store, metric)
        drawn = plot(store, folder / "plot", suffixes=(".svg",))
        made = {"versions": store.meta("versions"), "machine": store.meta("machine")}
    title = f"{found.scenario['id']}: {found.scenario['title']}"
    pictures = "".join(_picture(file) for file in drawn)
    cells = "".join(_cell(cell, found) for cell in found.cells)
    return title, (
        f"<h2>{escape(title)}</h2>"
        f'<p class="small">{escape(_source(found))}</p>'
        f"{_failures(found)}{cells}<figure>{pictures}</figure>"
        f"{_notes('Choices', found.scenario.get('choices', ()))}"
        f"{_notes('Departures', found.scenario.get('departures', ()))}"
        f"<footer>results {found.digest[:16]} · {escape(_made(made))}</footer>"
    )


def _source(found: Report) -> str:
    s = found.scenario
    trials = max(agent.trials for cell in found.cells for agent in cell.agents)
    return f"{s['source']}. {trials} trials of {s['horizon']} rounds, base seed {s['seed']}."


def _made(made: dict[str, dict[str, str]]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return f"{versions} · {made['machine'].get('processor', '')}"


def _cell(cell: CellReport, found: Report) -> str:
    head, rows = rows_of(cell, found.metric)
    title = ", ".join(f"{key} = {value}" for key, value in cell.params.items())
    return (
        f"{f'<h3>{escape(title)}</h3>' if title else ''}"
        f'<div class="wide">{_table(head, rows)}</div>{_findings(cell)}'
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(word)}</th>" for word in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(word)}</td>" for word in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _findings(cell: CellReport) -> str:
    if not cell.findings:
        return ""
    classes = {True: "holds", False: "fails", None: "open"}
    lines = "".join(
        f'<li><span class="mark {classes[check.holds]}">{escape(check.mark)}</span>'
        f'{escape(check.statement)} <span class="small">{escape(check.figures)}</span></li>'
        for check in cell.findings
    )
    return f'<p>Findings of the paper:</p><ul class="findings">{lines}</ul>'


def _failures(found: Report) -> str:
    if not found.failures:
        return ""
    lines = "".join(f"<li>{escape(text)}</li>" for text in found.failures)
    return f'<p class="fails">{len(found.failures)} trials failed:</p><ul>{lines}</ul>'


def _notes(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f"<p>{title}:</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _picture(file: Path) -> str:
    """An SVG to stand in a page: without the XML declaration and document type."""
    text = file.read_text(encoding="utf-8")
    return text[text.index("<svg") :]
