"""The cost of a bounded model: a compressed agent over 10^6 rounds, compared with dense and BKB.

    python benchmarks/compressed.py [--rounds 1000000] [--compare 2000]

The function is the example of bedi2022, sin x + cos x + 0.1 x on 1000 points of [-10, 10], under
the SE kernel with l = 1 and noise variance 0.001; epsilon = 0.01. The ratios matter; times depend
on the machine.
"""

import argparse
import os
import pickle
import resource
import sys
import time

# BLAS libraries read these once, when they are first loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

EPSILON, NOISE_VAR, PARTS = 0.01, 0.001, 10
X = np.linspace(-10.0, 10.0, 1000)
FUNCTION = np.sin(X) + np.cos(X) + 0.1 * X
THEOREM_1 = {"type": "finite", "delta": 0.1, "scale": 1.0}
DENSE = {
    "ucb": ("gp-ucb", {"beta": THEOREM_1}),
    "ei": ("ei", {"incumbent": "observed"}),
    "mpi": ("mpi", {"variant": "improvement", "incumbent": "max-mean", "margin": 0.0}),
}
COMPRESSED = {"ucb": "cub", "ei": "cei", "mpi": "cmpi"}


def made(name: str, **settings: object) -> agents.Agent:
    problem = Problem(Arms(X[:, None]), SquaredExponential(1.0), NOISE_VAR)
    agent = agents.make(name, problem, seed=0, **settings)
    start = np.random.default_rng(0).integers(len(X), size=2)  # 2^d random initial points
    agent.tell(start, FUNCTION[start])
    return agent


def play(agent: agents.Agent, rounds: int, rng: np.random.Generator) -> tuple[float, float]:
    """The seconds that the agent took, and its regret."""
    seconds = regret = 0.0
    for noise in np.sqrt(NOISE_VAR) * rng.standard_normal(rounds):
        start = time.perf_counter()
        arms = agent.ask()
        asked = time.perf_counter()
        value = FUNCTION[arms]
        again = time.perf_counter()
        agent.tell(arms, value + noise)
        seconds += asked - start + time.perf_counter() - again
        regret += FUNCTION.max() - value.item()
    return seconds, regret


def perpetuity(rounds: int, back: str) -> None:
    """One compressed agent over many rounds."""
    agent, rng, total = made("cub", compress=EPSILON, posterior=back), np.random.default_rng(1), 0.0
    print(f"\ncub, epsilon = {EPSILON}, back {back}: {rounds} rounds")
    print("  round      us/round  model order  snapshot kB  peak MB  average regret")
    for part in range(1, PARTS + 1):
        seconds, regret = play(agent, rounds // PARTS, rng)
        total += regret
        done = part * (rounds // PARTS)
        size = len(pickle.dumps(agent.snapshot())) / 1e3
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(
            f"  {done:<10d} {1e6 * seconds * PARTS / rounds:7.1f}  {agent.posterior.size:11d}"
            f"  {size:11.0f}  {peak:7.0f}  {total / done:.6f}"
        )


def compare(rounds: int) -> None:
    """Dense, compressed and BKB agents with each acquisition: time as a ratio to dense."""
    print(f"\n{rounds} rounds, microseconds a round (ratio to dense on rows), model order, regret")
    for acquisition, (name, given) in DENSE.items():
        base = 0.0
        for label, which, settings in (
            ("dense, rows", name, {**given, "posterior": "rows"}),
            ("dense, coefficients", name, {**given, "posterior": "coefficients"}),
            (
                "compressed, rows",
                COMPRESSED[acquisition],
                {"compress": EPSILON, "posterior": "rows"},
            ),
            (
                "compressed, coefficients",
                COMPRESSED[acquisition],
                {"compress": EPSILON, "posterior": "coefficients"},
            ),
            ("bkb", f"bkb-{acquisition}", {}),
        ):
            agent = made(which, **settings)
            seconds, regret = play(agent, rounds, np.random.default_rng(1))
            base = base or seconds
            print(
                f"  {acquisition:4s} {label:25s} {1e6 * seconds / rounds:8.1f}"
                f" ({seconds / base:6.2f})  {agent.posterior.size:5d}  {regret / rounds:.4f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1_000_000, help="of the long run")
    parser.add_argument("--compare", type=int, default=2000, help="rounds of the comparison")
    chosen = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}")
    compare(chosen.compare)
    for back in ("rows", "coefficients"):
        perpetuity(chosen.rounds, back)


if __name__ == "__main__":
    main()
