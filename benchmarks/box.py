"""The speed of the posterior on a box: moments, gradients, posterior samples and subspaces.

    python benchmarks/box.py [--only moments functions subspaces] [--repeats 7] [--cpu]

Each time is compared with that of a peer in the same run, because times depend on the machine.
Moments and gradients are compared with bare NumPy code that computes the same products without
checks. Posterior samples are compared with a factorization of the joint covariance, whose cost
grows with the cube of the number of points (1000 by default). Subspaces are compared with whole
points and with differences (B, t, D).
"""

import argparse
import os
import resource
import time
from collections.abc import Callable

# BLAS libraries read these once, when they are first loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Kernel, Matern32, Matern52
from gpbandits_env.gp.posterior import BoxPosterior, Subspaces

RNG = np.random.default_rng(0)
PARTS = ("moments", "functions", "subspaces")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--repeats", type=int, default=7, help="the fastest of these counts")
    parser.add_argument("--factored", type=int, default=1000, help="points of the joint draw")
    parser.add_argument("--cpu", action="store_true", help="processor time: for a busy machine")
    return parser.parse_args()


CHOSEN = options()
clock = time.process_time if CHOSEN.cpu else time.perf_counter


def milliseconds(run: Callable[[], object]) -> float:
    """The time of the fastest of some runs."""
    times = []
    for _ in range(CHOSEN.repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return 1e3 * min(times)


def posterior(dim: int, kernel: Kernel, count: int) -> BoxPosterior:
    box = Box(-np.ones(dim), np.ones(dim))
    made = BoxPosterior(box, kernel, 0.01)
    made.condition(box.sample(RNG, count), RNG.standard_normal(count))
    return made


class Bare:
    """Matern 5/2 with a given K^-1: the smallest number of products, and no checks."""

    def __init__(self, learner: BoxPosterior, lengthscale: float) -> None:
        self.lengthscale = lengthscale
        self.z = learner.observed / lengthscale
        self.norms = np.square(self.z).sum(axis=1)
        white = learner.predictor.white
        self.inverse, self.alpha = white.T @ white, learner.predictor.alpha

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        x = x / self.lengthscale
        square = np.square(x).sum(axis=1)[:, None] + self.norms - 2.0 * (x @ self.z.T)
        a = np.sqrt(5.0 * np.maximum(square, 0.0))
        e = np.exp(-a)
        slope = (1.0 + a) * e
        k = slope + a * a / 3.0 * e
        u = k @ self.inverse
        mean, var = k @ self.alpha, 1.0 - np.einsum("ij,ij->i", k, u)
        slope *= 5.0 / 3.0 / self.lengthscale
        return mean, var, *(self.pull(w * slope, x) for w in (self.alpha, -2.0 * u))

    def pull(self, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
        return weights @ self.z - weights.sum(axis=1)[:, None] * x


def moments() -> None:
    learner = posterior(100, Matern52(5.0), 200)
    bare = Bare(learner, 5.0)
    for count in (10, 30, 100, 300, 1000):
        x = learner.box.sample(RNG, count)
        for ours, theirs in zip(learner.gradients(x), bare.gradients(x), strict=True):
            assert np.abs(ours - theirs).max() < 1e-8
        calls = max(1, 1000 // count)
        own = milliseconds(lambda x=x, n=calls: [learner.gradients(x) for _ in range(n)])
        peer = milliseconds(lambda x=x, n=calls: [bare.gradients(x) for _ in range(n)])
        print(
            f"gradients at {count:5d} points, t = 200, D = 100: {own / calls:7.3f} ms, "
            f"bare NumPy {peer / calls:7.3f} ms, fraction reached {peer / own:.2f}"
        )


def functions() -> None:
    learner = posterior(3, Matern32(0.5), 200)
    x, few = learner.box.sample(RNG, 10_000), learner.box.sample(RNG, CHOSEN.factored)
    for size in (5, 10, 20, 40):
        own = milliseconds(lambda m=size: learner.paths(RNG, m)(x))
        print(f"{size:3d} functions at 10,000 points in 3-D, t = 200: {own:7.1f} ms")
    peer = milliseconds(lambda: learner.sample(RNG, 20, few))
    print(f" 20 joint draws at {len(few)} points by a factor: {peer:7.1f} ms")


def subspaces() -> None:
    dim, active, per_round, rounds = 5000, np.arange(10), 100, 200
    learner = posterior(dim, Matern52(20.0), 199)
    spaces = Subspaces(learner.box, active)
    spaces.follow(learner)
    for _ in range(rounds):
        spaces.add(RNG.uniform(-1, 1, (per_round, dim - len(active))))
    start = clock()
    learner.condition(learner.box.sample(RNG, 1), [0.0])
    spaces.follow(learner)
    spaces.add(RNG.uniform(-1, 1, (per_round, dim - len(active))))
    grown = 1e3 * (clock() - start)
    y, rows = RNG.uniform(-1, 1, (spaces.size, len(active))), np.arange(spaces.size)
    screened = milliseconds(lambda: spaces.moments(y, rows))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{spaces.size} subspaces, d = 10, D = {dim}, t = 200: {grown:.0f} ms to grow by a round, "
        f"{screened:.0f} ms to screen, {memory:.0f} MB"
    )
    for count in (1, 10, 20):
        few, mine = y[:count], rows[:count]
        own = milliseconds(lambda y=few, r=mine: [spaces.gradients(y, r) for _ in range(20)]) / 20
        whole = milliseconds(lambda y=few, r=mine: learner.gradients(spaces.points(y, r)))
        x = spaces.points(few, mine)
        plain = milliseconds(lambda x=x: learner.kernel.gradient(x, learner.observed))
        print(
            f"gradients at {count:3d} points in subspaces: {own:.3f} ms, whole points {whole:.2f} "
            f"ms ({whole / own:.0f} times), differences (B, t, D) {plain:.0f} ms "
            f"({plain / own:.0f} times)"
        )


if __name__ == "__main__":
    for part in CHOSEN.only:
        globals()[part]()
