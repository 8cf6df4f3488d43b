"""MS-UCB with settings that are not the paper's, on the problems of its scalability figure.

    python benchmarks/free_subspaces.py [--trials 3] [--problems ackley-20 levy-20-shifted ...]

Two variants with EI: `rays` adds subspaces on the segment from the best observed point to the
center of the box, and `free` also searches random coordinates. They run in the environment
instances of the scenarios tranthe2020/PROBLEM. The other agents' numbers are those of the reference
results, with 10 trials. A variant is nearly best if its mean of log10 of the simple regret is
within one standard error of the best of the seven others (MS-UCB among them).
"""

import argparse
import math
from dataclasses import replace

import numpy as np

from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.metrics import log_simple
from gpbandits_env.scenarios.papers.tranthe2020 import DIMENSIONS, FUNCTIONS, METRIC, ms_ucb
from gpbandits_env.scenarios.results import references
from gpbandits_env.scenarios.study import run_trial

RAYS = {"d": 5, "acquisition": "ei", "rays": 40}
VARIANTS = (
    ms_ucb("rays", **RAYS),
    ms_ucb("free", **RAYS, coordinates="random"),
)
PROBLEMS = [f"{f}-{d}{end}" for end in ("", "-shifted") for d in DIMENSIONS for f in FUNCTIONS]


def final(scenario, entry, trial):
    """log10 of the simple regret after all rounds; initial points count."""
    rounds = run_trial(replace(scenario, agents=(entry,), findings=()), entry.label, trial).rounds
    seen = np.concatenate([rounds["initial_regret"].ravel(), rounds["regret"].ravel()])
    return float(log_simple(seen[:, None])[-1])


def row(problem, trials):
    """The line of a problem, and which variants are nearly best there."""
    scenario = get(f"tranthe2020/{problem}")
    others = references.load(scenario.id)["cells"][0]["agents"]
    best = min(others, key=lambda label: others[label][METRIC][0])
    mean, se = others[best][METRIC]
    cells, near = [], []
    for entry in VARIANTS:
        logs = np.array([final(scenario, entry, trial) for trial in range(trials)])
        own_se = logs.std(ddof=1) / math.sqrt(trials)
        near.append(bool(logs.mean() <= mean + math.hypot(se, own_se)))
        cells.append(f"{logs.mean():.2f} ± {own_se:.2f}{' *' if near[-1] else ''}")
    known = f"{others['ms-ucb'][METRIC][0]:.2f} | {best}, {mean:.2f} ± {se:.2f}"
    return f"| {problem} | {known} | {' | '.join(cells)} |", near


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    chosen = parser.parse_args()
    print("| problem | ms-ucb | best of the seven | rays | free |\n|---|---:|---:|---:|---:|")
    found = []
    for problem in chosen.problems:
        line, near = row(problem, chosen.trials)
        found.append(near)
        print(line, flush=True)
    print("nearly best (*):", np.sum(found, axis=0).tolist(), "of", len(found))
