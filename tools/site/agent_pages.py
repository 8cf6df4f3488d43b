"""One page an agent: its row of docs/agents.md, and its own docstrings."""

import inspect
import re
import sys
from pathlib import Path

from docstrings import in_cell, meanings, plain, prose

from gpbandits_env import agents
from gpbandits_env.agents import GPAgent
from gpbandits_env.agents.registry import OVERRIDES, agent_class
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting.tables import markdown
from gpbandits_env.scenarios.scenario import Scenario

ROW = re.compile(r"^\| `([^`]+)` \| (.*) \|$", re.MULTILINE)


def rows(root: Path) -> dict[str, list[str]]:
    """The table of docs/agents.md: name to [how it chooses, source, settings]."""
    text = (root / "docs" / "agents.md").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for row in ROW.finditer(text):
        if row[1] in agents.names():  # rules of batches have rows of the same names further down
            found.setdefault(row[1], [plain(cell.strip()) for cell in row[2].split("|")])
    return found


def linked(markdown: str) -> str:
    """That table with every agent's name a link to its page."""
    seen: set[str] = set()

    def link(row: re.Match[str]) -> str:
        name = row[1]
        if name in seen or name not in agents.names():
            return row[0]
        seen.add(name)
        return row[0].replace(f"`{name}`", f"[`{name}`](agents/{name}.md)", 1)

    return ROW.sub(link, markdown.replace("f*_", r"f\*_"))


def pages(root: Path) -> dict[str, str]:
    """The source of every agent's page."""
    table = rows(root)
    return {f"agents/{name}.md": _page(name, table.get(name, [])) for name in agents.names()}


def _page(name: str, row: list[str]) -> str:
    cls = agent_class(name)
    module = sys.modules[cls.__module__]
    parts = [f"# {name}", prose(cls)]
    if row:
        parts.append(f"**Plays:** {row[0]}" + (f"  \n**Source:** {row[1]}" if row[1] else ""))
    parts += ["## Paper, assumptions and departures", _notes(plain(module.__doc__ or ""))]
    if issubclass(cls, GPAgent) and cls is not GPAgent:
        own = re.search(r"Departures.*?(?=\n\n)", inspect.getdoc(GPAgent) or "", re.DOTALL)
        assert own is not None, "GPAgent states its departures"
        parts.append(f"Of all agents with a posterior:\n\n{_notes(plain(own[0]))}")
    parts += ["## Settings", _settings(name), *_scenarios_with(name)]
    parts.append(
        f"## Make one\n\n```python\nagent = agents.make({name!r}, env, seed=0)\n```\n\n"
        f"Source: `{cls.__module__.replace('.', '/').removeprefix('gpbandits_env/')}.py`; tests "
        "that replay it with a dense posterior: `tests/agents/`. "
        "[All agents](../agents.md), [the base classes](../api/gpbandits_env.agents.md)."
    )
    return "\n\n".join(parts) + "\n"


def _notes(docstring: str) -> str:
    """Paper, Assumes and Departures of a docstring, the numbered departures as a list."""
    text = re.sub(r"^(Paper|Assumes|Departures[^:]*):", r"\n\n**\1:**", docstring, flags=re.M)
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        joined = " ".join(block.split())
        if joined.startswith("**Departures"):
            joined = re.sub(r"(?:; |\s)(\d+)\. ", r"\n\n\1. ", joined)
        blocks.append(joined)
    return "\n\n".join(blocks)


def _settings(name: str) -> str:
    cls = agent_class(name)
    found, said = agents.settings_of(name), meanings(cls)
    rows = []
    for key, value in found.items():
        default = getattr(cls, f"DEFAULT_{key.upper()}", None) if value is None else value
        shown = repr(dict(default) if hasattr(default, "items") else default)
        rows.append([f"`{key}`", f"`{in_cell(shown)}`", said.get(key, "")])
    table = markdown(["setting", "default", ""], rows) if rows else "None of its own."
    more = ", ".join(f"`{key}`" for key in OVERRIDES)
    return f"{table}\n\nAnd {more}, which replace what the environment tells."


def _scenarios_with(name: str) -> list[str]:
    ids = [
        s.id
        for s in registry.scenarios().values()
        if isinstance(s, Scenario) and any(e.agent == name for e in (*s.agents, *s.alternatives))
    ]
    links = ", ".join(f"[{id}](../scenarios/{id}.md)" for id in ids)
    return [f"## Scenarios with it\n\n{links}"] if ids else []
