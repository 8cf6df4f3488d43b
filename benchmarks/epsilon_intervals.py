"""How often the 95% interval of `diagnose` holds the epsilon of simulated series.

    python benchmarks/epsilon_intervals.py FILE [--series 200] [--rows 400 2000] [--arms 12 46]

Each series is a draw of the Markov drift on a line of arms, with noise of variance 0.05. Its mean,
covariance and noise are unknown. As in `diagnose`, the first 60% of the rows are used. FILE keeps
the result of each case, and a case that is there is not run again. Times are of the processor.
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern32, SquaredExponential
from gpbandits_env.gp.learning.unknown_moments import MomentsSearch, epsilon_profile

KERNELS = {"se": SquaredExponential(0.2), "matern32": Matern32(0.2)}
EPSILONS = (0.0, 0.003, 0.03, 0.1)
NOISE, TRAIN = 0.05, 0.6


def simulated(kernel, arms, rows, epsilon, seed):
    """Readings (rows, arms) of a function that drifts."""
    rng = np.random.default_rng([seed, arms, rows, round(1e4 * epsilon)])
    variances, vectors = np.linalg.eigh(KERNELS[kernel](Arms.grid(arms).coordinates))
    root = vectors * np.sqrt(np.maximum(variances, 0.0))
    fresh = rng.standard_normal((rows, arms)) @ root.T
    path, f = np.empty((rows, arms)), fresh[0]
    for t in range(rows):
        f = np.sqrt(1.0 - epsilon) * f + np.sqrt(epsilon) * fresh[t] if t else f
        path[t] = f
    return path + np.sqrt(NOISE) * rng.standard_normal((rows, arms))


def cell(kernel, arms, rows, epsilon, series):
    """The coverage of one case, with what else there is to say."""
    start, train = time.process_time(), round(TRAIN * rows)
    tables = [simulated(kernel, arms, rows, epsilon, seed)[:train] for seed in range(series)]
    searches = [MomentsSearch(table) for table in tables]
    seen = [search for search in searches if search.rank]
    profiles = [epsilon_profile(np.arange(float(train)), search) for search in seen]
    ends = np.array([(0.0, 0.999)] * (series - len(seen)) + [p.interval() for p in profiles])
    held = (ends[:, 0] <= epsilon) & (epsilon <= ends[:, 1])
    return {
        "series": series,
        "held": float(held.mean()),
        "above": float((ends[:, 0] > epsilon).mean()),
        "low": float(np.median(ends[:, 0])),
        "high": float(np.median(ends[:, 1])),
        "open": float((ends[:, 0] == 0.0).mean()),
        "noise_alone": 1.0 - len(seen) / series,
        "seconds": (time.process_time() - start) / series,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="where results are kept, as JSON")
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[400, 2000])
    parser.add_argument("--arms", type=int, nargs="+", default=[12, 46])
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    given = parser.parse_args()
    done = json.loads(given.file.read_text()) if given.file.exists() else {}
    print("kernel    arms  rows  epsilon  held   too high  median interval   0 inside  seconds")
    cases = itertools.product(given.kernels, given.rows, given.arms, EPSILONS)
    for kernel, rows, arms, epsilon in cases:
        name = f"{kernel} {arms} {rows} {epsilon} {given.series}"
        if name not in done:
            done[name] = cell(kernel, arms, rows, epsilon, given.series)
            given.file.write_text(json.dumps(done, indent=1))
        r = done[name]
        print(
            f"{kernel:<9} {arms:>4} {rows:>5} {epsilon:>8} {r['held']:>5.3f} {r['above']:>10.3f}"
            f"   {r['low']:>7.4f} to {r['high']:<6.4f} {r['open']:>7.2f} {r['seconds']:>9.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
