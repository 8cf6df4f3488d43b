"""`python -m tools.claims PAPER/NAME` runs a computation that decides claims, and keeps it."""

import time
from pathlib import Path

import click
import numpy as np

from gpbandits_env.errors import one_of
from gpbandits_env.scenarios.declare import with_digits
from gpbandits_env.scenarios.results.evidence import write_arrays
from tools.claims import table

ROOT = Path(__file__).resolve().parents[2]
# The significant digits of what is kept, far more than any verdict needs.
DIGITS = 10


@click.command()
@click.argument("name", metavar="PAPER/NAME")
def compute(name: str) -> None:
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
        "values": {k: np.atleast_1d(np.asarray(v, float)).tolist() for k, v in found.items()},
    }
    file = ROOT / "scenarios" / "reference" / paper / "computed" / f"{short}.npz"
    write_arrays(file, with_digits(kept, DIGITS))
    click.echo(file)


if __name__ == "__main__":
    compute()
