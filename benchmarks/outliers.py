"""What to do with rewards far from the others: draw them in, or weigh them down (RCGP).

    python benchmarks/outliers.py > benchmarks/results/outliers.txt

Expected improvement on candidates, with hyperparameters fitted every five rewards to rewards that
are drawn in. The posterior receives the rewards as they are drawn in (`Winsorizer`, which campaigns
use), as they are, or with the weights of the robust conjugate posterior (Altamirano et al., ICML
2024; plateau IMQ, L = 1.96, c = 1, in robust standard deviations from the median): a reward whose
distance exceeds L by e counts with its noise variance times 1 + e^2, and is moved by
2 e s^2 / (1 + e^2).

- clean: five coordinates, no outliers; log10 of the distance to the maximum after 60
  rewards, mean and standard error.
- corrupted: two coordinates, one reward in ten off by 150 standard deviations; the distance from
  the maximum of the point with the largest posterior mean after 40 rewards, in such deviations.
"""

import warnings

import numpy as np
from scipy.stats import norm, qmc

from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.learning import Estimator, Learning
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.gp.threads import one_blas_thread

SEEDS, LEAST = 6, 1.96
START = Model(Matern52(0.3), 1e-3)
BEST = np.array([0.3, 0.6, 0.45, 0.7, 0.35])


def rosenbrock(u):
    x = 15.0 * u - 5.0
    return -np.sum(100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=1)


def powers(u):
    return -np.sqrt(np.sum(np.abs(10.0 * (u - BEST)) ** np.linspace(2.0, 6.0, 5), axis=1))


def ackley(u):
    x = 64.0 * u - 32.0
    root, ripple = np.sqrt(np.mean(x**2, axis=1)), np.mean(np.cos(2.0 * np.pi * x), axis=1)
    return 20.0 * np.exp(-0.2 * root) - 20.0 + np.exp(ripple) - np.e


CASES = (("clean", rosenbrock, 5), ("clean", powers, 5))
CASES += (("corrupted", rosenbrock, 2), ("corrupted", ackley, 2))


def given(how, rewards, found):
    """What the posterior receives: rewards, and their noise variances or None."""
    drawn, noise_var = found.winsorizer, found.model.noise_var
    if how != "rcgp":
        return (drawn(rewards) if how == "drawn in" else rewards), None
    z = (rewards - drawn.centre) / drawn.sd
    beyond = np.maximum(np.abs(z) - LEAST, 0.0)
    shift = 2.0 * beyond * (noise_var / drawn.sd**2) * np.sign(z) / (1.0 + beyond**2)
    return rewards + drawn.sd * shift, noise_var * (1.0 + beyond**2)


def run(kind, function, dim, how, seed):
    rng, box = np.random.default_rng(seed), Box(np.zeros(dim), np.ones(dim))
    share = 0.1 if kind == "corrupted" else 0.0
    everywhere = function(qmc.Sobol(dim, seed=9).random(8192))
    sd, top = everywhere.std(), max(0.0, everywhere.max())

    def observed(x):
        off = np.where(rng.random(len(x)) < share, 150.0, 0.0) * rng.choice([-1.0, 1.0], len(x))
        return function(x) + sd * (off + 2.0 * share * rng.standard_normal(len(x)))

    spread = qmc.Sobol(dim, seed=100 + seed).random(1024)
    points = qmc.Sobol(dim, seed=seed).random(16)[: 2 + 2 * dim]
    rewards = observed(points)
    learning = Learning(what=("lengthscale", "noise_var"), standardize=True, robust=True)
    estimator = Estimator(START, box, learning)
    for t in range(60 if kind == "clean" else 40):
        if t % 5 == 0:
            found = estimator.fit(START, points, rewards, np.zeros(len(rewards)), None, 2)
        model = found.model
        posterior = BoxPosterior(box, model.kernel, model.noise_var, np.mean(model.prior_mean))
        posterior.learn(points, *given(how, rewards, found))
        sizes = 10.0 ** rng.uniform(-2.5, -0.7, (256, 1))
        near = points[posterior.mean_at(points).argmax()] + sizes * rng.standard_normal((256, dim))
        tried = np.vstack([spread, np.clip(near, 0.0, 1.0)])
        mean, var = posterior.moments(tried)
        z = (mean - posterior.mean_at(points).max()) / (s := np.sqrt(np.maximum(var, 1e-18)))
        tail = -0.5 * z**2 - 2.0 * np.log(np.abs(z) + 1e-9)
        gain = np.log(np.maximum(norm.pdf(z) + z * norm.cdf(z), 1e-300))
        best = tried[[int(np.argmax(np.log(s) + np.where(z > -5.0, gain, tail)))]]
        points, rewards = np.vstack([points, best]), np.append(rewards, observed(best))
    if kind == "clean":
        return np.log10(top - function(points).max())
    return (top - function(tried[[int(mean.argmax())]])[0]) / sd


@one_blas_thread()
def main():
    for kind, function, dim in CASES:
        for how in ("drawn in", "rcgp", "as they are"):
            found = np.array([run(kind, function, dim, how, seed) for seed in range(SEEDS)])
            error = found.std(ddof=1) / np.sqrt(SEEDS)
            name = f"{function.__name__}, {dim} dimensions"
            print(f"{kind:<10} {name:<25} {how:<12} {found.mean():7.3f} +- {error:.3f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
