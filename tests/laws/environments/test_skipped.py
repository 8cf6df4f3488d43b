"""Every registered environment with actions that can be skipped."""

import pickle

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput


def plain(case):
    name, kwargs = case
    return name, {key: value for key, value in kwargs.items() if key != "selective"}


def test_observing_everything_is_the_plain_environment(make, actions_for, same, selective):
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


def test_what_is_skipped_returns_nothing_counts_and_leaves_the_world_alone(
    make, actions_for, selective
):
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


@pytest.mark.parametrize("mask", [None, [1, 0], [1, 0, 2], [0.0, 1.0, 1.0], [[1, 0, 1]], "101"])
def test_a_bad_mask_is_refused_and_nothing_changes(make, vector, selective, mask):
    for env in (make(selective).unwrapped, vector(selective, "vector_entry_point").unwrapped):
        env.reset(seed=15)
        actions, _ = env.action_space.sample()
        before = pickle.dumps(env)
        for bad in ((actions, mask), actions, (actions,), None):
            with pytest.raises(InvalidInput):
                env.step(bad)
        assert pickle.dumps(env) == before
