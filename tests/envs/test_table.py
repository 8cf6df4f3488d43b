import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import gpbandits_env  # noqa: F401
from gpbandits_env import agents
from gpbandits_env.envs import Replay, Table
from gpbandits_env.envs.table import split
from gpbandits_env.errors import InvalidInput, MissingData, NotReset, UnknownName
from gpbandits_env.rewards.datasets import Readings

ROWS = np.random.default_rng(0).normal(np.arange(4.0), size=(30, 4))


def test_the_learner_is_told_what_the_training_rows_say():
    problem = Table(readings=ROWS).problem
    arms = np.arange(4.0)[:, None]
    assert np.allclose(problem.kernel(arms), np.cov(ROWS[:20].T))
    assert np.allclose(problem.prior_mean, ROWS[:20].mean(0))
    assert problem.noise_var == pytest.approx(0.05 * np.var(ROWS[:20], axis=0, ddof=1).mean())


def test_the_prior_mean_may_be_common_to_all_arms():
    problem = Table(readings=ROWS, common_mean=True, minimise=True).problem
    assert problem.prior_mean == pytest.approx(-ROWS[:20].mean())
    assert np.allclose(problem.kernel(np.arange(4.0)[:, None]), np.cov(ROWS[:20].T))
    with pytest.raises(InvalidInput, match="common_mean must be true or false"):
        Table(readings=ROWS, common_mean=0.5)


def test_each_function_is_one_of_the_other_rows():
    env, seen = Table(readings=ROWS.tolist()), set()
    for seed in range(200):
        env.reset(seed=seed)
        seen.add(tuple(env.function(np.arange(4))))
    assert seen == {tuple(row) for row in ROWS[20:]}


def test_no_noise_is_added_to_a_reading_unless_asked_for():
    env = Table(readings=ROWS)
    env.reset(seed=0)
    observation, reward, *_, info = env.step([2])
    assert reward == observation["rewards"][0] == info["noiseless_rewards"][0]
    noisy = Table(readings=ROWS, noise_var=0.3)
    assert noisy.problem.noise_var == 0.3
    assert Table(readings=ROWS, noise_var=0.3, model_noise_var=0.5).problem.noise_var == 0.5
    noisy.reset(seed=0)
    observation, *_, info = noisy.step([2])
    assert observation["rewards"][0] != info["noiseless_rewards"][0]


def test_minimising_negates_everything():
    least, most = Table(readings=ROWS, minimise=True), Table(readings=-ROWS)
    assert np.array_equal(least.problem.prior_mean, most.problem.prior_mean)
    for env in (least, most):
        env.reset(seed=1)
    assert least.step([1])[1] == most.step([1])[1]
    assert least.function.optimum == -(-least.function.values).min()


def test_files_and_readings(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, ROWS, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    readings = Readings(ROWS, unit="mph")
    expected = Table(readings=ROWS).problem.prior_mean
    for given in (str(path), path, readings):
        assert np.array_equal(Table(readings=given).problem.prior_mean, expected)
    table = Table(readings=str(path), dataset_options={"header": True})
    assert np.array_equal(table.problem.prior_mean, expected)
    copy = gym.make(gym.make("gpbandits/Table-v0", readings=str(path)).spec)
    assert copy.unwrapped.problem.domain.size == 4


def test_a_file_with_times_and_gaps(tmp_path):
    path = tmp_path / "sensors.csv"
    lines = [f"2026-01-01 {t % 24:02}:00;{t};{t / 2 if t != 3 else ''}" for t in range(9)]
    path.write_text("when;a;b\n" + "\n".join(lines))
    for env in (Table, Replay):
        with pytest.raises(InvalidInput, match="line 5, column 'b' is empty"):
            env(readings=path)
        found = env(readings=path, dataset_options={"gaps": "interpolate"})
        assert found.problem.domain.size == 2
        assert found.problem.prior_mean.tolist() == [2.5, 1.25]
        with pytest.raises(InvalidInput, match="dropped or interpolated"):
            env(readings=path, dataset_options={"gaps": "keep"})


@pytest.mark.parametrize(
    ("readings", "kwargs", "error", "says"),
    [
        ([[1, 2], [3, np.nan], [5, 6]], {}, InvalidInput, "nan at row 1, column 1"),
        ([1.0, 2.0], {}, InvalidInput, r"shape \(rows, arms\)"),
        (ROWS, {"train_fraction": 1.0}, InvalidInput, "leaves 30 for the covariance and 0"),
        (ROWS, {"train_fraction": 0.01}, InvalidInput, "at least 2 and 1"),
        (ROWS, {"train_fraction": -1}, InvalidInput, "train_fraction"),
        (ROWS, {"noise_var": -1}, InvalidInput, "noise_var"),
        (ROWS, {"model_noise_var": -1}, InvalidInput, "model_noise_var"),
        (ROWS, {"dataset_options": {"every": 1}}, InvalidInput, "belong to a named data set"),
        (
            ROWS,
            {"context_kernel": {"type": "se", "lengthscale": 1}},
            InvalidInput,
            "needs contexts",
        ),
        ("a.csv", {"dataset_options": [";"]}, InvalidInput, "dataset_options must be a dict"),
        (ROWS, {"dataset_options": np.ones(2)}, InvalidInput, "dataset_options must be a dict"),
        ("intel" * 999, {}, UnknownName, "no data set named 'intelintel"),
        (ROWS, {"minimize": True}, UnknownName, "did you mean 'minimise'"),
        ("intel-berkley", {}, UnknownName, "did you mean 'intel-berkeley'"),
        ("nowhere.csv", {}, MissingData, "no such file"),
        ("nowhere.csv", {"dataset_options": {"headr": 1}}, UnknownName, "did you mean 'header'"),
    ],
)
def test_mistakes_are_said_plainly(readings, kwargs, error, says):
    with pytest.raises(error, match=says):
        Table(readings=readings, **kwargs)


def test_a_column_of_a_data_frame_without_numbers_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list("abcd"))
    for times in (pandas.date_range("2026-03-01", periods=len(ROWS)), ["noon"] * len(ROWS)):
        dated = frame.assign(when=times)
        with pytest.raises(InvalidInput, match=r"column 'when' of readings.*; make it the index"):
            gym.make("gpbandits/Replay-v0", readings=dated)
        env = gym.make("gpbandits/Replay-v0", readings=dated.set_index("when"))
        assert env.unwrapped.problem.domain.size == 4


def test_a_column_of_numbers_with_a_missing_value_is_named_with_the_cure():
    pandas = pytest.importorskip("pandas")
    column = pandas.array([1, None] * (len(ROWS) // 2), dtype="Int64")
    frame = pandas.DataFrame(ROWS, columns=list("abcd")).assign(n=column)
    with pytest.raises(InvalidInput, match=r"column 'n' of readings.* by astype\(float\)"):
        Table(readings=frame)
    with pytest.raises(InvalidInput, match=r"nan at row 1, column 4"):
        Table(readings=frame.astype(float))


def test_a_data_frame_is_converted_once(monkeypatch):
    pandas, count = pytest.importorskip("pandas"), []
    convert = pandas.DataFrame.__array__

    def counted(frame, *args, **kwargs):
        count.append(frame)
        return convert(frame, *args, **kwargs)

    monkeypatch.setattr(pandas.DataFrame, "__array__", counted)
    Table(readings=pandas.DataFrame(ROWS, columns=list("abcd")))
    assert len(count) == 1


def test_the_columns_of_a_data_frame_have_names():
    frame = pytest.importorskip("pandas").DataFrame(ROWS, columns=list("abcd"))
    named, numbered = (
        Replay(readings=table, columns=columns).problem.prior_mean
        for table, columns in ((frame, ["d", "b"]), (ROWS, [3, 1]))
    )
    assert np.array_equal(named, numbered)


def test_one_column_is_a_table_too():
    env = Table(readings=ROWS[:, :1])
    env.reset(seed=0)
    assert env.step([0])[-1]["regret"].tolist() == [0.0]


@pytest.mark.parametrize("offset", [100.0, -100.0])
def test_readings_far_from_zero_pass_gymnasiums_checker(offset):
    """A reset shows rewards of 0, which no reading may be near."""
    for more in ({}, {"minimise": True, "noise_var": 0.1}):
        env = gym.make("gpbandits/Table-v0", readings=ROWS + offset, **more)
        check_env(env.unwrapped, skip_render_check=True)


def test_replay_plays_the_rows_in_order_and_begins_anew():
    env = Replay(readings=ROWS, columns=[2, 0], starts=[1], epsilon=0.1, repeat=True)
    assert env.problem.epsilon == 0.1
    _, rows = split(ROWS[:, [2, 0]], 2 / 3)
    env.reset(seed=0)
    for t in range(len(rows) + 2):
        values = env.step([t % 2])[-1]["noiseless_rewards"]
        assert values[0] == rows[(1 + t) % len(rows), t % 2]


def test_a_replay_ends_with_its_last_row():
    readings = np.random.default_rng(0).normal(size=(12, 4))
    made = {"readings": readings, "train_fraction": 0.5}
    env = gym.make("gpbandits/Replay-v0", starts=[2], **made)
    assert env.unwrapped.problem.horizon == 4
    for _ in range(2):
        env.reset(seed=0)
        ends = [env.step([1])[2:4] for _ in range(4)]
        assert ends == [(False, False)] * 3 + [(False, True)]
        with pytest.raises(ResetNeeded, match=r"after round 4: call reset\(\), .*repeat=True"):
            env.step([1])
    with pytest.raises(NotReset, match="round 4"):
        pickle.loads(pickle.dumps(env)).step([1])
    endless = gym.make("gpbandits/Replay-v0", starts=[2], repeat=True, **made)
    endless.reset(seed=0)
    values = [endless.step([1])[4]["noiseless_rewards"][0] for _ in range(9)]
    np.testing.assert_array_equal(values, readings[[8, 9, 10, 11, 6, 7, 8, 9, 10], 1])
    assert endless.unwrapped.problem.horizon is None
    assert [agents.make("ei", e).problem.horizon for e in (env, endless)] == [4, 1000]
    short = gym.make("gpbandits/Replay-v0", max_episode_steps=3, **made)
    assert agents.make("ei", short).problem.horizon == 3


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_vector_of_replays_ends_each_with_its_last_row(mode):
    readings = np.random.default_rng(0).normal(size=(12, 4))
    made = {"readings": readings, "train_fraction": 0.5, "starts": [1, 3]}
    both = [
        gym.make_vec(
            "gpbandits/Replay-v0",
            5,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": AutoresetMode(mode)},
            **made,
        ),
        gym.make_vec("gpbandits/Replay-v0", 5, autoreset_mode=mode, **made),
    ]
    for envs in both:
        envs.reset(seed=3)
    lengths = set()
    for _ in range(14):
        theirs, ours = (envs.step(np.ones((5, 1), int)) for envs in both)
        for part in (1, 2, 3):
            np.testing.assert_array_equal(ours[part], theirs[part])
        np.testing.assert_array_equal(ours[0]["round"], theirs[0]["round"])
        if mode == "NextStep":
            lengths.update(ours[0]["round"][ours[3], 0].tolist())
    if mode == "NextStep":
        assert lengths == {3, 5}


def test_the_context_after_the_last_row_is_the_last_one_again():
    readings = np.random.default_rng(0).normal(size=(12, 4))
    made = {"train_fraction": 0.5, "contexts": {"columns": [1]}}
    env = gym.make("gpbandits/Replay-v0", readings=readings, **made)
    env.reset(seed=0)
    seen = [env.step([1])[0]["context"][0, 0] for _ in range(6)]
    np.testing.assert_array_equal(seen, readings[[7, 8, 9, 10, 11, 11], 1])
