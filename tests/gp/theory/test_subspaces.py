"""The curves of tranthe2020 against the formulas written out, and their limits."""

import math

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory import beta_continuous
from gpbandits_env.gp.theory.subspaces import (
    beta_subspaces,
    covering_term,
    new_subspaces,
    regret_bound_subspaces,
    regret_order_subspaces,
    subspaces_by,
)


def test_beta_is_the_formula():
    t, big, d, delta = 7, 20, 5, 0.1
    expected = 2 * math.log(math.pi**2 * t**2 / delta) + 2 * d * math.log(
        2 * 1.5 * d * math.sqrt(math.log(6 * big * 2.0 / delta)) * t**2
    )
    assert beta_subspaces(t, big, d, delta, a=2.0, b=1.5) == pytest.approx(expected)
    zero = 4 * math.log(math.pi**2 * t**2 / (2 * delta))
    assert beta_subspaces(t, big, 0, delta) == pytest.approx(zero)
    rounds = np.arange(1, 9)
    assert np.array_equal(beta_subspaces(rounds, 4, 4), beta_continuous(rounds, 4, 0.1, r=2.0))
    assert (np.diff(beta_subspaces(rounds, big, d)) > 0).all()


@pytest.mark.parametrize(
    ("n0", "alpha", "counts"),
    [
        (1, 0, [1, 1, 1, 1, 1]),
        (10, 0, [10] * 5),
        (1, 1, [1, 2, 3, 4, 5]),
        (3, 2, [3, 12, 27, 48, 75]),
        (2, 0.5, [2, 3, 4, 4, 5]),
    ],
)
def test_counts_of_subspaces(n0, alpha, counts):
    assert new_subspaces(np.arange(1, 6), n0, alpha).tolist() == counts
    assert subspaces_by(5, n0, alpha).tolist() == np.cumsum(counts).tolist()


def test_powers_are_whole_in_every_round():
    t = np.arange(1, 2001)
    assert np.array_equal(new_subspaces(t, 1, 3.0), t**3)
    assert subspaces_by(200, 1, 1)[-1] == 20_100


def test_covering_term_is_that_of_lemma_4():
    big, d, delta, b, a = 12, 5, 0.1, 1.5, 2.0
    v0 = (
        2
        * b
        * math.sqrt(math.log(2 * big * a / delta))
        * math.gamma(big - d + 1) ** (1 / (big - d))
    )
    counts = np.array([1, 10, 500])
    expected = v0 * (math.log(2 / delta) / counts) ** (1 / (big - d))
    assert covering_term(counts, big, d, delta, a, b) == pytest.approx(expected)
    assert covering_term([3, 4], 5, 5).tolist() == [0.0, 0.0]
    assert np.isfinite(covering_term(20_100, 5000, 10))
    one_left = covering_term(np.array([1, 10]), 6, 5)
    assert one_left[0] / one_left[1] == pytest.approx(10.0)


def test_orders():
    horizon, gain = 100.0, 9.0
    root = math.sqrt(5 * horizon * gain)
    below = 20 * 15 / (15 - 3 - 1) * horizon ** (1 - 4 / 15)
    assert regret_order_subspaces(horizon, gain, 20, 5, 3) == pytest.approx(root + below)
    assert regret_order_subspaces(horizon, gain, 20, 5, 14) == pytest.approx(root + 20)
    assert regret_order_subspaces(horizon, gain, 5, 5, 0) == pytest.approx(root + 5)
    assert regret_order_subspaces(horizon, gain, 8, 0, 0) == pytest.approx(
        30 + 64 / 7 * horizon ** (1 - 1 / 8)
    )


@pytest.mark.parametrize("dim", [20, 100])
def test_theorem_2_has_the_effective_dimension_in_place_of_the_rest(dim):
    """It may be smaller than d, as on camelback, and D plays no part."""
    root = math.sqrt(5 * 200 * 30.0)
    eight = regret_order_subspaces(200, 30.0, dim, 5, 0, effective_dim=8)
    assert eight == pytest.approx(root + 64 / 7 * 200 ** (7 / 8))
    assert eight == pytest.approx(1116, abs=1)
    two = regret_order_subspaces(200, 30.0, dim, 5, 0, effective_dim=2)
    assert two == pytest.approx(root + 4 * 200**0.5)
    assert regret_order_subspaces(200, 30.0, dim, 5, 1, effective_dim=2) == pytest.approx(root + 2)


def test_theorem_2_has_a_covering_term_of_its_own():
    v0 = 2 * 1.5 * math.sqrt(math.log(2 * 20 / 0.1)) * math.sqrt(2)
    expected = v0 * math.sqrt(math.log(20) / 200)
    assert covering_term(200, 20, 5, b=1.5, effective_dim=2) == pytest.approx(expected)
    assert covering_term(200, 20, 5, effective_dim=15) == covering_term(200, 20, 5)


def test_the_bound_is_that_of_proposition_4():
    gain, n, horizon = np.linspace(1.0, 20.0, 50), 15, 50
    beta = beta_subspaces(horizon, 20, 5, 0.1, 2.0, 1.5)
    root = math.sqrt(8 / math.log(101) * horizon * beta * 20.0) + math.pi**2 / 6
    radius = (math.factorial(n) * math.log(60) / 3) ** (1 / n)
    v0 = 2 * 1.5 * math.sqrt(math.log(6 * 20 * 2 / 0.1)) * radius
    for alpha, grown in (
        (1.0, n / (n - 2) * horizon ** (1 - 2 / n)),
        (14.0, 1 + math.log(horizon)),
        (29.0, 1 + math.log(horizon)),
        (30.0, 1.0),
    ):
        found = regret_bound_subspaces(gain, 20, 5, 0.01, n0=3, alpha=alpha, tail=(2.0, 1.5))
        assert found[-1] == pytest.approx(root + 2 * v0 * grown)
    printed = 1.5 * math.sqrt(math.log(2 * 20 * 2 / 0.1)) * radius * 16 ** (1 / n)
    root = math.sqrt(8 / math.log(1.01) * horizon * beta * 20.0) + math.pi**2 / 6
    more = {"n0": 3, "alpha": 30.0, "tail": (2.0, 1.5), "as_printed": True}
    found = regret_bound_subspaces(gain, 20, 5, 0.01, **more)
    assert found[-1] == pytest.approx(root + 2 * printed)
    assert regret_bound_subspaces(gain, 5, 5, 0.01, tail=(2.0, 1.0))[-1] == pytest.approx(
        math.sqrt(8 / math.log(101) * 50 * 20 * beta_continuous(50, 5, 0.1, 2.0, r=2.0))
        + math.pi**2 / 6
    )


@pytest.mark.parametrize(("n", "share"), [(15, 0.18), (45, 0.92), (95, 1.0)])
def test_lemma_4_is_false_in_a_corner(n, share):
    """With 200 subspaces no z is as close as the lemma says, far more often than delta/2 = 5%."""
    radius = 2.0 * math.exp((math.lgamma(n + 1) + math.log(math.log(20) / 200)) / n)
    rng, missed = np.random.default_rng(0), 0
    for _ in range(100):
        distances = rng.uniform(0.0, 2.0, (200, n)).sum(axis=1)
        missed += distances.min() > radius
    assert missed / 100 == pytest.approx(share, abs=0.1)
    assert missed / 100 > 0.05


def test_more_subspaces_lower_the_order():
    horizons = np.geomspace(10, 1e6, 20)
    orders = [regret_order_subspaces(horizons, 1.0, 20, 5, alpha) for alpha in (0, 1, 2)]
    assert (orders[0] > orders[1]).all()
    assert (orders[1] > orders[2]).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: beta_subspaces(0, 5, 2),
        lambda: beta_subspaces(1, 5, 6),
        lambda: beta_subspaces(1, 5, 2, delta=1.0),
        lambda: beta_subspaces(1, 5, 2, a=1e-9),
        lambda: beta_subspaces(1, 5, 2, b=0.0),
        lambda: new_subspaces(1, 0, 1.0),
        lambda: new_subspaces(1, 1, -1.0),
        lambda: new_subspaces(200, 1, 9.0),
        lambda: subspaces_by(200, 1, 6.0),  # 200^6 is 6e13
        lambda: covering_term(0, 5, 2),
        lambda: covering_term("a", 5, 2),
        lambda: regret_order_subspaces(0.5, 1.0, 5, 2, 0),
        lambda: regret_order_subspaces(10, -1.0, 5, 2, 0),
        lambda: regret_order_subspaces(10, 1.0, 5, 2, 0, effective_dim=6),
        lambda: covering_term(1, 5, 2, effective_dim=0),
        lambda: regret_bound_subspaces([1.0], 5, 2, 0.1, n0=0),
        lambda: regret_bound_subspaces([1.0], 5, 2, 0.1, n0=-1),
    ],
)
def test_numbers_out_of_range_are_refused(call):
    with pytest.raises(InvalidInput):
        call()
