"""The wrappers for RL libraries, alone and on top of each other."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.wrappers import FlattenObservation

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.envs.wrappers import Mixture, ResetOptions, ScaledRound
from gpbandits_env.errors import InvalidInput, NotReset, UnknownName

# Gymnasium's checker says that it is meant for environments without wrappers.
pytestmark = pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
STATIC = {"id": "gpbandits/StaticGP-v0", "grid": [7], "max_episode_steps": 5}
MOVING = {**STATIC, "id": "gpbandits/MarkovGP-v0", "noise_var": 0.5}


def static(**more):
    return gym.make(**{**STATIC, **more})


def test_the_round_is_a_share_of_the_horizon():
    env = ScaledRound(static())
    check_env(env, skip_render_check=True)
    shares = [env.reset(seed=0)[0]["round"]]
    shares += [env.step([0])[0]["round"] for _ in range(5)]
    assert np.ravel(shares) == pytest.approx(np.arange(6) / 5)
    assert shares[0].dtype == np.float32
    short = ScaledRound(static(), horizon=2)
    short.reset(seed=0)
    assert [short.step([0])[0]["round"][0] for _ in range(3)] == [0.5, 1.0, 1.0]
    assert FlattenObservation(env).observation_space.shape == (7 + 1 + 1,)


def test_a_scaled_round_needs_a_horizon_and_a_round():
    with pytest.raises(InvalidInput, match="needs a horizon"):
        ScaledRound(static(max_episode_steps=-1))
    with pytest.raises(InvalidInput, match="'round'"):
        ScaledRound(FlattenObservation(static()))


def test_options_come_with_every_reset():
    env = ResetOptions(gym.make(**MOVING), {"epsilon": 0.0, "noise_var": 0.0})
    check_env(env, skip_render_check=True)
    for options in (None, {}, {"noise_var": 0.1}):
        _, info = env.reset(seed=0, options=options)
        assert info["parameters"] == {"epsilon": 0.0, "noise_var": 0.0, **(options or {})}
    with pytest.raises(InvalidInput, match="dict"):
        ResetOptions(env, [1])
    with pytest.raises(InvalidInput, match="reset options must be a dict"):
        env.reset(options=np.ones(2))


def test_wrapped_environments_are_made_from_their_specs():
    env = ScaledRound(ResetOptions(static(), {"noise_var": 0.0}))
    again = gym.make(env.spec)
    env.reset(seed=0), again.reset(seed=0)
    assert data_equivalence(env.step(2), again.step(2), exact=True)


def test_an_agent_learns_from_late_rewards_of_a_wrapped_mixture():
    env = ScaledRound(Mixture([static(delay=2), gym.make(**MOVING, delay=2)]), horizon=5)
    agent = agents.make("gp-ucb", static(delay=2), seed=0, window=10)  # needs the largest delay
    observation, _ = env.reset(seed=0)
    for _ in range(5):
        observation, *_ = env.step(agent.ask())
        assert observation in env.observation_space
        agent.observe(observation)
    assert (agent.round, len(agent.pending), agent.posterior.size) == (5, 2, 3)


def mixture(weights=None):
    return Mixture([static(), gym.make(**MOVING)], weights)


def test_a_mixture_is_an_environment_and_the_seed_decides_everything():
    a, b = mixture(), mixture()
    check_env(a, skip_render_check=True)
    seen = []
    for seed in (3, *[None] * 20):
        x, y = a.reset(seed=seed), b.reset(seed=seed)
        assert data_equivalence(x, y, exact=True)
        seen.append(x[1]["environment"])
        for arm in range(5):
            x, y = a.step([arm]), b.step([arm])
            assert data_equivalence(x, y, exact=True)
            assert x[0] in a.observation_space
        assert x[3]  # the member's horizon
    assert set(seen) == {0, 1}


def test_members_are_drawn_by_their_weights():
    env = mixture([1, 3])
    env.reset(seed=0)
    share = np.mean([env.reset()[1]["environment"] for _ in range(2000)])
    assert share == pytest.approx(0.75, abs=0.05)
    assert {mixture([0, 1]).reset(seed=s)[1]["environment"] for s in range(20)} == {1}


def test_a_refused_option_changes_nothing():
    a, b = mixture([0, 1]), mixture([0, 1])
    for env in (a, b):
        env.reset(seed=0)
        env.step([0])
    with pytest.raises(UnknownName, match="did you mean 'epsilon'"):
        a.reset(options={"epsilonn": 0.1})
    with pytest.raises(UnknownName):
        a.reset(seed=4, options={"epsilonn": 0.1})
    assert data_equivalence(a.step([1]), b.step([1]), exact=True)
    assert data_equivalence(a.reset(), b.reset(), exact=True)
    assert a.reset(options={"epsilon": 0.3})[1]["parameters"] == {"epsilon": 0.3}


def test_a_mixture_is_used_after_a_reset():
    env = mixture()
    with pytest.raises(NotReset, match="step"):
        env.step([0])
    with pytest.raises(NotReset, match="render"):
        env.render()
    drawn = Mixture([static(render_mode="rgb_array")])
    drawn.reset(seed=0)
    assert drawn.render().ndim == 3
    drawn.close()


@pytest.mark.parametrize(
    ("members", "weights", "says"),
    [
        ([], None, "one or more environments"),
        (["gpbandits/StaticGP-v0"], None, "one or more environments"),
        ([{}, {"grid": [8]}], None, "equal action spaces"),
        ([{}, {"selective": True}], None, "equal action spaces"),
        ([{}], [1, 2], "weights"),
        ([{}, {}], [-1, 2], "weights"),
        ([{}, {}], [0, 0], "weights"),
    ],
)
def test_what_is_no_mixture_is_refused(members, weights, says):
    made = [static(**m) if isinstance(m, dict) else m for m in members]
    with pytest.raises(InvalidInput, match=says):
        Mixture(made, weights)
    with pytest.raises(InvalidInput, match="must be a list"):
        Mixture(static())
    with pytest.raises(InvalidInput, match="same form"):
        Mixture([static(), FlattenObservation(static())])


def test_an_agent_for_a_mixture_is_made_for_a_member():
    mixture = Mixture([static(), static()])
    with pytest.raises(InvalidInput, match="got Mixture: give a member of it"):
        agents.make("gp-ucb", mixture, seed=0)
    agents.make("gp-ucb", mixture.members[0], seed=0)
