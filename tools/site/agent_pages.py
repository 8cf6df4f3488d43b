"""The table of docs/agents.md and one page per agent, from their docstrings and signatures.

`python tools/site/agent_pages.py` writes the table into docs/agents.md for readers of the
checkout. The build of the site writes it again.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import agent_pictures
from docstrings import in_cell, meanings, plain, prose
from marked import filled
from scenario_pages import made

from gpbandits_env import agents
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.registry import OVERRIDES, agent_class
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting.tables import markdown

PAPER = re.compile(r"^Paper: (.*?)(?=\n[A-Z]\w+:|\n\n|\Z)", re.DOTALL | re.MULTILINE)


def table(linked: bool = False) -> str:
    """The table of all agents: a description, the source and the settings.

    Args:
        linked: whether the name of an agent links to its page on the site.
    """
    rows = []
    for name in agents.names():
        cls, shown = agent_class(name), f"`{name}`"
        first = (inspect.getdoc(cls) or "").partition("\n")[0]
        own = ", ".join(f"`{key}`" + (f" ({value})" if value else "") for key, value in _own(cls))
        link = f"[{shown}](agents/{name}.md)" if linked else shown
        rows.append([link, in_cell(plain(first)), in_cell(plain(_source(cls))), own])
    return markdown(["name", "what it is", "source", "settings (defaults)"], rows)


def pages() -> dict[str, str]:
    """The source of every agent's page."""
    return {f"agents/{name}.md": _page(name) for name in agents.names()}


def _source(cls: type[agents.Agent]) -> str:
    """The paper that a module names, without its title and further remarks."""
    paper = PAPER.search(sys.modules[cls.__module__].__doc__ or "")
    assert paper is not None, f"{cls.__module__} opens with its paper"
    short = re.split(r"[;:] |(?<=\d{4}\)), |, as a| \(\"", " ".join(paper[1].split()))[0]
    return short.rstrip(".")


def _own(cls: type[agents.Agent]) -> Iterator[tuple[str, str]]:
    """The settings that a class adds, with their defaults where these are plain values."""
    usual = Parts().settings
    stated = cls.PARTS.settings if issubclass(cls, agents.GPAgent) else {}
    own = {k: v for k, v in stated.items() if k not in usual or usual[k] != v}
    for parameter in inspect.signature(cls.__init__).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            own[parameter.name] = parameter.default
    for name, default in own.items():
        yield name, f"{default}" if isinstance(default, (str, int, float)) else ""


def _page(name: str) -> str:
    cls = agent_class(name)
    module = sys.modules[cls.__module__]
    shared = issubclass(cls, agents.GPAgent) and cls is not agents.GPAgent
    own = re.search(r"Departures.*?(?=\n\n)", inspect.getdoc(agents.GPAgent) or "", re.DOTALL)
    assert own is not None, "GPAgent states its departures"
    about, raises, errors = prose(cls).partition("**Raises**")
    return made.get_template("agent.md").render(
        name=name,
        about=about,
        errors=raises + errors,
        caption=agent_pictures.caption(name),
        notes=_notes(plain(module.__doc__ or "")),
        shared=_notes(plain(own[0])) if shared else "",
        settings=_settings(name),
        overrides=", ".join(f"`{key}`" for key in OVERRIDES),
        scenarios=[
            s.id
            for s in registry.scenarios().values()
            if any(e.agent == name for e in (*s.agents, *s.alternatives))
        ],
        source=cls.__module__.replace(".", "/").removeprefix("gpbandits_env/"),
    )


def _notes(docstring: str) -> str:
    """The paragraphs Paper, Assumes and Departures of a docstring; the departures become a list."""
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
    head = ["setting", "default", "meaning"]
    return markdown(head, rows) if rows else "This agent has no settings of its own."


if __name__ == "__main__":
    page = Path(__file__).parents[2] / "docs" / "agents.md"
    page.write_text(filled(page.read_text("utf-8"), {"agents": table()}), encoding="utf-8")
