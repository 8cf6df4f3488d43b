"""The API reference: one page per public package, made by mkdocstrings."""

import re
import shutil
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import formulas

import gpbandits_env
from gpbandits_env.scenarios.reporting.tables import markdown

ROOT = Path(__file__).parents[2]
OFFERED = re.compile(r"^from .* import (?:\(\n *)?(\w+) as \1\b", re.MULTILINE)
WITHIN = re.compile(r":math:`([^`]+)`")


def assemble(folder: Path) -> None:
    """Copy the sources as they are installed, with formulas as MathML, so that none is imported."""
    package, left_out = folder / "gpbandits_env", shutil.ignore_patterns("__pycache__", "reference")
    shutil.copytree(ROOT / "gpbandits_env", package, ignore=left_out)
    for name in ("agents", "scenarios"):
        shutil.copytree(ROOT / name, package / name, ignore=left_out)
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name == "__init__.py" and (offered := OFFERED.findall(text)):
            text += f"\n__all__ = {offered}\n"  # the reader knows this form only
        text = formulas.DIRECTIVE.sub(_formula, text)
        text = WITHIN.sub(lambda found: formulas.converted(found[1], "inline"), text)
        path.write_text(text, encoding="utf-8")


def _formula(found: re.Match[str]) -> str:
    formula = formulas.converted(formulas.tex(found), "block")
    return f'{found[1]}<div class="math">{formula}</div>'


def packages() -> list[str]:
    """The public packages and the modules next to them, by dotted name."""
    root = Path(gpbandits_env.__file__).parent
    ours = {m.name for m in iter_modules([str(root)])} - ROOMS | {"agents", "scenarios"}
    ours |= {f"{room}.{m.name}" for room in ROOMS for m in iter_modules([str(root / room)])}
    return [f"gpbandits_env.{name}" for name in sorted(ours) if not name.startswith("_")]


# Folders of packages, each of which has its own page.
ROOMS = {"gp", "rewards"}
# What agents and scenarios offer in modules; their packages are found.
MODULES = {
    "gpbandits_env.agents": (
        *("acquisitions.rules", "acquisitions.schedules", "data.columns", "data.compression"),
        *("data.conditioned", "data.keep", "data.refit", "data.part", "parts"),
    ),
    "gpbandits_env.scenarios": (
        *("scenario", "study.run", "study.engines"),
        *("results.report", "results.statistics", "suite.card", "suite.scores", "suite.comparison"),
    ),
}


def pages() -> dict[str, str]:
    """The source of every package's page."""
    found = {}
    for name in packages():
        path = getattr(import_module(name), "__path__", [])
        inside = {m.name for m in iter_modules(path) if m.ispkg and m.name != "cli"}
        parts = [f"# {name}", f"::: {name}"]
        for module in (*sorted(inside), *MODULES.get(name, ())):
            parts += [f"## {name}.{module}", f"::: {name}.{module}"]
            parts[-1] += "\n    options:\n      heading_level: 3"
        found[f"api/{name}.md"] = "\n\n".join(parts) + "\n"
    return found


def overview() -> str:
    """All packages with their first lines."""
    rows = []
    for name in packages():
        first = (import_module(name).__doc__ or "").strip().partition("\n")[0]
        rows.append([f"[`{name}`]({name}.md)", first])
    return markdown(["package", ""], rows)
