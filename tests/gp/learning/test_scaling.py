"""The map of rewards far from most others."""

import numpy as np
import pytest

from gpbandits_env.gp.learning import Winsorizer


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
