"""W-DBO's public code beside our agents on its ten functions, while the clock runs.

    pip install wdbo-algo      # in an environment of its own; needs torch, gpytorch and botorch
    python benchmarks/wdbo.py [--seconds 60] [--evaluation 0] [--seeds 1] [--out FILE.csv]
    python benchmarks/wdbo.py --tables     # those of docs/time.md, from results/wdbo.csv

The last coordinate of a function is time, which passes through its whole range in `--seconds`. An
optimizer decides, its point is evaluated at the time when it has decided, and the next decision
begins `--evaluation` seconds later (simulated). Thinking is measured as processor time, with one
thread. Values have mean 0 and variance 1 over the box and time, and noise of variance 0.05.

Regret is against the largest value in the box at that time, which is found by search at 201 times
and interpolated. "regret" is the mean over the evaluations; "over time" is the integral, while the
last point stays in force, divided by the time since the first evaluation.

- wdbo-algo: the authors' code as it is, in the box, with its defaults and the kernels of the paper.
  As in its README, time is 4 units long. It learns all hyperparameters after every observation.
- learns: `w-dbo`, ours, in the box; it learns all hyperparameters every 10 rounds, and its search
  has 4 starts.
- forgets faster: the same with alpha = 3 instead of 0.25, so that the budget of removals grows
  fourfold in a lengthscale of time, with fits every 50 rounds, and with a search of half the
  candidates and starts. This was chosen on rosenbrock, powell and hartmann-3.
- given: `tv-gp-ucb` on 256 candidates, with the same Markov drift and kernel for all functions.
"""

import argparse
import csv
import sys
import warnings
from functools import partial
from operator import itemgetter
from pathlib import Path
from time import process_time

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.functions import SWEPT

RESULTS = Path(__file__).parent / "results" / "wdbo.csv"
NOISE_VAR, UNITS, TIMES = 0.05, 4.0, 201
KERNEL, TEMPORAL = Matern52(0.3), {"type": "matern32", "lengthscale": UNITS / 5.0}
LEARN = {"what": ["kernel", "temporal", "noise_var"], "last": 100}
SEARCH = {"type": "gradient", "candidates": 256, "starts": 4}
LESS = {"type": "gradient", "candidates": 128, "starts": 2}
# What the rows of a table share.
GROUP = itemgetter("evaluation", "seconds", "processor")


class Moving:
    """A function on the unit cube at a time in [0, UNITS], in standard units, and its maximum."""

    def __init__(self, name):
        self.swept = SWEPT[name]
        self.dim = self.swept.dim - 1
        self.mean, self.sd = self.swept.scale()
        self.times = np.linspace(0.0, UNITS, TIMES)
        self.optima = np.array([self._optimum(t) for t in self.times])

    def __call__(self, points, time):
        low, high = self.swept.low, self.swept.high
        values = self.swept.at(low + np.atleast_2d(points) * (high - low), time / UNITS)
        return (values - self.mean) / self.sd

    def _optimum(self, time):
        points = qmc.Sobol(self.dim, seed=0).random(4096)
        values = self(points, time)
        found = [
            minimize(lambda x: -self(x, time)[0], start, bounds=[(0.0, 1.0)] * self.dim).fun
            for start in points[np.argsort(-values)[:4]]
        ]
        return max(-min(found), float(values.max()))

    def optimum(self, time):
        return float(np.interp(time, self.times, self.optima))


class PublicCode:
    """The authors' code, as in its README."""

    def __init__(self, dim, seed):
        import gpytorch
        import torch
        from wdbo_algo.optimizer import WDBOOptimizer

        torch.set_num_threads(1)
        torch.set_default_dtype(torch.double)  # present versions refuse its mix of two
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (which it draws from)
        matern = gpytorch.kernels.MaternKernel
        self.made = WDBOOptimizer(
            np.array([[0.0, 1.0]] * dim), matern, matern, [2.5], [1.5], n_initial_observations=15
        )

    def ask(self, now):
        return np.asarray(self.made.next_query(now), dtype=float)

    def tell(self, point, reward, read, now):
        self.made.tell(point, read, reward)
        self.made.clean(now)

    @property
    def kept(self):
        return self.made.dataset_size()


class Ours:
    """One of our agents on candidates."""

    def __init__(self, dim, seed, name, **settings):
        problem = Problem(Box(np.zeros(dim), np.ones(dim)), KERNEL, NOISE_VAR)
        self.agent = agents.make(name, problem, seed=seed, **settings)

    def ask(self, now):
        return self.agent.ask()[0]

    def tell(self, point, reward, read, now):
        self.agent.pass_until(read, now)
        self.agent.tell(point[None], [reward])

    @property
    def kept(self):
        return self.agent.posterior.size


def learns(dim, seed, every=10, **settings):
    learn = LEARN | {"every": every}
    usual = {"temporal": TEMPORAL, "learn": learn, "standardize": True, "search": SEARCH}
    return Ours(dim, seed, "w-dbo", **usual | settings)


AGENTS = {
    "wdbo-algo": PublicCode,
    "learns": learns,
    "forgets faster": partial(learns, every=50, alpha=3.0, search=LESS),
    "given": lambda dim, seed: Ours(dim, seed, "tv-gp-ucb", epsilon=0.8, beta=4.0, candidates=256),
}


@one_blas_thread()
def run(function, optimizer, seconds, evaluation, rng):
    """Samples, regret per evaluation, regret over time, milliseconds a decision, points kept."""
    unit, now, thought = UNITS / seconds, 0.0, 0.0
    regrets, reads, integral, last = [], [], 0.0, None
    while True:
        start = process_time()
        point = optimizer.ask(now)
        spent = process_time() - start
        read = now + spent * unit
        if read > UNITS:
            break
        optimum = function.optimum(read)
        value, before = function(np.stack([point, point if last is None else last]), read).tolist()
        if last is not None:  # by the trapezoidal rule
            integral += 0.5 * (regrets[-1] + optimum - before) * (read - reads[-1])
        regrets.append(optimum - value)
        reads.append(read)
        last = point
        arrives = read + evaluation * unit
        start = process_time()
        optimizer.tell(point, value + np.sqrt(NOISE_VAR) * rng.standard_normal(), read, arrives)
        learning = process_time() - start
        thought += spent + learning
        now = arrives + learning * unit
        if now > UNITS:
            break
    lasted = reads[-1] - reads[0]
    over_time = integral / lasted if lasted else regrets[0]
    n = len(regrets)
    return n, float(np.mean(regrets)), over_time, 1e3 * thought / n, optimizer.kept


def tables(path=RESULTS):
    """The tables of kept results, in Markdown: samples, and regret over time, of each agent.

    They are means over the seeds, on the functions that all agents of a table have, on one
    processor. After each, on how many functions ours have at most half of the regret of the public
    code, and less, the range of their samples for each of its samples, and where evaluations are
    free and these are below 30.
    """
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    for group in dict.fromkeys(map(GROUP, rows)):
        mine = [row for row in rows if GROUP(row) == group]
        ran = {(row["function"], row["agent"]) for row in mine}
        who = [agent for agent in AGENTS if agent in {agent for _, agent in ran}]
        names = [name for name in SWEPT if all((name, agent) in ran for agent in who)]
        lines = [f"| function | {' | '.join(who)} |", "|---" * (1 + len(who)) + "|"]
        values = np.array([[_means(mine, name, agent) for agent in who] for name in names])
        for name, of in zip(names, values, strict=True):
            cells = " | ".join(f"{n:,.0f}: {regret:.2f}" for n, regret in of)
            lines.append(f"| {name} | {cells} |")
        found.append("\n".join(lines))
        for i, agent in enumerate(who):
            n, regret = (values[:, i] / values[:, 0]).T
            if i:
                found.append(
                    f"`{agent}` has less regret over time than the public code on "
                    f"{(regret < 1.0).sum()} of {len(names)} functions, at most half of it on "
                    f"{(regret <= 0.5).sum()}, and {n.min():,.1f} to {n.max():,.1f} times its "
                    "samples."
                )
                few = [name for name, ratio in zip(names, n.tolist(), strict=True) if ratio < 30.0]
                if few and not float(group[0]):
                    found[-1] += f" It has fewer than 30 times the samples on {', '.join(few)}."
    return found


def _means(rows, function, agent):
    """The mean samples and regret over time of an agent's runs on a function."""
    of = [row for row in rows if (row["function"], row["agent"]) == (function, agent)]
    return [np.mean([float(row[key]) for row in of]) for key in ("samples", "over_time")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--evaluation", type=float, default=0.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--functions", default=",".join(SWEPT))
    parser.add_argument("--agents", default=",".join(AGENTS))
    parser.add_argument("--out")
    parser.add_argument("--processor", default="")
    parser.add_argument("--tables", action="store_true")
    given = parser.parse_args()
    if given.tables:
        print("\n\n".join(tables()))
        return
    head = ["function", "seed", "seconds", "evaluation", "agent"]
    head += ["samples", "regret", "over_time", "ms", "kept", "processor"]
    with open(given.out, "a", newline="") if given.out else sys.stdout as file:
        writer = csv.writer(file)
        if not given.out or file.tell() == 0:
            writer.writerow(head)
        for name in given.functions.split(","):
            function = Moving(name)
            for seed in range(given.seeds):
                for agent in given.agents.split(","):
                    rng, made = np.random.default_rng(seed), AGENTS[agent](function.dim, seed)
                    found = run(function, made, given.seconds, given.evaluation, rng)
                    row = [*(f"{value:.4g}" for value in found), given.processor]
                    writer.writerow([name, seed, given.seconds, given.evaluation, agent, *row])
                    file.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the public code
    main()
