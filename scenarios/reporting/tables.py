"""Reports as text for a terminal, and as Markdown."""

import re
from collections.abc import Container, Iterable, Sequence

from gpbandits_env.display import aligned as aligned
from gpbandits_env.display import counted
from gpbandits_env.scenarios.metrics import KNOWN
from gpbandits_env.scenarios.results.report import CellReport, Report
from gpbandits_env.scenarios.scenario import words


def text(report: Report, pairs: bool = True) -> str:
    """The report for a terminal, with the paired comparisons if ``pairs``."""
    s = report.scenario
    counts = sorted({a.trials for cell in report.cells for a in cell.agents})
    fewer = f"{counts[0]} to " if len(counts) > 1 else ""
    size = f"{fewer}{counted(counts[-1], 'trial')} of {counted(s['horizon'], 'round')}"
    lines = [f"{s['id']}: {s['title']}", f"{s['source']}; {size}, seed {s['seed']}"]
    for cell in report.cells:
        lines += ["", *_cell(cell, report.metrics, pairs)]
    if report.failures:
        lines += ["", f"{len(report.failures)} failed:", *(f"  {f}" for f in report.failures[:5])]
    return "\n".join([*lines, "", f"digest   {report.digest[:16]}"])


def markdown(
    head: Sequence[str], rows: Iterable[Sequence[object]], right: Container[int] = ()
) -> str:
    """A Markdown table; the columns in ``right``, counted from 0, are aligned to the right."""
    rule = ["---:" if i in right else "---" for i in range(len(head))]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (head, rule, *rows))


def booktabs(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for LaTeX, which needs the package booktabs; the first column is on the left.

    It is set small, so that the card of a suite, with all agents, fits on a page.
    """
    lines = [" & ".join(map(_in_latex, row)) + r" \\" for row in (head, *rows)]
    table = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{_in_latex(caption)}}}"),
        r"\footnotesize\setlength{\tabcolsep}{3pt}",
        *(rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", lines[0], r"\midrule"),
        *(*lines[1:], r"\bottomrule", r"\end{tabular}", r"\end{table}"),
    ]
    return "\n".join(table)


def _in_latex(words: str) -> str:
    """Words in which no character has a meaning in LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    safe = "".join(special.get(c, f"\\{c}" if c in "_&%#${}" else c) for c in words)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", safe)


def _cell(cell: CellReport, metrics: Sequence[str], pairs: bool) -> list[str]:
    head, rows = rows_of(cell, metrics)
    lines = [words(cell.params)] if cell.params else []
    lines += aligned([head, *rows])
    if pairs and cell.comparisons:
        title = KNOWN[metrics[0]].title
        lines += ["", f"paired differences of the {title} (mean, standard error, p of a t test)"]
        lines += aligned(pairs_of(cell))
    return lines


def rows_of(cell: CellReport, metrics: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the table of a cell, without columns that would say nothing."""
    agents = cell.agents
    columns = {"agent": [a.label for a in agents]}
    if len({a.trials for a in agents}) > 1:
        columns["trials"] = [str(a.trials) for a in agents]
    columns |= {KNOWN[n].title: [a.words(n) for a in agents] for n in metrics}
    if len(agents) > 1:
        columns["mean rank"] = [f"{a.rank:.2f}" for a in agents]
    if not all(a.model_order in (0.0, a.evaluations) for a in agents):
        columns["model order"] = [f"{a.model_order:.4g}" for a in agents]
    if len({a.evaluations for a in agents}) > 1:
        columns["evaluations"] = [f"{a.evaluations:.6g}" for a in agents]
    columns["us/round"] = [f"{a.microseconds:.0f}" for a in agents]
    if max(a.evaluating for a in agents) > 0.1 * max(a.microseconds for a in agents):
        columns["evaluating us/round"] = [f"{a.evaluating:.0f}" for a in agents]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def pairs_of(cell: CellReport) -> list[list[str]]:
    """The paired comparisons of a cell: the difference, its standard error, and p of a t test."""
    return [
        [
            f"{c.a} - {c.b}",
            f"{c.result.difference:+.4g}",
            f"{c.result.se:.2g}",
            f"{c.result.p:.2g}" if c.result.se else "identical trials",
        ]
        for c in cell.comparisons
    ]
