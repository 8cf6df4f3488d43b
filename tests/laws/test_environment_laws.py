"""One property times every registered environment."""

import pickle
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.envs import episode as episodes
from gpbandits_env.errors import InvalidInput, NotReset, UnknownName
from gpbandits_env.functions import context as contexts

# Noise and contexts are drawn this many rounds ahead, instead of 256, so that few rounds pass the
# end of a block. It is longer than the table.
AHEAD = 32
TABLE = (np.random.default_rng(0).normal(size=(30, 6)) + np.arange(6)).tolist()

# Arguments to try an environment with; one that is not here is tried with its defaults.
EXAMPLES = {
    "gpbandits/StaticGP-v0": [
        {"grid": [6, 5], "batch_size": 3},
        {"arms": [[0.0], [0.3], [1.0]], "kernel": {"type": "matern32", "lengthscale": 0.4}},
        {"box": [[0.0], [1.0]], "batch_size": 2, "features": 64},
    ],
    "gpbandits/Table-v0": [
        {"readings": TABLE, "batch_size": 2},
        {"readings": TABLE, "minimise": True, "noise_var": 0.5},
        {"readings": TABLE, "contexts": {"columns": [1, 2]}, "batch_size": 2},
        {"readings": TABLE, "contexts": {"clock": 7, "parts": 3}, "noise_var": 0.1},
    ],
    "gpbandits/MarkovGP-v0": [
        {"grid": [6, 5], "batch_size": 3, "epsilon": 0.1},
        {"grid": [40, 40], "epsilon": 0.1, "kernel": {"type": "matern52", "lengthscale": 0.2}},
    ],
    "gpbandits/Drifting-v0": [
        {"grid": [6], "drift": {"type": "change-points", "times": [3], "rate": 0.2}},
        {"grid": [6, 5], "drift": {"type": "seasonal", "period": 7}, "batch_size": 2},
        {"function": "ackley", "dim": 3, "motion": {"type": "orbit"}, "batch_size": 2},
        {"function": "camelback", "grid": [9, 9], "low": [-3, -2], "high": [3, 2]},
    ],
    "gpbandits/Contextual-v0": [
        {"grid": [5], "contexts": 3, "batch_size": 2},
        {"grid": [6], "contexts": {"clock": 4}, "epsilon": 0.1},
        {"grid": [4], "contexts": {"box": [[0.0], [1.0]]}, "features": 64},
        {"box": [[0.0], [1.0]], "contexts": [2], "features": 64, "sequence": [0, 1, 1]},
    ],
    "gpbandits/Replay-v0": [
        {"readings": TABLE, "batch_size": 2, "noise_var": 0.1},
        {"readings": TABLE, "columns": [0, 3, 4], "starts": list(range(10))},
        {"readings": TABLE, "contexts": {"clock": 7, "parts": 3}, "starts": [0, 4]},
        {"readings": TABLE, "contexts": {"columns": [1, 2]}, "noise_var": 0.1},
    ],
    "gpbandits/Task-v0": [
        {"task": "ackley", "box": [[-5.0] * 3, [5.0] * 3], "batch_size": 2, "noise_var": 0.1},
        {"task": "rosenbrock", "grid": [7, 6], "scaled": True, "noise_var": 0.1},
    ],
    "gpbandits/HighDim-v0": [
        {"function": "schwefel-1.2", "dim": 7, "shift": True, "batch_size": 2, "noise_var": 0.1},
        {"function": "camelback", "dim": 9, "motion": {"type": "orbit", "radius": 0.2}},
        {"function": "michalewicz", "dim": 6, "active": 3, "shift": True, "noise_var": 0.1},
    ],
}
IDS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))
CASES = [(name, kwargs) for name in IDS for kwargs in EXAMPLES.get(name, [{}])]
# Every environment once more, with actions that can be skipped.
SELECTIVE = [
    (name, {**EXAMPLES.get(name, [{}])[0], "selective": True, "batch_size": 3}) for name in IDS
]
# And once more, with rewards that arrive late or never.
LATE = {"delay": {"least": 0, "most": 3, "lost": 0.2}}
DELAYED = [(name, {**EXAMPLES.get(name, [{}])[0], "batch_size": 2, **LATE}) for name in IDS]


def label(case):
    name, kwargs = case
    return name.split("/")[1] + "-" + "-".join(k for k in kwargs if k != "readings")


@pytest.fixture(params=CASES, ids=label)
def case(request):
    return request.param


@pytest.fixture(params=CASES + SELECTIVE + DELAYED, ids=label)
def any_case(request):
    return request.param


@pytest.fixture(params=DELAYED, ids=label)
def delayed(request):
    return request.param


@pytest.fixture(params=SELECTIVE, ids=label)
def selective(request):
    return request.param


def make(case, **more):
    name, kwargs = case
    return gym.make(name, **{**kwargs, **more})


def vector(case, mode, num_envs=3, **more):
    name, kwargs = case
    return gym.make_vec(name, num_envs, vectorization_mode=mode, **{**kwargs, **more})


def actions_for(space, rounds, seed=0):
    space.seed(seed)
    return [space.sample() for _ in range(rounds)]


def play(env, actions):
    return [env.step(action) for action in actions]


def same(a, b):
    return data_equivalence(a, b, exact=True)


# More rounds than noise is drawn ahead for.
PAST_A_BLOCK = AHEAD + 5


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(episodes, "rows_ahead", lambda batch_size: AHEAD)
    monkeypatch.setattr(contexts, "BLOCK", AHEAD)


def test_gymnasiums_checker_has_nothing_to_say(any_case):
    check_env(make(any_case).unwrapped)  # which renders in all modes


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_render_mode_changes_nothing_else(any_case, mode):
    env, plain = make(any_case, render_mode=mode), make(any_case)
    assert same(env.reset(seed=7), plain.reset(seed=7))
    for action in actions_for(env.action_space, 3):
        assert same(env.step(action), plain.step(action))


def test_no_key_hides_a_method_of_a_mapping(any_case):
    """Libraries turn infos into objects with attributes, e.g. tianshou's `Batch`."""
    taken = {*dir(dict), *dir(MutableMapping), *dir(np.ndarray)} - {"round"}  # of observations
    for env in (make(any_case), vector(any_case, "vector_entry_point")):
        env.reset(seed=0)
        observation, *_, info = env.step(env.action_space.sample())
        assert info
        assert not {*observation, *info} & taken


def test_the_id_works_without_an_import(case):
    name, kwargs = case
    assert gym.make(f"gpbandits_env:{name}", **kwargs).spec.id == name


def test_the_seed_decides_everything(any_case):
    a, b = make(any_case), make(any_case)
    actions = actions_for(a.action_space, PAST_A_BLOCK)
    assert same(a.reset(seed=7), b.reset(seed=7))
    first = play(a, actions)
    assert same(first, play(b, actions))
    a.reset(seed=7)
    assert same(first, play(a, actions))
    # Without a seed the next episode is another one (of a small table, some may be the same).
    episodes = [(a.reset(), play(a, actions))[1] for _ in range(6)]
    assert not all(same(first, episode) for episode in episodes)


def test_two_in_two_threads_do_as_alone(case, short_turns):
    actions = actions_for(make(case).action_space, 30)

    def episode(seed):
        env = make(case)
        return env.reset(seed=seed), play(env, actions)

    alone = [episode(seed) for seed in (7, 8)]
    with ThreadPoolExecutor(2) as pool:
        assert same(alone, list(pool.map(episode, (7, 8))))


def test_observation_reward_and_info_agree(case):
    env = make(case)
    observation, info = env.reset(seed=1)
    assert info == {}
    assert observation["round"].tolist() == [0]
    assert not observation["rewards"].any()
    total, smallest = 0.0, np.inf
    for t, action in enumerate(actions_for(env.action_space, 20), start=1):
        observation, reward, terminated, truncated, info = env.step(action)
        assert (terminated, truncated) == (False, False)
        assert observation in env.observation_space
        assert observation["round"].tolist() == [t]
        assert np.array_equal(observation["actions"], action)
        assert type(reward) is float
        assert reward == np.add.reduce(observation["rewards"])
        assert np.array_equal(info["regret"], info["optimum"] - info["noiseless_rewards"])
        total, smallest = total + info["regret"].sum(), min(smallest, info["regret"].min())
        assert info["cumulative_regret"] == pytest.approx(total, rel=1e-12)
        assert info["simple_regret"] == smallest
        if isinstance(info["best_action"], int):
            assert (info["regret"] >= 0).all()
        else:
            assert (info["regret"] >= -env.unwrapped.function.accuracy).all()


def test_playing_the_best_action_has_no_regret(case):
    """A first run reads where each round's optimum is; its twin plays there."""
    scout, env = make(case), make(case)
    scout.reset(seed=2)
    env.reset(seed=2)
    m = env.unwrapped.problem.batch_size
    for anything in actions_for(scout.action_space, 12):
        best = scout.step(anything)[-1]["best_action"]
        regret = env.step(np.stack([best] * m))[-1]["regret"]
        assert np.abs(regret).max() <= env.unwrapped.function.accuracy


def test_the_noise_has_the_stated_variance(case):
    env = make(case, batch_size=4, max_episode_steps=-1)
    env.reset(seed=3)
    steps = play(env, actions_for(env.action_space, 1000))
    noise = np.array([step[0]["rewards"] - step[-1]["noiseless_rewards"] for step in steps])
    sd = np.sqrt(env.unwrapped.bandit.noise_var)
    assert abs(noise.mean()) <= 4 * sd / np.sqrt(noise.size)
    assert abs(noise.std() - sd) <= 4 * sd / np.sqrt(2 * noise.size)


def parts(data):
    """The arrays and the containers of an observation or an info."""
    if isinstance(data, (dict, list, np.ndarray)):
        yield data
    if isinstance(data, (dict, list, tuple)):
        for value in data.values() if isinstance(data, dict) else data:
            yield from parts(value)


def share_objects(a, b):
    """Whether two of them have a container or the memory of an array in common."""
    return any(
        x is y
        or (isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.shares_memory(x, y))
        for x, y in product(parts(a), parts(b))
    )


def test_nothing_returned_is_shared(case):
    for env in (make(case), vector(case, "vector_entry_point", max_episode_steps=3)):
        actions = actions_for(env.action_space, 5)
        calls = [env.reset(seed=4)]
        calls += [(step[0], step[-1]) for step in play(env, actions)]
        calls.append(env.reset(seed=4))
        for (a, x), (b, y) in combinations(calls, 2):
            assert not share_objects(a, b)
            assert not share_objects(x, y)
        assert not any(np.shares_memory(c[0]["actions"], a) for c in calls for a in actions)


def test_writing_into_what_was_returned_changes_nothing(case):
    a, b = make(case), make(case)
    a.reset(seed=5), b.reset(seed=5)
    for action in actions_for(a.action_space, 10):
        theirs = action.copy()
        x, y = a.step(theirs), b.step(action)
        assert same(x, y)
        theirs[:] = 0
        for array in (*x[0].values(), *x[-1].values()):
            if isinstance(array, np.ndarray):
                array[...] = 0


@pytest.mark.parametrize("before", [0, 1, 7])
def test_a_snapshot_resumes_the_very_run(any_case, before):
    env = make(any_case).unwrapped
    actions = actions_for(env.action_space, PAST_A_BLOCK)
    env.reset(seed=6)
    play(env, actions[:before])
    kept = env.snapshot()
    state = pickle.dumps(kept)
    rest = [*play(env, actions[before:]), env.reset(), *play(env, actions)]
    assert same(kept, pickle.loads(state))
    for other in (env, make(any_case).unwrapped):
        other.restore(pickle.loads(state))
        assert other.np_random_seed == 6
        assert same(rest, [*play(other, actions[before:]), other.reset(), *play(other, actions)])


def test_a_pickled_environment_goes_on(case):
    env = make(case)
    actions = actions_for(env.action_space, 12)
    env.reset(seed=8)
    play(env, actions[:5])
    copy = pickle.loads(pickle.dumps(env))
    assert same(play(env, actions[5:]), play(copy, actions[5:]))


def test_the_spec_survives_json(case):
    env = make(case, max_episode_steps=9)
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec.kwargs == env.spec.kwargs
    copy = gym.make(spec)
    actions = actions_for(env.action_space, 9)
    env.reset(seed=9), copy.reset(seed=9)
    ours, theirs = play(env, actions), play(copy, actions)
    assert same(ours, theirs)
    assert ours[-1][3] is True


def test_worlds_side_by_side_equal_single_ones(any_case):
    """Through several episodes, each of which ends and begins by itself."""
    ours, theirs = (
        vector(any_case, mode, max_episode_steps=7) for mode in ("vector_entry_point", "sync")
    )
    assert same(ours.reset(seed=10), theirs.reset(seed=10))
    for action in actions_for(ours.action_space, 2 * PAST_A_BLOCK):
        assert same(ours.step(action), theirs.step(action))
    assert same(ours.reset(), theirs.reset())
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]


def test_worlds_that_begin_anew_in_the_same_step_equal_single_ones(any_case):
    mode = AutoresetMode.SAME_STEP
    ours = vector(any_case, "vector_entry_point", max_episode_steps=3, autoreset_mode=mode)
    theirs = vector(any_case, "sync", max_episode_steps=3, vector_kwargs={"autoreset_mode": mode})
    assert same(ours.reset(seed=10), theirs.reset(seed=10))
    mask = np.array([True, False, True])
    for t, action in enumerate(actions_for(ours.action_space, 20)):
        assert same(ours.step(action), theirs.step(action))
        if t == 7:  # from here on the episodes end at different times
            options = {"reset_mask": mask}
            assert same(ours.reset(options=dict(options)), theirs.reset(options=dict(options)))


def test_partial_resets_equal_single_ones(any_case):
    # After three steps all episodes are over when some worlds are reset; later only some are.
    ours, theirs = (
        vector(any_case, mode, max_episode_steps=3) for mode in ("vector_entry_point", "sync")
    )
    ours.reset(seed=[3, 1, 4]), theirs.reset(seed=[3, 1, 4])
    rng = np.random.default_rng(0)
    for t, action in enumerate(actions_for(ours.action_space, 60)):
        assert same(ours.step(action), theirs.step(action))
        if t % 5 == 2:
            mask = rng.random(3) < 0.5
            mask[t % 3] = True
            seed = [t, t + 1, None] if t % 2 else None
            got = ours.reset(seed=seed, options={"reset_mask": mask.copy()})
            assert same(got, theirs.reset(seed=seed, options={"reset_mask": mask.copy()}))


def test_side_by_side_snapshots_resume_in_mid_block(any_case):
    env = vector(any_case, "vector_entry_point", max_episode_steps=7)
    actions = actions_for(env.action_space, PAST_A_BLOCK)
    env.reset(seed=11)
    play(env, actions[:10])
    kept = env.unwrapped.snapshot()
    state = pickle.dumps(kept)
    rest = [*play(env, actions[10:]), env.reset()]
    assert same(kept, pickle.loads(state))
    other = vector(any_case, "vector_entry_point", max_episode_steps=7)
    other.unwrapped.restore(pickle.loads(state))
    assert same(rest, [*play(other, actions[10:]), other.reset()])
    copy = pickle.loads(pickle.dumps(other))
    assert same(play(other, actions), play(copy, actions))


def plain(case):
    name, kwargs = case
    return name, {key: value for key, value in kwargs.items() if key != "selective"}


def test_observing_everything_is_the_plain_environment(selective):
    ours, theirs = make(selective), make(plain(selective))
    first, same_first = ours.reset(seed=12)[0], theirs.reset(seed=12)[0]
    assert not first.pop("observed").any()
    assert same(first, same_first)
    for action in actions_for(theirs.action_space, 20):
        observation, *rest = ours.step((action, np.ones(3, bool)))
        assert observation.pop("observed").all()
        wanted, *theirs_rest = theirs.step(action)
        assert same(observation, wanted)
        assert same(rest, theirs_rest)


def test_what_is_skipped_returns_nothing_counts_and_leaves_the_world_alone(selective):
    ours, theirs = make(selective), make(plain(selective))
    ours.reset(seed=13), theirs.reset(seed=13)
    rng, total = np.random.default_rng(0), 0.0
    for action in actions_for(theirs.action_space, 20):
        mask = rng.random(3) < 0.5
        got, reward, _, _, info = ours.step((action, mask.astype(int)))
        full, *_, full_info = theirs.step(action)
        assert got in ours.observation_space
        assert np.array_equal(got["observed"], mask)
        assert not got["rewards"][~mask].any()
        # Values of fewer points may be rounded otherwise.
        np.testing.assert_allclose(got["rewards"][mask], full["rewards"][mask], atol=1e-9)
        np.testing.assert_allclose(
            info["noiseless_rewards"], full_info["noiseless_rewards"], atol=1e-9
        )
        assert info["optimum"] == full_info["optimum"]
        assert reward == np.add.reduce(got["rewards"])
        total += info["regret"].sum()
        assert info["cumulative_regret"] == pytest.approx(total, rel=1e-12)


def test_skipped_actions_may_go_unevaluated(selective):
    case = selective[0], {**selective[1], "evaluate_skipped": False}
    env, known = make(case), make(selective)
    worlds = vector(case, "vector_entry_point", num_envs=1)
    env.reset(seed=14), known.reset(seed=14), worlds.reset(seed=14)
    simple = np.inf
    for t, action in enumerate(actions_for(known.action_space, 9)):
        observed = np.array([t > 1, t % 2 == 0, t == 4])
        both = action[0], observed
        info, full = env.step(both)[-1], known.step(both)[-1]
        assert np.array_equal(np.isnan(info["noiseless_rewards"]), ~observed)
        assert same(info["regret"][observed], full["regret"][observed])
        simple = min([simple, *full["regret"][observed].tolist()])
        assert info["simple_regret"] == simple
        assert np.isnan(info["cumulative_regret"])
        many = worlds.step((action[0][None], observed[None]))[-1]
        np.testing.assert_array_equal(info["regret"], many["regret"][0])  # NaN equals NaN
        assert many["simple_regret"][0] == simple


@pytest.mark.parametrize("mask", [None, [1, 0], [1, 0, 2], [0.0, 1.0, 1.0], [[1, 0, 1]], "101"])
def test_a_bad_mask_is_refused_and_nothing_changes(selective, mask):
    for env in (make(selective).unwrapped, vector(selective, "vector_entry_point").unwrapped):
        env.reset(seed=15)
        actions, _ = env.action_space.sample()
        before = env.snapshot()
        for bad in ((actions, mask), actions, (actions,), None):
            with pytest.raises(InvalidInput):
                env.step(bad)
        assert same(env.snapshot(), before)


def test_late_rewards_are_those_of_the_plain_environment(delayed):
    """They arrive when the info says so, in the slot of their round; the regret does not wait."""
    name, kwargs = delayed
    ours, theirs = make(delayed), make((name, {k: v for k, v in kwargs.items() if k != "delay"}))
    ours.reset(seed=16), theirs.reset(seed=16)
    due, m, lost = {}, 2, 0
    for t, action in enumerate(actions_for(ours.action_space, 40)):
        got, reward, _, _, info = ours.step(action)
        full, *_, full_info = theirs.step(action)
        delays = info.pop("delays")
        assert same(info, full_info)
        assert np.isin(delays, [-1, 0, 1, 2, 3]).all()
        for i, delay in enumerate(delays.tolist()):
            lost += delay < 0
            if delay >= 0:
                due.setdefault(t + delay, {})[delay * m + i] = action[i], full["rewards"][i]
        expected = due.get(t, {})
        assert np.flatnonzero(got["arrived"]).tolist() == sorted(expected)
        for slot, (played, value) in expected.items():
            assert np.array_equal(got["actions"][slot], played)
            assert got["rewards"][slot] == value
        assert not got["rewards"][got["arrived"] == 0].any()
        assert reward == np.add.reduce(got["rewards"])
    assert 0 < lost < 40


def damaged(state):
    """The snapshot of a single environment in round 3 with one thing wrong, as often as can be."""
    cumulative, simple = state["regret"]
    for regret in (
        (-5.0, simple),
        (np.nan, simple),
        (cumulative, np.nan),
        (0.0, 1.0),
        (1e300, 0.0),
    ):
        yield {**state, "regret": regret}
    yield {**state, "round": state["round"] + 1}
    yield {**state, "round": 0}
    ahead = state["noise"]["ahead"]
    for other in (ahead[:, 1:], ahead[:, :0], ahead * np.nan):
        yield {**state, "noise": {**state["noise"], "ahead": other}}
    path = state["episode"]["path"]
    for key, value in path.items():
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
            for other in (value * np.nan, value[:-1], np.append(value, 0.0)):
                yield {**state, "episode": {**state["episode"], "path": {**path, key: other}}}
        elif isinstance(value, int):
            for other in (-1, 1.5, 10**9):
                yield {**state, "episode": {**state["episode"], "path": {**path, key: other}}}
        elif key == "memory":
            for other in (tuple(v * np.nan for v in value), tuple(v[:-1] for v in value), ()):
                yield {**state, "episode": {**state["episode"], "path": {**path, key: other}}}


def test_a_snapshot_with_something_wrong_is_refused_and_nothing_changes(case):
    env = make(case).unwrapped
    env.reset(seed=3)
    play(env, actions_for(env.action_space, 3))
    before = env.snapshot()
    for state in damaged(before):
        with pytest.raises(InvalidInput):
            env.restore(state)
        assert same(env.snapshot(), before)
    env.restore(before)


def test_stepping_before_the_first_reset_is_refused(case):
    for env in (make(case).unwrapped, vector(case, "vector_entry_point").unwrapped):
        with pytest.raises(NotReset, match="reset"):
            env.step(env.action_space.sample())
        with pytest.raises(NotReset, match="reset"):
            env.snapshot()


def test_unknown_arguments_and_options_are_refused(case):
    with pytest.raises(UnknownName, match="did you mean 'batch_size'"):
        make(case, bach_size=2)
    env = make(case)
    env.reset(seed=0)
    with pytest.raises(UnknownName, match="reset option named 'colour'"):
        env.reset(options={"colour": "red"})
    with pytest.raises((InvalidInput, ValueError)):
        make(case, noise_var=-1.0)
    with pytest.raises(InvalidInput, match="batch_size"):
        make(case, batch_size=0)


BAD_CELLS = st.sampled_from([np.nan, np.inf, -1, 10**6, 0.5, "a", None, True, 2**63, -(2**40)])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_bad_action_is_refused_and_nothing_changes(data):
    env = data.draw(st.sampled_from(_ENVIRONMENTS))
    good = env.action_space.sample()
    bad = np.asarray(good).astype(object)
    how = data.draw(st.sampled_from(["cell", "long", "short", "flat", "deep", "nothing"]))
    if how == "cell":
        index = tuple(data.draw(st.integers(0, n - 1)) for n in bad.shape)
        bad[index] = data.draw(BAD_CELLS)
        bad = bad.tolist()
    else:
        bad = {
            "long": np.concatenate([good, good]),
            "short": good[:0],
            "flat": good.ravel()[0],
            "deep": good[None],
            "nothing": None,
        }[how]
    before = env.snapshot()
    try:
        env.step(bad)
    except InvalidInput:
        assert same(env.snapshot(), before)
    else:
        # What was taken must have been a proper action, e.g. 0.5 in a box.
        restored = np.asarray(bad)
        assert restored in env.action_space or restored.astype(float) in env.action_space


def _environments():
    for case in CASES:
        env = make(case).unwrapped
        env.reset(seed=0)
        yield env
        env = vector(case, "vector_entry_point").unwrapped
        env.reset(seed=0)
        yield env


_ENVIRONMENTS = list(_environments())
