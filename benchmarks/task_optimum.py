"""Find the best settings of a task of few coordinates: Sobol points, then a random local search.

    python benchmarks/task_optimum.py mnist-logistic [--points 4096] [--steps 1024] [--seed 0]
    python benchmarks/task_optimum.py boston --steps 8192 --seed 1

Its results are constants in gpbandits_env/rewards/tasks/logistic.py and boston.py. A point takes
about 45 and 20 ms.
"""

import argparse
import os
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy.stats import qmc

from gpbandits_env.rewards.tasks import make_task

STARTS, WIDTHS = 10, (0.3, 0.1, 0.03)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("--points", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    task, rng, start = (
        make_task(chosen.task),
        np.random.default_rng(chosen.seed),
        time.perf_counter(),
    )
    axes = task.coordinates
    dim = axes.box.dim

    def values(cube: np.ndarray) -> np.ndarray:
        return task.values(axes.rounded(axes.natural(cube)), np.zeros(0))

    points = 2.0 * qmc.Sobol(dim, rng=rng).random(chosen.points) - 1.0
    worth = values(points)
    print(f"{chosen.points} points: best {worth.max()}, median {np.median(worth)}")
    print(f"{1e3 * (time.perf_counter() - start) / chosen.points:.1f} ms a point")
    order = np.argsort(-worth)[:STARTS]
    points, worth = points[order], worth[order]
    for step in range(chosen.steps):
        i, width = step % STARTS, WIDTHS[step * len(WIDTHS) // chosen.steps]
        near = np.clip(points[i : i + 1] + width * rng.standard_normal((1, dim)), -1.0, 1.0)
        found = values(near)[0]
        if found >= worth[i]:
            points[i], worth[i] = near[0], found
    print("after the local searches:", np.sort(worth)[::-1].tolist())
    best = axes.rounded(axes.natural(points[[worth.argmax()]]))[0]
    print(f"best {worth.max()} at {best.tolist()}")


if __name__ == "__main__":
    main()
