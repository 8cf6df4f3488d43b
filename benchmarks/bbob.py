"""`minimize` beside other optimizers, on the functions of BBOB.

    python benchmarks/bbob.py run [--dim 5] [--calls 200] [--noise 0 0.1] [--optimizers ei tpe ...]
    python benchmarks/bbob.py table [--dim 5] [--noise 0 0.1] [--optimizers ei tpe ...]
    python benchmarks/bbob.py tables

Each run is one optimizer on one function, instance and seed. It appends one line to a compressed
CSV file, by default `results/bbob.csv.gz` beside this script; runs whose lines are in the file are
left out, so that the runs of several sessions add up. If an agent's choices change, write the file
without its lines (`zcat FILE | sed '/^ei,/d' | gzip`), and run it again. Our agents are named as in
`minimize`, with settings as in 'gp-ucb {"beta": 4}'. The gap of a run is the smallest noiseless
value of its points, less the minimum of the function. Noise is stated in standard deviations of the
function at uniform points. A table ranks the optimizers in every cell (function, instance, seed)
that all of them share. Its intervals are bootstraps of 95% over the functions. `tables` prints
those of the manual. Defaults of ours were chosen on the instances 11 and 12; the reported ones are
1 and 2.

Running needs ioh, and optuna, botorch and cma for the optimizers of these libraries. One thread.
"""

import argparse
import csv
import gzip
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy.stats import qmc, rankdata

FUNCTIONS = (1, 3, 6, 7, 8, 10, 14, 15, 17, 20, 21, 22)
REPORTED = (1, 2)
OURS = ("ei", "gp-ucb", "ts-rsr", "ts", "qei")
CHECKPOINTS = (25, 50, 100, 200)
KEY = ("optimizer", "dim", "function", "instance", "seed", "noise", "calls")
FIELDS = (*KEY, *(f"gap_{n}" for n in CHECKPOINTS), "seconds")
RESULTS = Path(__file__).parent / "results" / "bbob.csv.gz"
# The names in a table.
SHOWN = {
    "ei": "`minimize`, ei (the default; also qei)",
    "tpe": "Optuna TPE",
    "gpsampler": "Optuna GPSampler",
    "botorch": "BoTorch LogEI",
    "cma-es": "CMA-ES",
}
# The fewest cells of a table of the manual.
FEWEST = 6
# Gaps below this are equal.
SMALLEST = 1e-8
LOW, HIGH = -5.0, 5.0


class Function:
    """A function of BBOB with noise, which records the gap of each call and its own time."""

    def __init__(self, number, instance, dim, noise, seed):
        import ioh

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
    from gpbandits_env import agents

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


def run_once(key):
    """The line of one run."""
    name, dim, number, instance, seed, noise, calls = key
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
    gaps = [f"{best[min(n, len(best)) - 1]:.4g}" if n <= calls else "" for n in CHECKPOINTS]
    return [*key, *gaps, f"{seconds:.3g}"]


def read(path):
    """The lines of the file by key: the gaps after 25, 50, 100 and 200 calls, and the seconds."""
    found = {}
    with gzip.open(path, "rt", newline="") as file:
        for line in csv.DictReader(file):
            whole = [int(line[name]) for name in ("dim", "function", "instance", "seed")]
            key = (line["optimizer"], *whole, float(line["noise"]), int(line["calls"]))
            gaps = {n: float(gap) for n in CHECKPOINTS if (gap := line[f"gap_{n}"])}
            found[key] = gaps, float(line["seconds"])
    return found


def write(path, line):
    with gzip.open(path, "at", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(line)


def run(chosen):
    if not chosen.file.exists():
        write(chosen.file, FIELDS)
    done = read(chosen.file)
    keys = [
        (name, chosen.dim, number, instance, seed, noise, chosen.calls)
        for noise in chosen.noise
        for seed in chosen.seeds
        for instance in chosen.instances
        for number in chosen.functions
        for name in chosen.optimizers or (*OURS, *OTHERS)
    ]
    left = [key for key in keys if key not in done]
    for name in {key[0] for key in left}:
        run_once((name, 2, 1, 1, 0, 0.0, 25))  # imports count for no run
    for key in left:
        write(chosen.file, run_once(key))


def cells_of(chosen, names):
    """Gaps (cells, names, checkpoints) in shared cells, their functions, and ms per evaluation."""
    found, times = defaultdict(dict), defaultdict(list)
    # Of longer runs, the first part counts, unless there is one of this length.
    for key, (gaps, seconds) in sorted(read(chosen.file).items(), key=lambda item: -item[0][-1]):
        name, dim, number, instance, seed, noise, calls = key
        wanted = dim == chosen.dim and noise in chosen.noise and calls >= max(chosen.at)
        wanted &= instance in chosen.instances and seed in chosen.seeds
        wanted &= number in chosen.functions
        if wanted and name in names:
            found[number, instance, seed, noise][name] = [max(gaps[n], SMALLEST) for n in chosen.at]
            times[name].append(1e3 * seconds / calls)
    shared = [cell for cell in sorted(found) if len(found[cell]) == len(names)]
    gaps = [[found[cell][name] for name in names] for cell in shared]
    of = np.array([cell[0] for cell in shared])
    return np.array(gaps).reshape(len(of), len(names), len(chosen.at)), of, times


def table(chosen):
    """The table of the chosen optimizers, or None if they share no cell."""
    names = list(chosen.optimizers)
    gaps, of, times = cells_of(chosen, names)
    if not len(of):  # some ran for fewer calls
        chosen = argparse.Namespace(**{**vars(chosen), "at": chosen.at[:1]})
        gaps, of, times = cells_of(chosen, names)
    if not len(of):
        return None
    ranks, functions = rankdata(gaps, axis=1), np.unique(of)
    by_function = np.array([ranks[of == number].mean(axis=0) for number in functions])
    drawn = np.random.default_rng(0).integers(len(functions), size=(2000, len(functions)))
    low, high = np.quantile(by_function[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    mean, logs = ranks.mean(axis=0), np.log10(gaps).mean(axis=0)
    heads = [f"rank after {n} | interval" for n in chosen.at]
    heads += [f"log10 gap after {n}" for n in chosen.at]
    title = f"In {chosen.dim} dimensions {describe(chosen.noise)}, {len(of)} cells of "
    lines = [f"{title}{len(functions)} functions:", ""]
    lines += [f"| optimizer | {' | '.join(heads)} | ms per evaluation |"]
    lines += [f"|{'---|' * (3 * len(chosen.at) + 2)}"]
    for i in np.argsort(mean[:, -1], kind="stable"):
        row = [SHOWN.get(names[i], names[i])]
        for n in range(len(chosen.at)):
            row += [f"{mean[i, n]:.2f}", f"{low[i, n]:.2f} to {high[i, n]:.2f}"]
        row += [f"{one:.2f}" for one in logs[i]]
        lines.append(f"| {' | '.join(row)} | {np.mean(times[names[i]]):.1f} |")
    if chosen.functions_apart:
        lines += ["", "|".join(["| function ", *names]) + "|"]
        for number in functions:
            means = np.log10(gaps[of == number, :, -1]).mean(axis=0)
            lines.append(f"| {number} |" + "|".join(f" {one:.2f} " for one in means) + "|")
    return "\n".join(lines)


def describe(noise):
    parts = ["without noise"] if 0.0 in noise else []
    parts += [f"with noise of {one:g} standard deviations of the function" for one in noise if one]
    return " and ".join(parts)


def tables(chosen):
    """The tables of the manual, one by one, without settings of our agents.

    The first of a dimension and a noise has the optimizers with the most runs; each further one has
    those with fewer runs too, in fewer cells. The last of a dimension is over all noises, and has
    those with as many runs as ei.
    """
    runs = defaultdict(lambda: defaultdict(int))
    for (name, dim, _, instance, _, noise, calls), _ in read(chosen.file).items():
        if name in (*OURS, *OTHERS) and instance in chosen.instances and calls >= 100:
            runs[dim, noise][name] += 1
    for (dim, noise), counts in sorted(runs.items()):
        for level in sorted(set(counts.values()), reverse=True):
            names = [name for name in counts if counts[name] >= level]
            if "ei" in names and level >= FEWEST:
                own = {"dim": dim, "noise": [noise], "optimizers": names}
                yield table(argparse.Namespace(**{**vars(chosen), **own}))
        noises = sorted(one for of, one in runs if of == dim)
        if len(noises) > 1 and noise == noises[-1]:
            often = [runs[dim, one] for one in noises]
            names = [name for name in counts if all(n[name] >= n["ei"] for n in often)]
            own = {"dim": dim, "noise": noises, "optimizers": names}
            yield table(argparse.Namespace(**{**vars(chosen), **own}))


def parsed(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("do", choices=("run", "table", "tables"))
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--dim", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0])
    parser.add_argument("--functions", type=int, nargs="+", default=FUNCTIONS)
    parser.add_argument("--instances", type=int, nargs="+", default=REPORTED)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--optimizers", nargs="+", default=(), help="default of run: all")
    parser.add_argument("--at", type=int, nargs="+", choices=CHECKPOINTS, default=[100, 200])
    parser.add_argument("--functions-apart", action="store_true", help="the mean log gap of each")
    return parser.parse_args(arguments)


def main():
    chosen = parsed()
    if chosen.do == "run":
        run(chosen)
    elif chosen.do == "table":
        print(table(chosen) or "no cell has a run of every optimizer")
    else:
        print("\n\n".join(filter(None, tables(chosen))))


if __name__ == "__main__":
    main()
