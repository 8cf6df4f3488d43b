"""Replay-v0 and Table-v0 with contexts: the part of the day, and columns that are observed."""

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.errors import InvalidInput, UnknownName

READINGS = np.random.default_rng(0).normal(size=(30, 5))


def replay(**kwargs):
    kwargs = {"readings": READINGS.tolist()} | kwargs
    env = gym.make("gpbandits/Replay-v0", **kwargs)
    return env, env.reset(seed=0)[0]


def test_a_clock_tells_the_part_of_the_day_of_each_row():
    env, observation = replay(contexts={"clock": 6, "parts": 3}, train_fraction=0.5, repeat=True)
    for row in range(15, 32):  # the test rows 15..29, then the first of them again
        own = row if row < 30 else row - 15
        assert observation["context"].tolist() == [own % 6 // 2]
        observation, *_, info = env.step([2])
        assert info["noiseless_rewards"][0] == READINGS[own, 2]
        assert info["optimum"] == READINGS[own].max()


def test_columns_that_are_contexts_are_no_arms():
    env, observation = replay(contexts={"columns": [1, 3]}, train_fraction=0.5)
    assert env.unwrapped.problem.domain.size == 3
    for row in range(15, 30):
        assert observation["context"].tolist() == [READINGS[row, [1, 3]].tolist()]
        observation, *_, info = env.step([1])
        assert info["noiseless_rewards"][0] == READINGS[row, 2]
        assert info["optimum"] == READINGS[row, [0, 2, 4]].max()


def test_columns_of_a_file_may_be_given_by_name(tmp_path):
    file = tmp_path / "readings.csv"
    np.savetxt(file, READINGS, "%.17g", ",", header="a,b,c,d,e", comments="")
    by_name, _ = replay(readings=str(file), columns=["e", "b", 0], contexts={"columns": ["b", "d"]})
    by_index, _ = replay(columns=[4, 1, 0], contexts={"columns": [1, 3]})
    for action in [0, 1, 1]:
        ours, theirs = by_name.step([action]), by_index.step([action])
        np.testing.assert_array_equal(ours[0]["context"], theirs[0]["context"])
        assert ours[1] == theirs[1]
    with pytest.raises(UnknownName, match="no column named 'f'"):
        replay(readings=str(file), contexts={"columns": ["f"]})
    for given in ({"columns": []}, {"contexts": {"columns": []}}):
        with pytest.raises(InvalidInput, match="columns must have at least one"):
            replay(readings=str(file), **given)
    with pytest.raises(InvalidInput, match="the contexts take all"):
        replay(readings=str(file), contexts={"columns": list("abcde")})
    with pytest.raises(InvalidInput, match="twice, got \\['b', 1\\]"):
        replay(readings=str(file), contexts={"columns": ["b", 1]})
    np.savetxt(file, READINGS, "%.17g", ",", header="a,b,b,d,e", comments="")
    with pytest.raises(InvalidInput, match="2 columns are named 'b'"):
        replay(readings=str(file), columns=["b"])
    with pytest.raises(UnknownName, match="these readings have no names: use indices"):
        replay(contexts={"columns": ["b"]})
    with pytest.raises(InvalidInput, match=r"column 5 \(counted from 0\) is constant: no context"):
        replay(readings=np.c_[READINGS, np.ones(len(READINGS))], contexts={"columns": [1, 5]})


def test_the_kernel_is_the_product_of_that_of_the_arms_and_that_of_the_context():
    spec = {"type": "matern52", "lengthscale": 2.0}
    env, _ = replay(contexts={"columns": [4]}, context_kernel=spec, train_fraction=0.5)
    plain, _ = replay(columns=[0, 1, 2, 3], train_fraction=0.5)
    arms, z = np.arange(4.0)[:, None], np.array([[0.1], [0.5], [-0.3], [0.5]])
    kernel, own = env.unwrapped.problem.kernel, plain.unwrapped.problem.kernel
    r = np.sqrt(5.0) * np.abs(z - z.T) / 2.0
    wanted = own(arms) * (1 + r + r**2 / 3) * np.exp(-r)
    np.testing.assert_allclose(kernel(np.hstack([arms, z])), wanted, atol=1e-12)


def rows_of_a_table(env, seed, rounds):
    """The test rows of an episode of Table-v0, by the contexts and checked by the rewards."""
    observation, _ = env.reset(seed=seed)
    rows = []
    for _ in range(rounds):
        seen = observation["context"][0]
        (row,) = np.flatnonzero((READINGS[:, [1, 3]] == seen).all(axis=1))
        observation, *_, info = env.step([1])
        assert info["noiseless_rewards"][0] == READINGS[row, 2]
        assert info["optimum"] == READINGS[row, [0, 2, 4]].max()
        rows.append(int(row))
    return rows


def test_a_table_shows_all_test_rows_in_an_order_drawn_at_each_reset():
    env = gym.make(
        "gpbandits/Table-v0",
        readings=READINGS.tolist(),
        contexts={"columns": [1, 3]},
        train_fraction=0.5,
    )
    assert env.unwrapped.problem.domain.size == 3
    first = rows_of_a_table(env, 0, 20)
    assert sorted(first[:15]) == list(range(15, 30))
    assert first[15:] == first[:5]  # the first row follows the last
    assert rows_of_a_table(env, 0, 15) == first[:15]
    assert rows_of_a_table(env, 1, 15) != first[:15]


@pytest.mark.parametrize("id", ["Table", "Replay"])
def test_an_agent_uses_the_columns_it_sees(id):
    """The best of two arms depends on a column: seeing it pays."""
    rng = np.random.default_rng(0)
    z = rng.uniform(-1.0, 1.0, 240)
    table = np.stack([z, -z, z], axis=1)
    given = {"readings": table.tolist(), "noise_var": 0.01, "max_episode_steps": 60}
    env = gym.make(f"gpbandits/{id}-v0", contexts={"columns": [2]}, **given)
    agent = agents.make("gp-ucb", env, seed=0)
    observation, _ = env.reset(seed=0)
    for _ in range(60):
        observation, *_, info = env.step(agent.predict(observation)[0])
    assert info["cumulative_regret"] < 15.0  # about 60 at random


@pytest.mark.parametrize(
    "contexts",
    [
        3,
        {},
        {"clock": 6},
        {"clock": 1, "parts": 2},
        {"columns": [9]},
        {"columns": ["a"]},
        {"columns": "a"},
        {"hours": 24},
        "clock",
    ],
)
def test_other_contexts_are_refused(contexts):
    with pytest.raises((InvalidInput, UnknownName)):
        replay(contexts=contexts)


def contexts_of(env, seed, rounds=20):
    seen = [env.reset(seed=seed)[0]["context"]]
    seen += [env.step(env.action_space.sample())[0]["context"] for _ in range(rounds)]
    return np.concatenate(seen).tolist()


def test_contexts_depend_on_the_seed():
    env = gym.make("gpbandits/Contextual-v0", grid=[5], contexts=3)
    assert contexts_of(env, 0) == contexts_of(env, 0) != contexts_of(env, 1)


def test_a_sequence_of_contexts_begins_with_its_first_and_repeats():
    """Also past the 256 rounds that are drawn at once."""
    env = gym.make("gpbandits/Contextual-v0", grid=[5], contexts=3, sequence=[2, 0, 1])
    assert contexts_of(env, 0, 299) == [2, 0, 1] * 100


BOX = {"box": [[0.0], [1.0]]}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"contexts": 0}, "contexts form a grid: .* at least 1, got 0"),
        ({"contexts": [[0.1], [0.5]]}, 'got .0.1.; {"points": ...} gives any contexts'),
        ({"contexts": 3, "sequence": [0, 3]}, r"sequence .* whole numbers in 0\.\.2, got \[0, 3\]"),
        ({"contexts": BOX, "sequence": [0.1]}, r"sequence .* points \(rows, 1\) of Box"),
    ],
)
def test_errors_about_contexts_name_contexts(wrong, says):
    with pytest.raises(InvalidInput, match=says):
        gym.make("gpbandits/Contextual-v0", grid=[5], **wrong)
