"""Black-box constraints: the gap to the known constrained minimum, and the share of failures.

python benchmarks/constrained.py [--seeds 5] [--calls 30]

The problems are those of Gramacy et al. (2016) and Gardner et al. (2014), Section 4.1 (the first
simulation). Beside our agents are EI where infeasible calls return NaN, and Optuna's samplers with
their constraints. A gap of "-" means that no feasible point was found.
"""

import argparse
import time
import warnings

import numpy as np
import optuna
from scipy.optimize import Bounds, NonlinearConstraint, differential_evolution

from gpbandits_env import agents


def gramacy(x):
    wave = np.sin(2 * np.pi * (x[0] ** 2 - 2 * x[1]))
    return x[0] + x[1], [1.5 - x[0] - 2 * x[1] - 0.5 * wave, x[0] ** 2 + x[1] ** 2 - 1.5]


def gardner(x):
    inside = np.cos(x[0]) * np.cos(x[1]) - np.sin(x[0]) * np.sin(x[1])
    return np.cos(2 * x[0]) * np.cos(x[1]) + np.sin(x[0]), [inside - 0.5]


# The function, the side of its square, and the number of its constraints.
PROBLEMS = {"gramacy2016": (gramacy, 1.0, 2), "gardner2014": (gardner, 6.0, 1)}


def optimum(problem, side, count):
    """The constrained minimum, by differential evolution on the true functions."""
    limits = NonlinearConstraint(lambda x: problem(x)[1], [-np.inf] * count, [0.0] * count)
    return differential_evolution(
        lambda x: problem(x)[0], Bounds([0, 0], [side, side]), constraints=limits, seed=0, tol=1e-10
    ).fun


def ours(agent):
    def run(problem, side, count, calls, seed):
        limits = {f"c{j}": 0.0 for j in range(count)}
        agents.minimize(
            problem, [(0.0, side)] * 2, agent, n_calls=calls, seed=seed, constraints=limits
        )

    return run


def with_nan(problem, side, count, calls, seed):
    def value(x):
        found, limits = problem(x)
        return found if max(limits) <= 0 else float("nan")

    agents.minimize(value, [(0.0, side)] * 2, n_calls=calls, seed=seed)


def of_optuna(make):
    def run(problem, side, count, calls, seed):
        def value(trial):
            x = [trial.suggest_float(name, 0.0, side) for name in "xy"]
            found, limits = problem(x)
            trial.set_user_attr("limits", [float(c) for c in limits])
            return found

        sampler = make(seed=seed, constraints_func=lambda trial: trial.user_attrs["limits"])
        optuna.create_study(sampler=sampler).optimize(value, n_trials=calls)

    return run


RIVALS = {
    "ei": ours("ei"),
    "ts": ours("ts"),
    "ts-rsr": ours("ts-rsr"),
    "ei, NaN where infeasible": with_nan,
    "Optuna TPE": of_optuna(optuna.samplers.TPESampler),
    "Optuna GPSampler": of_optuna(optuna.samplers.GPSampler),
}


def measured(run, problem, *given):
    """The best feasible value, the share of infeasible calls, and the processor time per call."""
    seen = []

    def recorded(x):
        seen.append(problem(x))
        return seen[-1]

    start = time.process_time()
    run(recorded, *given)
    took = (time.process_time() - start) / len(seen)
    feasible = [value for value, limits in seen if max(limits) <= 0]
    return min(feasible, default=np.nan), 1 - len(feasible) / len(seen), took


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=30)
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    for name, (problem, *shape) in PROBLEMS.items():
        best = optimum(problem, *shape)
        print(f"{name}: minimum {best:.4f}, {given.calls} calls, {given.seeds} seeds")
        for rival, run in RIVALS.items():
            rows = [measured(run, problem, *shape, given.calls, s) for s in range(given.seeds)]
            gaps, shares, times = np.array(rows).T
            none = np.isnan(gaps)
            middle = "-" if none.all() else f"{np.nanmedian(gaps - best):.4f}"
            worst = "-" if none.any() else f"{(gaps - best).max():.4f}"
            print(
                f"  {rival:26} gap {middle:>8} (worst {worst:>8})  infeasible {shares.mean():.2f}"
                f"  {1000 * np.mean(times):6.0f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
