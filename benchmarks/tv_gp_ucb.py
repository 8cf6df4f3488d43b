"""TV-GP-UCB through the public loop, compared with its peers, and its posterior in the long run.

    python benchmarks/tv_gp_ucb.py [--peers sklearn gpytorch] [--wall]

The environment is gpbandits/MarkovGP-v0 on a 50 x 50 grid on [0, 1]^2, with an SE kernel of
lengthscale 0.2, epsilon 0.01 and noise variance 0.01; beta_t = 0.8 log(4 t). A peer has the same
model as a product kernel, SE in space times exp(-c |t - t'|) with c = -log(1 - epsilon) / 2, and is
refitted in each round. Its cost grows with t and ours does not, so the ratios are over the same
first rounds.
"""

import json
import re
from pathlib import Path

from loops import TWICE, clock_of, elsewhere, fastest, options, play, table

CHOSEN = options(__doc__.splitlines()[0])

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401
from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for

GRID, LENGTHSCALE, NOISE_VAR, EPSILON, ROUNDS = (50, 50), 0.2, 0.01, 0.01, 1000
RATE = -0.5 * np.log1p(-EPSILON)
CLOCK = clock_of(CHOSEN)
KERNELS = {"se": SquaredExponential(LENGTHSCALE), "matern52": Matern52(LENGTHSCALE)}
EARLY, LATE, SPAN = 2_000, 100_000, 1000


def world():
    return gym.make(
        "gpbandits/MarkovGP-v0",
        grid=GRID,
        kernel={"type": "se", "lengthscale": LENGTHSCALE},
        noise_var=NOISE_VAR,
        epsilon=EPSILON,
        max_episode_steps=ROUNDS,
    )


def ours(rounds):
    env = world()
    return fastest(
        lambda: play(env, agents.make("tv-gp-ucb", env, seed=0), rounds, CLOCK), CHOSEN.repeats
    )


class Peer:
    """TV-GP-UCB with another library's GP of space and time, which is refitted at each `ask`."""

    def __init__(self, points):
        self.points, self.arms, self.rewards = points, [], []

    def ask(self):
        t = len(self.arms) + 1
        if t == 1:
            return np.array([0])
        seen = np.column_stack([self.points[self.arms], np.arange(1, t)])
        now = np.column_stack([self.points, np.full(len(self.points), t)])
        mean, sd = self.belief(seen, now)
        return np.array([np.argmax(mean + np.sqrt(0.8 * np.log(4 * t)) * sd)])

    def tell(self, actions, rewards):
        self.arms += actions.tolist()
        self.rewards += rewards.tolist()


class Sklearn(Peer):
    def __init__(self, points):
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, Matern

        super().__init__(points)
        # One lengthscale a coordinate; a very long one leaves the other coordinates out.
        space = RBF([LENGTHSCALE, LENGTHSCALE, 1e9])
        time = Matern([1e9, 1e9, 1 / RATE], nu=0.5)
        self.model = GaussianProcessRegressor(space * time, alpha=NOISE_VAR, optimizer=None)

    def belief(self, seen, now):
        self.model.fit(seen, np.array(self.rewards))
        return self.model.predict(now, return_std=True)


class GPyTorch(Peer):
    def __init__(self, points):
        import gpytorch
        import torch

        super().__init__(points)
        torch.set_num_threads(CHOSEN.threads)
        space = gpytorch.kernels.RBFKernel(active_dims=(0, 1)).double()
        time = gpytorch.kernels.MaternKernel(nu=0.5, active_dims=(2,)).double()
        space.lengthscale, time.lengthscale = LENGTHSCALE, 1 / RATE
        self.torch, self.gpytorch, self.kernel = torch, gpytorch, space * time

        class Model(gpytorch.models.ExactGP):
            def __init__(self, x, y, likelihood, kernel):
                super().__init__(x, y, likelihood)
                self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), kernel

            def forward(self, x):
                mean, covariance = self.mean_module(x), self.covar_module(x)
                return gpytorch.distributions.MultivariateNormal(mean, covariance)

        self.model = Model

    def belief(self, seen, now):
        torch = self.torch
        likelihood = self.gpytorch.likelihoods.GaussianLikelihood().double()
        likelihood.noise = NOISE_VAR
        x, y = torch.tensor(seen), torch.tensor(self.rewards, dtype=torch.float64)
        model = self.model(x, y, likelihood, self.kernel)
        model.eval()
        likelihood.eval()
        with torch.no_grad(), self.gpytorch.settings.skip_posterior_variances(False):
            belief = model(torch.tensor(now))
            return belief.mean.numpy(), belief.variance.clamp_min(0).sqrt().numpy()


# class, rounds that are played, target
PEERS = {"sklearn": (Sklearn, 500, ">= 250"), "gpytorch": (GPyTorch, 500, ">= 1000")}


def peers():
    whole, regret = ours(ROUNDS)
    print(f"ours: {1e6 * whole / ROUNDS:.1f} us a round with the world, regret {regret:.3f}")
    for name in PEERS if CHOSEN.peers is None else CHOSEN.peers:
        peer, rounds, target = PEERS[name]
        env = world()
        arms = env.unwrapped.problem.domain.coordinates
        own, regret = ours(rounds)
        try:
            taken, theirs = min(play(env, peer(arms), rounds, CLOCK) for _ in range(TWICE))
        except ImportError as error:
            print(f"{name}: left out, {error}")
            continue
        own = min(own, ours(rounds)[0])
        what = f"{name} / ours, {rounds} rounds: {taken:.1f} s, regret {theirs:.3f} ({regret:.3f})"
        yield taken / own, target, what


def peak_memory():
    """The peak memory in MB; not ru_maxrss, which starts from that of the parent process."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def long_run(kernel):
    """The posterior alone: microseconds per round from t = EARLY and LATE on, and peak memory."""
    rng = np.random.default_rng(0)
    posterior = posterior_for(Arms.grid(GRID), KERNELS[kernel], NOISE_VAR)
    arms, rewards = rng.integers(2500, size=(LATE + SPAN, 1)), rng.standard_normal((LATE + SPAN, 1))
    found = {"representation": posterior.representation}
    t = 0

    def go(rounds):
        nonlocal t
        start = CLOCK()
        for _ in range(rounds):
            posterior.condition(arms[t], rewards[t])
            posterior.advance(EPSILON)
            t += 1
        return 1e6 * (CLOCK() - start) / rounds

    for name, at in (("early", EARLY), ("late", LATE)):
        go(at - t)
        found[name] = go(SPAN)
        found[name + "_memory"] = peak_memory()
    assert np.isfinite(posterior.mean).all()
    assert (posterior.var >= 0).all()
    return found


def rows():
    yield from peers()
    for kernel in KERNELS:
        found = elsewhere(CHOSEN, kernel, CHOSEN.threads)
        what = (
            f"posterior, {kernel} ({found['representation']}): t = {LATE:,} / t = {EARLY:,}; "
            f"{found['late']:.0f} and {found['early']:.0f} us a round, peak memory "
            f"{found['late_memory']:.0f} and {found['early_memory']:.0f} MB"
        )
        yield found["late"] / found["early"], "about 1", what


def main():
    if CHOSEN.own:
        print(json.dumps(long_run(CHOSEN.own)))
        return
    table("TV-GP-UCB on a 50 x 50 grid, SE, epsilon = 0.01", CHOSEN, list(rows()))


if __name__ == "__main__":
    main()
