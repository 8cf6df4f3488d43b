"""`python -m tools.claims PAPER/NAME` runs a computation that decides claims, and keeps it."""

import json
import re
import time
from pathlib import Path

import click
import numpy as np

from gpbandits_env.arrays import Plain
from gpbandits_env.errors import one_of
from gpbandits_env.files import write_text
from tools.claims import table

ROOT = Path(__file__).resolve().parents[2]
# In JSON, a string, or a comma after the end of a list or an object.
STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=[\]}]),')
# The significant digits of what is kept, far more than any verdict needs.
DIGITS = 10


@click.command()
@click.argument("name", metavar="PAPER/NAME")
@click.option("--root", type=click.Path(path_type=Path), default=ROOT, help="The checkout.")
def compute(name: str, root: Path) -> None:
    """Run a computation and keep its arrays in `scenarios/reference/PAPER/computed`.

    \b
    Examples:
      python -m tools.claims srinivas2010/greedy-near-optimal
    """
    paper, _, short = name.partition("/")
    known = table(paper, "COMPUTATIONS")
    began = time.process_time()
    found = known[one_of(short, known, f"computation of {paper}")]()
    kept = {
        "seconds": round(time.process_time() - began, 1),
        "values": {key: np.asarray(value, float).tolist() for key, value in found.items()},
    }
    file = root / "scenarios" / "reference" / paper / "computed" / f"{short}.json"
    click.echo(write_text(file, compact(kept), "text"))


def compact(kept: Plain) -> str:
    """JSON with `DIGITS` digits; what follows the end of a list or object has a line."""
    plain = json.loads(json.dumps(kept), parse_float=lambda n: float(f"{float(n):.{DIGITS}g}"))
    text = json.dumps(plain, separators=(",", ":"))
    return STRING_OR_COMMA.sub(lambda found: found[1] or ",\n", text) + "\n"


if __name__ == "__main__":
    compute()
