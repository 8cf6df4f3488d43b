"""What every registered environment refuses, unchanged."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpbandits_env.errors import InvalidInput, NotReset, UnknownName


def test_stepping_before_the_first_reset_is_refused(make, vector, case):
    for env in (make(case).unwrapped, vector(case, "vector_entry_point").unwrapped):
        with pytest.raises(NotReset, match="reset"):
            env.step(env.action_space.sample())


def test_unknown_arguments_and_options_are_refused(make, case):
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


@settings(max_examples=60)
@given(data=st.data())
def test_a_bad_action_is_refused_and_nothing_changes(environments, data):
    env = data.draw(st.sampled_from(environments))
    good = np.atleast_1d(env.action_space.sample())  # one arm may be an array of one too
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
    before = pickle.dumps(env)
    try:
        env.step(bad)
    except InvalidInput:
        assert pickle.dumps(env) == before
    else:
        # What was taken must have been a proper action, e.g. 0.5 in a box.
        restored = np.asarray(bad).reshape(env.action_space.shape)
        assert restored in env.action_space or restored.astype(float) in env.action_space
