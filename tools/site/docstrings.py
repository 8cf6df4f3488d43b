"""Docstrings as Markdown."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import formulas
from griffe import Docstring, DocstringSection, DocstringSectionKind

LISTED = ("attributes", "raises", "returns")


def sections_of(cls: type[Any]) -> list[DocstringSection]:
    """The sections of a class's own docstring, with asterisks as they are."""
    text = re.sub(r"\n(?=(?:Raises|Returns|Attributes):\n)", "\n\n", plain(cls.__doc__ or ""))
    return Docstring(text).parse("google", warnings=False)


def plain(text: str) -> str:
    """The text with asterisks as they are and formulas between dollar signs."""
    marked = formulas.DIRECTIVE.sub(lambda f: f"$$\n{formulas.tex(f)}\n$$", inspect.cleandoc(text))
    kept = r"(`[^`]*`|\$\$.*?\$\$)|\*"
    return re.sub(kept, lambda found: found[1] or r"\*", marked, flags=re.DOTALL)


def meanings(cls: type[Any]) -> dict[str, str]:
    """What the docstrings of a class and its bases say of arguments, the nearest class first.

    Those of an agent's parts come last.
    """
    found: dict[str, str] = {}
    for base in (*cls.__mro__, *([type(cls.PARTS)] if hasattr(cls, "PARTS") else [])):
        for section in sections_of(base):
            if section.kind is DocstringSectionKind.parameters:
                for entry in section.value:
                    found.setdefault(entry.name, in_cell(entry.description))
    return found


def call(name: str, settings: Mapping[str, Any]) -> str:
    """The arguments of a call, of which the first is a name."""
    return ", ".join([f'"{name}"', *(f"{key}={value!r}" for key, value in settings.items())])


def in_cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def prose(cls: type[Any]) -> str:
    """The docstring of a class without arguments and source; other sections become headed lists."""
    parts = []
    for section in sections_of(cls):
        if section.kind is DocstringSectionKind.text:
            text = re.sub(r"^Source:.*\n?", "", section.value, flags=re.MULTILINE)
            parts.append(re.sub(r"^(Cost[^:]*):", r"\n**\1:**", text, flags=re.MULTILINE))
        elif section.kind.value in LISTED:
            parts.append(f"**{section.kind.value.capitalize()}**")
            named = (
                (getattr(e, "name", None) or e.annotation, e.description) for e in section.value
            )
            parts.append("\n".join(f"- `{name}`: {' '.join(said.split())}" for name, said in named))
    return "\n\n".join(parts)
