"""Functions whose last coordinate is time: published maxima, values at any time, mistakes."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.rewards.functions import SWEPT

# Maximizers and maxima, by Surjanovic and Bingham; Schwefel without the constant 418.9829 d.
PUBLISHED = {
    "rastrigin": (np.zeros(5), 0.0),
    "schwefel": (np.full(4, 420.9687), 4 * 418.9829),
    "styblinski-tang": (np.full(4, -2.903534), 4 * 39.16599),
    "eggholder": (np.array([512.0, 404.2319]), 959.6407),
    "ackley": (np.zeros(4), 0.0),
    "rosenbrock": (np.ones(3), 0.0),
    "shekel": (np.full(4, 4.0), 10.5363),
    "hartmann-3": (np.array([0.114614, 0.555649, 0.852547]), 3.86278),
    "hartmann-6": (np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]), 3.32237),
    "powell": (np.zeros(4), 0.0),
}


@pytest.mark.parametrize("name", SWEPT)
def test_a_formula_has_the_published_maximum(name):
    given, (best, most) = SWEPT[name], PUBLISHED[name]
    assert given.formula(best[None])[0] == pytest.approx(most, abs=2e-3)
    points = np.random.default_rng(0).uniform(given.low, given.high, (20_000, given.dim))
    assert given.formula(points).max() <= most + 2e-3


def test_the_largest_value_of_shekel_has_all_of_its_published_digits():
    best = np.array([[4.00074653, 4.00059293, 3.99966340, 3.99950980]])
    assert SWEPT["shekel"].formula(best) == pytest.approx(10.536409816692, abs=1e-11)


@pytest.mark.parametrize("name", SWEPT)
def test_values_are_those_of_the_formula_at_the_time(name):
    """Through a whole sweep and back, at irregular times."""
    given, side = SWEPT[name], {1: 20, 2: 6, 3: 4, 4: 3, 5: 2}[SWEPT[name].dim - 1]
    clock = {"thinking": [0.3, 0.11], "evaluation": 0.5}
    env = gym.make(
        "gpbandits/Drifting-v0",
        function=name,
        sweep=8,
        grid=[side] * (given.dim - 1),
        noise_var=0.0,
        clock=clock,
    )
    env.reset(seed=0)
    points = env.unwrapped.problem.domain.coordinates
    rng = np.random.default_rng(1)
    box = rng.uniform(given.low, given.high, (50_000, given.dim))
    values = given.formula(box)
    for t in range(12):
        observation, _, _, _, info = env.step(t % len(points))
        place = observation["time"][0] / 8 % 2
        place = place if place <= 1 else 2 - place
        time = np.full(len(points), given.low + place * (given.high - given.low))
        raw = given.formula(np.column_stack([points, time]))
        found = env.unwrapped.function.values
        level, scale = np.polyfit(found, raw, 1)[::-1]
        np.testing.assert_allclose(level + scale * found, raw, atol=1e-8 * values.std())
        assert level == pytest.approx(values.mean(), abs=0.1 * values.std())
        assert scale == pytest.approx(values.std(), rel=0.1)
        assert info["optimum"] == found.max()
    assert observation["time"][0] > 8.0


def test_gymnasium_accepts_it():
    made = gym.make("gpbandits/Drifting-v0", function="shekel", sweep=20, grid=[3, 3, 3])
    check_env(made.unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({}, InvalidInput, "a grid or arms, here in 1 dimensions"),
        ({"box": [[0.0], [1.0]]}, InvalidInput, "needs a grid or arms"),
        ({"grid": [3, 3]}, InvalidInput, "has 1 coordinates besides time, but the arms have 2"),
        ({"grid": 5, "sweep": 0.0}, InvalidInput, "sweep"),
        ({"grid": 5, "motion": {"type": "orbit"}}, InvalidInput, "no motion"),
        ({"grid": 5, "drift": {"type": "markov", "epsilon": 0.1}}, InvalidInput, "use motion"),
        ({"grid": 5, "function": "egholder"}, UnknownName, "did you mean 'eggholder'"),
        ({"grid": 5, "function": "gp"}, InvalidInput, "sweep"),
    ],
)
def test_mistakes_are_refused(more, error, says):
    with pytest.raises(error, match=says):
        gym.make("gpbandits/Drifting-v0", **{"function": "eggholder", "sweep": 10.0} | more)
