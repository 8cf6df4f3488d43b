"""`minimize` on objectives that are hard for a Gaussian process, beside Optuna's samplers.

    python benchmarks/hard_objectives.py [--cases mixed flat ...] [--optimizers ei tpe ...]

mixed: 5 real numbers, 3 integers and 2 choices of 8, 60 calls; the gap of the best value, and by
how many nats exchanges of single values still improve the log-EI of the points asked.
flat: zero but for a basin of 3% of the square, 40 calls; the distinct points, and whether the
basin was found.
integers: one from 0 to 19 without noise, 20 calls; how many repeat an earlier one.
outliers: one value of twenty is about 100 standard deviations too large, 60 calls; the gap.
drifting: the minimum circles, 150 calls; the mean gap of the last 100. Our agents but tv-gp-ucb
are given epsilon = 0.01.
noisy: noise of half the standard deviation of the values, 60 calls; the gap of the recommended
point.
All are means over the seeds. One thread.
"""

import argparse
import os
import time
import warnings
from functools import partial

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env.agents.acquisitions import LogEI
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real


class Ours:
    """A campaign, asked one point at a time."""

    def __init__(self, name, space, seed, calls, **settings):
        first = min(2 * len(space) + 2, calls // 4)
        self.campaign = Campaign(
            space, name, maximize=False, seed=seed, n_initial=first, **settings
        )

    def ask(self):
        (self.asked,) = self.campaign.ask()
        return self.asked.params

    def tell(self, value):
        self.campaign.tell(self.asked.id, value)

    @property
    def recommended(self):
        return self.campaign.recommended


class Optunas:
    """A study with one of Optuna's samplers."""

    def __init__(self, name, space, seed, calls):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = space
        sampler = {"tpe": "TPESampler", "gpsampler": "GPSampler", "random": "RandomSampler"}[name]
        self.study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))

    def ask(self):
        self.trial, found = self.study.ask(), {}
        for name, dimension in self._space.items():
            match dimension:
                case Real():
                    low, high, log = dimension.low, dimension.high, dimension.log
                    found[name] = self.trial.suggest_float(name, low, high, log=log)
                case Integer():
                    found[name] = self.trial.suggest_int(name, dimension.low, dimension.high)
                case Choice():
                    found[name] = self.trial.suggest_categorical(name, dimension.options)
        return found

    def tell(self, value):
        self.study.tell(self.trial, value)

    @property
    def recommended(self):
        return self.study.best_params


def square():
    return {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)}


def bowl(p, x=0.3, y=0.7):
    return (p["x"] - x) ** 2 + (p["y"] - y) ** 2


def mixed(start, seed):
    space = {f"x{i}": Real(0.0, 1.0) for i in range(5)}
    space |= {f"n{i}": Integer(0, 15) for i in range(3)}
    space |= {f"c{i}": Choice(tuple("abcdefgh")) for i in range(2)}
    rng = np.random.default_rng([seed, 1])
    best, whole = rng.random(5), rng.integers(16, size=3)
    worth = [rng.permutation(8) / 7.0 for _ in range(2)]

    def value(p):
        gap = sum((p[f"x{i}"] - best[i]) ** 2 for i in range(5))
        gap += sum(((p[f"n{i}"] - whole[i]) / 15.0) ** 2 for i in range(3))
        return gap + sum(worth[i]["abcdefgh".index(p[f"c{i}"])] for i in range(2))

    one, values, missed = start(space, seed, 60), [], []
    for i in range(60):
        params = one.ask()
        if isinstance(one, Ours) and i in (24, 34, 44, 54):
            missed.append(still_to_gain(one.campaign, params))
        values.append(value(params))
        one.tell(values[-1])
    return {"gap": min(values)} | ({"nats": np.max(missed)} if missed else {})


def still_to_gain(campaign, params):
    """The gain in log-EI of the best exchanges of single discrete values, one after the other."""
    posterior, space = campaign.agent.posterior, campaign.space
    ei = LogEI(float(posterior.mean_at_observed().max()))

    def score(points):
        return ei.score(*posterior.moments(points))

    point = space.encode(params)
    first = last = score(point[None]).item()
    while True:
        others = []
        for name, dimension in space.dimensions.items():
            if dimension.size is not None:
                now = space.decode(point) | {}
                others += [space.encode(now | {name: v}) for v in dimension.values()]
        others = np.array(others)
        # Exact coordinates of the real numbers, which decoding may round.
        real = np.flatnonzero(space.cube.free)
        others[:, real] = point[real]
        scores = score(others)
        if scores.max() <= last + 1e-9:
            return last - first
        point, last = others[scores.argmax()], scores.max()


def flat(start, seed):
    rng = np.random.default_rng([seed, 2])
    x, y = rng.uniform(0.1, 0.9, 2)
    one, seen, found = start(square(), seed, 40), set(), False
    for _ in range(40):
        p = one.ask()
        seen.add((round(p["x"], 3), round(p["y"], 3)))
        value = min(bowl(p, x, y) - 0.03 / np.pi, 0.0)
        found |= value < 0.0
        one.tell(value)
    return {"distinct": len(seen), "found": float(found)}


def integers(start, seed):
    at = np.random.default_rng([seed, 3]).integers(20)
    one, asked = start({"n": Integer(0, 19)}, seed, 20), []
    for _ in range(20):
        asked.append(one.ask()["n"])
        one.tell(float((asked[-1] - at) ** 2))
    return {"repeated": len(asked) - len(set(asked))}


def outliers(start, seed):
    one, best, rng = start(square(), seed, 60), np.inf, np.random.default_rng([seed, 4])
    for _ in range(60):
        p = one.ask()
        best = min(best, bowl(p))
        one.tell(bowl(p) + 20.0 * (rng.random() < 0.05))
    return {"gap": best}


def drifting(start, seed):
    static = start.func is Ours and start.args[0] != "tv-gp-ucb"
    one, gaps = start(square(), seed, 150, **({"epsilon": 0.01} if static else {})), []
    for t in range(150):
        angle = 2.0 * np.pi * t / 100.0 + seed
        p = one.ask()
        gaps.append(bowl(p, 0.5 + 0.3 * np.cos(angle), 0.5 + 0.3 * np.sin(angle)))
        one.tell(gaps[-1])
    return {"gap": np.mean(gaps[50:])}


def noisy(start, seed):
    one, rng = start(square(), seed, 60), np.random.default_rng([seed, 5])
    for _ in range(60):
        one.tell(bowl(one.ask()) + 0.1 * rng.standard_normal())
    return {"gap": bowl(one.recommended)}


CASES = {f.__name__: f for f in (mixed, flat, integers, outliers, drifting, noisy)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--optimizers", nargs="+", default=["ei", "ts-rsr", "tpe", "gpsampler"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for case in chosen.cases:
        for name in chosen.optimizers:
            cls = Optunas if name in ("tpe", "gpsampler", "random") else Ours
            begun = time.process_time()
            try:
                rows = [CASES[case](partial(cls, name), seed) for seed in chosen.seeds]
            except ValueError as error:
                print(f"{case} {name}: {error}", flush=True)
                continue
            seconds = (time.process_time() - begun) / len(rows)
            means = {k: float(np.mean([r[k] for r in rows])) for k in rows[0]}
            each = {k: [float(f"{r[k]:.3g}") for r in rows] for k in rows[0]}
            for k in means:
                print(f"{case:9} {name:10} {k:9} {means[k]:8.3g} {each[k]} {seconds:.1f} s")


if __name__ == "__main__":
    main()
