"""A clock: measured and declared times, the end of an episode, agents in continuous time."""

import pickle
from time import process_time

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.envs.clock import Clock
from gpbandits_env.errors import InvalidInput, NotReset, UnknownName
from gpbandits_env.rewards.functions import ReplayProcess

GRID = {"grid": 8, "epsilon": 0.1}
TABLE = np.random.default_rng(0).normal(size=(30, 4)).tolist()


def markov(clock, **more):
    return gym.make("gpbandits/MarkovGP-v0", **{**GRID, **more}, clock=clock)


def busy(seconds):
    until = process_time() + seconds
    while process_time() < until:
        pass


def test_measured_thinking_is_the_processor_time_between_two_calls():
    env = markov({"evaluation": 0.5, "unit": 0.1, "scale": 2.0})
    env.reset(seed=0)
    before = process_time()
    busy(0.05)
    time = env.step([0])[0]["time"]
    most = process_time() - before
    assert 0.05 * 2.0 / 0.1 <= time[0] <= most * 2.0 / 0.1
    assert time[1] == time[0] + 5.0


def test_a_loaded_episode_does_not_count_the_time_until_it_was_loaded():
    env = markov({"evaluation": 0.5})
    env.reset(seed=0)
    saved = pickle.dumps(env.unwrapped)
    busy(0.1)
    again = pickle.loads(saved)
    assert again.step([0])[0]["time"][0] < 0.05


def test_an_episode_ends_with_its_duration():
    env = markov({"thinking": 0.5, "duration": 6.0})
    env.reset(seed=0)
    ends = [env.step([0])[3] for _ in range(4)]
    assert ends == [False, False, False, True]  # at 1.5, 3, 4.5 and 6 seconds


@pytest.mark.parametrize("count", [None, 2])
def test_rounding_adds_no_round_to_a_duration(count):
    # In floating point, ten times 0.1 is less than 1.
    given = {"grid": 4, "clock": {"evaluation": 0.1, "thinking": 0.0, "duration": 1.0}}
    name, vector = "gpbandits/StaticGP-v0", "vector_entry_point"
    env = gym.make(name, **given) if count is None else gym.make_vec(name, count, vector, **given)
    env.reset(seed=0)
    ends = [np.all(env.step(env.action_space.sample())[3]) for _ in range(10)]
    assert ends == [False] * 9 + [True]


@pytest.mark.parametrize("repeat", [False, True])
def test_a_row_holds_for_one_unit_also_where_a_sum_of_times_is_rounded(repeat):
    table = np.arange(30.0)[:, None] + np.arange(2.0)
    process = ReplayProcess(Arms(np.arange(2.0)), table, repeat=repeat)
    path = process.begin(np.random.default_rng(0))
    for i in range(1, 350):
        path.advance(0.1)  # 40 of these are less than 4
        row = i // 10
        assert path.function.values[0] == (row % 30 if repeat else min(row, 29))


def test_a_recording_ends_when_its_time_is_over():
    clock = {"thinking": 1.5}
    env = gym.make("gpbandits/Replay-v0", readings=TABLE, noise_var=0.0, clock=clock)
    env.reset(seed=0)
    table, over = env.unwrapped.bandit.process.table, False
    found = []
    while not over:
        _, _, _, over, info = env.step([3])
        found.append(info["noiseless_rewards"].item())
    times = 1.5 + 2.5 * np.arange(len(found))  # a row holds for one unit of time
    assert found == table[np.minimum(times.astype(int), len(table) - 1), 3].tolist()
    assert times[-1] + 1.0 >= len(table) > times[-2] + 1.0
    with pytest.raises(NotReset):
        env.step([3])


@pytest.mark.parametrize("kind", ["epsilon", "temporal", "static"])
def test_an_agents_posterior_is_the_dense_formula_at_irregular_times(kind):
    temporal = {"type": "matern32", "lengthscale": 3.0}
    settings = {"static": {}, "epsilon": {"epsilon": 0.1}, "temporal": {"temporal": temporal}}
    env = markov({"thinking": [0.3, 0.07, 0.01], "evaluation": 0.4})
    agent = agents.make("ts", env, seed=0, **settings[kind])
    observation, _ = env.reset(seed=1)
    agent.observe(observation)
    arms, rewards, times = [], [], []
    for _ in range(25):
        observation, *_ = env.step(agent.ask())
        agent.observe(observation)
        arms.append(observation["actions"].item())
        rewards.append(observation["rewards"].item())
        times.append(observation["time"][0])
        now = observation["time"][1]
    problem = env.unwrapped.problem
    kernel, points = problem.kernel, problem.domain.points(np.arange(8))
    space, lag = kernel(points, points), np.abs(np.subtract.outer([*times, now], times))
    law = {
        "static": np.ones_like(lag),
        "epsilon": 0.9 ** (lag / 2),
        "temporal": (1 + np.sqrt(3) * lag / 3.0) * np.exp(-np.sqrt(3) * lag / 3.0),
    }[kind]
    gram = space[np.ix_(arms, arms)] * law[:-1] + problem.noise_var * np.eye(25)
    cross = space[:, arms] * law[-1]
    mean = cross @ np.linalg.solve(gram, rewards)
    var = np.diag(space) - np.einsum("ij,ji->i", cross, np.linalg.solve(gram, cross.T))
    found = agent.belief()
    np.testing.assert_allclose(found[0], mean, atol=1e-8)
    np.testing.assert_allclose(found[1], np.sqrt(var), atol=1e-8)


def test_predict_takes_the_times_of_an_observation():
    env = markov({"thinking": 0.5})
    first, second = (agents.make("tv-gp-ucb", env, seed=0) for _ in range(2))
    observation, _ = env.reset(seed=1)
    for _ in range(6):
        action, _ = first.predict(observation)
        second.observe(observation)
        np.testing.assert_array_equal(action, second.ask())
        observation, *_ = env.step(action)
    assert first.clock == second.clock == 7.5  # five rounds of an evaluation and half a unit


@pytest.mark.parametrize("name", ["gp-ucb", "rexp3"])
def test_an_observation_that_is_refused_takes_no_time(name):
    env = gym.make("gpbandits/StaticGP-v0", box=([0.0], [1.0]), clock={"thinking": 0.5})
    agent, (observation, _) = agents.make(name, env, seed=0, candidates=8), env.reset(seed=0)
    agent.predict(observation)
    before = str(agent.snapshot())
    observation, *_ = env.step([[0.123]])
    for time, said in ((observation["time"], "8 candidates"), ([1.0, 2.0, 3.0], "time must be")):
        for call in (agent.observe, agent.predict):
            with pytest.raises(InvalidInput, match=said):
                call({**observation, "time": time})
            assert str(agent.snapshot()) == before


def test_rewards_do_not_arrive_before_they_hold():
    agent = agents.make("gp-ucb", gym.make("gpbandits/MarkovGP-v0", grid=5), seed=0)
    with pytest.raises(InvalidInput, match="between read and now must be finite, at least 0"):
        agent.pass_until(2.0, 1.0)
    assert (agent.clock, agent.pace) == (0.0, 1.0)


WRONG = [
    ({"evaluation": -1.0}, "evaluation"),
    ({"unit": 0.0}, "unit"),
    ({"thinking": [0.1, -0.1]}, "thinking"),
    ({"thinking": []}, "thinking must be a list of one or more numbers"),
    ({"thinking": 0.0, "evaluation": 0.0}, "no time would pass"),
    ({"duration": 0.0}, "duration"),
    (3.0, "dict"),
]


@pytest.mark.parametrize(("clock", "said"), WRONG)
def test_a_wrong_clock_is_an_error(clock, said):
    with pytest.raises(InvalidInput, match=said):
        markov(clock)


def test_unknown_fields_and_what_counts_rounds_are_errors():
    with pytest.raises(UnknownName, match="evaluation"):
        markov({"evaluations": 1.0})
    with pytest.raises(InvalidInput, match="delay"):
        markov({"thinking": 0.1}, delay=2)
    with pytest.raises(InvalidInput, match="contexts"):
        gym.make("gpbandits/Contextual-v0", clock={"thinking": 0.1})


def test_a_drift_from_round_to_round_only_names_what_is_missing():
    env = gym.make("gpbandits/Drifting-v0", grid=5, drift=lambda f, *_: f, clock={"thinking": 0.5})
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match="elapse"):
        env.step([0])


def test_regret_over_time_is_the_integral_also_while_a_slow_agent_thinks():
    """Against a sum over 20,000 times; rounds are 30.3 units apart, and one unit is 1% of time."""
    clock = {"thinking": 30.3, "evaluation": 0.0}
    given = {"function": "ackley", "grid": [4, 4, 4], "sweep": 100.0, "noise_var": 0.05}
    env = gym.make("gpbandits/Drifting-v0", clock=clock, **given)
    env.reset(seed=0)
    process, arms = env.unwrapped.bandit.process, [5, 60, 17]
    found = [env.step([arm])[4]["time_regret"] for arm in arms]
    times = (np.arange(20_000) + 0.5) * (3 * 30.3 / 20_000)
    in_force = np.take(arms, (times // 30.3).clip(1).astype(int) - 1)
    values = [
        (f := process.at(1.0 + t).values).max() - f[a] for t, a in zip(times, in_force, strict=True)
    ]
    exact = np.cumsum(values)[[6666, 13332, 19999]] * times[0] * 2.0
    np.testing.assert_allclose(found, exact, rtol=0.02)


def test_declared_thinking_is_in_units_of_the_drift():
    assert Clock(thinking=(0.5, 0.1), unit=2.0).thought(3, 0.0) == pytest.approx(0.4)
    assert Clock(scale=3.0, unit=2.0).thought(3, 0.5) == pytest.approx(0.75)
