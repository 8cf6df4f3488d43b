"""All findings of the five papers on one page: what each paper says, and what we found."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scenario_pages import Checked, checked, group_of

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.findings import Check
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.scenario import words

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


def judged() -> Iterator[Judged]:
    """Every finding of every scenario of a paper that is not itself another reading of one."""
    known = [row for row in checked() if group_of(row[0].id) in registry.PAPERS]
    for s, params, _, check in known:
        if s.reading_of:
            continue
        outcome = {True: HOLDS, False: FAILS, None: OPEN}[check["holds"]]
        readings = [row for row in known if row[0].reading_of == s.id]
        reading = _reading(readings, check, params) if outcome == FAILS else ""
        numbers, outcome = Check(**check).figures, READING if reading else outcome
        yield Judged(s.id, words(params), check["statement"], outcome, numbers, reading)


def _reading(readings: list[Checked], check: dict[str, Any], params: dict[str, Any]) -> str:
    """The first of these scenarios in which the same claim holds; empty if there is none.

    Where a reading has the same point of the grid, the claim must hold there, otherwise everywhere.
    A reading may measure it by another metric, too: the claim then holds if it does by one of them.
    """
    for id, group in groupby(readings, lambda row: row[0].id):
        rows, by_metric = list(group), defaultdict[str, list[bool]](list)
        same = [row for row in rows if row[1] == params]
        for *_, c in same or rows:
            if _claim(c) == _claim(check):
                by_metric[c["statement"].partition(";")[0]].append(c["holds"])
        if any(all(held) for held in by_metric.values()):
            return id
    return ""


def _claim(check: dict[str, Any]) -> str:
    """What a finding claims, without its metric and without what was noticed about the trials."""
    claim: str = check["statement"].partition(";")[0].partition(", in ")[0]
    return claim


def findings() -> str:
    """The generated part of docs/findings.md: counts per paper, then one row per finding."""
    rows, order = list(judged()), (HOLDS, READING, FAILS, OPEN)
    counts = Counter((group_of(row.scenario), row.outcome) for row in rows)
    table = [[p, *(counts[p, o] for o in order)] for p in registry.PAPERS]
    held, read, failed, _ = totals = [sum(row.outcome == o for row in rows) for o in order]
    of = held + read + failed
    lines = []
    for r in rows:
        here = f"[{r.outcome}](scenarios/{r.reading}.md)" if r.reading else r.outcome
        link = f"[{r.scenario}](scenarios/{r.scenario}.md)"
        lines.append([link, r.where, r.statement, here, r.numbers])
    return "\n\n".join(
        [
            f"{held + read} of the {of} findings that could be judged ({(held + read) / of:.0%}) "
            f"hold, {read} of them under a named reading.",
            markdown(["paper", *order], [*table, ["all", *totals]], right=range(1, 5)),
            "## Finding by finding",
            markdown(["scenario", "where", "what the paper says", "here", "numbers"], lines),
        ]
    )
