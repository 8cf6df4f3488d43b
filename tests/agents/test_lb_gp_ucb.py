"""LB-GP-UCB against the scheme of Ziomek et al. (2024)."""

import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52, SquaredExponential

LENGTHSCALE, NOISE_VAR, ROUNDS, SD = 0.4, 0.025, 90, math.sqrt(0.025)


def supposed(share, m, dim):
    """Reg(m) = C sqrt(m A) (sqrt(A) + B), A = q^-d log(m)^(d + 1), C = 0.01 and B = 1."""
    a = share**-dim * np.log(m) ** (dim + 1)
    return 0.01 * np.sqrt(m * a) * (np.sqrt(a) + 1.0)


def test_the_supposed_regret():
    m = np.array([1, 2, 5, 10])
    longest, second = supposed(1.0, m, 2), supposed(math.exp(-0.5), m, 2)
    np.testing.assert_allclose(longest, [0, 0.01287086, 0.13887554, 0.49654326], rtol=1e-6)
    np.testing.assert_allclose(second, [0, 0.02625776, 0.32867116, 1.23156863], rtol=1e-6)


def test_the_lengthscales(world):
    agent = agents.make("lb-gp-ucb", world.problem(), seed=0)
    shares = np.array([one.model.kernel.lengthscale for one in agent.balance.beliefs])
    shares = np.sqrt(shares / agent.problem.kernel.lengthscale)  # here D = 1, there D = 2
    np.testing.assert_allclose(shares, [1, 0.606531, 0.367879, 0.223130, 0.135335], atol=1e-6)
    rough = agents.make("lb-gp-ucb", world.problem().replaced(kernel=Matern52(0.3)), seed=0)
    np.testing.assert_allclose(rough.balance.shares**6, np.exp(-np.arange(5.0)))  # D = 1 + 2 nu


class Base:
    """The posterior under one lengthscale."""

    def __init__(self, world, i):
        x = world.arms.coordinates
        self.gram = np.exp(-0.5 * ((x - x.T) / (LENGTHSCALE * math.exp(-i))) ** 2)
        self.prior, self.n, self.total, self.width = world.prior_mean, 0, 0.0, 0.0

    def moments(self, arms, rewards, also=()):
        every = [*arms, *also]
        cross = self.gram[every]
        mean = self.prior.copy()
        if arms:
            held = self.gram[np.ix_(arms, arms)] + NOISE_VAR * np.eye(len(arms))
            mean += np.linalg.solve(held, np.array(rewards) - self.prior[arms]) @ self.gram[arms]
        if not every:
            return mean, np.ones(len(mean))
        held = self.gram[np.ix_(every, every)] + NOISE_VAR * np.eye(len(every))
        return mean, 1 - (cross * np.linalg.solve(held, cross)).sum(axis=0)

    def c(self, arms, beta=None):
        if beta is not None:
            return math.sqrt(beta)
        gram = self.gram[np.ix_(arms, arms)] / NOISE_VAR
        gain = 0.5 * np.linalg.slogdet(np.eye(len(arms)) + gram)[1]
        return 1 + SD * math.sqrt(2 * (gain + 1 + math.log(2 / 0.01)))

    def low(self, xi):
        return self.total / self.n - math.sqrt(xi / self.n)


@pytest.mark.parametrize("own", [{}, {"beta": 0.5}])
def test_replays_the_balancing(world, batch_size, own):
    problem = world.problem(kernel=SquaredExponential(LENGTHSCALE), batch_size=batch_size)
    agent = agents.make("lb-gp-ucb", problem, seed=0, **own)
    bases, live, arms, rewards = [Base(world, i) for i in range(5)], [*range(5)], [], []
    dropped = set()
    for t in range(1, ROUNDS + 1):
        regret = [float(supposed(math.exp(-i), bases[i].n + 1, 1)) for i in live]
        chosen = bases[live[int(np.argmin(regret))]]
        asked, (mean, var), c = agent.ask(), chosen.moments(arms, rewards), chosen.c(arms, **own)
        for j, arm in enumerate(asked):
            scores = mean + c * np.sqrt(chosen.moments(arms, rewards, also=asked[:j])[1])
            assert scores[arm] == pytest.approx(scores.max(), abs=1e-7)
        found = world.rewards(asked)
        agent.tell(asked, found)
        arms, rewards = [*arms, *asked.tolist()], [*rewards, *found.tolist()]
        chosen.n, chosen.total = chosen.n + batch_size, chosen.total + found.sum()
        chosen.width += c * np.sqrt(var[asked]).sum()
        if all(bases[i].n for i in live):
            xi = 2 * NOISE_VAR * math.log(len(live) * math.pi**2 * t**2 / (6 * 0.01))
            best = max(bases[i].low(xi) for i in live)
            gone = {i for i in live if bases[i].low(xi) + 2 * bases[i].width / bases[i].n < best}
            live, dropped = [i for i in live if i not in gone], dropped | gone
        if len(bases) < 0.5 * math.log(t + 1):
            live.append(len(bases))
            bases.append(Base(world, len(bases)))
        assert np.flatnonzero(agent.balance.sums[0]).tolist() == live
    assert {base.n > 0 for base in bases} == {True}


def test_a_candidate_is_dropped_when_another_earns_more(world):
    """Rewards of -9 in the rounds of the longest lengthscale, and of 9 in those of others."""
    agent = agents.make("lb-gp-ucb", world.problem(), seed=0)
    for _ in range(300):
        agent.tell(agent.ask(), [-9.0 if agent.balance.chosen == 0 else 9.0])
    assert agent.balance.sums[0, 0] == 0.0
    assert agent.balance.sums[0].any()


def test_late_rewards_are_those_of_the_lengthscale_of_their_round(world):
    """What arrives at once is as in time; later, with the widths of the posterior then."""
    agent, late, later = (agents.make("lb-gp-ucb", world.problem(), seed=0) for _ in range(3))
    plays, waiting = np.zeros(5), []
    for t in range(1, 21):
        actions = agent.ask()
        rewards = world.rewards(actions)
        agent.tell(actions, rewards)
        assert np.array_equal(late.ask(), actions)
        late.expect(actions)
        late.tell_late(actions, rewards)
        np.testing.assert_allclose(late.balance.sums, agent.balance.sums, atol=1e-8)
        plays[later.balance.chosen] += 1
        later.expect(actions)
        waiting.append((actions, rewards, [t]))
        if t > 3:
            later.tell_late(*waiting.pop(0))
    for each in waiting:
        later.tell_late(*each)
    assert later.balance.sums[1].tolist() == plays.tolist()


def test_more_lengthscales_come_with_time(world):
    agent = agents.make("lb-gp-ucb", world.problem(), seed=0)
    agent.balance._pace = 4.0  # as in four dimensions
    assert len(agent.balance.beliefs) == 5
    sizes = []
    for _ in range(40):
        agent.tell(asked := agent.ask(), world.rewards(asked))
        sizes.append(len(agent.balance.beliefs))
    assert sizes == [max(5, math.ceil(2 * math.log(t + 1))) for t in range(1, 41)]


@pytest.mark.parametrize("given", [{"learn": True}, {"standardize": True}])
def test_it_learns_no_other_lengthscale(world, given):
    with pytest.raises(InvalidInput, match="give learn=None"):
        agents.make("lb-gp-ucb", world.problem(), **given)
