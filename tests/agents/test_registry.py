"""make: what it accepts, what settings replace, and what it complains of."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RescaleAction
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from gymnasium.wrappers.vector import RescaleAction as VectorRescaleAction

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.problem import Problem

KWARGS = {"grid": [8], "noise_var": 0.1, "batch_size": 2}


def test_takes_environments_and_problems(world):
    for env, horizon in (
        (gym.make("gpbandits/StaticGP-v0", **KWARGS), 1000),
        (gym.make("gpbandits/StaticGP-v0", max_episode_steps=70, **KWARGS), 70),
        (gym.make("gpbandits/StaticGP-v0", **KWARGS).unwrapped, None),
        (gym.make_vec("gpbandits/StaticGP-v0", 2, **KWARGS), 1000),
        (gym.make_vec("gpbandits/StaticGP-v0", 2, max_episode_steps=2000, **KWARGS), 2000),
        (gym.make_vec("gpbandits/StaticGP-v0", 2, max_episode_steps=-1, **KWARGS), None),
    ):
        agent = agents.make("gp-ucb", env, seed=0)
        assert agent.problem == env.unwrapped.problem.replaced(horizon=horizon)
        assert agent.ask().shape == (2,)
    assert agents.make("gp-ucb", world.problem()).ask().shape == (1,)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_takes_gymnasiums_own_vector_environments(mode):
    envs = gym.make_vec(
        "gpbandits/StaticGP-v0", 2, vectorization_mode=mode, max_episode_steps=70, **KWARGS
    )
    agent = agents.make("gp-ucb", envs, seed=0)
    one = gym.make("gpbandits/StaticGP-v0", max_episode_steps=70, **KWARGS)
    assert agent.problem == agents.make("gp-ucb", one).problem
    counted = RecordEpisodeStatistics(envs)  # Gymnasium 1.1 closes what a wrapper that is gone held
    assert agent.problem == agents.make("gp-ucb", counted).problem
    observations, _ = envs.reset(seed=0)
    for _ in range(3):
        observations, *_ = envs.step(agent.predict(observations)[0])
    assert agent.round == 2
    envs.close()


def test_instances_on_different_arms_have_no_agent_in_common():
    made = [lambda end=end: gym.make("gpbandits/StaticGP-v0", grid=4, high=end) for end in (1, 2)]
    envs = gym.vector.SyncVectorEnv(made)
    with pytest.raises(InvalidInput, match="different arms"):
        agents.make("gp-ucb", envs)
    with pytest.raises(InvalidInput, match="environment or a Problem"):
        agents.make("gp-ucb", gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"))


@pytest.mark.parametrize("wrong", [None, 3, "gpbandits/StaticGP-v0", object()])
def test_takes_nothing_else(wrong):
    with pytest.raises(InvalidInput, match="environment or a Problem"):
        agents.make("random", wrong)


def test_a_wrapper_of_actions_is_refused():
    """The agent would search the box, and the wrapper would map its actions to others."""
    box = {"box": [[0.0], [1.0]], "max_episode_steps": 9}
    altered = RescaleAction(gym.make("gpbandits/StaticGP-v0", **box), -1.0, 1.0)
    many = VectorRescaleAction(gym.make_vec("gpbandits/StaticGP-v0", 2, **box), -1.0, 1.0)
    for env in (altered, many):
        with pytest.raises(InvalidInput, match=r"without the wrapper that alters them"):
            agents.make("ei", env)
    same = RescaleAction(gym.make("gpbandits/StaticGP-v0", **box), 0.0, 1.0)
    assert agents.make("ei", same).problem.domain == Box([0.0], [1.0])


def test_takes_no_other_environment():
    with pytest.raises(InvalidInput, match="environment or a Problem"):
        agents.make("random", gym.make("CartPole-v1"))


def test_settings_replace_what_the_problem_says(world):
    """A mismatched model: the agent believes something else than the world."""
    prior_mean = np.linspace(0, 1, 60)
    agent = agents.make(
        "gp-ucb",
        world.problem(),
        kernel={"type": "matern52", "lengthscale": 0.7},
        noise_var=0.3,
        prior_mean=prior_mean.tolist(),
        batch_size=4,
    )
    posterior = agent.posterior
    assert posterior.kernel == Matern52(0.7)
    assert posterior.noise_var == 0.3
    assert np.array_equal(posterior.mean, prior_mean)
    assert agent.ask().shape == (4,)
    assert world.problem().kernel == SquaredExponential(0.2)
    same = agents.make("gp-ucb", world.problem(), kernel=Matern52(0.7))
    assert same.posterior.kernel == Matern52(0.7)


def test_every_setting_that_is_listed_can_be_given(world):
    for name in agents.names():
        given = {k: v for k, v in agents.settings_of(name).items() if v is not None}
        if name in ("tv-gp-ucb", "r-gp-ucb"):
            given |= {"tv-gp-ucb": {"epsilon": 0.1}, "r-gp-ucb": {"reset_every": 5}}[name]
        problem = world.problem()
        if getattr(agent_class(name), "PARTS", Parts()).is_local:
            box = Box([0.0, 0.0], [1.0, 1.0])
            problem = Problem(box, problem.kernel, problem.noise_var, horizon=50)
        agents.make(name, problem, **given).ask()


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"did you mean 'gp-ucb'.*\('gpbandits agents' lists"):
        agents.make("gpucb", None)


def test_unknown_settings_are_answered_with_the_nearest(world):
    with pytest.raises(UnknownName, match=r"setting of the agent 'ei'.*did you mean 'margin'"):
        agents.make("ei", world.problem(), marginn=0.1)
    with pytest.raises(UnknownName, match=r"known: .*noise_var"):
        agents.make("random", world.problem(), temperature=1.0)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gp-ucb", {"seed": -1}, "seed"),
        ("gp-ucb", {"seed": 1.5}, "seed"),
        ("gp-ucb", {"noise_var": -0.1}, "noise_var"),
        ("gp-ucb", {"batch_size": 0}, "batch_size"),
        ("gp-ucb", {"prior_mean": [0.0, 1.0]}, "prior_mean"),
        ("gp-ucb", {"kernel": {"type": "se"}}, "lengthscale"),
        ("gp-ucb", {"kernel": "se"}, "kernel"),
        ("gp-ucb", {"epsilon": 1.5}, "epsilon"),
        ("gp-ucb", {"epsilon": 0.5, "window": 3}, "at most one"),
        ("gp-ucb", {"window": 0}, "window"),
        ("ei", {"margin": -0.1}, "margin"),
        ("ei", {"margin": np.nan}, "margin"),
        ("mpi", {"margin": "large"}, "margin"),
    ],
)
def test_settings_out_of_range(world, name, settings, message):
    with pytest.raises(InvalidInput, match=message):
        agents.make(name, world.problem(), **settings)


def test_unknown_choices(world):
    with pytest.raises(UnknownName, match="incumbent"):
        agents.make("ei", world.problem(), incumbent="best")
    with pytest.raises(UnknownName, match="posterior"):
        agents.make("gp-ucb", world.problem(), posterior="row")


def test_a_generator_may_be_the_seed(world):
    rng = np.random.default_rng(3)
    agent = agents.make("random", world.problem(), seed=rng)
    assert agent.rng is rng
    assert agent.ask() == np.random.default_rng(3).integers(60, size=1)
