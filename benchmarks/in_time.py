"""The cost of a round under each temporal kernel, early and late, and that of TV-GP-UCB beside it.

    python benchmarks/in_time.py [--late 100000]

A posterior learns one reward per round and lets a round pass, on 60 arms of [0, 1] with an SE
kernel of lengthscale 0.2, and on 46 sensors with a covariance of full rank. Times are of the
processor, in microseconds per round, the median of blocks of 100 rounds.
"""

import argparse
import time

import numpy as np

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Empirical, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.temporal import temporal_from_dict

SEASON = {"type": "quasi-periodic", "period": 144.0, "harmonics": 6, "epsilon": 0.001}
KERNELS = {
    "markov (epsilon)": None,
    "markov": {"type": "markov", "epsilon": 0.01},
    "matern32": {"type": "matern32", "lengthscale": 20.0},
    "matern52": {"type": "matern52", "lengthscale": 20.0},
    "wiener": {"type": "wiener", "rate": 0.01},
    "periodic": {"type": "periodic", "period": 144.0, "harmonics": 6},
    "quasi-periodic": SEASON,
    "season + markov": {"type": "sum", "kernels": [SEASON, {"type": "markov", "epsilon": 0.05}]},
}
EARLY, BLOCKS, ROUNDS = 1000, 7, 100


def spaces():
    """The arms and kernels of the two tables."""
    readings = np.random.default_rng(0).standard_normal((200, 46))
    return {
        "60 arms, SE": (Arms.grid(60), SquaredExponential(0.2)),
        "46 sensors": (Arms(np.arange(46.0)), Empirical(np.cov(readings.T))),
    }


def play(posterior, rounds, rng, epsilon):
    for arm, reward in zip(
        rng.integers(0, posterior.arms.size, rounds), rng.standard_normal(rounds), strict=True
    ):
        posterior.condition([arm], [reward])
        posterior.advance(epsilon)


def cost(posterior, rng, epsilon):
    """Microseconds per round now; the posterior moves on."""
    took = []
    for _ in range(BLOCKS):
        start = time.process_time()
        play(posterior, ROUNDS, rng, epsilon)
        took.append((time.process_time() - start) / ROUNDS)
    return 1e6 * float(np.median(took))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--late", type=int, default=100_000, help="the late round")
    late = parser.parse_args().late
    for space, (arms, kernel) in spaces().items():
        print(f"{space:<18} {'states':>6} {'numbers':>8} {'early':>8} {'late':>8}")
        for name, spec in KERNELS.items():
            temporal = None if spec is None else temporal_from_dict(spec)
            posterior = posterior_for(arms, kernel, 0.01, temporal=temporal)
            rng, epsilon = np.random.default_rng(1), 0.0 if temporal else 0.01
            play(posterior, EARLY, rng, epsilon)
            early = cost(posterior, rng, epsilon)
            play(posterior, late - posterior.size, rng, epsilon)
            states = temporal.states if temporal else 1
            numbers = posterior._representation.width if temporal else "-"
            now = cost(posterior, rng, epsilon)
            print(f"{name:<18} {states:>6} {numbers:>8} {early:>8.0f} {now:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
