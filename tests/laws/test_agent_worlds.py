"""Every registered agent in every environment, and as a policy of one or many worlds."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.errors import InvalidInput
from gpbandits_env.seeding import child

# One environment of each id, on finitely many arms and in a box; agents are told the same of a
# drift and of a known maximum in both.
READINGS = (np.random.default_rng(0).normal(size=(30, 6)) + np.arange(6)).tolist()
WORLDS = {
    "gpbandits/StaticGP-v0": [{"grid": [6, 5]}, {"box": [[0.0], [1.0]]}],
    "gpbandits/MarkovGP-v0": [{"grid": [6, 5]}],
    "gpbandits/Drifting-v0": [{"grid": [6]}, {"function": "ackley", "dim": 3}],
    "gpbandits/Table-v0": [{"readings": READINGS}],
    "gpbandits/Replay-v0": [{"readings": READINGS, "repeat": True}],
    "gpbandits/Task-v0": [{"task": "camelback"}],
}
IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))
ENVS = [(name, kwargs) for name in IDS for kwargs in WORLDS.get(name, [{}])]


def label(value):
    name, given = value
    return "-".join([name.split("/")[-1], *(k for k in given if k != "readings")])


@pytest.fixture(scope="module", params=ENVS, ids=label)
def world(request):
    """An environment, which begins anew with each agent."""
    name, kwargs = request.param
    return gym.make(name, **kwargs, batch_size=2)


def test_plays_every_environment(laws, case, world):
    problem = world.unwrapped.problem
    if laws.refused(case, problem):
        return
    given = {**laws.needed.get(case[0], {}), **case[1]}
    settings = {**agents.settings_of(case[0]), **given}
    compares = settings.get("incumbent") == "observed"  # the rewards of all contexts
    if problem.contexts is not None and (compares or not agent_class(case[0]).uses_contexts):
        with pytest.raises(InvalidInput, match="contexts"):
            laws.build((case[0], given), problem)
        return
    agent = laws.build((case[0], given), problem)
    observation, _ = world.reset(seed=1)
    for _ in range(3):
        known = {} if problem.contexts is None else {"context": observation["context"]}
        actions = agent.ask(**known)
        assert actions in world.action_space
        observation, _, _, _, info = world.step(actions)
        agent.tell(observation["actions"], observation["rewards"])
        if hasattr(agent, "reveal"):
            agent.reveal(world.unwrapped.function(np.arange(problem.domain.size)))
        assert np.isfinite(info["regret"]).all()


def by_hand(agent, seed, episodes, horizon, **kwargs):
    """The actions of an ask/tell loop in a world of its own, and the ask after the last round."""
    env = gym.make(**kwargs)
    played = []
    for episode in range(episodes):
        env.reset(seed=seed if episode == 0 else None)
        agent.reset()
        for _ in range(horizon):
            played.append(agent.ask())
            agent.tell(played[-1], env.step(played[-1])[0]["rewards"])
        played.append(agent.ask())
    return played


# The maximum of the task is known; to find that of a function drawn in a box takes ten times as
# long as the rounds.
TASK = {"id": "gpbandits/Task-v0", "task": "camelback", "scaled": True}
HOMES = {"arms": {"id": "gpbandits/StaticGP-v0", "grid": [12]}, "box": TASK}
# The number of worlds side by side, the rounds of an episode, and the actions of a single world.
SIZES = {"arms": (2, 4, 1), "box": (2, 3, 3)}


def settings_at(laws, case, home):
    """The case with the settings with which the agent plays there."""
    name, given = case
    given = {**laws.needed.get(name, {}), **given}
    if home == "box":
        if given.get("posterior") == "rows":
            del given["posterior"]
        given.update(laws.quick(case))
    return (name, given), home


def test_predicting_is_asking_and_telling(laws, policy):
    (name, given), home = settings_at(laws, *policy)
    _, horizon, batch_size = SIZES[home]
    kwargs = {**HOMES[home], "noise_var": 0.05, "batch_size": batch_size}
    env = gym.make(max_episode_steps=horizon, **kwargs)
    expected = by_hand(agents.make(name, env, seed=5, **given), 1, 2, horizon, **kwargs)
    agent = agents.make(name, env, seed=5, **given)
    played = []
    for episode in range(2):
        observation, _ = env.reset(seed=1 if episode == 0 else None)
        done = False
        while not done:
            played.append(agent.predict(observation)[0])
            observation, _, _, done, _ = env.step(played[-1])
        played.append(agent.predict(observation)[0])
    assert np.array_equal(played, expected)


def test_predicting_for_many_worlds_is_asking_and_telling_in_each(laws, policy_of_many):
    (name, given), home = settings_at(laws, *policy_of_many)
    worlds, horizon, _ = SIZES[home]
    kwargs = {**HOMES[home], "noise_var": 0.05, "batch_size": 2}
    envs = gym.make_vec(num_envs=worlds, max_episode_steps=horizon, **kwargs)
    agent = agents.make(name, envs, seed=5, **given)
    observation, _ = envs.reset(seed=10)
    played = []
    # At the end of an episode the action is not played: the worlds reset.
    for _ in range(2 * horizon + 2):
        played.append(agent.predict(observation)[0])
        assert played[-1] in envs.action_space
        observation = envs.step(played[-1])[0]
    first = agents.make(name, envs, seed=5, **given)
    seeds = (child(first.rng) for _ in range(worlds - 1))
    alone = [first, *(agents.make(name, envs, seed=seed, **given) for seed in seeds)]
    for i, single in enumerate(alone):
        expected = by_hand(single, 10 + i, 2, horizon, **kwargs)
        assert np.array_equal([actions[i] for actions in played], expected)
