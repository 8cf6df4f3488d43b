"""A small world, and what the papers say a learner of it should believe: numpy.linalg alone."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

LENGTHSCALE, NOISE_VAR, SIZE, ROUNDS = 0.2, 0.025, 60, 24


def squared_exponential(x, z):
    square = ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=-1)
    return np.exp(-square / (2 * LENGTHSCALE**2))


@dataclass
class Dense:
    """mu_t and sigma_t^2 of srinivas2010, eqs. (1)-(2), from scratch at every call.

    ``weights(times, now)`` gives what is left of each observation's correlation; see bogunovic2016,
    eqs. (7)-(8). With ``time`` it is this covariance of two times, (k,) and (m,) -> (k, m).
    """

    points: np.ndarray
    prior_mean: np.ndarray
    epsilon: float = 0.0
    time: Callable | None = None
    arms: list = field(default_factory=list)
    rewards: list = field(default_factory=list)
    times: list = field(default_factory=list)

    def tell(self, arms, rewards, t):
        self.arms += [int(a) for a in arms]
        self.rewards += [float(r) for r in rewards]
        self.times += [t] * len(arms)

    def forget(self, before):
        """Drop what was told before a round."""
        kept = [i for i, t in enumerate(self.times) if t >= before]
        for name in ("arms", "rewards", "times"):
            setattr(self, name, [getattr(self, name)[i] for i in kept])

    def _weights(self, arms, times, now):
        gram = squared_exponential(self.points[arms], self.points[arms])
        cross = squared_exponential(self.points[arms], self.points)
        age = np.array(times, dtype=float)
        if self.time is not None:
            gram, cross = gram * self.time(age, age), cross * self.time(age, np.array([now]))
        gram *= (1 - self.epsilon) ** (np.abs(age[:, None] - age[None, :]) / 2)
        cross *= ((1 - self.epsilon) ** ((now - age) / 2))[:, None]
        return np.linalg.solve(gram + NOISE_VAR * np.eye(len(arms)), cross), cross

    def mean(self, now=0.0):
        if not self.arms:
            return self.prior_mean.copy()
        weights, _ = self._weights(self.arms, self.times, now)
        return self.prior_mean + (np.array(self.rewards) - self.prior_mean[self.arms]) @ weights

    def var(self, also=(), now=0.0):
        """Given also the arms chosen so far in this batch, whose time is now."""
        arms = [*self.arms, *map(int, also)]
        level = 1.0 if self.time is None else self.time(np.array([now]), np.array([now]))[0, 0]
        if not arms:
            return np.full(len(self.points), level)
        weights, cross = self._weights(arms, [*self.times, *[now] * len(also)], now)
        return level - (weights * cross).sum(axis=0)

    def covariance(self, arms):
        """The posterior covariance among some arms, (k, k), without drift."""
        weights, cross = self._weights(self.arms, self.times, 0.0)
        prior = squared_exponential(self.points[arms], self.points[arms])
        return prior - cross[:, arms].T @ weights[:, arms]

    def gain(self):
        """I(y; f) = 1/2 log det(I + K / s2)."""
        gram = squared_exponential(self.points[self.arms], self.points[self.arms])
        return 0.5 * np.linalg.slogdet(np.eye(len(gram)) + gram / NOISE_VAR)[1]


@dataclass
class World:
    """60 arms on [0, 1] with a prior mean that is not flat; and a function with noise."""

    arms: Arms = field(default_factory=lambda: Arms.grid(SIZE))

    def __post_init__(self):
        x = self.arms.coordinates[:, 0]
        self.prior_mean = 0.3 * np.cos(9 * x)
        self.function = self.prior_mean + np.sin(7 * x + 1) - 0.5 * x
        self.noise = np.random.default_rng(3)

    def problem(self, **changes):
        kernel = SquaredExponential(LENGTHSCALE)
        return Problem(self.arms, kernel, NOISE_VAR, prior_mean=self.prior_mean).replaced(**changes)

    def dense(self, **settings):
        return Dense(self.arms.coordinates, self.prior_mean, **settings)

    def rewards(self, arms):
        return self.function[arms] + math.sqrt(NOISE_VAR) * self.noise.standard_normal(len(arms))


@pytest.fixture
def world():
    return World()


@pytest.fixture(params=[1, 3], ids=["one", "batch of 3"])
def batch_size(request):
    return request.param


@pytest.fixture
def replay(world, batch_size):
    """Run an agent; at every choice hold it against a score of dense mean and variance.

    ``score(t, mean, var, dense)`` is the paper's formula; ``dense`` holds the data told so far, or
    of them those whose variance, given those let in before, is above ``threshold``.
    """

    def run(name, score, rounds=ROUNDS, dense=None, forget=lambda t: 0, threshold=-1.0, **settings):
        agent = agents.make(name, world.problem(), seed=0, batch_size=batch_size, **settings)
        dense = dense or world.dense()
        played = []
        for t in range(1, rounds + 1):
            dense.forget(before=forget(t))
            actions = agent.ask()
            assert actions.shape == (batch_size,)
            mean = dense.mean(now=t)
            for i, arm in enumerate(actions):
                scores = score(t, mean, dense.var(also=actions[:i], now=t), dense)
                assert scores[arm] == pytest.approx(scores.max(), abs=1e-8), (t, i)
            rewards, passed = world.rewards(actions), np.zeros(batch_size, bool)
            for i, arm in enumerate(actions):
                passed[i] = dense.var(also=actions[passed], now=t)[arm] > threshold
            assert np.array_equal(agent.informative(actions), passed)
            agent.tell(actions, rewards)
            dense.tell(actions[passed], rewards[passed], t)
            assert agent.posterior.size == len(dense.arms) or forget(t) or dense.epsilon == 1.0
            played += actions.tolist()
        return played

    return run


@pytest.fixture
def large():
    return LargeBox


class LargeBox:
    """Eight dimensions for agents that search in fewer, and GP-UCB there by numpy.linalg alone."""

    D, ELL, NOISE, BETA = 8, 1.1, 0.01, 2.0
    PROBLEM = Problem(Box(-np.ones(D), np.ones(D)), SquaredExponential(ELL), NOISE, horizon=12)
    # A box of unequal sides, and a lengthscale per coordinate.
    SIDES = np.array([1.0, 8.0, 0.5, 4.0, 2.0, 3.0, 1.0, 6.0])
    ARD = np.array([0.4, 5.0, 0.3, 1.0, 2.0, 0.9, 0.7, 2.5])
    UNEVEN = Problem(Box(np.zeros(D), SIDES), SquaredExponential(tuple(ARD)), NOISE, horizon=12)

    @staticmethod
    def reward(x):
        return -((x - 0.3) ** 2).sum(axis=1)

    @classmethod
    def uneven_reward(cls, x):
        return -(((x / cls.SIDES) - 0.6) ** 2).sum(axis=1)

    @classmethod
    def bound(cls, at, told, y, ell):
        def k(a, b):
            return np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / (2 * ell**2))

        mean, var = np.zeros(len(at)), np.ones(len(at))
        if len(told):
            solved = np.linalg.solve(k(told, told) + cls.NOISE * np.eye(len(told)), k(told, at))
            mean, var = y @ solved, var - (k(told, at) * solved).sum(axis=0)
        return mean + np.sqrt(cls.BETA * np.maximum(var, 0))

    @classmethod
    def played(cls, name, rounds=8, **settings):
        """An agent and its choices, with the data known before each."""
        agent = agents.make(name, cls.PROBLEM, seed=2, beta=cls.BETA, **settings)
        x, y = np.empty((0, cls.D)), np.empty(0)
        for _ in range(rounds):
            action = agent.ask()
            yield agent, action, x, y
            agent.tell(action, cls.reward(action))
            x, y = np.concatenate([x, action]), np.concatenate([y, cls.reward(action)])


@pytest.fixture
def normal():
    return Normal


class Normal:
    """The normal distribution and its improvement, by other formulas than the library's."""

    NODES, WEIGHTS = np.polynomial.laguerre.laggauss(100)

    @staticmethod
    def density(z):
        return np.exp(-0.5 * np.square(z)) / math.sqrt(2 * math.pi)

    @staticmethod
    def cumulative(z):
        return 0.5 * np.vectorize(math.erfc)(-np.asarray(z, dtype=float) / math.sqrt(2))

    @classmethod
    def log_cumulative(cls, z):
        """log Phi; below -5 by Phi(z) = phi(z) / |z| int e^-s e^(-s^2 / (2 z^2)) ds."""
        return cls._log(z, cls.cumulative, power=0)

    @classmethod
    def log_improvement(cls, z):
        """log h = log(phi + z Phi); below -5 h(z) = phi(z) / z^2 int s e^-s e^(-s^2 / (2 z^2)) ds.

        The integrals are Gauss-Laguerre sums.
        """
        return cls._log(z, lambda x: cls.density(x) + x * cls.cumulative(x), power=1)

    @classmethod
    def _log(cls, z, plain, power):
        z = np.asarray(z, dtype=float)
        low = np.minimum(z, -5.0)[..., None]
        integral = (cls.WEIGHTS * cls.NODES**power * np.exp(-0.5 * (cls.NODES / low) ** 2)).sum(-1)
        low = low[..., 0]
        log_tail = np.log(integral) - (power + 1) * np.log(-low) - 0.5 * low**2
        return np.where(
            z < -5.0, log_tail - 0.5 * math.log(2 * math.pi), np.log(plain(np.maximum(z, -5.0)))
        )
