"""Streams depend on their name alone."""

import pickle
import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpbandits_env.seeding import Streams, child, seed_for, stream

KEYS = st.lists(st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=8)), max_size=4)


def test_the_seed_is_fixed_for_ever():
    """Stored results name their seeds: this number may not change."""
    assert seed_for("srinivas2010/se-1d", "world", 3) == 232792587397602178607798925706555773348


@given(KEYS, KEYS)
@settings(max_examples=30)
def test_different_keys_give_different_seeds(a, b):
    assert (seed_for(*a) == seed_for(*b)) == (a == b)


def test_keys_are_told_apart_by_type_and_place():
    keys = [("a", 1), ("a", "1"), ("a1",), (1, "a"), ("a", 1, ""), ('a",1',), ()]
    assert len({seed_for(*key) for key in keys}) == len(keys)


def test_same_stream_in_another_process():
    code = "from gpbandits_env.seeding import stream; print(stream('x', 7).integers(2**60))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(out.stdout) == stream("x", 7).integers(2**60)


def test_streams_of_a_generator_depend_on_their_name_and_four_draws():
    rng, again, other = (np.random.default_rng(seed) for seed in (1, 1, 2))
    streams, same, others = Streams(rng), Streams(again), Streams(other)
    again = np.random.default_rng(1)
    again.integers(0, 2**63, size=4)
    assert rng.random() == again.random()
    drawn = [s.at(*name).random() for s in (streams, others) for name in ((), (3,), (3, 0), (4,))]
    assert len(set(drawn)) == len(drawn)
    assert streams.at(3, 0).random() == same.at(3, 0).random()


def test_streams_are_uncorrelated():
    a, b = stream("world", 0).normal(size=4000), stream("world", 1).normal(size=4000)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.08


def test_a_child_is_a_function_of_the_parents_state():
    parent = stream("parent")
    saved = pickle.dumps(parent)
    first = child(parent).normal(size=5)
    again = child(pickle.loads(saved)).normal(size=5)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, child(parent).normal(size=5))
    np.testing.assert_array_equal(parent.normal(size=3), _after_two_children(saved))


def test_a_child_is_seeded_by_four_draws():
    """Stored results depend on how: this may not change."""
    draws = [int(np.random.default_rng(0).integers(0, 2**63, size=4)[i]) for i in range(4)]
    expected = np.random.default_rng(draws).normal(size=3)
    np.testing.assert_array_equal(child(np.random.default_rng(0)).normal(size=3), expected)


def _after_two_children(saved):
    parent = pickle.loads(saved)
    child(parent), child(parent)
    return parent.normal(size=3)
