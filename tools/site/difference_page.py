"""The differences between our results and the papers, from reference files and docstrings."""

import ast
import re
from collections import Counter, defaultdict

from markdown.extensions.toc import slugify
from scenario_pages import ROOT, checked, group_of, said_of

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.findings import Check
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.scenario import words

ERRATUM = re.compile(r"\bERRATUM:?\s*(.*?)(?=\n\s*\n|; \d+\. |\n\s*\w+: |\Z)", re.DOTALL)


def differences() -> str:
    """The generated part of docs/differences.md."""
    parts = ["## Findings that do not hold here", *_findings()]
    parts += ["## Departures and choices, scenario by scenario", *_notes()]
    parts += ["## Misprints in the papers", _errata()]
    return "\n\n".join(parts)


def _findings() -> list[str]:
    judged, rows = 0, []
    counts: Counter[tuple[str, str]] = Counter()
    for s, params, finding, check in checked():
        judged += check["holds"] is not None
        if check["holds"] is False:
            why, link = _why(finding.reason), f"[{s.id}](scenarios/{s.id}.md)"
            rows.append([link, words(params), check["statement"], Check(**check).figures, why])
            counts[group_of(s.id), why] += 1
    return [
        f"{judged - len(rows)} of {judged} findings that were checked hold; "
        f"these {len(rows)} do not:",
        markdown(["paper", "why", "rows"], [[*key, n] for key, n in counts.items()], right=[2]),
        markdown(["scenario", "where", "finding", "here", "why"], rows),
    ]


def _why(heading: str) -> str:
    return f"[{heading}](#{slugify(heading, '-')})" if heading else "not known"


def _notes() -> list[str]:
    """Each distinct list of notes once, because scenarios of one family share theirs."""
    groups = defaultdict[tuple[str, ...], list[str]](list)
    for s in registry.scenarios().values():
        groups[tuple(said_of(s))].append(s.id)
    parts = []
    for said, ids in groups.items():
        if said:
            more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
            links = ", ".join(f"[{id}](scenarios/{id}.md)" for id in ids)
            parts += [f"### {ids[0]}{more}", links, *said]
    return parts


def _errata() -> str:
    rows = [
        [f"`{path.relative_to(ROOT)}`", f"`{name}`", text]
        for folder in ("gpbandits_env", "agents", "scenarios")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, text in errata(path.read_text(encoding="utf-8"))
    ]
    return markdown(["file", "of", "what is printed, and what is meant"], rows)


def errata(source: str) -> list[tuple[str, str]]:
    """(function or class, note) for each ERRATUM that the docstrings of a module state."""
    found = []
    tree = ast.parse(source if "ERRATUM" in source else "")  # most modules have none
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            for note in ERRATUM.finditer(ast.get_docstring(node) or ""):
                name = "module" if isinstance(node, ast.Module) else node.name
                found.append((name, " ".join(note[1].split()).replace("|", "\\|")))
    return found
