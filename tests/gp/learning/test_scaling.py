"""The units of inputs and outputs, and the map of rewards far from most others."""

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.learning import InputScaling, OutputScaling, Winsorizer


def test_usual_rewards_are_unchanged_and_far_ones_are_winsorized():
    y = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1000.0, -1000.0])
    winsorizer = Winsorizer.of(y)
    assert (winsorizer.centre, winsorizer.sd) == (2.0, pytest.approx(3.0 / 1.349))
    mapped = winsorizer(y)
    assert mapped[:5].tolist() == y[:5].tolist()
    z = 998.0 / winsorizer.sd
    assert mapped[5] == pytest.approx(2.0 + winsorizer.sd * (2.5 + np.log(z - 1.5)))
    assert mapped[5] < 30.0
    assert (np.diff(np.sort(mapped)) > 0).all()


def test_the_map_is_smooth_and_can_be_undone():
    winsorizer = Winsorizer(3.0, 2.0)
    y = np.linspace(-60.0, 60.0, 2001)
    mapped = winsorizer(y)
    assert (np.diff(mapped) > 0).all()
    slope = np.diff(mapped) / np.diff(y)
    assert slope == pytest.approx(np.clip(slope, 0.0, 1.0 + 1e-9))
    assert np.abs(np.diff(slope)).max() < 0.05
    back, slopes = winsorizer.undone(mapped)
    assert back == pytest.approx(y, abs=1e-9)
    between = 0.5 * (slopes[1:] + slopes[:-1])
    assert between * slope == pytest.approx(np.ones(len(slope)), rel=0.01)


def test_rewards_of_which_most_are_equal_have_a_scale():
    assert Winsorizer.of(np.array([1.0, 1.0, 1.0, 1.0, 5.0])).sd == pytest.approx(1.6)
    assert Winsorizer.of(np.ones(4)).sd == 1.0
    assert Winsorizer(0.0, 1.0)(np.array([-1e308, 1e308])) == pytest.approx(
        [-711.7, 711.7], abs=0.1
    )
    assert np.isfinite(Winsorizer(0.0, 1.0).undone(np.array([-1e9, 1e9]))[0]).all()


def test_scaling_of_inputs():
    box = Box([-5.0, 0.0], [10.0, 1.0])
    inputs = InputScaling.of(box)
    x = box.sample(np.random.default_rng(0), 50)
    assert np.abs(inputs.scale(x)).max() <= 1
    assert inputs.scale(np.array([[-5.0, 1.0]])).tolist() == [[-1.0, 1.0]]
    assert inputs.unscale(inputs.scale(x)) == pytest.approx(x, abs=1e-14)
    square = InputScaling.of(Box([0.0, 0.0], [4.0, 4.0]))
    assert square.kernel(Matern52(1.0), np.array(0.5)).lengthscale == 1.0
    assert inputs.kernel(Matern52(1.0), np.array(2.0)).lengthscale == (15.0, 1.0)
    flat = InputScaling.of(Arms([[0.0, 3.0], [2.0, 3.0]]))
    assert flat.scale(np.array([[2.0, 3.0]])).tolist() == [[1.0, 0.0]]
    with pytest.raises(InvalidInput, match="below high"):
        InputScaling(np.zeros(2), np.zeros(2))


def test_scaling_of_outputs():
    y = np.array([3.0, 5.0, 10.0])
    outputs = OutputScaling.of(y)
    assert outputs.scale(y).mean() == pytest.approx(0.0, abs=1e-15)
    assert outputs.scale(y).std() == pytest.approx(1.0)
    assert outputs.scale(y) * outputs.sd + outputs.mean == pytest.approx(y)
    assert OutputScaling.of(np.full(4, 0.1)).sd == 1.0
    around = OutputScaling.of(y, mean=3.0)
    assert around.mean == 3.0
    assert (around.scale(y) ** 2).mean() == pytest.approx(1.0)


@pytest.mark.parametrize("size", [2.0**-1070, 1e-300, 1e-165, 1e-155, 1e149, 1e160, 1e307])
def test_outputs_of_any_size_are_scaled(size):
    """Squares of numbers below 1e-162 are 0, and those above 1e154 infinite."""
    y = np.array([0.0, 1.0, 2.0, 3.0])
    assert OutputScaling.of(y * size).sd == pytest.approx(size * y.std(), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_scaling_in_a_binary_unit_changes_no_digit(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=30) * 10.0 ** rng.uniform(-100, 100)
    assert OutputScaling.of(y).sd == np.sqrt(np.mean((y - y.mean()) ** 2))
