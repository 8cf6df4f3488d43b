"""The notebooks of docs/notebooks as pages of the site: their text, their code and its outputs."""

import base64
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
RUNNER = Path(__file__).parent / "notebook_outputs.py"
LINK = re.compile(r"\]\(((?:notebooks/)?\w+)\.ipynb\)")
ORDER = ("first_steps", "drifting_scenario", "optimise_your_function")
WIDTH = 90  # of a line of text in an output
# Whether the notebooks are run, which takes a minute each; otherwise they have no outputs.
RUN = {"notebooks": True}


def pages() -> dict[str, str | bytes]:
    """The pages, pictures and files of all notebooks by address; those in `ORDER` come first."""
    found = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    names = sorted(found, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    made: dict[str, str | bytes] = {}
    for name in names:
        text = executed(found[name]) if RUN["notebooks"] else found[name].read_text("utf-8")
        pictures: dict[str, bytes] = {}
        made[f"notebooks/{name}.md"] = _page(name, json.loads(text)["cells"], pictures)
        made |= {f"notebooks/{name}.ipynb": text} | pictures
    return made


def executed(path: Path) -> str:
    """The file of a notebook with its outputs, which it makes in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.name
        subprocess.run([sys.executable, RUNNER, path, target], cwd=folder, check=True)
        return target.read_text("utf-8")


def linked(markdown: str) -> str:
    """The page with links to the pages of notebooks instead of to their files."""
    return LINK.sub(r"](\1.md)", markdown)


def _page(name: str, cells: list[dict[str, Any]], pictures: dict[str, bytes]) -> str:
    download = f'<a href="{name}.ipynb" download>Download this notebook</a>'
    parts = [linked("".join(cells[0]["source"])), download]
    for cell in cells[1:]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(linked(text))
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            parts += _output(name, output, pictures)
    if pictures:
        first = next(iter(pictures)).partition("/")[2]
        parts.insert(1, f"![The first picture of this notebook]({first})")
    return "\n\n".join(parts) + "\n"


def _output(name: str, output: dict[str, Any], pictures: dict[str, bytes]) -> Iterator[str]:
    """An output in Markdown: a picture, or else a table, or else text."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        file = f"{name}-{len(pictures) + 1}.png"
        pictures[f"notebooks/{file}"] = base64.b64decode(data["image/png"])
        yield f"![What the cell above draws]({file})"
    elif "text/html" in data:
        yield re.sub(r"<style.*?</style>|\n\s*", "", data["text/html"], flags=re.DOTALL)
    else:
        lines = "".join(data["text/plain"]).rstrip().splitlines()
        text = "\n".join("\n    ".join(wrap(line, WIDTH)) for line in lines)
        yield f"```text\n{text}\n```"
