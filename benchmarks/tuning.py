"""Hyperparameters of two learners on data sets of scikit-learn, by `minimize` and by Optuna.

    python benchmarks/tuning.py FILE [--tasks svc boosting] [--optimizers ei tpe ...] [--calls 40]

svc: C, gamma, the kernel and the class weights of a support vector machine on the digits; the loss
is the cross-validated share of wrong answers.
boosting: six hyperparameters of gradient boosting on the diabetes data; the loss is the
cross-validated root mean square error over the standard deviation.
Each run is one optimizer and one seed, and appends one line of JSON to the file; runs in the file
are left out. The table has the mean of the best loss after a half and after all of the calls, its
standard error over the seeds, the mean rank among the optimizers over the seeds, and the processor
time of the optimizer per call, without that of the learner. One thread. Needs scikit-learn, optuna.
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

import numpy as np
from hard_objectives import Optunas, Ours
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from gpbandits_env.agents.optimize import Choice, Integer, Real

RIVALS = ("tpe", "gpsampler", "random")


def svc(params):
    x, y = load_digits(return_X_y=True)
    x, y = x[::3], y[::3]
    machine = SVC(**params, max_iter=20_000)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return 1.0 - cross_val_score(make_pipeline(StandardScaler(), machine), x, y, cv=folds).mean()


def boosting(params):
    x, y = load_diabetes(return_X_y=True)
    learner = GradientBoostingRegressor(**params, random_state=0)
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(
        learner, x, y / y.std(), cv=folds, scoring="neg_root_mean_squared_error"
    )
    return -scores.mean()


TASKS = {
    "svc": (
        svc,
        {
            "C": Real(1e-3, 1e3, log=True),
            "gamma": Real(1e-6, 1.0, log=True),
            "kernel": Choice(("rbf", "poly", "sigmoid")),
            "class_weight": Choice((None, "balanced")),
        },
    ),
    "boosting": (
        boosting,
        {
            "learning_rate": Real(1e-3, 1.0, log=True),
            "n_estimators": Integer(10, 200),
            "max_depth": Integer(1, 6),
            "subsample": Real(0.3, 1.0),
            "max_features": Real(0.1, 1.0),
            "min_samples_leaf": Integer(1, 30),
        },
    ),
}


def run_once(task, name, seed, calls):
    loss, space = TASKS[task]
    one = (Optunas if name in RIVALS else Ours)(name, space, seed, calls)
    losses, seconds = [], 0.0
    for _ in range(calls):
        start = time.process_time()
        params = one.ask()
        seconds += time.process_time() - start
        losses.append(loss(params))
        start = time.process_time()
        one.tell(losses[-1])
        seconds += time.process_time() - start
    key = [task, name, seed, calls]
    return {"key": key, "losses": losses, "milliseconds": 1e3 * seconds / calls}


def read(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {tuple(line["key"]): line for line in map(json.loads, lines)}


def table(path, task, calls):
    best, times = defaultdict(dict), defaultdict(list)
    for (of, name, seed, count), line in read(path).items():
        if (of, count) == (task, calls):
            best[name][seed] = np.minimum.accumulate(line["losses"])
            times[name].append(line["milliseconds"])
    names = sorted(best)
    shared = sorted(set.intersection(*(set(runs) for runs in best.values())))
    ends = np.array([[best[name][seed][-1] for name in names] for seed in shared])
    ranks = rankdata(np.round(ends, 9), axis=1).mean(axis=0)
    print(f"{task}: {len(shared)} seeds")
    print(f"| optimizer | after {calls // 2} | after {calls} | mean rank | ms per call |")
    print("|---|---|---|---|---|")
    for i in np.argsort(ranks):
        runs = np.array([best[names[i]][seed] for seed in shared])
        half, end = runs[:, calls // 2 - 1], runs[:, -1]
        error = end.std(ddof=1) / np.sqrt(len(end)) if len(end) > 1 else np.nan
        print(
            f"| {names[i]} | {half.mean():.4f} | {end.mean():.4f} ± {error:.4f} | {ranks[i]:.2f} | "
            f"{np.mean(times[names[i]]):.0f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--optimizers", nargs="+", default=["ei", *RIVALS])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--calls", type=int, default=40)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    done = read(chosen.file)
    for seed in chosen.seeds:
        for task in chosen.tasks:
            for name in chosen.optimizers:
                if (task, name, seed, chosen.calls) not in done:
                    line = run_once(task, name, seed, chosen.calls)
                    with chosen.file.open("a") as file:
                        file.write(json.dumps(line) + "\n")
    for task in chosen.tasks:
        table(chosen.file, task, chosen.calls)


if __name__ == "__main__":
    main()
