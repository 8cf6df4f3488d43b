"""The best results of MS-UCB with (N0, alpha) = (1, 0) if it knew the function.

    python benchmarks/confined.py [--rounds 200] [--draws 100] [--low-dim 5]

MS-UCB chooses from as many subspaces as there are rounds. Each fixes all but d coordinates at those
of a random point. In the first column the d free coordinates are at the maximizer, which is the
best possible choice if coordinates do not interact. The second column uses no knowledge: it is the
best of 220 uniform points (as many as 200 rounds and 20 initial points) of one embedding of HeSBO.
Both columns show the mean and the standard deviation of log10 of the distance to the optimum.
"""

import argparse

import numpy as np

from gpbandits_env.agents.embeddings.embedding import HashEmbedding
from gpbandits_env.rewards.functions import AnalyticProcess

INITIAL = 20


def in_subspaces(f, dim, low_dim, rounds, rng):
    """The best distance in the subspaces of random points if the function is known."""
    points = rng.uniform(-1.0, 1.0, (rounds, dim))
    points[:, dim - low_dim :] = f.best_action[dim - low_dim :]
    return f.optimum - f(points).max()


def in_an_embedding(f, dim, low_dim, rounds, rng):
    """The best distance of uniform points of an embedding of HeSBO."""
    points = rng.uniform(-1.0, 1.0, (rounds + INITIAL, low_dim))
    return f.optimum - f(HashEmbedding(dim, low_dim, rng).lift(points)).max()


def column(way, f, dim, low_dim, rounds, draws):
    """The mean and the standard deviation over the draws, as text."""
    rng = np.random.default_rng(0)
    logs = np.log10([way(f, dim, low_dim, rounds, rng) for _ in range(draws)])
    return f"{logs.mean():.3f} ({logs.std(ddof=1):.3f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--low-dim", type=int, default=5, help="d")
    chosen = parser.parse_args()
    print(f"{'':24s} knowing the function   uniform in HeSBO's embedding")
    for name in ("ackley", "levy", "hyper-ellipsoid"):
        for dim in (20, 50, 100):
            f = AnalyticProcess(name, dim=dim, cube=True).begin(np.random.default_rng(0)).function
            sizes = (f, dim, chosen.low_dim, chosen.rounds, chosen.draws)
            confined, blind = (column(way, *sizes) for way in (in_subspaces, in_an_embedding))
            print(f"{name:16s} D = {dim:3d} {confined:>22s} {blind:>30s}")
