"""The observations of an agent as columns, in order of arrival."""

import pickle

import numpy as np
import pytest

from gpbandits_env.agents.data.columns import FIRST_ROWS, Data
from gpbandits_env.domains import Arms, Box

EVERY = slice(None)


def filled(arrivals, *, noise=()):
    """Arms 0, 1, ... that arrive with these (count, round), at the time round - 1."""
    data = Data(Arms.grid(2000))
    for i, (count, round_) in enumerate(arrivals):
        points = np.arange(data.size, data.size + count)
        own = np.full(count, noise[i]) if i < len(noise) and noise[i] is not None else None
        data.add(points, 0.5 * points, round_, round_ - 1.0, own)
    return data


@pytest.mark.parametrize(
    "counts", [[1] * 70, [3] * 50, [60, 200, 1], [1] * (5 * FIRST_ROWS + 2), [2, 0, 1]]
)
def test_rows_are_in_order_of_arrival_however_many(counts):
    data = filled([(count, t + 1.0) for t, count in enumerate(counts)])
    rows, rounds = np.arange(sum(counts)), np.repeat(np.arange(len(counts)) + 1.0, counts)
    assert data.size == len(rows)
    assert list(data.ends) == np.cumsum([count for count in counts if count]).tolist()
    np.testing.assert_array_equal(data.points, rows)
    np.testing.assert_array_equal(data.rewards, 0.5 * rows)
    np.testing.assert_array_equal(data.rounds, rounds)
    np.testing.assert_array_equal(data.times, rounds - 1.0)
    assert data.noise_of(EVERY) is None


@pytest.mark.parametrize(
    ("domain", "point"), [(Arms.grid(9), [0]), (Box([0.0] * 3, [1.0] * 3), [[0.5, 0.5, 0.5]])]
)
def test_a_round_takes_eight_bytes_per_number(domain, point):
    """The point, four numbers, and where the round ends; docs/limits.md says 48 bytes on arms."""
    data, sizes = Data(domain), []
    for t in range(1, 32 * FIRST_ROWS + 1):
        data.add(np.array(point), np.ones(1), float(t), t - 1.0)
        if t in (16 * FIRST_ROWS, 32 * FIRST_ROWS):  # all space is used
            sizes.append(len(pickle.dumps(data)))
    expected = 8 * (np.size(point) + 4 + 1)
    assert np.diff(sizes).item() / (16 * FIRST_ROWS) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_added_is_copied(count):
    data = Data(Box([0.0], [1.0]))
    given = np.full((count, 1), 0.5), np.ones(count), np.full(count, 0.1)
    data.add(*given[:2], 1.0, 0.0, given[2])
    for array in given:
        array[:] = 9.0
    assert (data.points == 0.5).all()
    assert (data.rewards == 1.0).all()
    assert (data.noise_of(EVERY) == 0.1).all()


def test_rows_of_one_round_arrive_together():
    data = filled([(2, 1.0)])
    points, rounds = np.arange(5), np.array([3.0, 0.0, 3.0, -1.5, 0.0])
    data.add(points, 0.5 * points, rounds, rounds - 1.0, 0.1 * points)
    assert list(data.ends) == [2, 3, 5, 7]
    np.testing.assert_array_equal(data.points[2:], [3, 1, 4, 0, 2])
    np.testing.assert_array_equal(data.rewards[2:], 0.5 * data.points[2:])
    np.testing.assert_array_equal(data.rounds[2:], [-1.5, 0.0, 0.0, 3.0, 3.0])
    np.testing.assert_array_equal(data.times, data.rounds - 1.0)
    np.testing.assert_array_equal(data.noise_of(EVERY)[2:], 0.1 * data.points[2:])


def test_the_noise_of_rows_is_nan_where_it_is_unknown():
    data = filled([(1, 1.0), (2, 2.0), (70, 3.0), (1, 4.0)], noise=[None, 0.1, None, 0.2])
    want = np.array([np.nan, 0.1, 0.1, *[np.nan] * 70, 0.2])
    np.testing.assert_array_equal(data.noise_of(EVERY), want)
    np.testing.assert_array_equal(data.noise_of(slice(0, 2)), want[:2])
    assert data.noise_of(slice(3, 73)) is None
    edits = data.edits
    data.restate(np.array([0.3, np.nan]))
    assert data.edits == edits + 1
    np.testing.assert_array_equal(data.noise_of(EVERY), [0.3, np.nan, *want[2:]])


@pytest.mark.parametrize("noise", [(), (None, 0.1)])
def test_a_snapshot_has_all_that_was_added(noise):
    data = filled([(1, 2.0), (2, 1.5), (90, 3.0)], noise=noise)
    state = data.state()
    own = np.full(93, np.nan)
    own[1:3] = 0.1
    np.testing.assert_array_equal(state["noise_var"], own if noise else None)
    kept, other = pickle.loads(pickle.dumps(state)), filled([(4, 7.0)], noise=[0.9])
    other.restore(state)
    for column in (state[name] for name in ("points", "rewards", "rounds", "times")):
        column[:] = 0
    state["ends"].clear()
    for ours in (data, other, pickle.loads(pickle.dumps(other))):
        again = ours.state()
        assert again.keys() == kept.keys()
        for name, column in kept.items():
            np.testing.assert_array_equal(again[name], column)


def test_what_was_cleared_leaves_no_trace():
    data = filled([(1, 2.0), (1, 1.0)], noise=[0.1, 0.1])
    edits = data.edits
    data.clear()
    assert data.edits == edits + 1
    data.add(np.array([3, 4]), np.ones(2), 1.0, 0.0)
    assert (data.size, list(data.ends)) == (2, [2])
    assert data.noise_of(EVERY) is None
