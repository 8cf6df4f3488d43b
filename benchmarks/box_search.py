"""The search of a box of 100 dimensions, beside BoTorch with the same restarts and raw samples.

    python benchmarks/box_search.py [--seeds 0 1 2] [--functions ackley shifted] [--wall]

Ackley on [-1, 1]^100, as it is and shifted, under a fixed Matern 5/2 kernel of three lengthscales,
GP-UCB and LogEI; 10 restarts from 1024 raw samples. We play 200 rounds; at three stages BoTorch's
`optimize_acqf` is asked for the same acquisition under the same data, and so is our search with
its spread candidates uniform, without corners. What was reached is compared by one formula; gains
are differences of the acquisition: the bound's in prior standard deviations, LogEI's in nats.
"""

import argparse
import os
import time
from unittest import mock

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--seeds", type=int, nargs="+", default=[0])
parser.add_argument("--functions", nargs="+", default=["ackley", "shifted"])
parser.add_argument("--stages", type=int, nargs="+", default=[50, 100, 200])
parser.add_argument("--wall", action="store_true", help="wall clock, for an idle machine")
CHOSEN = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import torch  # noqa: E402
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound  # noqa: E402
from botorch.models import SingleTaskGP  # noqa: E402
from botorch.optim import optimize_acqf  # noqa: E402
from gpytorch.kernels import MaternKernel, ScaleKernel  # noqa: E402

from gpbandits_env.agents.acquisitions import UCB, LogEI  # noqa: E402
from gpbandits_env.agents.search import box as search_module  # noqa: E402
from gpbandits_env.agents.search.box import BoxSearch  # noqa: E402
from gpbandits_env.domains import Box  # noqa: E402
from gpbandits_env.kernels import Matern52  # noqa: E402
from gpbandits_env.posterior import BoxPosterior  # noqa: E402

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


def uniform(box, count, rng):
    """Spread candidates without corners."""
    return box.low + (box.high - box.low) * rng.random((count, box.dim))


def acquisition(name, posterior):
    return UCB(BETA) if name == "UCB" else LogEI(float(posterior.mean_at_told().max()))


def botorchs(name, posterior):
    """BoTorch's maximiser of the same acquisition under the same data."""
    kernel = ScaleKernel(MaternKernel(nu=2.5))
    kernel.outputscale = 1.0
    kernel.base_kernel.lengthscale = posterior.kernel.lengthscale
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
    if name == "UCB":
        scored = UpperConfidenceBound(model, beta=BETA)
    else:
        scored = LogExpectedImprovement(model, best_f=float(posterior.mean_at_told().max()))
    bounds = torch.as_tensor(np.stack([posterior.box.low, posterior.box.high]))
    found, _ = optimize_acqf(scored, bounds, q=1, num_restarts=STARTS, raw_samples=CANDIDATES)
    return found.numpy()


def compared(name, posterior, search):
    """One line of the table: BoTorch's time / ours, our gain over it; the same without corners."""
    scored = acquisition(name, posterior)

    def value(x):
        return scored.score(*posterior.moments(x)).item()

    theirs, other = timed(lambda: botorchs(name, posterior))
    ours, found = timed(lambda: search.best(scored, posterior))
    with mock.patch.object(search_module, "spread", uniform):
        plain, cornerless = timed(lambda: search.best(scored, posterior))
    gains = value(found) - value(other), value(cornerless) - value(other)
    return theirs / ours, gains[0], theirs / plain, gains[1]


def played(seed, function, name, lengthscale):
    """The lines of one run, one a stage."""
    rng = np.random.default_rng(seed)
    box = Box(-np.ones(DIM), np.ones(DIM))
    centre = 0.5 * box.sample(rng, 1)[0] if function == "shifted" else np.zeros(DIM)
    posterior = BoxPosterior(box, Matern52(lengthscale), NOISE_VAR, PRIOR_MEAN)
    search = BoxSearch(box, rng, starts=STARTS, candidates=CANDIDATES)

    def learn(x):
        noise = np.sqrt(NOISE_VAR) * rng.standard_normal(len(x))
        posterior.update(x, ackley(x - centre) + noise)

    learn(box.sample(rng, 5))
    torch.manual_seed(seed)
    lines = []
    for t in range(1, max(CHOSEN.stages) + 1):
        if t in CHOSEN.stages:
            line = compared(name, posterior, search)
            lines.append(line)
            print(
                f"{function} {name} l = {lengthscale:g} seed {seed} t = {t}: "
                f"{line[0]:.0f} times faster, gain {line[1]:+.2g}; without corners "
                f"{line[2]:.0f}, {line[3]:+.2g}",
                flush=True,
            )
        learn(search.best(acquisition(name, posterior), posterior))
    return lines


def main():
    """Play, compare, print."""
    print("medians and the worst: times faster, gain; without corners times faster, gain")
    table = {}
    for name in ("UCB", "LogEI"):
        for lengthscale in LENGTHSCALES:
            lines = [
                line
                for function in CHOSEN.functions
                for seed in CHOSEN.seeds
                for line in played(seed, function, name, lengthscale)
            ]
            table[name, lengthscale] = lines
    for (name, lengthscale), lines in table.items():
        median, worst = np.median(lines, axis=0), np.min(lines, axis=0)
        print(
            f"{name} l = {lengthscale:g}: {median[0]:.0f} (worst {worst[0]:.0f}), "
            f"{median[1]:+.2g} ({worst[1]:+.2g}); without corners {median[2]:.0f} "
            f"({worst[2]:.0f}), {median[3]:+.2g} ({worst[3]:+.2g})"
        )


main()
