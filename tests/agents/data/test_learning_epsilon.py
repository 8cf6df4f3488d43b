"""TV-GP-UCB that learns epsilon while it plays (bogunovic2016, Appendix B)."""

import pickle

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

ARMS, NOISE_VAR, MEAN = Arms.grid(25), 0.01, 2.0
GRAM = np.exp(-0.5 * ((ARMS.coordinates - ARMS.coordinates.T) / 0.2) ** 2)
PROBLEM = Problem(ARMS, SquaredExponential(0.2), NOISE_VAR, batch_size=2, prior_mean=MEAN)


class Drifting:
    """f_{t+1} = sqrt(1 - epsilon) f_t + sqrt(epsilon) g_{t+1}, eqs. (3)-(4)."""

    def __init__(self, epsilon, seed):
        self.epsilon, self.rng = epsilon, np.random.default_rng(seed)
        values, vectors = np.linalg.eigh(GRAM)
        self.root = vectors * np.sqrt(np.maximum(values, 0.0))
        self.function = self._draw()

    def _draw(self):
        return self.root @ self.rng.standard_normal(len(self.root))

    def __call__(self, actions):
        noise = self.rng.standard_normal(len(actions))
        rewards = MEAN + self.function[actions] + np.sqrt(NOISE_VAR) * noise
        self.function = np.sqrt(1 - self.epsilon) * self.function
        self.function += np.sqrt(self.epsilon) * self._draw()
        return rewards


def play(agent, world, rounds):
    told = []
    for _ in range(rounds):
        actions = agent.ask()
        told.append((actions, world(actions)))
        agent.tell(*told[-1])
    return told


def learner(epsilon=None, **when):
    learn = {"what": ["epsilon"], **when}
    return agents.make("tv-gp-ucb", PROBLEM, seed=0, epsilon=epsilon, learn=learn)


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
@pytest.mark.parametrize("start", [None, 0.5, 0.001])
def test_comes_near_the_truth(epsilon, start):
    agent = learner(epsilon=start, every=100, window=100)
    play(agent, Drifting(epsilon, seed=1), 100)
    assert epsilon / 2 < agent.epsilon < 2 * epsilon


def test_the_learned_epsilon_has_the_largest_marginal_likelihood():
    """Eq. (24) written out, on a fine mesh."""
    agent = learner(every=40, window=30)
    told = play(agent, Drifting(0.05, seed=2), 40)[-30:]
    arms, rewards = (np.concatenate(column) for column in zip(*told, strict=True))
    times = np.repeat(np.arange(30), 2)

    def log_likelihood(epsilon):
        fade = (1 - epsilon) ** (abs(times[:, None] - times) / 2)
        covariance = GRAM[np.ix_(arms, arms)] * fade + NOISE_VAR * np.eye(60)
        y = rewards - MEAN
        return -0.5 * (y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(covariance)[1])

    mesh = np.linspace(0.001, 0.5, 500)
    best = mesh[np.argmax([log_likelihood(epsilon) for epsilon in mesh])]
    assert agent.epsilon == pytest.approx(best, abs=0.0011)
    assert log_likelihood(agent.epsilon) >= log_likelihood(best) - 1e-6


def test_believes_the_window_under_the_new_epsilon():
    """What is known after learning is eqs. (7)-(8) on the window's rounds."""
    agent = learner(every=15, window=10)
    told = play(agent, Drifting(0.1, seed=3), 18)[5:]  # 10 in the window, and 3 since
    arms, rewards = (np.concatenate(column) for column in zip(*told, strict=True))
    times = np.repeat(np.arange(5, 18), 2)
    kept = 1 - agent.epsilon
    assert kept < 1
    inner = GRAM[np.ix_(arms, arms)] * kept ** (abs(times[:, None] - times) / 2)
    cross = GRAM[arms] * (kept ** ((18 - times) / 2))[:, None]
    weights = np.linalg.solve(inner + NOISE_VAR * np.eye(len(arms)), cross)
    mean, sd = agent.belief()
    assert mean == pytest.approx(MEAN + (rewards - MEAN) @ weights, abs=1e-8)
    assert sd**2 == pytest.approx(1 - (weights * cross).sum(axis=0), abs=1e-8)


def test_learns_when_it_is_due_and_reset_unlearns():
    agent = learner(epsilon=0.3, every=6)
    world = Drifting(0.02, seed=4)
    play(agent, world, 5)
    assert agent.epsilon == 0.3
    play(agent, world, 1)
    first = agent.epsilon
    assert first != 0.3
    play(agent, world, 5)
    assert agent.epsilon == first
    play(agent, world, 1)
    assert agent.epsilon != first
    agent.reset()
    assert agent.epsilon == agent.conditioned.model.epsilon == 0.3
    assert np.array_equal(agent.belief()[0], learner(epsilon=0.3, every=6).belief()[0])


@pytest.mark.parametrize("rounds", [4, 5, 9])
def test_goes_on_from_a_snapshot_and_from_a_pickle(rounds):
    agent = learner(every=5, window=7)
    play(agent, Drifting(0.1, seed=5), rounds)
    pickled, other = pickle.loads(pickle.dumps(agent)), learner(every=5, window=7)
    other.restore(pickle.loads(pickle.dumps(agent.snapshot())))
    beliefs, epsilons = [], []
    for each in (agent, pickled, other):
        play(each, Drifting(0.1, seed=6), 12)
        beliefs.append(each.belief())
        epsilons.append(each.epsilon)
    assert np.array_equal(beliefs[0], beliefs[1])
    assert np.array_equal(beliefs[0], beliefs[2])
    assert len(set(epsilons)) == 1


@pytest.mark.parametrize(
    "wrong", [([1, 2], [0.5]), ([1], [0.5, 0.1]), ([1, 99], [0.5, 0.5]), ([1, 2], [0.5, np.nan])]
)
def test_what_is_refused_does_not_enter_the_window(wrong):
    """Refused in the round in which it would have learned."""
    agent, untroubled = learner(every=6), learner(every=6)
    for each in (agent, untroubled):
        play(each, Drifting(0.1, seed=7), 5)
    with pytest.raises(InvalidInput):
        agent.tell(*wrong)
    assert agent.round == 5
    for each in (agent, untroubled):
        play(each, Drifting(0.1, seed=8), 4)
    assert agent.epsilon == untroubled.epsilon != 0.01
    assert np.array_equal(agent.belief(), untroubled.belief())


def test_rounds_of_any_size_and_times_are_learned_from():
    agent = learner(every=3)
    for arms in ([1], [3, 4, 5, 6], [1, 1]):
        agent.tell(arms, np.full(len(arms), MEAN))
    assert 0 <= agent.epsilon < 0.01  # nothing moves


def test_one_round_tells_nothing_of_a_drift():
    agent = learner(epsilon=0.3, every=1)
    agent.tell([1, 2], [MEAN, MEAN + 1.0])
    agent.tell([3, 4], [np.nan, np.nan], observed=np.zeros(2, bool))
    assert (agent.epsilon, agent.learned) == (0.3, [])
    agent.tell([1, 2], [MEAN, MEAN + 1.0])
    assert len(agent.learned) == 1


def test_prior_data_are_no_round_to_learn_from():
    """They have no time, so they say nothing of a drift."""
    one, other = (learner(epsilon=0.1, every=6, window=10) for _ in range(2))
    one.prior_data([3, 9, 20], [9.0, -9.0, 9.0])
    drifting, rng = Drifting(0.05, seed=2), np.random.default_rng(0)
    for _ in range(6):
        actions = rng.integers(ARMS.size, size=2)
        rewards = drifting(actions)
        for agent in (one, other):
            agent.tell(actions, rewards)
    assert one.epsilon == other.epsilon != 0.1


def test_any_agent_learns_epsilon():
    """The same from the same data; and another beside a kernel that is learned too."""
    other = agents.make("ei", PROBLEM, seed=0, learn={"what": ["epsilon"], "every": 6, "window": 9})
    more = agents.make("ei", PROBLEM, seed=0, learn={"what": ["kernel", "epsilon"], "every": 6})
    agent = learner(every=6, window=9)
    for actions, rewards in play(agent, Drifting(0.1, seed=9), 20):
        for each in (other, more):
            each.tell(actions, rewards)
    assert [record["round"] for record in agent.learned] == [6, 12, 18]
    assert other.conditioned.model.epsilon == agent.epsilon == agent.learned[-1]["epsilon"]
    assert np.array_equal(other.belief(), agent.belief())
    assert more.conditioned.model.epsilon == more.learned[-1]["epsilon"] != agent.epsilon
    assert more.learned[-1]["lengthscale"] != 0.2
    with pytest.raises(InvalidInput, match="give at most one"):
        agents.make("ei", PROBLEM, window=5, learn=["epsilon"])
    with pytest.raises(InvalidInput, match="Nystrom posterior does not support epsilon"):
        agents.make("ei", PROBLEM, posterior="nystrom", learn=["epsilon"])


def test_says_what_it_cannot_learn_from():
    with pytest.raises(InvalidInput, match="cannot learn epsilon without noise"):
        agents.make("tv-gp-ucb", PROBLEM, noise_var=0.0, learn=["epsilon"])
    for name, value in (("every", 0), ("every", 2.5), ("window", 1)):
        with pytest.raises(InvalidInput, match=name):
            learner(**{name: value})


def test_a_drift_that_nobody_states_is_learned_with_the_rest():
    usual, more = (
        agents.make("tv-gp-ucb", PROBLEM, seed=0, learn=learn)
        for learn in (None, {"what": ["kernel"], "every": 4})
    )
    world, rng, told = Drifting(0.1, seed=9), np.random.default_rng(0), learner(every=10)
    for _ in range(12):
        actions = rng.integers(ARMS.size, size=2)
        rewards = world(actions)
        for agent in (usual, more, told):
            agent.tell(actions, rewards)
    assert usual.learned == told.learned != []
    assert [record["round"] for record in more.learned] == [4, 8, 12]
    assert {"epsilon", "lengthscale"} <= more.learned[-1].keys()
    stated = agents.make("tv-gp-ucb", PROBLEM.replaced(epsilon=0.2), seed=0)
    assert (stated.epsilon, stated.refit) == (0.2, None)
