"""A long run of the public loop: a flat cost per round, and a posterior that stays exact.

    python benchmarks/soak.py --rounds 10000000

GP-UCB plays one environment of 46 arms (SE kernel, or Matern 5/2 with --kernel) by `env.step`,
`ask` and `tell`. After each tenth of the rounds the script compares the mean and the variance at
all arms with those of a dense posterior from the counts and the sums of each arm, in extended
precision (numpy.longdouble), and prints the cost per round, the peak memory, by how many bytes per
round it has grown, and the largest errors. An agent keeps its data: 48 bytes per round on arms, in
columns that double. The exit code is 1 if an error exceeds 1e-8, if the peak grows by more than 150
bytes per round, or if the regret is not finite.
"""

import argparse
import math
import resource
import sys
import time

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401
from gpbandits_env import agents
from gpbandits_env.gp.kernels import Matern52, SquaredExponential

ARMS, LENGTHSCALE, NOISE_VAR = 46, 0.2, 0.025
KERNELS = {"se": SquaredExponential, "matern52": Matern52}
MOST_ERROR, MOST_BYTES = 1e-8, 150.0


def solved(gram, right):
    """gram^-1 right by Cholesky's method, in extended precision (which numpy.linalg lacks)."""
    factor, x = np.zeros_like(gram), right.copy()
    for i in range(len(gram)):
        factor[i:, i] = gram[i:, i] - factor[i:, :i] @ factor[i, :i]
        factor[i:, i] /= np.sqrt(factor[i, i])
    for i in range(len(gram)):
        x[i] = (x[i] - factor[i, :i] @ x[:i]) / factor[i, i]
    for i in reversed(range(len(gram))):
        x[i] = (x[i] - factor[i + 1 :, i] @ x[i + 1 :]) / factor[i, i]
    return x


def dense(covariance, pulls, sums):
    """Mean and variance at all arms from the pulls and the sum of rewards of each."""
    seen = np.flatnonzero(pulls)
    gram = covariance[np.ix_(seen, seen)] + np.diag(NOISE_VAR / pulls[seen])
    right = np.column_stack([covariance[seen], sums[seen] / pulls[seen]])
    x = solved(gram, right)
    mean = covariance[:, seen] @ x[:, -1]
    return mean, covariance.diagonal() - np.sum(covariance[:, seen].T * x[:, :-1], axis=0)


def memory():
    """The largest memory so far, in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10_000_000)
    parser.add_argument("--kernel", choices=KERNELS, default="se")
    given = parser.parse_args()
    spec = {"type": given.kernel, "lengthscale": LENGTHSCALE}
    env = gym.make(
        "gpbandits/StaticGP-v0",
        grid=[ARMS],
        kernel=spec,
        noise_var=NOISE_VAR,
        max_episode_steps=given.rounds,
    )
    env.reset(seed=1)
    agent = agents.make("gp-ucb", env, seed=0)
    points = env.unwrapped.problem.domain.coordinates
    covariance = KERNELS[given.kernel](LENGTHSCALE)(points).astype(np.longdouble)
    pulls, sums = np.zeros(ARMS, np.longdouble), np.zeros(ARMS, np.longdouble)
    portion, failed, first = given.rounds // 10, False, memory()
    print("rounds, us per round, MB, bytes per round, error of mean, of variance, average regret")
    for tenth in range(10):
        start = time.process_time()
        for _ in range(portion):
            arms = agent.ask()
            observation, _, _, _, info = env.step(arms)
            agent.tell(arms, observation["rewards"])
            pulls[arms[0]] += 1
            sums[arms[0]] += observation["rewards"][0]
        cost = 1e6 * (time.process_time() - start) / portion
        rounds, (mean, var) = (tenth + 1) * portion, dense(covariance, pulls, sums)
        errors = [
            float(np.abs(agent.posterior.mean - mean).max()),
            float(np.abs(agent.posterior.var - var).max()),
        ]
        regret, used = info["cumulative_regret"] / rounds, memory()
        each = 1e6 * (used - first) / rounds
        wrong = max(errors) > MOST_ERROR or each > MOST_BYTES or not math.isfinite(regret)
        failed = failed or wrong
        print(
            f"{rounds}, {cost:.1f}, {used:.0f}, {each:.0f}, {errors[0]:.1e}, {errors[1]:.1e}, "
            f"{regret:.6f}{' WRONG' if wrong else ''}",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
