"""MS-UCB in 5001 dimensions: its acquisition with and without structure, its rounds, its search.

    python benchmarks/ms_ucb.py [--rounds 200] [--fixed] [--wall]

The function is the ramp loss of tranthe2020 with (N0, alpha) = (1, 1) and d = 10, which gives
20,100 subspaces after 200 rounds. The benchmark measures three things: the cost of an acquisition
call (value and gradient at a batch of points in subspaces, t = 200) by cached distances, by whole
points, and by the formula with all differences; the cost of a round, and its memory; and the
acquisition value that is lost in comparison with ascents in every subspace.
"""

import argparse
import os
import resource
import time
from dataclasses import replace

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rounds", type=int, default=200)
parser.add_argument("--fixed", action="store_true", help="a model that is not learned")
parser.add_argument("--wall", action="store_true", help="wall clock, for an idle machine")
CHOSEN = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401
from gpbandits_env import agents
from gpbandits_env.agents.search.climb import climb
from gpbandits_env.agents.search.subspaces import SubspaceSearch

LOW_DIM, INITIAL, EACH = 10, 20, 30
CLOCK = time.perf_counter if CHOSEN.wall else time.process_time


def timed(run, least=0.2):
    """The median seconds of a call."""
    run()
    seconds, begin = [], CLOCK()
    while len(seconds) < 3 or CLOCK() - begin < least:
        start = CLOCK()
        run()
        seconds.append(CLOCK() - start)
    return float(np.median(seconds))


def score_of(acquisition, found):
    """The values and gradients of the acquisition by the chain rule."""
    mean, var, mean_slope, var_slope = found
    by_mean, by_var = acquisition.gradient(mean, var)
    slope = by_mean[:, None] * mean_slope + by_var[:, None] * var_slope
    return acquisition.score(mean, var), slope


def by_differences(posterior, x, active):
    """The mean, the variance and their gradients, with a tensor of all differences."""
    kernel, told = posterior.kernel, posterior.observed
    gap = x[:, None, :] - told[None, :, :]
    ell = kernel.lengthscale
    r = np.sqrt(5.0 * np.einsum("btd,btd->bt", gap, gap)) / ell
    k = kernel.variance * (1.0 + r + r**2 / 3.0) * np.exp(-r)
    slope = -kernel.variance * 5.0 / (3.0 * ell**2) * (1.0 + r) * np.exp(-r)
    white, beta = posterior.predictor.white, posterior.predictor.beta
    v = k @ white.T
    mean, var = posterior.prior_mean + v @ beta, kernel.variance - np.einsum("bt,bt->b", v, v)
    alpha, pulled = white.T @ beta, v @ white
    mean_slope = np.einsum("bt,btd->bd", slope * alpha, gap)
    var_slope = -2.0 * np.einsum("bt,btd->bd", slope * pulled, gap)
    return mean, var, mean_slope[:, active], var_slope[:, active]


def calls(agent):
    """The seconds of acquisition calls by the three methods."""
    search, posterior, acquisition = agent.search, agent.posterior, agent.acquisition()
    parts, rng = search.subspaces, np.random.default_rng(0)
    print(f"acquisition calls, t = {posterior.size}, {parts.size} subspaces: ms")
    print(f"{'points':>8} {'cached':>9} {'whole':>9} {'ratio':>7} {'textbook':>9} {'ratio':>7}")
    for count in (1, 10, 20, 100):
        rows = rng.integers(0, parts.size, count)
        y = rng.uniform(-1.0, 1.0, (count, LOW_DIM))

        def cached(y=y, rows=rows):
            return score_of(acquisition, parts.gradients(y, rows))

        def whole(y=y, rows=rows):
            found = posterior.gradients(parts.points(y, rows))
            slopes = tuple(s[:, parts.active] for s in found[2:])
            return score_of(acquisition, (*found[:2], *slopes))

        def textbook(y=y, rows=rows):
            x = parts.points(y, rows)
            return score_of(acquisition, by_differences(posterior, x, parts.active))

        for other in (whole, textbook):
            for a, b in zip(cached(), other(), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6 * np.abs(b).max())
        ours, theirs, plain = timed(cached), timed(whole), timed(textbook)
        line = f"{count:8d} {1e3 * ours:9.3f} {1e3 * theirs:9.2f} {theirs / ours:7.1f}"
        print(f"{line} {1e3 * plain:9.1f} {plain / ours:7.1f}", flush=True)


def lost(agent):
    """The acquisition value lost by ascents from K starts, compared with all subspaces."""
    search, posterior, acquisition = agent.search, agent.posterior, agent.acquisition()
    parts, kept = search.subspaces, search._growth
    y, _, mean, var = search._screened(posterior)
    score = acquisition.score(mean, var).reshape(parts.size, -1)
    starts = y.reshape(parts.size, -1, LOW_DIM)[np.arange(parts.size), score.argmax(axis=1)]

    def surface(points, which):
        return score_of(acquisition, parts.gradients(points, which))

    begin, low, high = CLOCK(), -np.ones(LOW_DIM), np.ones(LOW_DIM)
    _, values = climb(surface, starts, low, high, evaluations=EACH * parts.size)
    top, spent = values.max(), CLOCK() - begin
    span = top - np.median(score.max(axis=1))
    at = f"t = {posterior.size}, {parts.size} subspaces"
    print(f"{at}; all climbed in {spent:.1f} s, best {top:.6g}")
    for k in (1, 4, 10, 16, 64):
        search._growth = replace(kept, refine=k, evaluations=26 * k)
        begin = CLOCK()
        x = search.best(acquisition, posterior)
        seconds = CLOCK() - begin
        reached = float(acquisition.score(*posterior.moments(x))[0])
        part = (top - reached) / abs(top)
        print(
            f"  K = {k:3d}: lost {part:9.2e} of the value, {(top - reached) / span:9.2e} of the "
            f"gap to the median subspace; {seconds:.2f} s",
            flush=True,
        )
    search._growth = kept


def learned(agent):
    """The model in use, in the units of the rewards."""
    kernel = agent.posterior.kernel
    named = {"lengthscale": kernel.lengthscale, "variance": kernel.variance}
    return named | {"noise_var": agent.posterior.noise_var, "mean": agent.posterior.prior_mean}


def main():
    kernel = {"type": "matern52", "lengthscale": 35.0}
    env = gym.make("gpbandits/Task-v0", task="ramp-loss", kernel=kernel, max_episode_steps=10_000)
    env.reset(seed=0)
    world = env.unwrapped
    many = {"candidates": 256, "refine": 10, "evaluations": 260}
    learn = {"learn": None if CHOSEN.fixed else {"every": 20}, "standardize": True}
    agent = agents.make("ms-ucb", env, seed=0, d=LOW_DIM, n0=1, alpha=1.0, **many, **learn)
    assert isinstance(agent.search, SubspaceSearch)
    rng = np.random.default_rng(0)
    points = world.problem.domain.sample(rng, INITIAL)
    rewards, values = world.prior_data(points, rng)
    agent.prior_data(points, rewards)
    best = first = float(world.function.optimum - values.max())
    for t in range(1, CHOSEN.rounds + 1):
        start = CLOCK()
        x = agent.ask()
        asked = CLOCK() - start
        _, reward, _, _, info = env.step(x)
        best = min(best, float(np.min(info["regret"])))
        start = CLOCK()
        agent.tell(x, np.atleast_1d(reward))
        told = CLOCK() - start
        if t in (1, 10, 50, 100, 150) or t >= CHOSEN.rounds - 1:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"round {t:4d}: ask {asked:.3f} s, tell {told:.3f} s, {agent.search.size} "
                f"subspaces, regret {first:.4g} -> {best:.4g}, peak {peak:.0f} MB",
                flush=True,
            )
        if t in (50, 100, CHOSEN.rounds):
            print("learned: " + ", ".join(f"{k} {v:.4g}" for k, v in learned(agent).items()))
            lost(agent)
    calls(agent)


if __name__ == "__main__":
    main()
