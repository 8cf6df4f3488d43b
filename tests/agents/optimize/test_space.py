"""Spaces: what makes one, what does not, and that a user's values stay as they are."""

import numpy as np
import pytest
from scipy.optimize import Bounds

from gpbandits_env.agents.optimize import Choice, Integer, Real, Space
from gpbandits_env.errors import InvalidInput, UnknownName


@pytest.mark.parametrize(
    "wrong",
    [
        ("a", "b"), ("0", "1"), (None, 1), (0, 1j), (True, 2), (0, np.bool_(True)), b"ab",
        ([0], [1]), np.array(3), (0, np.inf), (0, 1, 2), 5, {0, 1},
    ],
    ids=repr,
)  # fmt: skip
def test_ends_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(InvalidInput, match=r"dimension 'x1'.*(Choice|finite)"):
        Space([(0, 1), wrong])


def test_ends_that_are_no_list_of_pairs_are_refused_with_the_cure():
    with pytest.raises(InvalidInput, match=r"one dimension is \[\(low, high\)\]"):
        Space((0.0, 1.0))


@pytest.mark.parametrize("wrong", [("0", 1), (0, True), (0, None), (0, 1j)])
def test_a_real_dimension_has_numbers_as_its_ends(wrong):
    with pytest.raises(InvalidInput, match="must be a number"):
        Real(*wrong)


@pytest.mark.parametrize("wrong", ["0.5", True, None, [0.5], 0.5j])
def test_a_real_value_is_a_number(wrong):
    with pytest.raises(InvalidInput, match=r"'x'.*must be a number"):
        Space({"x": (0, 1)}).check({"x": wrong})


def test_bounds_of_scipy_are_a_space():
    assert list(Space(Bounds([0, -5], [1, 10])).dimensions.values()) == [Real(0, 1), Real(-5, 10)]
    assert list(Space(Bounds(-1, [1, 2])).dimensions.values()) == [Real(-1, 1), Real(-1, 2)]
    with pytest.raises(InvalidInput, match="finite"):
        Space(Bounds([0, -np.inf], [1, 1]))


def test_values_are_kept_to_the_bit_and_in_the_spaces_order():
    space = Space({"x": (-3.3, 7.7), "rate": Real(1e-5, 1, log=True), "n": Integer(0, 10**6),
                   "kind": Choice((1, 1.0, "a"))})  # fmt: skip
    given = {"kind": 1.0, "n": np.int64(777), "rate": 0.0123, "x": np.float32(1.1)}
    kept = space.check(given)
    single = Space([Real(np.float32(0), np.float32(1))])
    assert type(single.decode(np.array([0.3]))["x0"]) is float
    assert list(kept) == list(space.dimensions)
    assert kept == {"x": float(np.float32(1.1)), "rate": 0.0123, "n": 777, "kind": 1.0}
    assert [type(value) for value in kept.values()] == [float, float, int, float]
    assert space.params(space.action({**given, "x": 1.1}))["x"] != 1.1  # the way there and back


def test_a_cube_knows_its_points_that_stand_for_values():
    space = Space({"x": (0, 1), "n": Integer(1, 9000), "kind": Choice(("a", "b", "c"))})
    points = np.random.default_rng(0).random((20, space.dim))
    snapped = space.cube.snap(points)
    assert np.array_equal(space.cube.free, [1.0, 0.0, 0.0, 0.0, 0.0])
    assert np.array_equal(snapped[:, 0], points[:, 0])
    assert np.array_equal(space.cube.snap(snapped), snapped)
    for point, moved in zip(points, snapped, strict=True):
        assert space.decode(moved) == space.decode(point)
        assert space.encode(space.decode(moved)) == pytest.approx(moved, abs=1e-15)
    assert Space([(0, 1), (2, 3)]).cube.free is None


def test_options_that_are_equal_and_of_other_types_are_exchanged():
    assert list(map(repr, Choice((1, 1.0, True)).others(1.0))) == ["1", "True"]
    space = Space({"x": (0, 1), "kind": Choice((False, 0))})
    assert space.cube.exchanges(np.array([0.5, 0.0])).tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize(
    "wrong",
    [(1, 0), {"type": "real", "low": 1, "high": 0}, {"type": "reel"}, {"low": 0}],
)
def test_the_error_names_the_dimension(wrong):
    with pytest.raises((InvalidInput, UnknownName), match="dimension 'rate': "):
        Space({"rate": wrong})


@pytest.mark.parametrize("ends", [(1e10, 1e10 + 1e-5), (10**15 - 1, 10**15)])
def test_ends_with_the_same_logarithm_are_refused(ends):
    kind = Integer if isinstance(ends[0], int) else Real
    with pytest.raises(InvalidInput, match="same logarithm: give log=False"):
        kind(*ends, log=True)
    assert Space({"x": kind(*ends)}).check({"x": ends[1]}) == {"x": ends[1]}


def test_a_dimension_of_one_value_is_refused():
    with pytest.raises(InvalidInput, match="got 1 and 1; leave out a dimension"):
        Integer(1, 1)


@pytest.mark.parametrize(
    ("options", "given", "kept"),
    [
        (np.arange(3), np.int64(1), 1),
        ((8, 16, 32), np.int64(16), 16),
        (np.arange(3), 1, 1),
        ((0.5, 1.5), np.float64(1.5), 1.5),
        (np.array(["u", "v"]), np.str_("v"), "v"),
        (np.array([True, False]), False, False),
        (np.array([[1, 2], [1, 3]]), np.array([1, 3]), [1, 3]),
    ],
    ids=repr,
)
def test_options_of_numpy_are_those_of_python(options, given, kept):
    """A file gives back the types of Python."""
    choice = Choice(options)
    value = choice.check(given)
    assert choice.decode(np.array(choice.encode(value))) == value
    assert (type(value), value) == (type(kept), kept)
    assert {type(option) for option in choice.values()} == {type(kept)}
    with pytest.raises(InvalidInput, match="one of the options"):
        choice.check(np.float32(16.0))
