"""GP-UCB through the public loop (env.step, ask, tell), compared with the same loop over its peers.

    python benchmarks/gp_ucb_loop.py [--peers sklearn botorch] [--wall]

There are 1000 arms on [0, 1], an SE kernel of lengthscale 0.2, noise variance 0.025, T = 1000, and
beta of Theorem 1 over 5. The hyper-parameters of the peers are fixed, and the peers are refitted in
each round, as their users do. The average regret shows that all solve the same problem.
"""

import json

from loops import TWICE, clock_of, elsewhere, fastest, options, play, table

CHOSEN = options(__doc__.splitlines()[0])

import gymnasium as gym
import numpy as np

import gpbandits_env  # noqa: F401
from gpbandits_env import agents

ARMS, LENGTHSCALE, NOISE_VAR, DELTA, ROUNDS = 1000, 0.2, 0.025, 0.1, 1000
CLOCK = clock_of(CHOSEN)


def world(rounds):
    return gym.make(
        "gpbandits/StaticGP-v0",
        grid=[ARMS],
        kernel={"type": "se", "lengthscale": LENGTHSCALE},
        noise_var=NOISE_VAR,
        max_episode_steps=rounds,
    )


def ours(rounds, repeats):
    env = world(rounds)
    return fastest(lambda: play(env, agents.make("gp-ucb", env, seed=0), rounds, CLOCK), repeats)


class Peer:
    """GP-UCB with another library, whose posterior is refitted at each `ask`."""

    def __init__(self, points):
        self.points, self.arms, self.rewards = points, [], []

    def ask(self):
        t = len(self.arms) + 1
        mean, sd = self.belief()
        beta = 2 * np.log(ARMS * t**2 * np.pi**2 / (6 * DELTA)) / 5
        return np.array([np.argmax(mean + np.sqrt(beta) * sd)])

    def tell(self, actions, rewards):
        self.arms += actions.tolist()
        self.rewards += rewards.tolist()


class Sklearn(Peer):
    def __init__(self, points):
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF

        super().__init__(points)
        self.model = GaussianProcessRegressor(RBF(LENGTHSCALE), alpha=NOISE_VAR, optimizer=None)

    def belief(self):
        if self.arms:
            self.model.fit(self.points[self.arms], np.array(self.rewards))
        return self.model.predict(self.points, return_std=True)


class BoTorch(Peer):
    def __init__(self, points):
        import torch
        from botorch.models import SingleTaskGP
        from gpytorch.kernels import RBFKernel
        from gpytorch.means import ZeroMean

        super().__init__(torch.tensor(points.copy()))
        torch.set_num_threads(CHOSEN.threads)
        self.torch, self.model, self.mean = torch, SingleTaskGP, ZeroMean()
        self.kernel = RBFKernel()
        self.kernel.lengthscale = LENGTHSCALE

    def belief(self):
        if not self.arms:
            return np.zeros(ARMS), np.ones(ARMS)
        with self.torch.no_grad():
            rewards = self.torch.tensor(self.rewards, dtype=self.torch.float64)[:, None]
            model = self.model(
                self.points[self.arms],
                rewards,
                self.torch.full_like(rewards, NOISE_VAR),
                covar_module=self.kernel,
                mean_module=self.mean,
                outcome_transform=None,
            )
            belief = model.posterior(self.points[:, None])  # each arm apart: no joint covariance
            return belief.mean[:, 0, 0].numpy(), belief.variance[:, 0, 0].sqrt().numpy()


PEERS = {"sklearn": (Sklearn, ">= 250"), "botorch": (BoTorch, ">= 500")}


def peers():
    own, regret = ours(ROUNDS, CHOSEN.repeats)
    print(f"ours: {1e6 * own / ROUNDS:.1f} us a round, average regret {regret:.4f}")
    for name in PEERS if CHOSEN.peers is None else CHOSEN.peers:
        peer, target = PEERS[name]
        env = world(ROUNDS)
        arms = env.unwrapped.problem.domain.coordinates
        try:
            taken, theirs = min(play(env, peer(arms), ROUNDS, CLOCK) for _ in range(TWICE))
        except ImportError as error:
            print(f"{name}: left out, {error}")
            continue
        again, _ = ours(ROUNDS, CHOSEN.repeats)  # before and after: a machine changes its pace
        own = min(own, again)
        yield taken / own, target, f"{name} / ours: {taken:.1f} s, average regret {theirs:.4f}"


def rows():
    yield from peers()
    pairs = [[elsewhere(CHOSEN, "loop", n) for n in (1, 2)] for _ in range(4)]
    one, two = (min(pair[i]["short"] for pair in pairs) for i in (0, 1))
    yield two / one, "<= 1.1", "two BLAS threads / one"
    long = min(pair[0]["long"] for pair in pairs)
    yield long / one, "<= 11", "T = 10,000 / T = 1000"


def main():
    if CHOSEN.own:
        found = {"short": ours(ROUNDS, CHOSEN.repeats)[0], "long": ours(10 * ROUNDS, 3)[0]}
        print(json.dumps(found))
        return
    table("GP-UCB through the public loop, 1000 arms, SE, T = 1000", CHOSEN, list(rows()))


if __name__ == "__main__":
    main()
