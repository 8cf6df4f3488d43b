"""The functions of an environment with contexts are one draw of pairs, read in each context."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.domains import Box

ROUNDS, TRIALS, NOISE = 8, 300, 0.05
WORLDS = {
    "static": {},
    "drifting": {"epsilon": 0.3},
    "box of contexts": {"contexts": Box([0.0], [1.0])},
}


@pytest.mark.parametrize("more", WORLDS.values(), ids=WORLDS)
def test_values_in_all_rounds_have_the_covariance_of_pairs(more):
    """With it, the square of whitened values has the law chi^2; the noise makes it regular."""
    env = gym.make("gpbandits/Contextual-v0", grid=[4], **more).unwrapped
    problem, process = env.problem, env.bandit.process
    decay = (1.0 - more.get("epsilon", 0.0)) ** 0.5
    lags = np.abs(np.subtract.outer(np.arange(ROUNDS), np.arange(ROUNDS))).repeat(4, 0).repeat(4, 1)
    squares, noise = [], np.random.default_rng(0)
    for seed in range(TRIALS):
        path, values, points = process.begin(np.random.default_rng(seed)), [], []
        for t in range(1, ROUNDS + 1):
            values.append(path.function(np.arange(4)))
            context = problem.contexts.points(path.context(t)).repeat(4, axis=0)
            points.append(np.column_stack([problem.domain.coordinates, context]))
            path.advance()
        cov = problem.kernel(np.concatenate(points)) * decay**lags + NOISE * np.eye(4 * ROUNDS)
        seen = np.concatenate(values) + NOISE**0.5 * noise.standard_normal(4 * ROUNDS)
        squares.append(seen @ np.linalg.solve(cov, seen))
    freedom = 4.0 * ROUNDS
    assert np.mean(squares) == pytest.approx(freedom, abs=4.0 * (2.0 * freedom / TRIALS) ** 0.5)
