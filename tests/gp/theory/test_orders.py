"""Growth orders of Theorem 5."""

from math import e, log

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Linear, SquaredExponential
from gpbandits_env.gp.theory import (
    gain_order_linear,
    gain_order_matern,
    gain_order_se,
    greedy_design,
)


def test_formulas():
    assert gain_order_linear(100, 3) == pytest.approx(3 * log(100))
    assert gain_order_se([e, e**2], 2) == pytest.approx([1.0, 8.0])
    assert gain_order_matern(16, 1, 1.5) == pytest.approx(16 ** (2 / 5) * log(16))
    assert gain_order_matern(16, 2, 2.5) == pytest.approx(16 ** (6 / 11) * log(16))


def test_matern_tends_to_a_logarithm_as_it_grows_smooth():
    assert gain_order_matern(1000, 2, 1e9) == pytest.approx(log(1000))


@pytest.mark.parametrize(
    ("kernel", "order"),
    [(Linear(), gain_order_linear), (SquaredExponential(0.3), gain_order_se)],
)
def test_greedy_gain_grows_no_faster_than_its_order(kernel, order):
    t = np.arange(1, 601)
    gain = greedy_design(Arms.grid(200, -1, 1), kernel, 0.1, 600)[1]
    ratio = gain[50:] / order(t[50:], 1)
    assert ratio.max() < 1.05 * ratio[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: gain_order_matern(10, 1, 1.0),
        lambda: gain_order_se(0, 1),
        lambda: gain_order_linear(10, 0),
    ],
)
def test_out_of_range(call):
    with pytest.raises(InvalidInput):
        call()
