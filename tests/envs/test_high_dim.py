"""The cube of many dimensions as an environment: what it draws, tells, and refuses."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.errors import GPBanditsError
from gpbandits_env.gp.kernels import Matern52, SquaredExponential

NAME = "gpbandits/HighDim-v0"


def test_what_learners_are_told():
    told = gym.make(NAME, dim=100).unwrapped.problem
    assert told.kernel == Matern52(5.0)
    assert told.domain.low.tolist() == [-1.0] * 100
    assert (told.noise_var, told.prior_mean, told.epsilon) == (1e-6, 0.0, None)
    spec = {"type": "se", "lengthscale": 2.0}
    env = gym.make(NAME, kernel=spec, noise_var=0.1, model_noise_var=0.3, epsilon=0.01)
    told = env.unwrapped.problem
    assert told.kernel == SquaredExponential(2.0)
    assert (told.noise_var, env.unwrapped.bandit.noise_var, told.epsilon) == (0.3, 0.1, 0.01)


def test_a_reset_moves_the_maximum_and_a_seed_brings_it_back():
    env = gym.make(NAME, function="camelback", dim=50, shift=True)
    bests = []
    for seed in (1, None, 1):
        env.reset(seed=seed)
        bests.append(env.step(np.zeros((1, 50)))[-1]["best_action"])
    assert np.array_equal(bests[0], bests[2])
    assert not np.array_equal(bests[0], bests[1])
    assert all(np.count_nonzero(best) == 2 for best in bests)


def test_a_motion_moves_it_every_round_within_the_active_coordinates():
    motion = {"type": "line", "radius": 0.2, "period": 10}
    env = gym.make(NAME, function="levy", dim=40, active=5, shift=True, motion=motion)
    env.reset(seed=0)
    infos = [env.step(np.zeros((1, 40)))[-1] for _ in range(11)]
    places = np.stack([info["best_action"] for info in infos])
    assert {info["optimum"] for info in infos} == {0.0}
    assert (np.ptp(places, axis=0) > 0.05).sum() == 5
    np.testing.assert_allclose(places[10], places[0], atol=1e-12)


def test_five_thousand_dimensions_play():
    env = gym.make(NAME, dim=5000, shift=True, batch_size=3)
    env.reset(seed=0)
    best = env.step(env.action_space.sample())[-1]["best_action"]
    _, _, _, _, info = env.step(np.stack([best, best, -best]))
    assert np.abs(info["regret"][:2]).max() <= 1e-9
    assert info["regret"][2] > 1.0


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"function": "akley"}, "did you mean 'ackley'"),
        ({"dims": 3}, "dim"),
        ({"motion": {"type": "orbital"}}, "orbit"),
        ({"function": "camelback", "active": 3}, "2 dimensions"),
        ({"shift": 1.2}, "outside of its box; use"),
        ({"noise_var": -1}, "noise_var"),
    ],
)
def test_bad_arguments_are_refused(kwargs, says):
    with pytest.raises(GPBanditsError, match=says):
        gym.make(NAME, **kwargs)
