"""Every registered environment can be stopped, copied and carried on."""

import pickle

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput


def test_a_snapshot_resumes_the_very_run(make, actions_for, play, same, past_a_block, any_case):
    """Also one after the reset, and one of the first round; here and in another environment."""
    env, other = make(any_case).unwrapped, make(any_case).unwrapped
    actions = actions_for(env.action_space, past_a_block)
    steps, kept = [env.reset(seed=6)], {}
    for t, action in enumerate(actions):
        if t in (0, 1, 7):
            state = env.snapshot()
            kept[t] = state, pickle.dumps(state)
        steps += play(env, [action])
    after = [env.reset(), *play(env, actions[:5])]
    for t, each in ((0, env), (1, other), (7, env), (7, other)):
        each.restore(pickle.loads(kept[t][1]))
        assert each.np_random_seed == 6
        assert same(steps[t + 1 :], play(each, actions[t:]))
        assert same(after, [each.reset(), *play(each, actions[:5])])
    assert all(same(state, pickle.loads(pickled)) for state, pickled in kept.values())


def test_a_pickled_environment_goes_on(make, actions_for, play, same, case):
    env = make(case)
    actions = actions_for(env.action_space, 12)
    env.reset(seed=8)
    play(env, actions[:5])
    copy = pickle.loads(pickle.dumps(env))
    assert same(play(env, actions[5:]), play(copy, actions[5:]))


def test_side_by_side_snapshots_resume_in_mid_block(
    vector, actions_for, play, same, past_a_block, any_case
):
    def make():
        return vector(any_case, "vector_entry_point", max_episode_steps=past_a_block - 2)

    env, other = make(), make()
    actions = actions_for(env.action_space, past_a_block)
    env.reset(seed=11)
    play(env, actions[:10])
    kept = env.unwrapped.snapshot()
    state = pickle.dumps(kept)
    rest = [*play(env, actions[10:]), env.reset()]
    assert same(kept, pickle.loads(state))
    other.unwrapped.restore(pickle.loads(state))
    assert same(rest, [*play(other, actions[10:]), other.reset()])
    copy = pickle.loads(pickle.dumps(other))
    assert same(play(other, actions[:5]), play(copy, actions[:5]))


def damaged(state):
    """The snapshot of a single environment with one thing wrong, as often as can be."""
    yield {**state, "round": -1}
    yield {key: value for key, value in state.items() if key != "regret"}
    yield {**state, "noise": {**state["noise"], "ahead": state["noise"]["ahead"][:, :, 1:]}}
    path = state["episode"]["path"]
    for key, value in path.items():
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
            for other in (value * np.nan, value[:-1], np.append(value, 0.0)):
                yield {**state, "episode": {**state["episode"], "path": {**path, key: other}}}
        elif isinstance(value, int):
            for other in (-1, 1.5, *([] if key == "round" else [10**9])):
                yield {**state, "episode": {**state["episode"], "path": {**path, key: other}}}
        elif key == "memory":
            for other in (tuple(v * np.nan for v in value), tuple(v[:-1] for v in value), ()):
                yield {**state, "episode": {**state["episode"], "path": {**path, key: other}}}


def test_a_snapshot_with_something_wrong_is_refused_and_nothing_changes(
    make, actions_for, play, same, case
):
    env = make(case).unwrapped
    env.reset(seed=3)
    play(env, actions_for(env.action_space, 3))
    before = env.snapshot()
    for state in damaged(before):
        with pytest.raises(InvalidInput):
            env.restore(state)
        assert same(env.snapshot(), before)
    env.restore(before)
