"""`minimize` where evaluations fail, beside Optuna with and without constraints.

    python benchmarks/failures.py [--cases square edge ...] [--optimizers ei tpe ...] [--seeds 0 1]
        [--failures region] [--file benchmarks/results/failures.json]

square, edge: a half-plane fails, and the minimum of the bowl lies on its boundary.
disk: a disk around the minimum of the bowl fails, so that the best values lie on the circle.
inner: a half-plane fails, and the minimum lies 0.18 inside.
branin: two sides of the square fail, with one of the three minima.
five: half of five dimensions fails, and the minimum lies on the boundary.
random: a fifth of the calls fails by chance, anywhere; the minimum lies inside.
network: the same in a space of a logarithmic, an integer and a choice dimension with a constraint.
grid: on 16 x 16 integers the first call of the minimum fails, and no other call.
both: a half-plane fails as in `inner`, and a tenth of the other calls by chance.

The failed calls, and the gap of the best value, are means and medians over the seeds. For Optuna, a
failed call is a failed trial; with "+" it has the constraint 1 (otherwise -1) and the worst value
so far. The failure model was chosen on the seeds 10 to 13 of all but `square`. One thread.
"""

import argparse
import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real


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


def everywhere(x, seed):
    return bowl(x, np.array([0.35, 0.6]) + moved(seed, 2)), False


# For each optimizer of a network: the best rate, the loss there with 6 layers, and the memory of
# one layer. At most 8 in memory leaves 5 layers of the best one, and the least loss 0.3.
RATES = {"adam": (-3.0, 0.0, 1.6), "sgd": (-1.5, 0.5, 1.0), "rms": (-2.5, 1.0, 1.3)}
NETWORK = {"rate": Real(1e-5, 1.0, log=True), "layers": Integer(1, 10), "by": Choice(tuple(RATES))}
MEMORY = 8.0


def network(x, seed):
    rate, layers, by = x
    center, loss, size = RATES[by]
    away = np.log10(float(rate)) - center - 5.0 * moved(seed, 1)[0]
    loss += 0.3 * (int(layers) - 6) ** 2 + away**2
    return loss, False, size * int(layers)


def grid(x, seed):
    center = np.random.default_rng([seed, 77]).integers(3, 13, 2)
    return float(((x - center) ** 2).sum()), False


@dataclass(frozen=True)
class Case:
    """An objective of a point and a seed, which returns a value, a failure and a constraint.

    Args:
        objective: the function.
        space: the dimensions by name, or the number of real ones.
        calls: the number of calls.
        least: the least value where evaluations succeed.
        chance: the probability that a call fails wherever it is.
        once: whether the first call of the minimum fails.
        constraints: the bound of the constraint by name, if there is one.
    """

    objective: Callable
    space: object
    calls: int
    least: float = 0.0
    chance: float = 0.0
    once: bool = False
    constraints: dict = field(default_factory=dict)

    @property
    def dimensions(self):
        if isinstance(self.space, dict):
            return self.space
        return {f"x{i}": Real(0.0, 1.0) for i in range(self.space)}


CASES = {
    "square": Case(square, 2, 80),
    "edge": Case(edge, 2, 60),
    "disk": Case(disk, 2, 60, (0.3 - 0.05 * 2**0.5) ** 2),
    "inner": Case(inner, 2, 60),
    "branin": Case(sides, 2, 60, 0.39788735772973816),
    "five": Case(five, 5, 80),
    "random": Case(everywhere, 2, 60, chance=0.2),
    "network": Case(network, NETWORK, 40, 0.3, chance=0.2, constraints={"memory": MEMORY}),
    "grid": Case(grid, {"i": Integer(0, 15), "j": Integer(0, 15)}, 60, once=True),
    "both": Case(inner, 2, 60, chance=0.1),
}


class Ours:
    """A campaign, asked one point at a time."""

    def __init__(self, name, case, seed, failures):
        dim = len(case.dimensions)
        given = {"constraints": case.constraints, "n_initial": min(2 * dim + 2, case.calls // 4)}
        given |= {"failures": failures} if failures else {}
        self._campaign = Campaign(case.dimensions, name, maximize=False, seed=seed, **given)

    def ask(self):
        (self._asked,) = self._campaign.ask()
        return self._asked.params

    def tell(self, value, failed, slacks):
        told = {"constraints": [c for c, _ in slacks]} if slacks else {}
        self._campaign.tell(self._asked.id, np.nan if failed else value, **told)


class Optunas:
    """A study with one of Optuna's samplers."""

    def __init__(self, name, case, seed, failures):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._fail, self._space = optuna.trial.TrialState.FAIL, case.dimensions
        self._constrained, self._worst = name.endswith("+"), 0.0
        limited = self._constrained or case.constraints
        given = {"constraints_func": lambda t: t.user_attrs["c"]} if limited else {}
        sampler = {"tpe": "TPESampler", "gpsampler": "GPSampler"}[name.rstrip("+")]
        made = getattr(optuna.samplers, sampler)(seed=seed, **given)
        self._study = optuna.create_study(sampler=made)

    def ask(self):
        self._trial = trial = self._study.ask()
        found = {}
        for name, one in self._space.items():
            if isinstance(one, Choice):
                found[name] = trial.suggest_categorical(name, one.options)
            elif isinstance(one, Integer):
                found[name] = trial.suggest_int(name, one.low, one.high)
            else:
                found[name] = trial.suggest_float(name, one.low, one.high, log=one.log)
        return found

    def tell(self, value, failed, slacks):
        limits = [c - bound for c, bound in slacks]
        own = [1.0 if failed else -1.0] * self._constrained
        self._trial.set_user_attr("c", [*own, *limits])
        if failed and not self._constrained:
            self._study.tell(self._trial, state=self._fail)
        else:
            self._worst = self._worst if failed else max(self._worst, value)
            self._study.tell(self._trial, self._worst if failed else value)


def run(case, name, seed, failures):
    """The number of failed calls, and the gap; without any feasible value it is infinite."""
    made = Optunas if name.rstrip("+") in ("tpe", "gpsampler") else Ours
    one, lost, best, seen = made(name, case, seed, failures), 0, np.inf, Counter()
    for call in range(case.calls):
        params = one.ask()
        value, failed, *limits = case.objective(np.array(list(params.values())), seed)
        seen[str(params)] += 1
        failed |= np.random.default_rng([seed, call, 5]).random() < case.chance
        failed |= case.once and value == case.least and seen[str(params)] == 1
        slacks = list(zip(limits, case.constraints.values(), strict=True))
        lost += failed
        if not failed and all(c <= bound for c, bound in slacks):
            best = min(best, value)
        one.tell(value, failed, slacks)
    return int(lost), best - case.least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    usual = ["ei", "gp-ucb", "ts", "ts-rsr", "tpe", "tpe+", "gpsampler+"]
    parser.add_argument("--optimizers", nargs="+", default=usual)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--failures", choices=("auto", "region", "random"))
    parser.add_argument("--file", type=Path, help="a JSON file to which the runs are added")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in chosen.cases:
        for optimizer in chosen.optimizers:
            shown(name, optimizer, chosen)


def shown(name, optimizer, chosen):
    """Run all seeds, print a line, and add the runs to the file."""
    case, begun = CASES[name], time.process_time()
    runs = [run(case, optimizer, seed, chosen.failures) for seed in chosen.seeds]
    failed, gaps = np.array(runs).T
    took = (time.process_time() - begun) / len(gaps) / case.calls
    print(
        f"{name:7} {optimizer:11} failed {failed.mean():5.1f} of {case.calls}  "
        f"gap {np.median(gaps):8.1e} (worst {gaps.max():8.1e})  {1000 * took:4.0f} ms  "
        f"{failed.astype(int).tolist()}",
        flush=True,
    )
    if chosen.file is not None:
        kept = json.loads(chosen.file.read_text()) if chosen.file.exists() else []
        of = {"case": name, "optimizer": optimizer, "failures": chosen.failures}
        kept.append(of | {"seeds": chosen.seeds, "failed": failed.tolist(), "gaps": gaps.tolist()})
        lines = ",\n".join(json.dumps(line) for line in kept)
        chosen.file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
