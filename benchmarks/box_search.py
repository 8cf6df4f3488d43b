"""The search of a box of 100 dimensions, compared with BoTorch at equal restarts and raw samples.

    python benchmarks/box_search.py [--seeds 0 1 2] [--functions ackley shifted] [--wall]

The function is Ackley on [-1, 1]^100, plain or shifted, under a fixed Matern 5/2 kernel of three
lengthscales, with GP-UCB and LogEI and 10 restarts from 1024 raw samples. Our agent runs 200
rounds. At five stages BoTorch's `optimize_acqf` maximizes the same acquisition with the same data,
right after our search. A formula with a dense solve evaluates both results. The gain is our value
minus that of BoTorch: in prior standard deviations for the bound, in nats for LogEI.
"""

import argparse
import os
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
parser.add_argument("--functions", nargs="+", default=["ackley", "shifted"])
parser.add_argument("--stages", type=int, nargs="+", default=[20, 50, 100, 150, 200])
parser.add_argument("--wall", action="store_true", help="wall clock, for an idle machine")
CHOSEN = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.kernels import MaternKernel, ScaleKernel
from scipy.stats import norm

from gpbandits_env.agents.acquisitions import UCB, LogEI
from gpbandits_env.agents.search.box import BoxSearch, Gradient
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.posterior import BoxPosterior

DIM, NOISE_VAR, PRIOR_MEAN, BETA = 100, 1e-3, -0.7, 4.0
LENGTHSCALES = [part * np.sqrt(DIM) / 2 for part in (0.3, 1.0, 3.0)]
STARTS, CANDIDATES = 10, 1024
CLOCK = time.perf_counter if CHOSEN.wall else time.process_time
torch.set_num_threads(1)


def ackley(x):
    """-Ackley of 2 x, divided by 5."""
    z = 2.0 * x
    first = 20.0 * np.exp(-0.2 * np.sqrt((z**2).mean(axis=1)))
    return (first + np.exp(np.cos(2 * np.pi * z).mean(axis=1)) - 20.0 - np.e) / 5.0


def timed(run):
    start = CLOCK()
    found = run()
    return CLOCK() - start, found


def acquisition(name, posterior):
    return UCB(BETA) if name == "UCB" else LogEI(float(posterior.mean_at_observed().max()))


def botorchs(name, posterior):
    """BoTorch's maximizer of the same acquisition with the same data."""
    kernel = ScaleKernel(MaternKernel(nu=2.5))
    kernel.outputscale = 1.0
    kernel.base_kernel.lengthscale = posterior.kernel.lengthscale
    y = torch.as_tensor(posterior.rewards)[:, None]
    model = SingleTaskGP(
        torch.as_tensor(posterior.observed),
        y,
        torch.full_like(y, NOISE_VAR),
        covar_module=kernel.double(),
        outcome_transform=None,
    )
    model.mean_module.constant.data.fill_(posterior.prior_mean)
    model.eval()
    if name == "UCB":
        scored = UpperConfidenceBound(model, beta=BETA)
    else:
        scored = LogExpectedImprovement(model, best_f=float(posterior.mean_at_observed().max()))
    bounds = torch.as_tensor(np.stack([posterior.box.low, posterior.box.high]))
    found, _ = optimize_acqf(scored, bounds, q=1, num_restarts=STARTS, raw_samples=CANDIDATES)
    return found.numpy()


def matern(x, z, lengthscale):
    a = np.sqrt(5.0) * np.linalg.norm(x[:, None] - z, axis=2) / lengthscale
    return (1 + a + a**2 / 3) * np.exp(-a)


def valued(name, posterior, x):
    """The acquisition at x (1, d), by a dense solve."""
    told, y = posterior.observed, posterior.rewards - PRIOR_MEAN
    gram = matern(told, told, posterior.kernel.lengthscale)
    noisy = gram + NOISE_VAR * np.eye(len(told))
    k, weights = matern(x, told, posterior.kernel.lengthscale), np.linalg.solve(noisy, y)
    mean = PRIOR_MEAN + (k @ weights).item()
    sd = np.sqrt(1.0 - (k @ np.linalg.solve(noisy, k.T)).item())
    if name == "UCB":
        return mean + np.sqrt(BETA) * sd
    gap = mean - (PRIOR_MEAN + (gram @ weights).max())
    return np.log(gap * norm.cdf(gap / sd) + sd * norm.pdf(gap / sd))


def compared(name, posterior, search):
    """Our time, BoTorch's time, and our gain over BoTorch."""
    ours, found = timed(lambda: search.best(acquisition(name, posterior), posterior))
    theirs, other = timed(lambda: botorchs(name, posterior))
    return ours, theirs, valued(name, posterior, found) - valued(name, posterior, other)


def played(seed, function, name, lengthscale):
    """The lines of one run, one per stage."""
    rng = np.random.default_rng(seed)
    box = Box(-np.ones(DIM), np.ones(DIM))
    centre = 0.5 * box.sample(rng, 1)[0] if function == "shifted" else np.zeros(DIM)
    posterior = BoxPosterior(box, Matern52(lengthscale), NOISE_VAR, PRIOR_MEAN)
    search = BoxSearch(box, rng, Gradient(starts=STARTS, candidates=CANDIDATES))

    def learn(x):
        noise = np.sqrt(NOISE_VAR) * rng.standard_normal(len(x))
        posterior.condition(x, ackley(x - centre) + noise)

    learn(box.sample(rng, 5))
    torch.manual_seed(seed)
    lines = []
    for t in range(1, max(CHOSEN.stages) + 1):
        if t in CHOSEN.stages:
            line = compared(name, posterior, search)
            lines.append(line)
            print(
                f"{function} {name} l = {lengthscale:g} seed {seed} t = {t}: "
                f"{line[1] / line[0]:.0f} times faster, gain {line[2]:+.2g}",
                flush=True,
            )
        learn(search.best(acquisition(name, posterior), posterior))
    return lines


def main():
    """Run, compare and print."""
    table = {}
    for name in ("UCB", "LogEI"):
        for lengthscale in LENGTHSCALES:
            table[name, lengthscale] = [
                line
                for function in CHOSEN.functions
                for seed in CHOSEN.seeds
                for line in played(seed, function, name, lengthscale)
            ]
    print("times faster: in all, the median call, the worst; gain: mean, worst, how often >= 0")
    for (name, lengthscale), lines in table.items():
        ours, theirs, gain = np.transpose(lines)
        ratio = theirs / ours
        print(
            f"{name} l = {lengthscale:g}: {theirs.sum() / ours.sum():.0f}, {np.median(ratio):.0f}, "
            f"{ratio.min():.0f}; {gain.mean():+.2g}, {gain.min():+.2g}, "
            f"{(gain >= 0).sum()} of {len(gain)}"
        )


main()
