"""Rounds of TS-RSR: ackley-3d beside a bare NumPy prototype, and 10,000 candidates.

    python benchmarks/batch.py [--trials 3] [--botorch]

The first table plays ren2024/ackley-3d (m = 20, T = 15, about 1000 candidates a round and a local
refinement). The prototype is the same algorithm without a library: candidates, Matheron samples on
random features, variances kept up at the candidates, steps of shrinking size around each choice.
The second draws m samples on 10,000 points in 3-D, Matern 3/2, after t = 300 observations, and
chooses the batch among them: beside factorising the posterior covariance of all points, and with
--botorch beside BoTorch's Matheron paths. Times are of the processor, on one thread.
"""

import argparse
import os
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--trials", type=int, default=3)
parser.add_argument("--repeats", type=int, default=5)
parser.add_argument("--botorch", action="store_true")
parser.add_argument("--only", choices=["ackley", "candidates"])
CHOSEN = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import tracemalloc  # noqa: E402

import numpy as np  # noqa: E402

from gpbandits_env.agents.acquisitions import RegretToSigma  # noqa: E402
from gpbandits_env.agents.search.held import Candidates  # noqa: E402
from gpbandits_env.domains import Box  # noqa: E402
from gpbandits_env.kernels import Matern32  # noqa: E402
from gpbandits_env.posterior import BoxPosterior  # noqa: E402
from gpbandits_env.scenarios import get  # noqa: E402
from gpbandits_env.scenarios.runner import run_trial  # noqa: E402

CLOCK = time.process_time
LN2 = float(np.log(2.0))
NOISE_VAR = 1e-6
POINTS, TOLD, FEATURES = 10_000, 300, 1024


def timed(run):
    start = CLOCK()
    found = run()
    return CLOCK() - start, found


def matern(x, z):
    """Matern 3/2 of lengthscale ln 2 and variance ln 2."""
    square = (x**2).sum(1)[:, None] + (z**2).sum(1) - 2.0 * x @ z.T
    r = np.sqrt(3.0 * np.maximum(square, 0.0)) / LN2
    return LN2 * (1.0 + r) * np.exp(-r)


def samples(rng, x, data, y, inverse, size):
    """The values of posterior samples at x, (size, n), by Matheron's rule."""
    dim = x.shape[1]
    w = rng.standard_normal((dim, FEATURES)) / np.sqrt(rng.chisquare(3, FEATURES) / 3.0) / LN2
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    scale = np.sqrt(2.0 * LN2 / FEATURES)
    xi = rng.standard_normal((size, FEATURES)) * scale

    def prior(points):
        return xi @ np.cos(points @ w + phase).T

    gap = y - prior(data) - np.sqrt(NOISE_VAR) * rng.standard_normal((size, len(data)))
    weights = gap @ inverse.T @ inverse
    return prior(x) + weights @ matern(data, x)


def white(data):
    covariance = matern(data, data)
    covariance.flat[:: len(data) + 1] += NOISE_VAR
    return np.linalg.inv(np.linalg.cholesky(covariance))


def prototype(f, box, seed, m=20, rounds=15, candidates=1000):
    """The algorithm without a library: the largest f found."""
    rng = np.random.default_rng(seed)
    low, high = box
    data = rng.uniform(low, high, (15, len(low)))
    y = f(data)
    for _ in range(rounds):
        level, spread = y.mean(), y.std()
        z = (y - level) / spread
        inverse = white(data)
        alpha = inverse.T @ (inverse @ z)
        around = data[z.argmax()] + 0.05 * (high - low) * rng.standard_normal((100, len(low)))
        x = np.clip(np.vstack([rng.uniform(low, high, (candidates, len(low))), around]), low, high)
        k = matern(x, data)
        mean = k @ alpha
        var = LN2 - ((k @ inverse.T) ** 2).sum(1)
        top = mean.max()
        maxima = samples(rng, x, data, z, inverse, m).max(axis=1)
        for _ in range(10):
            again = np.flatnonzero(maxima <= top)
            if not len(again):
                break
            maxima[again] = samples(rng, x, data, z, inverse, len(again)).max(axis=1)
        maxima = np.maximum(maxima, top + 1e-3)
        known, batch = data, []
        for goal in maxima:
            score = (mean - goal) / np.sqrt(np.maximum(var, 1e-12))
            best, chosen = score.max(), x[score.argmax()]
            step = 0.02 * (high - low)
            for _ in range(6):
                near = np.clip(chosen + step * rng.standard_normal((32, len(low))), low, high)
                k_near = matern(near, known)
                sd = np.sqrt(np.maximum(LN2 - ((k_near @ inverse.T) ** 2).sum(1), 1e-12))
                tried = (k_near[:, : len(data)] @ alpha - goal) / sd
                if tried.max() > best:
                    best, chosen = tried.max(), near[tried.argmax()]
                step = step / 2.5
            row = matern(chosen[None], known)[0]
            v = inverse @ row
            left = np.sqrt(LN2 + NOISE_VAR - v @ v)
            grown = np.zeros((len(known) + 1,) * 2)
            grown[:-1, :-1], grown[-1, :-1], grown[-1, -1] = (
                inverse,
                -(v @ inverse) / left,
                1 / left,
            )
            inverse, known = grown, np.vstack([known, chosen])
            k = np.hstack([k, matern(x, chosen[None])])
            var = var - (k @ grown[-1]) ** 2
            batch.append(chosen)
        data = np.vstack([data, batch])
        y = np.concatenate([y, f(np.array(batch))])
    return float(y.max())


def ackley(x):
    first = 20.0 * np.exp(-0.2 * np.sqrt((x**2).mean(axis=1)))
    return first + np.exp(np.cos(2.0 * np.pi * x).mean(axis=1)) - 20.0 - np.e


def whole_runs(trials):
    """Seconds and simple regret of runs of ackley-3d."""
    scenario = get("ren2024/ackley-3d").select(trials=trials)
    run_trial(scenario.select(horizon=1), "ts-rsr", 0)
    box = np.full(3, -5.0), np.full(3, 5.0)
    print(f"{'run':>4} {'ours, s':>9} {'regret':>9} {'bare, s':>9} {'regret':>9} {'ratio':>6}")
    for trial in range(trials):
        ours, record = timed(lambda trial=trial: run_trial(scenario, "ts-rsr", trial))
        bare, top = timed(lambda trial=trial: prototype(ackley, box, trial))
        regret = float(np.min(record.rounds["regret"]))
        print(
            f"{trial:>4} {ours:>9.2f} {regret:>9.2g} {bare:>9.2f} {-top:>9.2g} {ours / bare:>6.2f}"
        )


def belief(rng):
    box = Box(np.zeros(3), np.full(3, 5.0))
    posterior = BoxPosterior(box, Matern32(lengthscale=LN2, variance=LN2), 1e-2)
    told = 5.0 * rng.random((TOLD, 3))
    posterior.update(told, np.sin(told).sum(axis=1))
    return posterior


def round_of(posterior, points, rng, m):
    """The batch among the points: samples, then one action after the other."""
    held = Candidates(points, posterior)
    maxima = posterior.paths(rng, m)(points).max(axis=1)
    for goal in np.maximum(maxima, held.mean.max() + 1e-6):
        first = int(RegretToSigma(float(goal)).score(held.mean, held.var).argmax())
        posterior.hallucinate(points[first : first + 1])
        held.follow(posterior)
    posterior.rollback()


def factorised(posterior, points, rng, m):
    """The joint samples only, by factorising the posterior covariance."""
    covariance = posterior.covariance(points)
    covariance.flat[:: len(points) + 1] += 1e-8
    return np.linalg.cholesky(covariance) @ rng.standard_normal((len(points), m))


def botorchs(posterior, points, m):
    """The joint samples only, by BoTorch's Matheron paths."""
    import torch
    from botorch.models import SingleTaskGP
    from botorch.sampling.pathwise import draw_matheron_paths
    from gpytorch.kernels import MaternKernel, ScaleKernel

    torch.set_num_threads(1)
    kernel = ScaleKernel(MaternKernel(nu=1.5)).double()
    kernel.outputscale, kernel.base_kernel.lengthscale = LN2, LN2
    y = torch.as_tensor(posterior.rewards)[:, None]
    told = torch.as_tensor(posterior.told)
    noise = torch.full_like(y, posterior.noise_var)
    model = SingleTaskGP(told, y, noise, covar_module=kernel, outcome_transform=None)
    model.eval()
    x = torch.as_tensor(points)

    def draw():
        with torch.no_grad():
            return draw_matheron_paths(model, sample_shape=torch.Size([m]))(x)

    return draw


def candidates(repeats, with_botorch):
    """A round on 10,000 candidates."""
    rng = np.random.default_rng(0)
    posterior = belief(rng)
    points = 5.0 * rng.random((POINTS, 3))
    round_of(posterior, points, rng, 2)
    print(f"\n{'m':>4} {'a round, ms':>12}")
    for m in (5, 10, 20, 40):
        taken = min(
            timed(lambda m=m: round_of(posterior, points, rng, m))[0] for _ in range(repeats)
        )
        print(f"{m:>4} {1e3 * taken:>12.0f}")
        if m == 20:
            twenty = taken
    tracemalloc.start()
    round_of(posterior, points, rng, 20)
    print(f"memory at m = 20: {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")
    tracemalloc.stop()
    if with_botorch:
        draw = botorchs(posterior, points, 20)
        draw()
        taken = min(timed(draw)[0] for _ in range(repeats))
        ratio = taken / twenty
        print(f"BoTorch's Matheron paths, samples alone: {1e3 * taken:.0f} ms, {ratio:.1f} times")
    taken, _ = timed(lambda: factorised(posterior, points, rng, 20))
    print(f"factorising the covariance, samples alone: {taken:.1f} s, {taken / twenty:.0f} times")


if __name__ == "__main__":
    if CHOSEN.only != "candidates":
        whole_runs(CHOSEN.trials)
    if CHOSEN.only != "ackley":
        candidates(CHOSEN.repeats, CHOSEN.botorch)
