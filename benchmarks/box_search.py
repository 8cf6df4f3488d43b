"""GP-UCB in a box of 100 dimensions, beside BoTorch with the same restarts and raw samples.

    python benchmarks/box_search.py [--rounds 200] [--every 10] [--wall]

Ackley on [-1, 1]^100 under a fixed Matern 5/2 kernel, 10 restarts from 1024 raw samples. We play
the rounds; every few rounds BoTorch's `optimize_acqf` is asked for the same bound under the same
data, and the values that both reached are compared by the same formula.
"""

import argparse
import os
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rounds", type=int, default=200)
parser.add_argument("--every", type=int, default=20, help="rounds between two of BoTorch's")
parser.add_argument("--wall", action="store_true", help="wall clock, for an idle machine")
CHOSEN = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from gpbandits_env.agents.acquisitions import UCB  # noqa: E402
from gpbandits_env.agents.search.box import BoxSearch  # noqa: E402
from gpbandits_env.domains import Box  # noqa: E402
from gpbandits_env.kernels import Matern52  # noqa: E402
from gpbandits_env.posterior import BoxPosterior  # noqa: E402

DIM, LENGTHSCALE, VARIANCE, NOISE_VAR, BETA = 100, 3.0, 1.0, 1e-3, 4.0
STARTS, CANDIDATES = 10, 1024
CLOCK = time.perf_counter if CHOSEN.wall else time.process_time


def ackley(x):
    """-Ackley of 2 x, divided by 5."""
    z = 2.0 * x
    first = 20.0 * np.exp(-0.2 * np.sqrt((z**2).mean(axis=1)))
    return (first + np.exp(np.cos(2 * np.pi * z).mean(axis=1)) - 20.0 - np.e) / 5.0


def timed(run):
    start = CLOCK()
    found = run()
    return CLOCK() - start, found


def botorchs(posterior):
    """BoTorch's maximiser of the bound under the posterior's data."""
    import torch
    from botorch.acquisition import UpperConfidenceBound
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.kernels import MaternKernel, ScaleKernel

    torch.set_num_threads(1)
    kernel = ScaleKernel(MaternKernel(nu=2.5))
    kernel.outputscale, kernel.base_kernel.lengthscale = VARIANCE, LENGTHSCALE
    y = torch.as_tensor(posterior.rewards)[:, None]
    model = SingleTaskGP(
        torch.as_tensor(posterior.told),
        y,
        torch.full_like(y, NOISE_VAR),
        covar_module=kernel.double(),
        outcome_transform=None,
    )
    model.mean_module.constant.data.fill_(posterior.prior_mean)
    model.eval()
    bounds = torch.as_tensor(np.stack([posterior.box.low, posterior.box.high]))
    return optimize_acqf(
        UpperConfidenceBound(model, beta=BETA),
        bounds,
        q=1,
        num_restarts=STARTS,
        raw_samples=CANDIDATES,
    )[0].numpy()


def main():
    """Play, compare, print."""
    rng = np.random.default_rng(0)
    box = Box(-np.ones(DIM), np.ones(DIM))
    posterior = BoxPosterior(box, Matern52(LENGTHSCALE, variance=VARIANCE), NOISE_VAR, -0.7)
    search = BoxSearch(box, rng, starts=STARTS, candidates=CANDIDATES)
    bound = UCB(BETA)

    def score(x):
        return bound.score(*posterior.moments(x)).item()

    def learn(x):
        noise = np.sqrt(NOISE_VAR) * rng.standard_normal(len(x))
        posterior.update(x, ackley(x) + noise)

    learn(box.sample(rng, 5))
    seconds, ratios, gains = [], [], []
    for t in range(CHOSEN.rounds):
        ours, found = timed(lambda: search.best(bound, posterior))
        seconds.append(ours)
        if t % CHOSEN.every == CHOSEN.every - 1:
            theirs, other = timed(lambda: botorchs(posterior))
            ratios.append(theirs / ours)
            gains.append(score(found) - score(other))
            print(
                f"t = {t + 1}: {1e3 * ours:.1f} ms, BoTorch {1e3 * theirs:.0f} ms; bound "
                f"{score(found):.6f}, BoTorch {score(other):.6f}"
            )
        learn(found)
    print(
        f"a round: {1e3 * np.mean(seconds):.1f} ms on average; best {ackley(posterior.told).max()}"
    )
    print(f"{np.median(ratios):.0f} times faster than BoTorch (target 15), median of {len(ratios)}")
    print(
        f"bound above BoTorch's by {np.min(gains):.2g} at least, {np.median(gains):.2g} in median"
    )


main()
