"""What a batch rule saw and drew in a round, for those who derive its choice again; and boxes."""

import copy
from dataclasses import dataclass, field

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Matern32
from gpbandits_env.problem import Problem


class Recorded:
    """The samples an agent draws, and its generator as it was after each call."""

    def __init__(self, posterior):
        self._sample = posterior.sample
        self.calls, self.after = [], []
        posterior.sample = self

    def __call__(self, rng, size):
        self.calls.append(self._sample(rng, size))
        self.after.append(copy.deepcopy(rng))
        return self.calls[-1].copy()


@dataclass
class Turn:
    """One round: what a dense posterior says before it, what was drawn, and what was chosen."""

    t: int
    dense: object
    samples: list
    before: np.random.Generator
    after: list
    actions: np.ndarray
    mean: np.ndarray = field(init=False)

    def __post_init__(self):
        self.mean = self.dense.mean(now=self.t)

    def var(self, also=()):
        return self.dense.var(also=also, now=self.t)

    def best(self, i, score):
        """The i-th action has the best score."""
        assert score[self.actions[i]] == pytest.approx(score.max(), abs=1e-8), (self.t, i)

    def covariance(self):
        """K_t of all arms from scratch: posterior variances of sums and differences."""
        dense, lengthscale, noise_var = self.dense, 0.2, 0.025
        square = (dense.points - dense.points.T) ** 2
        prior = np.exp(-square / (2 * lengthscale**2))
        if not dense.arms:
            return prior
        times = np.array(dense.times, dtype=float)
        fade = (1 - dense.epsilon) ** (np.abs(times[:, None] - times) / 2)
        now = (1 - dense.epsilon) ** ((self.t - times) / 2)
        gram = prior[np.ix_(dense.arms, dense.arms)] * fade + noise_var * np.eye(len(times))
        cross = prior[dense.arms] * now[:, None]
        return prior - cross.T @ np.linalg.solve(gram, cross)


@pytest.fixture
def turns(world):
    """Play an agent and yield every round for a look at how its batch came about."""

    def play(name, m, rounds=20, **settings):
        agent = agents.make(name, world.problem(), seed=1, batch_size=m, **settings)
        dense = world.dense(epsilon=settings.get("epsilon", 0.0))
        drawn = Recorded(agent.posterior) if hasattr(agent, "posterior") else None
        for t in range(1, rounds + 1):
            before = copy.deepcopy(agent.rng)
            actions = agent.ask()
            assert actions.shape == (m,)
            calls, after = (drawn.calls, drawn.after) if drawn else ([], [])
            yield Turn(t, dense, calls.copy(), before, after.copy(), actions)
            calls.clear()
            after.clear()
            rewards = world.rewards(actions)
            agent.tell(actions, rewards)
            dense.tell(actions, rewards, t)

    return play


@pytest.fixture
def boxed():
    """Makes an agent in a box of 1 or 2 dimensions that has been told some points."""

    def make(name, dim, m, seed=0, **settings):
        box = Box(-np.ones(dim), np.full(dim, 2.0))
        problem = Problem(box, Matern32(0.7), 0.01, batch_size=m)
        agent = agents.make(name, problem, seed=seed, **settings)
        rng = np.random.default_rng(seed)
        x = box.sample(rng, 8)
        agent.tell(x, np.sin(3 * x).sum(axis=1) + 0.1 * rng.standard_normal(8))
        return agent

    return make
