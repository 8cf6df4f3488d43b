"""The notebooks of docs/notebooks as pages of the site: their text and code, without outputs."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
LINK = re.compile(r"\]\(((?:notebooks/)?\w+)\.ipynb\)")
ORDER = ("first_steps", "drifting_scenario", "optimise_your_function")


def pages() -> dict[str, str]:
    """The Markdown of each notebook by its address in the site; those in `ORDER` come first."""
    found = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    names = sorted(found, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    return {f"notebooks/{name}.md": _page(found[name]) for name in names}


def linked(markdown: str) -> str:
    """The page with links to the pages of notebooks instead of to their files."""
    return LINK.sub(r"](\1.md)", markdown)


def _page(path: Path) -> str:
    title, *rest = map(_cell, json.loads(path.read_text(encoding="utf-8"))["cells"])
    download = f'<a href="{path.name}" download>Download this notebook</a>'
    return "\n\n".join([linked(title), download, *map(linked, rest)]) + "\n"


def _cell(cell: dict[str, object]) -> str:
    text = "".join(map(str, cell["source"]))  # type: ignore[call-overload]
    return text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
