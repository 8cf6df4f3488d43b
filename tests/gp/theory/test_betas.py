"""The confidence widths against the formulas, written anew."""

from math import log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory import beta_continuous, beta_finite, beta_rkhs

ROUNDS = st.integers(1, 10**7)
DELTAS = st.floats(1e-6, 0.999)


@given(t=ROUNDS, arms=st.integers(1, 10**6), delta=DELTAS)
def test_theorem_1(t, arms, delta):
    expected = 2 * (log(arms) + 2 * log(t) + 2 * log(pi) - log(6) - log(delta))
    assert beta_finite(t, arms, delta) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_theorem_1_at_the_papers_setting():
    assert beta_finite(1, 1000, 0.1) == pytest.approx(2 * log(1000 * pi**2 / 0.6))


@given(
    t=ROUNDS,
    d=st.integers(1, 20),
    delta=DELTAS,
    a=st.floats(1, 9),
    b=st.floats(1, 9),
    r=st.floats(1, 9),
)
def test_theorem_2(t, d, delta, a, b, r):
    cells = t**2 * d * b * r * sqrt(log(4 * d * a / delta))
    expected = 2 * log(t**2 * 2 * pi**2 / (3 * delta)) + 2 * d * log(cells)
    assert beta_continuous(t, d, delta, a, b, r) == pytest.approx(expected, rel=1e-12)


def test_theorem_2_has_at_least_one_cell():
    expected = 2 * log(2 * pi**2 / 0.3)
    assert beta_continuous(1, 1, 0.1, r=1e-6) == pytest.approx(expected)


@given(t=ROUNDS, gamma=st.floats(0, 1e4), delta=DELTAS, norm=st.floats(0, 1e3))
def test_theorem_3(t, gamma, delta, norm):
    expected = 2 * norm + 300 * gamma * log(t / delta) ** 3
    assert beta_rkhs(t, gamma, delta, norm) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "beta",
    [
        lambda t: beta_finite(t, 50, 0.1),
        lambda t: beta_continuous(t, 3, 0.05, 1.0, 2.0, 3.0),
        lambda t: beta_rkhs(t, 1.5, 0.1, 2.0),
    ],
)
def test_vectorised_over_rounds_and_growing(beta):
    t = np.arange(1, 200)
    curve = beta(t)
    assert curve.shape == t.shape
    assert (np.diff(curve) > 0).all()
    np.testing.assert_allclose(curve, [beta(int(one)) for one in t], rtol=1e-14)
    assert beta(t.reshape(1, -1)).shape == (1, 199)


def test_theorem_3_takes_a_gain_per_round():
    t, gamma = np.array([1, 2, 3]), np.array([0.5, 0.7, 0.8])
    expected = [beta_rkhs(a, g, 0.1, 1.0) for a, g in zip(t, gamma, strict=True)]
    np.testing.assert_allclose(beta_rkhs(t, gamma, 0.1, 1.0), expected, rtol=1e-14)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_delta_is_a_probability(delta):
    for beta in (
        lambda: beta_finite(1, 10, delta),
        lambda: beta_continuous(1, 1, delta),
        lambda: beta_rkhs(1, 1.0, delta, 1.0),
    ):
        with pytest.raises(InvalidInput, match="delta"):
            beta()


@pytest.mark.parametrize("t", [0, -1, [1, 2, 0], float("nan")])
def test_rounds_count_from_one(t):
    with pytest.raises(InvalidInput, match="count from 1"):
        beta_finite(t, 10, 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: beta_finite(1, 0, 0.1),
        lambda: beta_finite(1, 2.5, 0.1),
        lambda: beta_continuous(1, 0, 0.1),
        lambda: beta_continuous(1, 1, 0.1, a=0.02),
        lambda: beta_continuous(1, 1, 0.1, b=-1.0),
        lambda: beta_continuous(1, 1, 0.1, r=0.0),
        lambda: beta_rkhs(1, -1.0, 0.1, 1.0),
        lambda: beta_rkhs(1, 1.0, 0.1, -1.0),
    ],
)
def test_numbers_out_of_range_are_refused(call):
    with pytest.raises(InvalidInput):
        call()
