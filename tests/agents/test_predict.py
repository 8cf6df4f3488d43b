"""Agents as policies: stable-baselines3's predict, single and vector environments."""

import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.envs.wrappers import ScaledRound
from gpbandits_env.errors import InvalidInput

KWARGS = {"grid": [20], "noise_var": 0.05, "batch_size": 2}
ID = "gpbandits/StaticGP-v0"


def observation(t=0, m=2):
    return {"actions": np.zeros(m, int), "rewards": np.zeros(m), "round": np.array([t])}


def ask_tell(agent, seed, episodes, horizon):
    """What ask and tell do in a world of that seed: (episode, round) -> actions."""
    env = gym.make(ID, **KWARGS)
    played = {}
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        agent.reset()
        for t in range(horizon):
            played[episode, t] = agent.ask()
            agent.tell(played[episode, t], env.step(played[episode, t])[0]["rewards"])
    return played


@pytest.mark.parametrize("name", ["gp-ucb", "ei", "max-variance"])
@pytest.mark.parametrize(
    ("mode", "autoreset"),
    [
        ("sync", AutoresetMode.NEXT_STEP),
        ("sync", AutoresetMode.SAME_STEP),
        ("vector_entry_point", AutoresetMode.NEXT_STEP),
    ],
)
def test_each_world_of_a_vector_has_its_own_agent(name, mode, autoreset):
    """Over three episodes, each world is played as ask and tell would play it alone."""
    horizon, worlds = 6, 3
    more = {"vector_kwargs": {"autoreset_mode": autoreset}} if mode == "sync" else {}
    envs = gym.make_vec(
        ID, worlds, vectorization_mode=mode, max_episode_steps=horizon, **KWARGS, **more
    )
    agent = agents.make(name, envs.envs[0] if mode == "sync" else envs, seed=0)
    expected = [
        ask_tell(agents.make(name, gym.make(ID, **KWARGS), seed=0), 10 + i, 3, horizon)
        for i in range(worlds)
    ]
    seen, _ = envs.reset(seed=10)
    episode, counted = -1, 0
    state, start = None, np.ones(worlds, bool)
    for _ in range(3 * (horizon + 1)):
        actions, state = agent.predict(seen, state, start, deterministic=True)
        assert actions in envs.action_space
        t = int(seen["round"][0, 0])
        episode += t == 0
        if t < horizon and episode < 3:  # at the last round's observation the action is ignored
            for i in range(worlds):
                assert np.array_equal(actions[i], expected[i][episode, t])
            counted += 1
        seen, _, terminated, truncated, _ = envs.step(actions)
        start = terminated | truncated
    assert counted == 3 * horizon


def test_a_single_environment_needs_no_leading_axis():
    env = gym.make(ID, **KWARGS)
    agent = agents.make("gp-ucb", env, seed=0)
    expected = ask_tell(agents.make("gp-ucb", env, seed=0), 4, 2, 8)
    for episode in range(2):
        seen, _ = env.reset(seed=4 if episode == 0 else None)
        for t in range(8):
            actions, state = agent.predict(seen)
            assert state is None
            assert np.array_equal(actions, expected[episode, t])
            seen = env.step(actions)[0]


def test_the_same_observation_is_told_once():
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    agent.predict(observation(0))
    first, _ = agent.predict(observation(1))
    again, _ = agent.predict(observation(1))
    assert np.array_equal(first, again)
    assert (agent.round, agent.posterior.size) == (1, 2)


def test_an_episode_start_forgets_whatever_the_round():
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    agent.predict(observation(0))
    agent.predict(observation(1))
    agent.predict(observation(2), episode_start=np.array([True]))
    assert agent.posterior.size == 0


def test_worlds_draw_from_streams_of_their_own():
    envs = gym.make_vec(ID, 4, **KWARGS | {"batch_size": 12})
    a, b = (agents.make("random", envs, seed=3) for _ in range(2))
    seen, _ = envs.reset(seed=0)
    actions, _ = a.predict(seen)
    assert len(np.unique(actions, axis=0)) == 4
    assert np.array_equal(actions, b.predict(seen)[0])


def selective(mode=None, worlds=3):
    kwargs = {**KWARGS, "selective": True, "max_episode_steps": 30}
    if mode is None:
        return gym.make(ID, **kwargs)
    return gym.make_vec(ID, worlds, vectorization_mode=mode, **kwargs)


def test_what_is_not_informative_is_skipped_where_that_can_be():
    env, twin_env = selective(), selective()
    agent, twin = (agents.make("cub", env, seed=0, compress=0.2) for _ in range(2))
    seen, _ = env.reset(seed=1)
    told, _ = twin_env.reset(seed=1)
    skipped = 0
    for _ in range(30):
        action, _ = agent.predict(seen)
        assert action in env.action_space
        expected = twin.ask()
        observe = twin.informative(expected)
        assert np.array_equal(action[0], expected)
        assert np.array_equal(action[1], observe)
        skipped += int((~observe).sum())
        seen, *_ = env.step(action)
        told, *_ = twin_env.step((expected, observe))
        twin.tell(expected, told["rewards"], observed=observe)
    assert 0 < skipped < 60


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_each_world_of_a_vector_skips_on_its_own(mode):
    envs = selective(mode)
    agent = agents.make("cub", selective(), seed=0, compress=0.2)
    seen, _ = envs.reset(seed=1)
    counts = np.zeros(3, int)
    for _ in range(30):
        actions, observe = agent.predict(seen)[0]
        assert actions.shape == observe.shape == (3, 2)
        seen, *_ = envs.step((actions, observe))
        assert np.array_equal(seen["observed"] == 1, observe)
        counts += observe.sum(axis=1)
    assert (counts > 0).all()
    assert (counts < 60).all()


@pytest.mark.parametrize("wrong", [np.zeros(3), np.array([0, 2]), np.array(["a", "b"]), None])
def test_a_mask_that_is_none(wrong):
    agent = agents.make("cub", selective(), seed=0)
    with pytest.raises(InvalidInput):
        agent.predict(observation(1) | {"observed": wrong})
    assert agent.round == 0


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(3),
        {"rewards": np.zeros(2)},
        observation() | {"round": np.zeros(3, int)},
        observation() | {"round": np.array(["a"])},
        observation(1) | {"rewards": np.zeros(3)},
        observation(1) | {"rewards": np.array([0.0, np.nan])},
        observation(1) | {"actions": np.array([0, 20])},
        observation(1) | {"actions": np.zeros((3, 2), int), "rewards": np.zeros((2, 2))},
        observation(1) | {"rewards": np.float64(1.0)},
    ],
    ids=range(9),
)
def test_observations_of_another_form(wrong):
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    with pytest.raises(InvalidInput):
        agent.predict(wrong)
    assert agent.posterior.size == agent.round == 0


def test_a_late_reward_of_an_action_that_is_not_pending_changes_nothing():
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    agent.expect([3, 4])
    before = str(agent.snapshot())
    wrong = observation(2, 4) | {"actions": np.array([3, 3, 3, 5])}
    for arrived in ([1, 0, 1, 1], [0, 0, 0, 1]):
        for learn in (agent.observe, agent.predict):
            with pytest.raises(InvalidInput, match=r"action 5 of round 1 is pending"):
                learn(wrong | {"arrived": np.array(arrived)})
            assert str(agent.snapshot()) == before
    agent.observe(wrong | {"arrived": np.array([1, 0, 1, 0])})
    assert [int(p.action) for p in agent.pending] == [4, 3]


def test_a_reward_that_is_later_than_the_longest_delay_changes_nothing():
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0, max_delay=1)
    agent.expect([3, 4])
    agent.expect([5, 6])
    before = str(agent.snapshot())
    late = {"actions": np.array([7, 8, 5, 6, 3, 4]), "arrived": np.array([0, 0, 0, 0, 1, 0])}
    with pytest.raises(InvalidInput, match="round 1 is pending"):
        agent.observe(observation(3, 6) | late)
    assert str(agent.snapshot()) == before


def test_the_agent_of_an_instance_acts_alone_too():
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    agent.predict({key: np.stack([value] * 3) for key, value in observation().items()})
    one, other = agent.instances(3)[1:]
    one.observe(observation(1))
    other.predict(observation())
    other.predict(observation(1))
    assert [each.round for each in agent.instances(3)] == [0, 1, 1]
    assert np.array_equal(one.belief(), other.belief())
    assert other.instances(1) == [other]
    again = pickle.loads(pickle.dumps(agent)).instances(3)[1]
    assert np.array_equal(again.predict(observation(1))[0], one.predict(observation(1))[0])


def test_an_agent_observes_one_instance():
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    each = {key: np.stack([value, value]) for key, value in observation(1).items()}
    with pytest.raises(InvalidInput, match="one instance"):
        agent.observe(each)
    assert agent.posterior.size == agent.round == 0


def test_what_reset_and_step_return_is_refused_with_what_to_take():
    env = gym.make(ID, **KWARGS)
    agent = agents.make("gp-ucb", env, seed=0)
    for returned in (env.reset(seed=0), env.step(env.action_space.sample())):
        with pytest.raises(InvalidInput, match="the first item that reset or step returns"):
            agent.predict(returned)


def test_a_scaled_round_is_refused_and_not_taken_for_the_first():
    env = ScaledRound(gym.make(ID, **KWARGS, max_episode_steps=8))
    agent = agents.make("gp-ucb", env, seed=0)
    seen, _ = env.reset(seed=0)
    seen, *_ = env.step(agent.predict(seen)[0])
    with pytest.raises(InvalidInput, match=r"whole number, got \[0.125\]: remove wrappers"):
        agent.predict(seen)
    assert agent.posterior.size == agent.round == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("a", "an array of numbers"),
        ([[1], [2, 3]], "round"),
        ({}, "round"),
        ([1, 2], "round and episode_start must have one value for each"),
        (-1, "at least 0, got -1"),
        (np.nan, "round must be finite"),
    ],
)
def test_an_observation_needs_a_round(wrong, words):
    agent = agents.make("gp-ucb", gym.make(ID, **KWARGS), seed=0)
    with pytest.raises(InvalidInput, match=words):
        agent.observe(observation(1) | {"round": wrong})
    assert agent.posterior.size == agent.round == 0
