"""Information gain: closed form, greedy and spectral bounds, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import Empirical, Linear, Matern32, SquaredExponential
from gpbandits_env.gp.theory import (
    greedy_design,
    information_gain,
    information_gain_bound,
    running_information_gain,
    spectral_bound,
    theorem4_bound,
)

PART = 1 - 1 / np.e
SPECTRA = st.lists(st.floats(0, 50), min_size=1, max_size=4)


def gain_of(kernel, points, noise_var):
    scaled = np.eye(len(points)) + kernel(points) / noise_var
    return 0.5 * np.log(np.linalg.eigvalsh(scaled)).sum()


def brute_gamma(kernel, arms, noise_var, horizon):
    """The largest gain over all multisets of T arms."""
    sets = itertools.combinations_with_replacement(range(arms.size), horizon)
    return max(gain_of(kernel, arms.coordinates[list(s)], noise_var) for s in sets)


def compositions(total, parts):
    """All (m_1, ..., m_parts) of whole numbers >= 0 with this total."""
    return (m for m in itertools.product(range(total + 1), repeat=parts) if sum(m) == total)


SMALL = [
    (SquaredExponential(0.3), Arms.grid(6), 0.1),
    (SquaredExponential(0.3, 2.0), Arms.grid((2, 3)), 1.0),
    (Matern32(0.2), Arms(np.random.default_rng(0).uniform(size=(6, 2))), 0.02),
    (Linear(), Arms(np.random.default_rng(1).uniform(-1, 1, (6, 2))), 0.3),
    (Empirical(np.diag([3.0, 2.0, 1.0, 0.5])), Arms(np.arange(4)), 0.5),
]


def test_information_gain_by_eigenvalues():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(20, 8))
    matrix = root @ root.T
    expected = 0.5 * np.log1p(np.linalg.eigvalsh(matrix).clip(0) / 0.3).sum()
    assert information_gain(matrix, 0.3) == pytest.approx(expected, rel=1e-12)
    assert information_gain([[2.0]], 0.5) == pytest.approx(0.5 * np.log(5.0))


@pytest.mark.parametrize(
    ("matrix", "noise_var", "error"),
    [
        ([[1.0, 0.0]], 1.0, InvalidInput),
        ([[np.nan]], 1.0, InvalidInput),
        ([[1.0, 0.5], [0.0, 1.0]], 1.0, InvalidInput),
        ([[1.0]], 0.0, InvalidInput),
        ([[1.0]], -1.0, InvalidInput),
        ([[1.0, 9.0], [9.0, 1.0]], 1.0, NotPositiveDefinite),
    ],
)
def test_information_gain_refuses(matrix, noise_var, error):
    with pytest.raises(error):
        information_gain(matrix, noise_var)


def test_running_sum_is_the_closed_form():
    rng = np.random.default_rng(2)
    points, noise_var = rng.uniform(size=(25, 2)), 0.07
    kernel = Matern32(0.4, 1.7)
    variances = []
    for t in range(25):
        past, here = points[:t], points[t : t + 1]
        cross = kernel(past, here)
        solved = np.linalg.solve(kernel(past) + noise_var * np.eye(t), cross)
        variances.append(1.7 - float((cross * solved).sum()))
    curve = running_information_gain(variances, noise_var)
    expected = [gain_of(kernel, points[: t + 1], noise_var) for t in range(25)]
    assert_allclose(curve, expected, rtol=1e-10)


def test_running_sum_refuses_a_negative_variance():
    with pytest.raises(InvalidInput, match="at least 0"):
        running_information_gain([1.0, -0.1], 1.0)


@pytest.mark.parametrize(("kernel", "arms", "noise_var"), SMALL)
def test_greedy_follows_the_largest_variance(kernel, arms, noise_var):
    read, curve = greedy_design(arms, kernel, noise_var, 15)
    for t in range(15):
        past = arms.coordinates[read[:t]]
        cross = kernel(past, arms.coordinates)
        solved = np.linalg.solve(kernel(past) + noise_var * np.eye(t), cross)
        variance = np.diag(kernel(arms.coordinates)) - (cross * solved).sum(axis=0)
        assert variance[read[t]] == pytest.approx(variance.max(), abs=1e-8)
        expected = gain_of(kernel, arms.coordinates[read[: t + 1]], noise_var)
        assert curve[t] == pytest.approx(expected, rel=1e-8)


def test_greedy_breaks_ties_by_the_lowest_index_and_not_by_rounding():
    """Arms that mirror each other on an interval are tied exactly."""
    arms, kernel, noise_var = Arms.grid(1000, -10.0, 10.0), SquaredExponential(1.0), 1e-3
    read = greedy_design(arms, kernel, noise_var, 40)[0]
    gram = kernel(arms.coordinates)
    for t in range(40):
        cross = gram[read[:t]]
        solved = np.linalg.solve(cross[:, read[:t]] + noise_var * np.eye(t), cross)
        variance = 1.0 - (cross * solved).sum(axis=0)
        assert read[t] == (variance >= variance.max() - 1e-9).argmax()


@pytest.mark.parametrize(("kernel", "arms", "noise_var"), SMALL)
def test_bounds_hold_against_all_multisets(kernel, arms, noise_var):
    horizon = 4
    greedy = greedy_design(arms, kernel, noise_var, horizon)[1]
    upper = information_gain_bound(arms, kernel, noise_var, horizon)
    spectrum = np.linalg.eigvalsh(kernel(arms.coordinates))
    eq8 = spectral_bound(spectrum, noise_var, horizon)
    split = theorem4_bound(spectrum, noise_var, horizon)
    for t in range(horizon):
        gamma = brute_gamma(kernel, arms, noise_var, t + 1)
        assert PART * gamma <= greedy[t] + 1e-9
        assert greedy[t] <= gamma + 1e-9
        assert gamma <= upper[t] + 1e-9
        assert upper[t] <= eq8[t] + 1e-9  # eq. (8) relaxes the greedy rule
        assert eq8[t] <= split[t] + 1e-9


@settings(max_examples=40)
@given(eigenvalues=SPECTRA, noise_var=st.floats(0.01, 10), horizon=st.integers(1, 5))
def test_spectral_bound_is_the_exact_maximum(eigenvalues, noise_var, horizon):
    curve = spectral_bound(eigenvalues, noise_var, horizon)
    leading = np.sort(eigenvalues)[::-1]
    for t in range(1, horizon + 1):
        top = leading[: min(t, len(leading))]
        best = max(np.log1p(np.array(m) * top / noise_var).sum() for m in compositions(t, len(top)))
        assert curve[t - 1] == pytest.approx(0.5 / PART * best, rel=1e-12, abs=1e-12)


@settings(max_examples=40)
@given(eigenvalues=SPECTRA, noise_var=st.floats(0.01, 10), horizon=st.integers(1, 12))
def test_theorem_4_is_its_formula_maximised_over_r(eigenvalues, noise_var, horizon):
    leading = np.sort(eigenvalues)[::-1]
    r = np.linspace(0, horizon, 20_001)

    def formula(split):
        head = split * np.log1p(r * leading.sum() / noise_var)
        return 0.5 / PART * (head + (horizon - r) * leading[split:].sum() / noise_var).max()

    best = min(formula(s) for s in range(1, len(leading) + 1))
    got = theorem4_bound(eigenvalues, noise_var, horizon)[-1]
    assert got == pytest.approx(best, rel=1e-4, abs=1e-9)
    assert got >= best - 1e-9
    eq8 = spectral_bound(eigenvalues, noise_var, horizon)
    assert (eq8 <= theorem4_bound(eigenvalues, noise_var, horizon) + 1e-9).all()


def test_curves_of_the_papers_experiment():
    """SE l = 0.2 on 1000 points of [0, 1], noise variance 0.025, T = 1000."""
    arms, kernel = Arms.grid(1000), SquaredExponential(0.2)
    greedy = greedy_design(arms, kernel, 0.025, 1000)[1]
    spectrum = np.linalg.eigvalsh(kernel(arms.coordinates))
    eq8 = spectral_bound(spectrum, 0.025, 1000)
    split = theorem4_bound(spectrum, 0.025, 1000)
    steps = np.diff(greedy)
    assert (steps > 0).all()
    assert (np.diff(steps) < 1e-9).all()  # submodular: ever less to learn
    for curve in (eq8, split):
        assert (np.diff(curve) > 0).all()
    assert (greedy / PART <= eq8 + 1e-9).all()
    assert (eq8 <= split + 1e-9).all()
    # growth is logarithmic: 10 times the readings add a bounded amount per mode
    assert greedy[999] - greedy[99] < 12 * 0.5 * np.log(10)


def test_bounds_of_independent_arms_are_closed_forms():
    n, v, noise_var = 5, 2.0, 0.5
    kernel, arms = Empirical(v * np.eye(n)), Arms(np.arange(n))
    m = np.arange(1, 13)
    full, rest = m // n, m % n
    expected = 0.5 * ((n - rest) * np.log1p(full * 4.0) + rest * np.log1p((full + 1) * 4.0))
    assert_allclose(greedy_design(arms, kernel, noise_var, 12)[1], expected, rtol=1e-10)
    assert_allclose(spectral_bound([v] * n, noise_var, 12), expected / PART, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: spectral_bound([], 1.0, 3), InvalidInput),
        (lambda: spectral_bound([1.0, -0.5], 1.0, 3), NotPositiveDefinite),
        (lambda: spectral_bound([np.nan], 1.0, 3), InvalidInput),
        (lambda: spectral_bound([1.0], 0.0, 3), InvalidInput),
        (lambda: spectral_bound([1.0], 1.0, 0), InvalidInput),
        (lambda: theorem4_bound([1.0], 1.0, 0), InvalidInput),
        (lambda: greedy_design(Arms.grid(3), Linear(), 0.0, 3), InvalidInput),
        (lambda: greedy_design(Arms.grid(3), Linear(), 1.0, 0), InvalidInput),
        (lambda: greedy_design(Arms.grid(3), Linear(), 1.0, 1, epsilon=2.0), InvalidInput),
        (lambda: greedy_design(Arms.grid(3), Empirical(np.eye(2)), 1.0, 3), InvalidInput),
    ],
)
def test_numbers_out_of_range_are_refused(call, error):
    with pytest.raises(error):
        call()


def test_rounding_below_zero_in_a_spectrum_is_nothing():
    assert_allclose(spectral_bound([2.0, -1e-15], 1.0, 5), spectral_bound([2.0, 0.0], 1.0, 5))
    assert (theorem4_bound([0.0, 0.0], 1.0, 4) == 0).all()
