"""`minimize` beside other optimizers, on the functions of BBOB.

    python benchmarks/bbob.py run FILE [--dim 5] [--calls 100] [--noise 0] [--optimizers ei tpe ...]
    python benchmarks/bbob.py table FILE [--dim 5] [--noise 0]

Each run is one optimizer on one function, instance and seed. It appends one line of JSON to the
file; runs whose lines are in the file are left out, so that an interrupted benchmark goes on. Our
agents are named as in `minimize`, with settings as in 'gp-ucb {"beta": 4}'. The gap of a run is the
smallest noiseless value of its points, less the minimum of the function. Noise is stated in
standard deviations of the function at uniform points. The table ranks the optimizers in every cell
(function, instance, seed) that all of them share. Its intervals are bootstraps of 95% over the
functions. Defaults of ours were chosen on the instances 11 and 12; the reported ones are 1 and 2.

Needs ioh, and optuna, botorch and cma for the optimizers of these libraries. One thread.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import ioh
import numpy as np
from scipy.stats import qmc, rankdata

from gpbandits_env import agents

FUNCTIONS = (1, 3, 6, 7, 8, 10, 14, 15, 17, 20, 21, 22)
REPORTED = (1, 2)
OURS = ("ei", "gp-ucb", "ts-rsr", "ts", "qei")
# Gaps below this are equal.
SMALLEST = 1e-8
LOW, HIGH = -5.0, 5.0


class Function:
    """A function of BBOB with noise, which records the gap of each call and its own time."""

    def __init__(self, number, instance, dim, noise, seed):
        self._problem = ioh.get_problem(number, instance, dim, ioh.ProblemClass.BBOB)
        self._best, self.dim, self.gaps, self.seconds = self._problem.optimum.y, dim, [], 0.0
        self._rng = np.random.default_rng([number, instance, seed])
        points = qmc.Sobol(dim, seed=0).random(256) * (HIGH - LOW) + LOW
        self._sd = noise * float(np.std([self._problem(x) for x in points.tolist()]))

    def __call__(self, x):
        start = time.process_time()
        value = self._problem([float(part) for part in x])
        self.gaps.append(max(value - self._best, 0.0))
        value += self._sd * self._rng.standard_normal()
        self.seconds += time.process_time() - start
        return value


def ours(fun, calls, seed, name):
    agent, _, settings = name.partition(" ")
    given = json.loads(settings or "{}")
    agents.minimize(fun, [(LOW, HIGH)] * fun.dim, agent, n_calls=calls, seed=seed, **given)


def uniform(fun, calls, seed):
    for x in np.random.default_rng(seed).uniform(LOW, HIGH, (calls, fun.dim)):
        fun(x)


def in_study(sampler):
    def run(fun, calls, seed):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
        names = [f"x{i}" for i in range(fun.dim)]
        study.optimize(
            lambda trial: fun([trial.suggest_float(name, LOW, HIGH) for name in names]),
            n_trials=calls,
        )

    return run


def cma_es(fun, calls, seed):
    import cma

    options = {"bounds": [LOW, HIGH], "seed": seed + 1, "maxfevals": calls, "verbose": -9}
    start = np.random.default_rng(seed).uniform(LOW, HIGH, fun.dim)
    es = cma.CMAEvolutionStrategy(start, 0.3 * (HIGH - LOW), options)
    while len(fun.gaps) < calls:
        points = es.ask()
        if len(fun.gaps) + len(points) > calls:
            break
        es.tell(points, [fun(x) for x in points])


def botorch_log_ei(fun, calls, seed):
    """`SingleTaskGP` with its defaults, refitted at each call, and analytic LogEI."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    first = qmc.Sobol(fun.dim, seed=seed).random(min(2 * fun.dim + 2, calls // 4))
    x = torch.tensor(first)
    y = torch.tensor([[-fun(row * (HIGH - LOW) + LOW)] for row in first], dtype=x.dtype)
    box = torch.stack([torch.zeros(fun.dim), torch.ones(fun.dim)]).double()
    while len(y) < calls:
        model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        found, _ = optimize_acqf(
            LogExpectedImprovement(model, y.max()), box, q=1, num_restarts=10, raw_samples=512
        )
        x = torch.cat([x, found])
        value = -fun(found.numpy()[0] * (HIGH - LOW) + LOW)
        y = torch.cat([y, torch.tensor([[value]], dtype=x.dtype)])


OTHERS = {
    "tpe": in_study("TPESampler"),
    "gpsampler": in_study("GPSampler"),
    "cma-es": cma_es,
    "random": uniform,
    "botorch": botorch_log_ei,
}


def run_once(key, checkpoints):
    """The line of one run."""
    name, number, instance, dim, calls, noise, seed = key
    fun = Function(number, instance, dim, noise, seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in OTHERS:
            OTHERS[name](fun, calls, seed)
        else:
            ours(fun, calls, seed, name)
    seconds = time.process_time() - start - fun.seconds
    best = np.minimum.accumulate(fun.gaps)
    gaps = {str(n): float(best[min(n, len(best)) - 1]) for n in checkpoints if n <= calls}
    return {"key": list(key), "gaps": gaps, "milliseconds": 1e3 * seconds / calls}


def read(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {tuple(line["key"]): line for line in map(json.loads, lines)}


def run(chosen):
    done = read(chosen.file)
    keys = [
        (name, number, instance, chosen.dim, chosen.calls, chosen.noise, seed)
        for seed in chosen.seeds
        for instance in chosen.instances
        for number in chosen.functions
        for name in chosen.optimizers
    ]
    left = [key for key in keys if key not in done]
    for name in {key[0] for key in left}:
        run_once((name, 1, 1, 2, 12, 0.0, 0), [12])  # imports count for no run
    for key in left:
        line = run_once(key, sorted({25, 50, 100, 200, chosen.calls}))
        with chosen.file.open("a") as file:
            file.write(json.dumps(line) + "\n")


def table(chosen):
    cells, times = defaultdict(dict), defaultdict(list)
    at = chosen.at or chosen.calls
    # Of longer runs, the first part counts, unless there is one of this length.
    for key, line in sorted(read(chosen.file).items(), key=lambda item: -item[0][4]):
        name, number, instance, dim, calls, noise, seed = key
        wanted = (dim, noise) == (chosen.dim, chosen.noise) and calls >= at
        wanted &= instance in chosen.instances and seed in chosen.seeds
        wanted &= number in chosen.functions
        if wanted and (chosen.optimizers is None or name in chosen.optimizers):
            cells[number, instance, seed][name] = max(line["gaps"][str(at)], SMALLEST)
            times[name].append(line["milliseconds"])
    names = sorted(times)
    shared = [cell for cell in sorted(cells) if len(cells[cell]) == len(names)]
    if not shared:
        raise SystemExit("no cell has a run of every optimizer")
    gaps = np.array([[cells[cell][name] for name in names] for cell in shared])
    ranks = rankdata(gaps, axis=1)
    of = np.array([cell[0] for cell in shared])
    functions, rng = np.unique(of), np.random.default_rng(0)
    by_function = np.array([ranks[of == number].mean(axis=0) for number in functions])
    drawn = by_function[rng.integers(len(functions), size=(2000, len(functions)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    print(f"{len(shared)} cells, {len(functions)} functions")
    print("| optimizer | mean rank | 95% interval | mean log10 gap | ms per evaluation |")
    print("|---|---|---|---|---|")
    for i in np.argsort(ranks.mean(axis=0)):
        print(
            f"| {names[i]} | {ranks[:, i].mean():.2f} | {low[i]:.2f} to {high[i]:.2f} | "
            f"{np.log10(gaps[:, i]).mean():.2f} | {np.mean(times[names[i]]):.1f} |"
        )
    if chosen.functions_apart:
        print("|" + "|".join(["function", *names]) + "|")
        for number in functions:
            means = np.log10(gaps[of == number]).mean(axis=0)
            print(f"| {number} |" + "|".join(f" {mean:.2f} " for mean in means) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("do", choices=("run", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--dim", type=int, default=5)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--functions", type=int, nargs="+", default=FUNCTIONS)
    parser.add_argument("--instances", type=int, nargs="+", default=REPORTED)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--optimizers", nargs="+", help="default: all (run), those run (table)")
    parser.add_argument("--at", type=int, help="the number of calls after which the gap counts")
    parser.add_argument("--functions-apart", action="store_true", help="the mean log gap of each")
    chosen = parser.parse_args()
    if chosen.do == "run":
        chosen.optimizers = chosen.optimizers or (*OURS, *OTHERS)
        run(chosen)
    else:
        table(chosen)


if __name__ == "__main__":
    main()
