"""Rounds of TS-RSR: ackley-3d compared with a bare NumPy prototype, and 10,000 candidates.

    python benchmarks/batch.py [--trials 3] [--botorch]

The first table runs ren2024/ackley-3d (m = 20, T = 15, 1000 candidates per round and a local
refinement). The prototype is the same algorithm without a library: candidates and local maxima of
the mean, exact joint samples, variances that are updated at the candidates, and ten steps of Adam
for each choice. The second table asks TS-RSR for m points among 10,000 candidates in 3-D, with
Matern 3/2 and after t = 300 observations. It compares with drawing the samples alone, by a
factorization of the posterior covariance of all points and, with --botorch, by BoTorch's Matheron
paths. Times are processor times on one thread.
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

import tracemalloc

import numpy as np

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Matern32
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.study.runner import run_trial

CLOCK = time.process_time
LN2 = float(np.log(2.0))
NOISE_VAR = 1e-6
POINTS, TOLD = 10_000, 300


def timed(run):
    start = CLOCK()
    found = run()
    return CLOCK() - start, found


def matern(x, z):
    """Matern 3/2 of lengthscale ln 2 and variance ln 2."""
    square = (x**2).sum(1)[:, None] + (z**2).sum(1) - 2.0 * x @ z.T
    r = np.sqrt(3.0 * np.maximum(square, 0.0)) / LN2
    return LN2 * (1.0 + r) * np.exp(-r)


def slope(x, data, alpha):
    """The gradient (k, d) of the mean at x."""
    step = x[:, None] - data
    r = np.sqrt(3.0 * np.maximum((step**2).sum(-1), 0.0)) / LN2
    return -np.einsum("ij,ijk->ik", 3.0 / LN2 * np.exp(-r) * alpha, step)


def climbed(x, data, alpha, low, high, steps=20):
    """The ends of climbs of the mean from x; steps that gain become longer, others shorter."""
    length, value = np.full(len(x), 0.02), matern(x, data) @ alpha
    for _ in range(steps):
        g = slope(x, data, alpha) * (high - low)
        g /= np.maximum(np.abs(g).max(axis=1), 1e-300)[:, None]
        trial = np.clip(x + length[:, None] * g * (high - low), low, high)
        height = matern(trial, data) @ alpha
        better = height > value
        x, value = np.where(better[:, None], trial, x), np.where(better, height, value)
        length = np.where(better, 1.5 * length, 0.3 * length)
    return x[np.unique((x / (high - low)).round(3), axis=0, return_index=True)[1]]


def refined(x, best, goal, known, inverse, alpha, low, high):
    """Ten steps of Adam of length 0.01 from x (d,) up (mean - goal) / sd."""
    told, at = len(alpha), x
    first, second = np.zeros_like(x), np.zeros_like(x)
    for step in range(11):
        away = at - known
        r = np.sqrt(3.0 * (away**2).sum(1)) / LN2
        decay = np.exp(-r)
        k = LN2 * (1.0 + r) * decay
        dk = (-3.0 / LN2 * decay)[:, None] * away
        v = inverse @ k
        gap, var = k[:told] @ alpha - goal, max(LN2 - v @ v, 1e-12)
        score = gap / np.sqrt(var)
        if score > best:
            best, x = score, at
        slope = alpha @ dk[:told] / np.sqrt(var) + gap / var**1.5 * ((v @ inverse) @ dk)
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        move = first / (1.0 - 0.9 ** (step + 1)) / np.sqrt(second / (1.0 - 0.999 ** (step + 1)))
        at = np.clip(at + 0.01 * move, low, high)
    return x


def white(data):
    covariance = matern(data, data)
    covariance.flat[:: len(data) + 1] += NOISE_VAR
    return np.linalg.inv(np.linalg.cholesky(covariance))


def prototype(f, box, seed, m=20, rounds=15, candidates=1000):
    """The algorithm without a library; returns the largest f that it found."""
    rng = np.random.default_rng(seed)
    low, high = box
    data = rng.uniform(low, high, (15, len(low)))
    y = f(data)
    for _ in range(rounds):
        z = (y - y.mean()) / y.std()
        inverse = white(data)
        alpha = inverse.T @ (inverse @ z)
        x = rng.uniform(low, high, (candidates, len(low)))
        mean = matern(x, data) @ alpha
        higher = data[np.argsort(-z)[:49]]
        higher = higher[matern(higher, data) @ alpha > mean.max()]
        starts = np.vstack([x[mean.argmax()], higher])
        x = np.vstack([x, climbed(starts, data, alpha, low, high)])
        k = matern(x, data)
        mean, v = k @ alpha, k @ inverse.T
        covariance = matern(x, x) - v @ v.T
        covariance.flat[:: len(x) + 1] += 1e-10
        root, var = np.linalg.cholesky(covariance), LN2 - (v**2).sum(1)
        maxima = np.full(m, -np.inf)
        for _ in range(10):
            low_ones = np.flatnonzero(maxima <= mean.max())
            draws = mean[:, None] + root @ rng.standard_normal((len(x), len(low_ones)))
            maxima[low_ones] = draws.max(axis=0, initial=-np.inf)
        known, batch = data, []
        for goal in np.maximum(maxima, mean.max() + 1e-3):
            score = (mean - goal) / np.sqrt(np.maximum(var, 1e-12))
            first = score.argmax()
            chosen = refined(x[first], score[first], goal, known, inverse, alpha, low, high)
            w = inverse @ matern(known, chosen[None])[:, 0]
            left = np.sqrt(LN2 + NOISE_VAR - w @ w)
            grown = np.zeros((len(known) + 1,) * 2)
            grown[:-1, :-1], grown[-1, :-1], grown[-1, -1] = (
                inverse,
                -(w @ inverse) / left,
                1 / left,
            )
            inverse, known = grown, np.vstack([known, chosen])
            k = np.hstack([k, matern(x, chosen[None])])
            var = var - (k @ grown[-1]) ** 2
            batch.append(chosen)
        data, y = np.vstack([data, batch]), np.concatenate([y, f(np.array(batch))])
    return float(y.max())


def ackley(x):
    first = 20.0 * np.exp(-0.2 * np.sqrt((x**2).mean(axis=1)))
    return first + np.exp(np.cos(2.0 * np.pi * x).mean(axis=1)) - 20.0 - np.e


def whole_runs(trials):
    """The seconds and the simple regret of runs of ackley-3d."""
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


def asking(told, m):
    """TS-RSR among 10,000 given candidates, after t observations."""
    box = Box(np.zeros(3), np.full(3, 5.0))
    problem = Problem(box, Matern32(LN2, LN2), 1e-2, batch_size=m)
    search = {"type": "round", "candidates": POINTS, "refine": 0, "tops": 0}
    agent = agents.make("ts-rsr", problem, seed=0, search=search)
    agent.prior_data(told, np.sin(told).sum(axis=1))
    return agent


def factorised(posterior, points, rng, m):
    """The joint samples only, by a factorization of the posterior covariance."""
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
    told = torch.as_tensor(posterior.observed)
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
    told, points = 5.0 * rng.random((TOLD, 3)), 5.0 * rng.random((POINTS, 3))
    asking(told, 2).ask()
    print(f"\n{'m':>4} {'a round, ms':>12}")
    for m in (5, 10, 20, 40):
        agent = asking(told, m)
        taken = min(timed(agent.ask)[0] for _ in range(repeats))
        print(f"{m:>4} {1e3 * taken:>12.0f}")
        if m == 20:
            twenty, posterior = taken, agent.posterior
    agent = asking(told, 20)
    tracemalloc.start()
    agent.ask()
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
