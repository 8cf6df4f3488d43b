"""`minimize` where evaluations fail, beside Optuna with and without constraints.

    python benchmarks/failures.py [--cases square edge ...] [--optimizers ei tpe ...] [--seeds 0 1]

square, edge: a half-plane fails, and the minimum of the bowl lies on its boundary.
disk: a disk around the minimum of the bowl fails, so that the best values lie on the circle.
inner: a half-plane fails, and the minimum lies 0.18 inside.
branin: two sides of the square fail, with one of the three minima.
five: half of five dimensions fails, and the minimum lies on the boundary.
random: a fifth of the evaluations fails, anywhere.

The failed calls, and the gap of the best value, are means and medians over the seeds. For Optuna, a
failed call is a failed trial; with "+" it has the constraint 1 (otherwise -1) and the worst value
so far. The failure model was chosen on the seeds 10 to 13 of all but `square`. One thread.
"""

import argparse
import os
import time
import warnings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env.agents.optimize import Campaign, Real


def branin(u):
    x, y = 15.0 * u[0] - 5.0, 15.0 * u[1]
    well = (y - 5.1 / (4.0 * np.pi**2) * x**2 + 5.0 / np.pi * x - 6.0) ** 2
    return well + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x) + 10.0


def bowl(x, center, weights=1.0):
    return float((weights * (x - center) ** 2).sum())


def moved(seed, dim):
    """The places of the minima and of the boundaries differ between seeds."""
    return np.random.default_rng([seed, 77]).uniform(-0.05, 0.05, dim)


def square(x, seed):
    return bowl(x, np.array([0.3, 0.7])), x.sum() > 1.0


def edge(x, seed):
    center = np.array([0.62, 0.5]) + moved(seed, 2)
    return bowl(x, center, np.array([1.0, 2.0])), x[0] > center[0]


def disk(x, seed):
    center = np.array([0.5, 0.45]) + moved(seed, 2)
    return bowl(x, center), bowl(x, center + 0.05) < 0.09


def inner(x, seed):
    return bowl(x, np.array([0.35, 0.6]) + moved(seed, 2)), x.sum() > 1.2


def sides(x, seed):
    return branin(x), x[0] > 0.75 + moved(seed, 2)[0] or x[1] < 0.1


def five(x, seed):
    return bowl(x, 0.5 + moved(seed, 5)), x.sum() > 2.5 + moved(seed, 5).sum()


def at_random(x, seed):
    chance = np.random.default_rng([seed, *(1e6 * x).astype(int)]).random()
    return bowl(x, np.array([0.35, 0.6]) + moved(seed, 2)), chance < 0.2


# The objective, its dimensions, its calls, and its least value where evaluations succeed.
CASES = {
    "square": (square, 2, 80, 0.0),
    "edge": (edge, 2, 60, 0.0),
    "disk": (disk, 2, 60, (0.3 - 0.05 * 2**0.5) ** 2),
    "inner": (inner, 2, 60, 0.0),
    "branin": (sides, 2, 60, 0.39788735772973816),
    "five": (five, 5, 80, 0.0),
    "random": (at_random, 2, 60, 0.0),
}


class Ours:
    """A campaign, asked one point at a time."""

    def __init__(self, name, dim, seed, calls):
        space = {f"x{i}": Real(0.0, 1.0) for i in range(dim)}
        first = min(2 * dim + 2, calls // 4)
        self._campaign = Campaign(space, name, maximize=False, seed=seed, n_initial=first)

    def ask(self):
        (self._asked,) = self._campaign.ask()
        return np.array(list(self._asked.params.values()))

    def tell(self, value, failed):
        self._campaign.tell(self._asked.id, np.nan if failed else value)


class Optunas:
    """A study with one of Optuna's samplers."""

    def __init__(self, name, dim, seed, calls):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._fail, self._dim = optuna.trial.TrialState.FAIL, dim
        self._constrained, self._worst = name.endswith("+"), 0.0
        given = {"constraints_func": lambda t: t.user_attrs["c"]} if self._constrained else {}
        sampler = {"tpe": "TPESampler", "gpsampler": "GPSampler"}[name.rstrip("+")]
        made = getattr(optuna.samplers, sampler)(seed=seed, **given)
        self._study = optuna.create_study(sampler=made)

    def ask(self):
        self._trial = self._study.ask()
        return np.array([self._trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(self._dim)])

    def tell(self, value, failed):
        self._trial.set_user_attr("c", [1.0 if failed else -1.0])
        if failed and not self._constrained:
            self._study.tell(self._trial, state=self._fail)
        else:
            self._worst = self._worst if failed else max(self._worst, value)
            self._study.tell(self._trial, self._worst if failed else value)


def run(case, name, seed):
    """The number of failed calls, and the gap."""
    objective, dim, calls, least = CASES[case]
    made = Optunas if name.rstrip("+") in ("tpe", "gpsampler") else Ours
    one, failures, best = made(name, dim, seed, calls), 0, np.inf
    for _ in range(calls):
        x = one.ask()
        value, failed = objective(x, seed)
        failures += failed
        best = best if failed else min(best, value)
        one.tell(value, failed)
    return failures, best - least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    usual = ["ei", "gp-ucb", "ts", "ts-rsr", "tpe", "tpe+", "gpsampler+"]
    parser.add_argument("--optimizers", nargs="+", default=usual)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for case in chosen.cases:
        for name in chosen.optimizers:
            begun = time.process_time()
            failed, gaps = np.array([run(case, name, seed) for seed in chosen.seeds]).T
            took = (time.process_time() - begun) / len(gaps) / CASES[case][2]
            print(
                f"{case:7} {name:11} failed {failed.mean():5.1f} of {CASES[case][2]}  "
                f"gap {np.median(gaps):8.1e} (worst {gaps.max():8.1e})  {1000 * took:4.0f} ms  "
                f"{failed.astype(int).tolist()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
