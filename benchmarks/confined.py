"""How near MS-UCB could come with (N0, alpha) = (1, 0) if it knew the function.

    python benchmarks/confined.py [--rounds 200] [--draws 100] [--low-dim 5]

It plays in as many subspaces as there are rounds; each leaves all but d coordinates where a random
point has them. Here those d are at the maximiser, which is the best there is where coordinates do
not interact. Printed is log10 of the distance to the optimum of the best subspace.
"""

import argparse

import numpy as np

from gpbandits_env.functions import AnalyticProcess


def best_subspace(
    function: str, dim: int, low_dim: int, rounds: int, draws: int
) -> tuple[float, float]:
    """The mean over draws, and the standard deviation."""
    rng = np.random.default_rng(0)
    path = AnalyticProcess(function, dim=dim, cube=True).begin(rng)
    f = path.function
    logs = []
    for _ in range(draws):
        points = rng.uniform(-1.0, 1.0, (rounds, dim))
        points[:, dim - low_dim :] = f.best_action[dim - low_dim :]
        logs.append(np.log10(f.optimum - f(points).max()))
    return float(np.mean(logs)), float(np.std(logs, ddof=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--low-dim", type=int, default=5, help="d")
    chosen = parser.parse_args()
    for name in ("ackley", "levy", "hyper-ellipsoid"):
        for dim in (20, 50, 100):
            mean, deviation = best_subspace(name, dim, chosen.low_dim, chosen.rounds, chosen.draws)
            print(f"{name:16s} D = {dim:3d}: {mean:.3f}, standard deviation {deviation:.3f}")
