"""All findings of the five papers on one page: what each paper says, and what we found."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenario_pages import kept_of

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.findings import Check
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.scenario import Scenario, words

HOLDS, READING, FAILS, OPEN = (
    "holds",
    "holds under a named reading",
    "does not hold",
    "cannot be judged at this size",
)


@dataclass(frozen=True)
class Judged:
    """One finding in one cell of a scenario.

    ``reading`` is the scenario under whose reading of the paper it holds, where it does not hold
    under the main one.
    """

    scenario: str
    where: str
    statement: str
    outcome: str
    numbers: str
    reading: str = ""


def judged(root: Path) -> Iterator[Judged]:
    """Every finding of every scenario of a paper that is not itself another reading of one."""
    declared = [
        s for s in registry.scenarios().values() if s.id.partition("/")[0] in registry.PAPERS
    ]
    for s in declared:
        kept = None if s.reading_of else kept_of(root, s.id)
        readings = [r for r in declared if r.reading_of == s.id]
        for cell in kept["cells"] if kept else ():
            where = words(cell["params"])
            for check in cell["findings"]:
                outcome = {True: HOLDS, False: FAILS, None: OPEN}[check["holds"]]
                at = cell["params"]
                reading = _reading(root, readings, check, at) if outcome == FAILS else ""
                outcome, figures = READING if reading else outcome, Check(**check).figures
                yield Judged(s.id, where, check["statement"], outcome, figures, reading)


def _reading(
    root: Path, readings: list[Scenario], check: dict[str, Any], params: dict[str, Any]
) -> str:
    """The first of these scenarios in which the same claim holds; empty if there is none.

    Where a reading has the same point of the grid, the claim must hold there, otherwise everywhere.
    A reading may measure it by another metric, too: the claim then holds if it does by one of them.
    """
    for r in readings:
        kept, by_metric = kept_of(root, r.id), defaultdict[str, list[bool]](list)
        cells = kept["cells"] if kept else []
        same = [cell for cell in cells if cell["params"] == params]
        for c in (c for cell in same or cells for c in cell["findings"]):
            if _claim(c) == _claim(check):
                by_metric[c["statement"].partition(";")[0]].append(c["holds"])
        if any(all(held) for held in by_metric.values()):
            return r.id
    return ""


def _claim(check: dict[str, Any]) -> str:
    """What a finding claims, without its metric and without what was noticed about the trials."""
    claim: str = check["statement"].partition(";")[0].partition(", in ")[0]
    return claim


def findings(root: Path) -> str:
    """The generated part of docs/findings.md: counts per paper, then one row per finding."""
    rows = list(judged(root))
    counts = Counter((row.scenario.partition("/")[0], row.outcome) for row in rows)
    order = (HOLDS, READING, FAILS, OPEN)
    table = [[p, *(counts[p, o] for o in order)] for p in registry.PAPERS]
    totals = [sum(line[i] for line in table) for i in range(1, 5)]
    share = (totals[0] + totals[1]) / max(sum(totals[:3]), 1)
    lines = [
        [
            f"[{row.scenario}](scenarios/{row.scenario}.md)",
            row.where,
            row.statement,
            f"[{row.outcome}](scenarios/{row.reading}.md)" if row.reading else row.outcome,
            row.numbers,
        ]
        for row in rows
    ]
    return "\n\n".join(
        [
            f"{totals[0] + totals[1]} of the {sum(totals[:3])} findings that could be judged "
            f"({share:.0%}) hold, {totals[1]} of them under a named reading.",
            markdown(["paper", *order], [*table, ["all", *totals]], right=range(1, 5)),
            "## Finding by finding",
            markdown(["scenario", "where", "what the paper says", "here", "numbers"], lines),
        ]
    )
