import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401
from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs import StaticGP
from gpbandits_env.errors import GPBanditsError, InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern32, SquaredExponential
from gpbandits_env.problem import Problem


def test_defaults():
    problem = gym.make("gpbandits/StaticGP-v0").unwrapped.problem
    assert problem.domain == Arms.grid((50, 50))
    assert problem.kernel == SquaredExponential(0.2)
    assert (problem.noise_var, problem.batch_size, problem.prior_mean) == (0.025, 1, 0.0)


@pytest.mark.parametrize(
    ("plain", "objects"),
    [
        ({"grid": 9}, {"grid": Arms.grid(9)}),
        ({"grid": [3, 4], "low": -1, "high": [1, 2]}, {"arms": Arms.grid([3, 4], -1, [1, 2])}),
        ({"arms": [[0, 1], [2, 3]]}, {"arms": np.array([[0.0, 1.0], [2.0, 3.0]])}),
        ({"box": [[0, 1], [0.5, 1.2]]}, {"box": Box([0, 1], [0.5, 1.2])}),
        (
            {"grid": 5, "kernel": {"type": "matern32", "lengthscale": 0.5}},
            {"grid": 5, "kernel": Matern32(0.5)},
        ),
    ],
)
def test_plain_arguments_and_objects_mean_the_same(plain, objects):
    a, b = StaticGP(**plain), StaticGP(**objects)
    assert a.problem == b.problem
    a.reset(seed=1), b.reset(seed=1)
    action = a.action_space.sample()
    assert a.step(action)[1] == b.step(action)[1]


@pytest.mark.parametrize(
    ("kwargs", "error", "says"),
    [
        (
            {"grid": 5, "arms": [[0.0]]},
            InvalidInput,
            "one of grid, arms and box, got grid and arms",
        ),
        ({"box": [0, 1], "low": 2}, InvalidInput, "belong to a grid"),
        ({"grid": Arms.grid(5), "low": 2}, InvalidInput, "belong to a grid, but Arms"),
        ({"box": [0, 1, 2]}, InvalidInput, "two corners"),
        ({"box": 3}, InvalidInput, "two corners"),
        ({"box": [[1.0], [0.0]]}, InvalidInput, "below high"),
        ({"grid": [0, 3]}, InvalidInput, "grid must be at least 1"),
        ({"arms": [[np.nan]]}, InvalidInput, "finite"),
        ({"grid": 5, "kernel": {"type": "sqexp"}}, UnknownName, "kernel"),
        ({"grid": 5, "kernel": {"type": "se", "lengthscale": -1}}, InvalidInput, "lengthscale"),
        (
            {"grid": 5, "kernel": {"type": "se", "lengthscale": [1, 2]}},
            InvalidInput,
            "2 lengthscales",
        ),
        ({"grid": 5, "kernel": 3}, InvalidInput, "kernel"),
        ({"grid": 5, "noise_var": -1}, InvalidInput, "noise_var must be finite, at least 0"),
        ({"grid": 5, "noise_var": "much"}, InvalidInput, "noise_var must be a number"),
        ({"grid": 5, "batch_size": 1.5}, InvalidInput, "batch_size must be a whole number"),
        ({"grid": 5, "render_mode": "film"}, UnknownName, "render mode"),
        ({"grid": 5, "kernal": {}}, UnknownName, "did you mean 'kernel'"),
    ],
)
def test_mistakes_are_said_plainly(kwargs, error, says):
    with pytest.raises(error, match=says) as caught:
        StaticGP(**kwargs)
    assert isinstance(caught.value, GPBanditsError)


def test_the_functions_come_from_the_kernel():
    """Resets over many seeds: the moments of f at five arms."""
    env = StaticGP(grid=5, kernel={"type": "matern52", "lengthscale": 0.5, "variance": 4.0})
    values = []
    for seed in range(3000):
        env.reset(seed=seed)
        values.append(env.function(np.arange(5)))
    covariance = env.problem.kernel(env.problem.domain.coordinates)
    assert np.abs(np.mean(values, axis=0)).max() < 5 * 2 / np.sqrt(3000)
    assert np.abs(np.cov(np.array(values).T) - covariance).max() < 5 * 4 * np.sqrt(2 / 3000)


def test_noise_does_not_depend_on_what_is_played():
    """Two learners in one world: the noise of round t is the same for both."""
    env = StaticGP(grid=7, batch_size=2)
    noises = []
    for arm in (0, 5):
        env.reset(seed=3)
        steps = [env.step([arm, arm]) for _ in range(5)]
        noises.append([s[0]["rewards"] - s[-1]["noiseless_rewards"] for s in steps])
    assert np.allclose(noises[0], noises[1], atol=1e-14)


def test_the_problem_is_all_that_a_learner_needs():
    problem = StaticGP(box=[[0, 0], [1, 2]], batch_size=4, noise_var=0.5).problem
    assert isinstance(problem, Problem)
    assert problem.domain == Box([0, 0], [1, 2])
    assert (problem.batch_size, problem.noise_var, problem.horizon) == (4, 0.5, None)
