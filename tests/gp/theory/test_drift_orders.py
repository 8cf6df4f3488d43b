"""Corollary 4.1 of bogunovic2016 against the bounds it comes from, minimised over N."""

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.theory import resetting_regret_order, time_varying_regret_order

BLOCKS = np.geomspace(1.0, 1e7, 20001)
CASES = [(None, 1, 0.0), (2.5, 1, 2 / 7), (2.5, 2, 6 / 11), (1.5, 1, 2 / 5)]


def best(bound, horizon):
    return bound[horizon >= BLOCKS].min()


@pytest.mark.parametrize("epsilon", [1e-9, 1e-5, 1e-3, 0.03, 1.0])
@pytest.mark.parametrize("horizon", [10.0, 1e3, 1e6])
@pytest.mark.parametrize(("nu", "dim", "c"), CASES)
def test_within_a_constant_of_the_best_block_length(nu, dim, c, horizon, epsilon):
    resetting = horizon * (BLOCKS ** ((c - 1) / 2) + BLOCKS**1.5 * epsilon**0.5)
    varying = horizon * np.sqrt(BLOCKS ** (c - 1) + BLOCKS**2 * epsilon)
    for bound, order in (
        (resetting, resetting_regret_order),
        (varying, time_varying_regret_order),
    ):
        ratio = best(bound, horizon) / order(horizon, epsilon, nu, dim)
        assert 0.99 < ratio < 2.01


def test_the_exponents_of_the_paper():
    t, eps = 1e9, 1e-4
    assert resetting_regret_order(t, eps) == pytest.approx(t * eps ** (1 / 8))
    assert time_varying_regret_order(t, eps) == pytest.approx(t * eps ** (1 / 6))
    c = 6 / 11
    found = time_varying_regret_order(t, eps, 2.5, 2)
    assert found == pytest.approx(t * eps ** (0.5 * (1 - c) / (3 - c)))
    assert time_varying_regret_order(100, 0.0) == pytest.approx(10.0)


@pytest.mark.parametrize("bad", [(0, 0.1, None, 1), (9, -0.1, None, 1), (9, 0.1, 1.0, 1)])
def test_numbers_out_of_range(bad):
    with pytest.raises(InvalidInput):
        time_varying_regret_order(*bad)
