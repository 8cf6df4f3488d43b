"""The noise of means of three replicates: exact, drawn to a common one, unknown, or true.

    python benchmarks/replicates.py [--seeds 20]

Minimizes (x0 - 0.3)^2 + (x1 - 0.6)^2 in 30 calls. Each call returns the mean of three values with
noise of standard deviation 0.3, and in two cases the standard error of these three. The table has
the median and the mean over the seeds of how far the recommended point is above the minimum.
"""

import argparse

import numpy as np

from gpbandits_env import minimize

SD, REPLICATES, CALLS = 0.3, 3, 30
TRUE = SD / REPLICATES**0.5
CASES = {
    "standard errors taken as exact": "returned",
    "standard errors drawn to a common one": {"replicates": REPLICATES},
    "means alone": None,
    "true noise": TRUE,
}


def value(x):
    return (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2


def excess(noise, seed):
    rng = np.random.default_rng(seed)
    alone = noise is None or isinstance(noise, float)

    def replicated(x):
        values = value(x) + SD * rng.standard_normal(REPLICATES)
        error = values.std(ddof=1) / REPLICATES**0.5
        return values.mean() if alone else (values.mean(), error)

    box = [(0.0, 1.0), (0.0, 1.0)]
    return value(minimize(replicated, box, n_calls=CALLS, seed=seed, noise=noise).recommended)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    for name, noise in CASES.items():
        found = [excess(noise, seed) for seed in seeds]
        print(f"{name}: median {np.median(found):.4f}, mean {np.mean(found):.4f}", flush=True)
