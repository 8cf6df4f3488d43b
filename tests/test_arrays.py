"""The checks at the public edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbandits_env.arrays import (
    SMALLEST,
    descending,
    finite_array,
    frozen,
    leading,
    numbers,
    positive,
    share,
    whole,
)
from gpbandits_env.errors import InvalidInput


@given(st.lists(st.floats(-1e150, 1e150), max_size=20))
def test_finite_array_keeps_the_numbers(values):
    array = finite_array(values, "x", ndim=1)
    assert array.dtype == np.float64
    assert array.tolist() == values


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9),
    st.integers(0, 8),
    st.sampled_from([np.nan, np.inf, -np.inf]),
)
def test_finite_array_refuses_one_bad_number_anywhere(values, at, bad):
    values[at % len(values)] = bad
    with pytest.raises(InvalidInput, match="rewards must be finite"):
        finite_array(values, "rewards")


@pytest.mark.parametrize("large", [1.1e150, -1e308, 10**200])
def test_numbers_whose_squares_are_none_are_refused(large):
    for check in (finite_array, positive):
        with pytest.raises(InvalidInput, match="v must be"):
            check(large, "v")


@pytest.mark.parametrize(
    "bad", ["abc", [[1.0], [1.0, 2.0]], {"a": 1}, [None, "x"], [None, "1"], object()]
)
def test_finite_array_refuses_what_is_not_numbers(bad):
    with pytest.raises(InvalidInput, match="x must"):
        finite_array(bad, "x")


@pytest.mark.parametrize(("value", "ndim"), [(1.0, 1), ([1.0], 2), ([[1.0]], 1)])
def test_finite_array_checks_the_dimension(value, ndim):
    with pytest.raises(InvalidInput, match=rf"x must have {ndim} dimension"):
        finite_array(value, "x", ndim=ndim)


def test_frozen_marks_read_only():
    array = frozen(np.zeros(2))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1.0


@given(st.floats(min_value=1e-300, max_value=1e150))
def test_positive_keeps_the_number(value):
    assert positive(value, "v") == value


def test_positive_takes_other_numbers():
    assert positive(np.float32(0.5), "v") == 0.5
    assert type(positive(np.int64(2), "v")) is float
    assert positive(0, "v", zero=True) == 0.0


@pytest.mark.parametrize(
    "bad",
    [
        *(0, -1e-300, np.nan, np.inf, -np.inf, "x", None, [1.0, 2.0], 1j),
        *("0.1", True, np.True_, 10**400, b"1", np.datetime64("2020-01-01")),
    ],
)
def test_positive_refuses(bad):
    with pytest.raises(InvalidInput, match="noise_var must be"):
        positive(bad, "noise_var")


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_at_least_zero_refuses(bad):
    with pytest.raises(InvalidInput, match="at least 0"):
        positive(bad, "noise_var", zero=True)


@given(st.integers(1, 10**15))
def test_whole_keeps_the_number(value):
    assert whole(value, "horizon") == value
    assert type(whole(np.int64(value), "horizon")) is int


@pytest.mark.parametrize("bad", [0, -3, 1.0, True, "2", None, np.nan, np.True_, 10**18])
def test_whole_refuses(bad):
    with pytest.raises(InvalidInput, match="horizon must be"):
        whole(bad, "horizon")
    assert whole(0, "horizon", minimum=0) == 0


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.25, 1.0, np.float32(0.5), np.int64(1)])
def test_share_keeps_numbers_from_zero_to_one(value):
    found = share(value, "epsilon")
    assert type(found) is float
    assert found == value


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, np.inf, True, "0.5", None, [0.5]])
def test_share_refuses(bad):
    with pytest.raises(InvalidInput, match=r"^epsilon must .*\[0, 1\], got"):
        share(bad, "epsilon")


def test_masked_items_are_no_data():
    table = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert np.array_equal(numbers(table, "x"), [[1.0, np.nan], [3.0, 4.0]], equal_nan=True)
    with pytest.raises(InvalidInput, match="must be finite"):
        finite_array(table, "x")
    assert finite_array(np.ma.array([1.0]), "x", 1).tolist() == [1.0]


def test_ties_go_to_the_first_index():
    values = np.array([[0.5, 1.0 - 1e-12, 1.0, 1.0 + 1e-12], [3.0, 1.0, 3.0 + 1e-11, -np.inf]])
    assert leading(values).tolist() == [1, 0]
    assert leading(values[0]) == 1
    assert descending(values).tolist() == [[1, 2, 3, 0], [0, 2, 1, 3]]
    assert descending(values[0]).tolist() == [1, 2, 3, 0]


def test_differences_above_the_tolerance_are_no_ties():
    values = np.array([0.0, 2.0, 2.0 + 1e-8, -np.inf])
    assert leading(values) == 2
    assert descending(values).tolist() == [2, 1, 0, 3]
    assert leading(values, 100.0) == 1
    assert descending(values, 100.0).tolist() == [1, 2, 0, 3]


def test_the_order_of_no_values_and_of_values_without_a_size():
    assert descending(np.empty(0)).tolist() == []
    assert leading(np.zeros(4)) == 0
    assert descending(np.array([-1e-200, 0.0, -5.0])).tolist() == [0, 1, 2]
    assert leading(np.full(3, -np.inf)) == 0
    tiny = np.array([-1.2e-308, 0.0])
    assert leading(tiny) == descending(tiny)[0] == 0


@pytest.mark.parametrize("most", [0, 1, 7, 24, 60, 100, 200])
def test_the_first_ones_of_many_are_those_of_all(most):
    rng = np.random.default_rng(most)
    values = np.round(rng.standard_normal((3, 100)), 1) + 1e-13 * rng.standard_normal((3, 100))
    values[1, ::2] = -np.inf
    every = descending(values)
    np.testing.assert_array_equal(descending(values, most=most), every[:, :most])
    np.testing.assert_array_equal(descending(values[0], most=most), every[0, :most])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_the_leading_value_is_the_first_in_descending_order(values):
    values = np.array(values)
    gap = max(1e-9 * np.abs(values).max(), SMALLEST)
    assert values[descending(values)[0]] >= values.max() - gap
    assert leading(values) == descending(values)[0]
