import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.envs.task import default_kernel
from gpbandits_env.errors import InvalidInput, MissingExtra, UnknownName
from gpbandits_env.gp.kernels import Matern32


def make(task, **kwargs):
    try:
        return gym.make("gpbandits/Task-v0", task=task, **kwargs)
    except MissingExtra as error:
        pytest.skip(str(error))


def same(a, b):
    return data_equivalence(a, b, exact=True)


def play(env, rounds, seed=0):
    env.action_space.seed(seed)
    return [env.step(env.action_space.sample()) for _ in range(rounds)]


@pytest.mark.parametrize(
    ("task", "box", "optimum"),
    [
        ("ackley", ([-5] * 3, [5] * 3), 0.0),
        ("griewank", ([-1] * 8, [4] * 8), 0.0),
        ("rosenbrock", ([-2, -1], [2, 3]), 0.0),
        ("bird", None, 106.7645),
        ("hartmann-6", None, 3.32237),
        ("michalewicz", ([0] * 10, [np.pi] * 10), 9.66015),
    ],
)
def test_the_functions_of_ren2024_in_their_boxes(task, box, optimum):
    env = make(task, box=box, batch_size=50)
    if box is not None:
        assert env.unwrapped.problem.domain == Box(*map(np.array, box))
    env.reset(seed=0)
    *_, info = play(env, 1)[0]
    assert info["optimum"] == pytest.approx(optimum, abs=1e-4)
    assert (info["regret"] >= -env.unwrapped.function.accuracy).all()


def test_scaled_actions_are_read_in_natural_units():
    natural, scaled = make("rosenbrock"), make("rosenbrock", scaled=True)
    assert scaled.action_space.low.tolist() == [[-1.0, -1.0]]
    for env in (natural, scaled):
        env.reset(seed=3)
    seen = natural.step([[0.5, 2.5]]), scaled.step([[0.25, 0.75]])
    assert seen[0][-1]["noiseless_rewards"] == pytest.approx(seen[1][-1]["noiseless_rewards"])
    assert seen[1][-1]["best_action"] == pytest.approx([0.5, 0.0])
    assert seen[0][0]["rewards"] == pytest.approx(seen[1][0]["rewards"])


def test_a_grid_covers_the_box():
    env = make("rosenbrock", grid=(5, 9))
    points = env.unwrapped.problem.domain.coordinates
    assert points.min(axis=0).tolist() == [-2, -1]
    assert points.max(axis=0).tolist() == [2, 3]
    env.reset(seed=0)
    best = play(env, 1)[0][-1]["best_action"]
    assert points[best].tolist() == [1.0, 1.0]
    assert make("ackley", dim=3, grid=4).unwrapped.problem.domain.size == 64


def test_what_learners_are_told():
    env = make("ackley", noise_var=0.1, model_noise_var=0.3, prior_mean=-12.0)
    problem = env.unwrapped.problem
    assert (problem.noise_var, problem.prior_mean) == (0.3, -12.0)
    assert env.unwrapped.bandit.noise_var == 0.1
    assert make("ackley", noise_var=0.1).unwrapped.problem.noise_var == 0.1


def test_the_default_kernel_is_as_wide_as_the_box():
    assert default_kernel(Box(-np.ones(3), np.ones(3))) == Matern32(0.4)
    given = make("boston").unwrapped.problem.kernel.lengthscale
    assert given == pytest.approx((19.8, 0.0198, 0.08, 0.08))
    kernel = {"type": "matern32", "lengthscale": [0.1, 0.005, 0.1, 0.1]}
    assert make("boston", kernel=kernel).unwrapped.problem.kernel.lengthscale[1] == 0.005


def test_settings_that_are_rounded_and_regret_against_the_best_found():
    env = make("boston", batch_size=2, noise_var=0.0)
    env.reset(seed=0)
    info = env.step([[19.2, 0.003, 0.2, 0.3], [18.8, 0.003, 0.2, 0.3]])[-1]
    assert info["noiseless_rewards"][0] == info["noiseless_rewards"][1]
    assert 0.0 < info["simple_regret"] < 10.0


def test_five_thousand_coordinates():
    env = make("ramp-loss", task_options={"cost": 10.0}, batch_size=3)
    env.reset(seed=0)
    steps = play(env, 3)
    assert steps[0][-1]["optimum"] == pytest.approx(-0.4304, abs=1e-3)
    assert (steps[0][-1]["regret"] > 1000).all()


PUSH = {"task": "push-4d", "batch_size": 3, "noise_var": 1e-6}


def test_the_noise_is_inside():
    env = make(**PUSH)
    env.reset(seed=1)
    point = [2.0, 2.0, 10.0, 0.8]
    steps = [env.step([point] * 3) for _ in range(20)]
    values = np.array([step[-1]["noiseless_rewards"] for step in steps])
    rewards = np.array([step[0]["rewards"] for step in steps])
    assert (values == values[0, 0]).all()
    noise = np.ravel(rewards - values)
    assert len(set(noise)) == 60
    assert noise.std() > 10 * 1e-3
    assert steps[0][-1]["optimum"] == 5.0
    assert (values <= 5.0).all()


def test_each_episode_has_a_goal_of_its_own():
    env = make(**PUSH)
    goals = []
    for seed in (1, None, 1):
        env.reset(seed=seed)
        goals.append(tuple(env.unwrapped.function.latent))
    assert goals[0] == goals[2] != goals[1]


def test_a_copy_continues_the_noise_inside():
    env = make(**PUSH)
    env.reset(seed=2)
    play(env, 3)
    other = pickle.loads(pickle.dumps(env))
    for step, again in zip(play(env, 4, seed=1), play(other, 4, seed=1), strict=True):
        assert same(step[0], again[0])
        assert same(step[-1], again[-1])


def test_pushes_side_by_side_equal_single_ones():
    make(**PUSH)  # or skip
    envs = [
        gym.make_vec("gpbandits/Task-v0", 2, vectorization_mode=mode, max_episode_steps=3, **PUSH)
        for mode in ("vector_entry_point", "sync")
    ]
    assert same(*(env.reset(seed=5) for env in envs))
    for action in [envs[0].action_space.sample() for _ in range(8)]:
        assert same(*(env.step(action) for env in envs))


def test_what_does_not_fit_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'push-3d'"):
        gym.make("gpbandits/Task-v0", task="push-3")
    with pytest.raises(InvalidInput, match="grid"):
        gym.make("gpbandits/Task-v0", task="ackley", grid=(3, 3, 3))
    with pytest.raises(InvalidInput):
        gym.make("gpbandits/Task-v0", task="ackley", kernel={"type": "se", "lengthscale": [1] * 5})
    make("push-3d")  # or skip
    with pytest.raises(InvalidInput, match="grid"):
        gym.make("gpbandits/Task-v0", task="push-3d", grid=3)


@pytest.mark.parametrize("task", ["rosenbrock", "bird", "hartmann-6"])
def test_the_default_model_has_the_scale_of_the_task(task):
    env = gym.make("gpbandits/Task-v0", task=task)
    env.reset(seed=0)
    problem = env.unwrapped.problem
    values = env.unwrapped.function(problem.domain.sample(np.random.default_rng(0), 4000))
    sd = np.std(values)
    assert problem.prior_mean == pytest.approx(np.mean(values), abs=0.5 * sd)
    assert 0.5 * sd < np.sqrt(problem.kernel.variance) < 2.0 * sd
    assert problem.reward_sd**2 == pytest.approx(problem.kernel.variance)
    assert problem.noise_var == max(1e-6, 1e-6 * problem.kernel.variance)
    assert gym.make("gpbandits/Task-v0", task=task).unwrapped.problem == problem


def test_a_given_kernel_is_the_whole_model():
    env = gym.make("gpbandits/Task-v0", task="bird", kernel=Matern32(3.0), noise_var=0.1)
    problem = env.unwrapped.problem
    assert problem.kernel.variance == 1.0
    assert (problem.prior_mean, problem.noise_var, problem.reward_sd) == (0.0, 0.1, None)
    own = gym.make("gpbandits/Task-v0", task="bird", prior_mean=3.0, model_noise_var=0.2)
    assert own.unwrapped.problem.prior_mean == 3.0
    assert own.unwrapped.problem.noise_var == 0.2
    agent = agents.make("ei", own, kernel=Matern32(3.0), standardize=True)
    assert agent.problem.reward_sd is None


def test_an_agent_without_standardize_finds_a_large_maximum():
    env = gym.make("gpbandits/Task-v0", task="bird", max_episode_steps=25)  # values to 106
    agent = agents.make("ei", env, seed=0)
    observation, info = env.reset(seed=0)
    for _ in range(25):
        actions = agent.ask()
        observation, *_, info = env.step(actions)
        agent.tell(actions, observation["rewards"])
    assert info["simple_regret"] < 1.0


def test_standardized_rewards_undo_the_scale_of_the_model():
    """They give the model that a kernel of variance 1 gives, with noise in the task's units."""
    env = gym.make("gpbandits/Task-v0", task="bird")
    problem = env.unwrapped.problem
    plain = gym.make(
        "gpbandits/Task-v0",
        task="bird",
        kernel=problem.kernel.scaled(1.0 / problem.kernel.variance),
        model_noise_var=problem.noise_var / problem.kernel.variance,
    )
    points = problem.domain.sample(np.random.default_rng(0), 12)
    rewards = np.sin(points.sum(axis=1))
    models = []
    for each in (env, plain):
        agent = agents.make("ei", each, seed=0, standardize=True, learn={"every": 1, "what": []})
        for point, reward in zip(points, rewards, strict=True):
            agent.tell([point], [reward])
        models.append(agent.refit.model)
    ours, theirs = models
    assert ours.kernel.variance == pytest.approx(theirs.kernel.variance)
    assert ours.noise_var == pytest.approx(theirs.noise_var)
    assert ours.prior_mean == pytest.approx(theirs.prior_mean)
