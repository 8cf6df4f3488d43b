"""`python notebook_outputs.py IN.ipynb OUT.ipynb` runs a notebook and stores it with its outputs.

It does what Jupyter does with cells of plain Python: what is printed, the figures of pyplot, and
the value of a last expression, as text, as a table and as a picture. It needs no Jupyter.
"""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path

from matplotlib import pyplot as plt

# How a value shows itself, and the kind of what it returns; pictures are bytes.
FORMS = {"_repr_html_": "text/html", "_repr_png_": "image/png"}


def outputs(source: str, names: dict[str, object]) -> list[dict[str, object]]:
    """Run a cell, and return its outputs in the form of a notebook file."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    found: list[dict[str, object]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", bbox_inches="tight")
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    plt.close("all")
    if value is not None:
        found.append({"output_type": "execute_result", "metadata": {}, "data": shown(value)})
    return found


def shown(value: object) -> dict[str, str]:
    """A value in each form that it has."""
    data = {"text/plain": repr(value)}
    for method, kind in FORMS.items():
        show = getattr(value, method, None)
        if show and (made := show()):
            data[kind] = made if isinstance(made, str) else base64.b64encode(made).decode()
    return data


def main(given: str, target: str) -> None:
    """Run all cells in the namespace of ``__main__``, as a notebook does."""
    notebook = json.loads(Path(given).read_text(encoding="utf-8"))
    names = sys.modules["__main__"].__dict__
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, start=1):
        cell["execution_count"] = count
        cell["outputs"] = outputs("".join(cell["source"]), names)
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count
    Path(target).write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
