"""BKB re-derived at every step from the formulas, given the dictionary that was drawn."""

import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import NystromPosterior

NOISE_VAR = 0.025


def nystrom(world, dense, dictionary):
    """mu~, lambda sigma~^2 as a covariance among all arms, and whether K_S is well conditioned.

    Source: Calandriello et al. (2019), Section 3.
    """
    x = world.arms.coordinates
    gram = np.exp(-((x - x.T) ** 2) / (2 * 0.2**2))
    if not len(dictionary):
        return world.prior_mean, gram, True
    values, vectors = np.linalg.eigh(gram[np.ix_(dictionary, dictionary)])
    kept = values > 1e-13 * values.max()
    well = values.min() > 1e-7 * values.max()
    vectors, values = vectors[:, kept], values[kept]
    z = (vectors / np.sqrt(values)) @ vectors.T @ gram[dictionary]
    big_z = z[:, dense.arms].T
    a = big_z.T @ big_z + NOISE_VAR * np.eye(len(z))
    residual = np.array(dense.rewards) - world.prior_mean[dense.arms]
    mean = world.prior_mean + z.T @ np.linalg.solve(a, big_z.T @ residual)
    return mean, gram - z.T @ big_z.T @ big_z @ np.linalg.solve(a, z), well


def given(covariance, arms):
    """The variance when these arms are observed too."""
    arms = [int(arm) for arm in arms]
    inner = covariance[np.ix_(arms, arms)] + NOISE_VAR * np.eye(len(arms))
    shrunk = np.einsum("ij,ji->i", covariance[:, arms], np.linalg.solve(inner, covariance[arms]))
    return covariance.diagonal() - shrunk


def scores(name, normal):
    def ucb(t, mean, var, dense):
        return mean + np.sqrt(2 * math.log(60 * t**2 * math.pi**2 / (6 * 0.1)) * var)

    def improvement(level):
        def score(t, mean, var, dense):
            gap = mean - level(dense, mean)
            return np.log(np.sqrt(var)) + normal.log_improvement(gap / np.sqrt(var))

        return score

    return {
        "bkb-ucb": ucb,
        "bkb-ei": improvement(
            lambda dense, mean: max(dense.rewards) if dense.rewards else mean.max()
        ),
        "bkb-mpi": improvement(lambda dense, mean: mean.max()),
    }[name]


def budget(qbar, per="arm"):
    return {"type": "nystrom", "qbar": qbar, "per": per}


@pytest.mark.parametrize(
    ("qbar", "per"), [(0.2, "arm"), (5.0, "arm"), (1.0, "pull"), (5.0, "pull")]
)
@pytest.mark.parametrize("name", ["bkb-ucb", "bkb-ei", "bkb-mpi"])
def test_replays_the_formulas(world, normal, name, qbar, per, batch_size):
    agent = agents.make(
        name, world.problem(), seed=0, batch_size=batch_size, posterior=budget(qbar, per)
    )
    dense, score = world.dense(), scores(name, normal)
    dropped, exact = False, 0
    for t in range(1, 25):
        actions = agent.ask()
        mean, covariance, well = nystrom(world, dense, agent.posterior.dictionary)
        # With neighbours in the dictionary, the rounding of the kernel alone is seen in the result.
        tolerance = 1e-8 if well else 1e-4
        exact += well
        for i, arm in enumerate(actions):
            expected = score(t, mean, given(covariance, actions[:i]), dense)
            assert expected[arm] == pytest.approx(expected.max(), abs=10 * tolerance), (t, i)
        assert np.abs(agent.posterior.mean - mean).max() < tolerance
        assert np.abs(agent.posterior.var - covariance.diagonal()).max() < tolerance
        rewards = world.rewards(actions)
        agent.tell(actions, rewards)
        dense.tell(actions, rewards, t)
        # Certain to be drawn: qbar sigma~^2 >= 1, times pulls if arms are drawn, with the sigma~
        # that the round was chosen with.
        told, pulls = np.unique(dense.arms, return_counts=True)
        chance = qbar * covariance.diagonal()[told] / NOISE_VAR * (pulls if per == "arm" else 1)
        certain = told[chance > 1.0 + 1e-6]
        assert set(certain) <= set(agent.posterior.dictionary) <= set(told)
        dropped |= len(agent.posterior.dictionary) < len(told)
    assert dropped or qbar > 1.0
    assert exact > 8


def test_the_dictionaries_come_from_the_agents_generator(world):
    def sizes(seed):
        agent = agents.make("bkb-ucb", world.problem(), seed=seed, posterior=budget(0.2))
        found = []
        for t in range(30):
            agent.tell([(7 * t) % 20], [math.sin(t)])
            found.append(agent.posterior.size)
        return found

    assert sizes(0) == sizes(0) != sizes(1)


def test_with_a_full_dictionary_it_plays_as_the_dense_agent(world):
    full = agents.make("bkb-ucb", world.problem(), seed=0, posterior=budget(1e9))
    dense = agents.make("gp-ucb", world.problem(), beta={"type": "finite", "scale": 1.0})
    for _ in range(25):
        actions = dense.ask()
        assert np.array_equal(full.ask(), actions)
        rewards = world.rewards(actions)
        full.tell(actions, rewards)
        dense.tell(actions, rewards)


def test_any_agent_can_have_a_budget(world):
    for name in ("gp-ucb", "ei", "mpi", "max-mean", "max-variance", "ts"):
        agent = agents.make(name, world.problem(), seed=0, posterior=budget(3.0), batch_size=2)
        assert isinstance(agent.posterior, NystromPosterior)
        for _ in range(5):
            actions = agent.ask()
            agent.tell(actions, world.rewards(actions))
        assert agent.posterior.qbar == 3.0


def test_a_round_without_data_redraws_nothing(world):
    agent = agents.make("bkb-ei", world.problem(), seed=0, posterior=budget(1.0))
    agent.tell([3, 3, 9], [0.0, 0.1, 0.2])
    before = agent.snapshot()
    agent.tell([4], [math.nan], observed=[False])
    after = agent.snapshot()
    assert after["round"] == before["round"] + 1
    assert after["rng"] == before["rng"]


@pytest.mark.parametrize(
    "more",
    [
        {"epsilon": 0.1},
        {"posterior": {"qbar": 2.0}},
        {"posterior": {"type": "nystrom", "qbar": -1.0}},
        {"posterior": {"type": "rows", "per": "arm"}},
    ],
)
def test_what_does_not_go_together_is_refused(world, more):
    with pytest.raises(InvalidInput):
        agents.make("bkb-ucb", world.problem(), **more)
    with pytest.raises(InvalidInput, match="noise_var"):
        agents.make("bkb-ucb", world.problem(), noise_var=0.0)


def test_the_best_reward_is_the_incumbent_with_an_empty_dictionary_too(world):
    agent = agents.make("bkb-ei", world.problem(), posterior=budget(1e-9))
    agent.tell([3, 40], [2.0, 1.0])
    assert agent.posterior.size == 0
    assert agent.acquisition().level == 2.0


def test_a_learner_of_its_model_goes_on_from_a_snapshot(world):
    settings = {"posterior": budget(1.0), "learn": {"every": 3, "first": 4, "starts": 1}}
    agent, other = (
        agents.make("bkb-ucb", world.problem(batch_size=2), seed=s, **settings) for s in (0, 1)
    )
    for _ in range(6):
        actions = agent.ask()
        agent.tell(actions, world.rewards(actions))
    assert agent.learned
    assert agent.posterior.size > 0
    other.restore(agent.snapshot())
    for _ in range(6):
        actions = agent.ask()
        assert np.array_equal(other.ask(), actions)
        rewards = world.rewards(actions)
        for each in (agent, other):
            each.tell(actions, rewards)
    assert agent.learned == other.learned
