"""The share of trials whose actions are the same on different kinds of processors.

    python benchmarks/processors.py [--kinds Haswell,Nehalem,...] [--rounds 60] [--minimize]

OpenBLAS and NumPy choose their code by the processor, so that sums are rounded differently. Each
kind is a process of its own, in which environment variables force that code. In it, one trial of
every agent of 20 scenarios runs. Actions on arms must be equal; points of boxes may differ by 1e-6
of the sides. The table counts the trials whose actions are those of the first kind in this sense.

A kind may also be a file of actions that `--save FILE` has written on another machine, such as one
with an ARM processor.

With --minimize, runs of `minimize` with its defaults take the place of the trials: six functions,
without noise and with noise of a tenth of the standard deviation over the box, six seeds each. The
values of a function without noise determine a posterior to few digits only, so this is the hardest
case.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

SCENARIOS = (
    "srinivas2010/se-1d",
    "bogunovic2016/se",
    "bogunovic2016/matern52",
    "bogunovic2016/mismatch-eps",
    "bogunovic2016/mismatch-n",
    "bedi2022/example@epsilon",
    "bedi2022/rosenbrock@epsilon",
    "tranthe2020/ackley-20",
    "tranthe2020/levy-20",
    "tranthe2020/camelback-50",
    "ren2024/rbf-2d",
    "ren2024/ackley-2d",
    "ren2024/hartmann-6d",
    "ren2024/push-3d",
    "context/product",
    "delay/fixed",
    "time/unknown-change",
    "time/unknown-slow",
    "time/unknown-season",
    "time/kernels",
)
# The functions of --minimize, and their dimensions.
FUNCTIONS = {"branin": 2, "camelback": 2, "rosenbrock": 2, "levy": 4, "ackley": 5, "hartmann-6": 6}
SEEDS = 6
# The table has these first rounds too.
EARLY = 5
# Without AVX, NumPy's own loops are rounded differently too.
KINDS = {
    "native": {},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "no AVX": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
}


def actions(rounds):
    """The actions of one trial of each agent, by scenario and label, scaled to sides of 1."""
    import numpy as np

    from gpbandits_env.domains import Box
    from gpbandits_env.errors import GPBanditsError
    from gpbandits_env.scenarios import registry
    from gpbandits_env.scenarios.study.runner import make_env, run_trial

    found = {}
    for name in SCENARIOS:
        scenario = registry.get(name)
        scenario = replace(scenario, horizon=min(scenario.horizon, rounds), store_actions=True)
        env = make_env(scenario.env, scenario.cells()[0].made_with, scenario.horizon)
        domain = env.unwrapped.problem.domain
        sides = domain.high - domain.low if isinstance(domain, Box) else np.ones(1, dtype=int)
        for entry in scenario.agents:
            try:
                record = run_trial(scenario, entry.label, 0)
            except GPBanditsError as error:
                print(f"{name}, {entry.label}: {error}", file=sys.stderr)
                continue
            found[name, entry.label] = record.rounds["actions"] / sides
    return found


def minimized(calls):
    """The points of each run of `minimize`, by function and run, scaled to sides of 1."""
    import numpy as np

    from gpbandits_env import minimize
    from gpbandits_env.rewards.functions import TEST_FUNCTIONS

    found = {}
    for name, dim in FUNCTIONS.items():
        function = TEST_FUNCTIONS[name]
        low, high = np.broadcast_to(function.low, dim), np.broadcast_to(function.high, dim)
        anywhere = np.random.default_rng(0).uniform(low, high, size=(1000, dim))
        spread = 0.1 * np.std(function.formula(anywhere))
        for sd, case in ((0.0, "without noise"), (spread, "with noise")):
            for seed in range(SEEDS):
                rng = np.random.default_rng(seed)

                def lost(x, function=function, sd=sd, rng=rng):
                    return float(sd * rng.standard_normal() - function.formula(np.array([x]))[0])

                run = minimize(lost, list(zip(low, high, strict=True)), n_calls=calls, seed=seed)
                points = (np.array(run.x_iters) - low) / (high - low)
                found[name, f"{case}, seed {seed}"] = points[:, None]  # rounds of one action
    return found


def under(kind, rounds, of_minimize):
    """The same in a new process on a kind of processor; None if this machine cannot run it."""
    if kind not in KINDS:
        return pickle.loads(Path(kind).read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "actions.pickle"
        command = [sys.executable, __file__, "--rounds", str(rounds), "--save", str(file)]
        command += ["--minimize"] * of_minimize
        env = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | KINDS[kind]
        done = subprocess.run(command, env=env, check=False)
        return pickle.loads(file.read_bytes()) if done.returncode == 0 else None


def first_difference(one, other):
    """The first round in which the actions differ, from 1; 0 if they are the same."""
    import numpy as np

    limit = 0 if one.ndim == 2 else 1e-6
    differ = np.abs(one - other).reshape(len(one), -1).max(axis=1) > limit
    return int(differ.argmax()) + 1 if differ.any() else 0


def main():
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", default="Haswell,Sandybridge,Nehalem,no AVX")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--minimize", action="store_true")
    parser.add_argument("--save", help="write the actions of this machine to a file, and no more")
    chosen = parser.parse_args()
    if chosen.save:
        found = minimized(chosen.rounds) if chosen.minimize else actions(chosen.rounds)
        Path(chosen.save).write_bytes(pickle.dumps(found))
        return
    first, *others = chosen.kinds.split(",")
    base = under(first, chosen.rounds, chosen.minimize)
    on_arms = [key for key, of in base.items() if of.ndim == 2]
    in_boxes = [key for key in base if key not in on_arms]
    places = {place: keys for place, keys in (("arms", on_arms), ("boxes", in_boxes)) if keys}
    of = f"{len({name for name, _ in base})} {'functions' if chosen.minimize else 'scenarios'}"
    print(f"{chosen.rounds} rounds of {len(base)} trials of {of}; {first} and")
    for kind in others:
        found = under(kind, chosen.rounds, chosen.minimize)
        if found is None:
            print(f"{kind}: this processor cannot run it")
            continue
        rounds = {key: first_difference(base[key], found[key]) for key in base}
        for place, keys in places.items():
            equal = sum(not rounds[key] for key in keys)
            early = sum(not 0 < rounds[key] <= EARLY for key in keys)
            print(f"{kind}, {place}: {equal} of {len(keys)} equal, {early} over {EARLY} rounds")
        for (scenario, label), t in rounds.items():
            if t:
                apart = np.abs(base[scenario, label] - found[scenario, label]).max()
                print(f"  {scenario}, {label}: from round {t}, at most {apart:.1e}")


if __name__ == "__main__":
    main()
