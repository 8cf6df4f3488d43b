"""A function with a day and a night in 4 real dimensions: this library, BoTorch and Optuna.

    python benchmarks/day_night.py [--seeds 10] [--model known|learned] [--only campaign]

The function is a draw of `Drifting-v0` in [0, 1]^4: squared exponential of lengthscale 0.8, 70% of
its variance with a period of 24 hours (two harmonics), 30% lasting; noise of variance 0.01. One
evaluation every two hours for ten days. The regret is against the maximum of the hour.

All that know the time know the period and the shares. "known": all loops but Optuna's, whose model
cannot be set, are given the kernel and the noise; "learned": they learn lengthscales, variance and
noise. All loops but Optuna's choose by the upper confidence bound with beta = 2. The first 8 points
of each are spread or random.
"""

import argparse
import time
import warnings

import gymnasium as gym
import numpy as np
import optuna
import torch
from botorch.acquisition import FixedFeatureAcquisitionFunction, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from gpytorch.kernels import Kernel, RBFKernel, ScaleKernel
from gpytorch.means import ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood

import gpbandits_env  # noqa: F401
from gpbandits_env import Campaign
from gpbandits_env.gp.temporal import temporal_from_dict

DIM, EVALUATIONS, HOURS, FIRST, BETA, NOISE_VAR, ELL = 4, 120, 2.0, 8, 2.0, 0.01, 0.8
PERIOD = {"type": "periodic", "period": 24.0, "harmonics": 2}
DAY = {"type": "sum", "kernels": [PERIOD, {"type": "static"}], "weights": [0.7, 0.3]}
SE = {"type": "se", "lengthscale": ELL}


class DayKernel(Kernel):
    """The temporal kernel of the function, for one coordinate in hours."""

    def forward(self, a, b, diag=False, **rest):
        lag = (a - b if diag else a - b.transpose(-1, -2)).squeeze(-1) if diag else a - b.mT
        at = temporal_from_dict(DAY)(lag.detach().abs().numpy().ravel(), np.zeros(1))
        return torch.as_tensor(at[:, 0]).reshape(lag.shape)


def campaign(seed, model, temporal=DAY):
    """The loop of this library, with or without the time."""
    known = {"kernel": SE, "noise_var": NOISE_VAR, "standardize": False, "beta": BETA}
    moving = {} if temporal is None else {"temporal": temporal}
    run = Campaign(
        {f"x{i}": (0.0, 1.0) for i in range(DIM)}, "gp-ucb", seed=seed, n_initial=FIRST,
        **moving, **(known if model == "known" else {"beta": BETA}),
    )  # fmt: skip

    def ask(hour):
        (suggestion,) = run.ask(**({} if temporal is None else {"time": hour}))
        ask.last = suggestion
        return [suggestion.params[f"x{i}"] for i in range(DIM)]

    def tell(point, value, hour):
        run.tell(ask.last, value, **({} if temporal is None else {"time": hour}))

    return ask, tell


def botorch(seed, model, timed=True):
    """A loop of BoTorch with the time as an input whose present value is fixed, or without it."""
    rng, points, values = np.random.default_rng(seed), [], []
    torch.manual_seed(seed)

    def ask(hour):
        if len(points) < FIRST:
            return rng.uniform(size=DIM).tolist()
        x, y = torch.tensor(points), torch.tensor(values)[:, None]
        if not timed:
            x = x[:, :DIM]
        rbf = RBFKernel(ard_num_dims=DIM, active_dims=tuple(range(DIM)))
        rbf.lengthscale = ELL
        kernel = rbf * DayKernel(active_dims=(DIM,)) if timed else rbf
        if model == "known":
            noise = torch.full_like(y, NOISE_VAR)
            gp = SingleTaskGP(
                x, y, noise, covar_module=kernel, mean_module=ZeroMean(), outcome_transform=None
            )
        else:
            gp = SingleTaskGP(
                x, y, covar_module=ScaleKernel(kernel), outcome_transform=Standardize(1)
            )
            fit_gpytorch_mll(ExactMarginalLogLikelihood(gp.likelihood, gp))
        score = UpperConfidenceBound(gp, beta=BETA)
        if timed:
            score = FixedFeatureAcquisitionFunction(score, DIM + 1, [DIM], [hour])
        bounds = torch.stack([torch.zeros(DIM), torch.ones(DIM)]).double()
        best, _ = optimize_acqf(score, bounds, q=1, num_restarts=8, raw_samples=256)
        return best[0].tolist()

    def tell(point, value, hour):
        points.append([*point, hour])
        values.append(value)

    return ask, tell


def optuna_gp(seed, model):
    """Optuna's Gaussian process, which ignores the time."""
    sampler = optuna.samplers.GPSampler(
        seed=seed, n_startup_trials=FIRST, deterministic_objective=False
    )
    study = optuna.create_study(direction="maximize", sampler=sampler)
    last = []

    def ask(hour):
        last.append(study.ask())
        return [last[-1].suggest_float(f"x{i}", 0.0, 1.0) for i in range(DIM)]

    return ask, lambda point, value, hour: study.tell(last[-1], value)


LOOPS = {
    "campaign": campaign,
    "campaign without time": lambda seed, model: campaign(seed, model, None),
    "BoTorch": botorch,
    "BoTorch without time": lambda seed, model: botorch(seed, model, False),
    "Optuna": optuna_gp,
}


def regret(name, seed, model):
    """The mean regret of a loop over all evaluations, and its seconds of processor per decision."""
    env = gym.make(
        "gpbandits/Drifting-v0", box=([0.0] * DIM, [1.0] * DIM), kernel=SE, noise_var=NOISE_VAR,
        drift={"type": "temporal", "kernel": DAY},
        clock={"evaluation": HOURS, "thinking": 0.0},
    )  # fmt: skip
    env.reset(seed=seed)
    ask, tell = LOOPS[name](seed, model)
    total, took = 0.0, 0.0
    for t in range(EVALUATIONS):
        start = time.process_time()
        point = ask(HOURS * t)
        took += time.process_time() - start
        observation, _, _, _, info = env.step(np.clip(np.array([point]), 0.0, 1.0))
        total += float(info["regret"][0])
        start = time.process_time()
        tell(point, float(observation["rewards"][0]), HOURS * t)
        took += time.process_time() - start
    return total / EVALUATIONS, took / EVALUATIONS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--model", choices=("known", "learned"), default="known")
    parser.add_argument("--only", nargs="*", choices=LOOPS, default=LOOPS)
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    print(f"model: {given.model}; mean regret, standard error, processor time per decision")
    for name in given.only:
        seeds = range(given.first, given.first + given.seeds)
        found = np.array([regret(name, seed, given.model) for seed in seeds])
        values = found[:, 0]
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
        each = " ".join(f"{value:.3f}" for value in values)
        cost = 1e3 * found[:, 1].mean()
        print(f"{name:22} {values.mean():.3f} +- {error:.3f} {cost:6.0f} ms  {each}", flush=True)


if __name__ == "__main__":
    main()
