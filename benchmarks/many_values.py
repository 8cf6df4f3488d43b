"""A campaign that knows many values: the processor time of ask and tell, in six dimensions.

    python benchmarks/many_values.py [--values 1000] [--asks 60] [--agents ei gp-ucb ts ts-rsr]

The known values are at random points, and each agent learns its own model from them. Then it is
asked for one point after the other; the fits that fall due are included. One thread.
"""

import argparse
import os
import resource
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env.agents import Campaign

DIM = 6
NAMES = [f"x{i}" for i in range(DIM)]


def objective(params):
    x = np.array([params[name] for name in NAMES])
    return float(np.sum((x - 0.3) ** 2) + 0.3 * np.sin(5.0 * x).sum())


def measured(agent, values, asks):
    """Seconds to learn the known values, and milliseconds of each ask and each tell (asks, 2)."""
    campaign = Campaign(dict.fromkeys(NAMES, (0.0, 1.0)), agent, maximize=False, seed=0)
    points = np.random.default_rng(0).random((values, DIM)).tolist()
    known = [dict(zip(NAMES, point, strict=True)) for point in points]
    start = time.process_time()
    campaign.observe_all(known, [objective(params) for params in known])
    learning, took = time.process_time() - start, np.empty((asks, 2))
    for i in range(asks):
        start = time.process_time()
        suggestion = campaign.ask()[0]
        asked = time.process_time()
        value = objective(suggestion.params)
        told = time.process_time()
        campaign.tell(suggestion.id, value)
        took[i] = asked - start, time.process_time() - told
    return learning, 1e3 * took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=1000)
    parser.add_argument("--asks", type=int, default=60)
    parser.add_argument("--agents", nargs="+", default=["ei", "gp-ucb", "ts", "ts-rsr"])
    chosen = parser.parse_args()
    print(f"{chosen.values} known values, load average {os.getloadavg()[0]:.1f}")
    measured("ei", 20, 2)  # imports count for no agent
    for agent in chosen.agents:
        learning, took = measured(agent, chosen.values, chosen.asks)
        both, (ask, tell) = took.sum(axis=1), took.mean(axis=0)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{agent:8} learning {learning:5.1f} s; ask and tell {both.mean():6.1f} ms on average, "
            f"{both.max():6.1f} at worst (ask {ask:.1f}, tell {tell:.1f}); {memory:.0f} MB so far"
        )


if __name__ == "__main__":
    main()
