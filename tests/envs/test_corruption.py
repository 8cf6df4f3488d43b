"""Adversaries within a budget: each attack by its formula, the budget, and mistakes."""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.envs.corruption import Flipping
from gpbandits_env.errors import InvalidInput, UnknownName

WANTED = {
    "clipping": lambda f, x: np.minimum(f[x], f.max() - 0.4) - f[x],
    "subtraction": lambda f, x: -0.4 * (f[x] > f.max() - 0.4),
    "flipping": lambda f, x: -2 * f[x],
    "top-k": lambda f, x: (f.min() - f[x]) * (np.argsort(np.argsort(-f))[x] < 4),
}
OPTIONS = {"clipping": {"height": 0.4}, "subtraction": {"height": 0.4}, "top-k": {"k": 4}}

BUDGETS = {"clipping": 1.5, "subtraction": 2.2, "flipping": 20.0, "top-k": 12.0}


def corrupted(attack, budget, **more):
    corruption = {"type": attack, "budget": budget, **OPTIONS.get(attack, {})}
    return gym.make("gpbandits/StaticGP-v0", grid=[30], batch_size=2, corruption=corruption, **more)


@pytest.mark.parametrize("attack", WANTED)
def test_each_attack_follows_its_formula_until_the_budget_is_spent(attack):
    plain = gym.make("gpbandits/StaticGP-v0", grid=[30], batch_size=2)
    left, attacked = BUDGETS[attack], 0
    env = corrupted(attack, left)
    env.reset(seed=5), plain.reset(seed=5)
    f = plain.unwrapped.function.values
    for action in np.random.default_rng(0).integers(30, size=(60, 2)):
        observation, reward, _, _, info = env.step(action)
        clean, _, _, _, theirs = plain.step(action)
        for i, arm in enumerate(action):
            change = WANTED[attack](f, arm)
            change = np.sign(change) * min(abs(change), left)
            left -= abs(change)
            attacked += change != 0
            assert info["corruption"][i] == pytest.approx(change, abs=1e-12)
        expected = clean["rewards"] + info.pop("corruption")
        assert observation["rewards"] == pytest.approx(expected, abs=1e-12)
        assert reward == pytest.approx(expected.sum())
        assert info["cumulative_regret"] == theirs["cumulative_regret"]
    assert attacked > 3
    assert left == pytest.approx(0.0, abs=1e-12)
    env.reset(seed=4)  # the budget is that of an episode
    again = [env.step([int(f.argmax())] * 2)[4]["corruption"] for _ in range(3)]
    assert np.any(again)


@pytest.mark.parametrize("attack", WANTED)
def test_rewards_stay_in_their_space(attack):
    env = corrupted(attack, 1e4)
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=1)
    for arm in range(30):
        assert env.step([arm, arm])[0] in env.observation_space


def test_actions_that_are_skipped_cost_nothing():
    env = corrupted("flipping", 1e4, selective=True)
    env.reset(seed=0)
    info = env.step(([3, 3], [0, 1]))[4]
    assert info["corruption"][0] == 0.0
    assert info["corruption"][1] == -2 * info["noiseless_rewards"][1]


def test_mistakes():
    with pytest.raises(UnknownName, match="clipping"):
        corrupted("cliping", 1.0)
    with pytest.raises(InvalidInput, match="budget"):
        corrupted("flipping", -1.0)
    with pytest.raises(InvalidInput, match="instead of a box"):
        gym.make(
            "gpbandits/StaticGP-v0",
            box=[[0.0], [1.0]],
            corruption={"type": "top-k", "budget": 1.0},
        )
    with pytest.raises(InvalidInput, match="height"):
        gym.make(
            "gpbandits/StaticGP-v0", corruption={"type": "clipping", "budget": 1.0, "height": 0.0}
        )


def test_a_corruption_of_ones_own_has_any_settings():
    @dataclass(frozen=True, kw_only=True)
    class Mine(Flipping):
        name: str = "mine"
        offset: float = -1.0

    assert Mine(budget=0.0).offset == -1.0
    with pytest.raises(InvalidInput, match="budget"):
        Mine(budget=-1.0)


def test_the_best_arms_are_tied_up_to_rounding():
    # The function has the same maximum at x and -x, which are two arms of the grid.
    attack = {"type": "top-k", "budget": 1000.0, "k": 1}
    env = gym.make(
        "gpbandits/Drifting-v0",
        function="camelback",
        grid=(20, 20),
        batch_size=2,
        corruption=attack,
        noise_var=0.0,
    )
    env.reset(seed=0)
    values = env.unwrapped.function(np.arange(400))
    best = np.flatnonzero(values > values.max() - 1e-12)
    assert len(best) == 2
    observation = env.step(best)[0]
    np.testing.assert_allclose(observation["rewards"], values.min())


@pytest.mark.parametrize("ends", [(1.0, 3.0), (-2.0, 1.0), (-3.0, -1.0)])
def test_values_and_their_opposites_lie_between_the_ends_after_flipping(ends):
    low, high = Flipping(budget=1.0).range(*ends)
    both = [*ends, *(-end for end in ends)]
    assert (low, high) == (min(both), max(both))


def test_a_corruption_of_ones_own_that_needs_arms_refuses_a_box():
    @dataclass(frozen=True, kw_only=True)
    class Median(Flipping):
        needs_arms = True

    with pytest.raises(InvalidInput, match="instead of a box"):
        gym.make("gpbandits/StaticGP-v0", box=[[0.0], [1.0]], corruption=Median(budget=1.0))
