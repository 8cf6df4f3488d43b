import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior.covariances import PriorCovariance
from gpbandits_env.gp.posterior.representation import Coefficients, DenseRows
from gpbandits_env.gp.samplers import MatrixFactor


def coefficients():
    return Coefficients(MatrixFactor(np.eye(3), 0.0))


def dense_rows():
    """Squares of rows below 1e-12 are dropped."""
    return DenseRows(PriorCovariance(Arms(np.arange(3.0)), SquaredExponential(1.0)), 1.0, 100)


def filled(count, fade, make=coefficients):
    """Rows of ones that fade by the same factor after each."""
    rows = make()
    for _ in range(count):
        rows.extend(np.ones((1, 3)), [0.0])
        rows.scale *= fade
    return rows


def test_rows_fade_together_and_grow_without_end():
    rows = filled(50, 0.5)
    true = rows.block[:50] * rows.scale
    np.testing.assert_allclose(true, 0.5 ** np.arange(50, 0, -1)[:, None] * np.ones(3), rtol=1e-12)


def test_the_dead_are_dropped_by_their_whole_age():
    rows = filled(10, 0.5, dense_rows)
    rows._drop_dead()
    assert (rows.count, rows.scale) == (10, 1.0)
    rows.scale *= 0.5**15  # Ages 16 to 25: squares of 2^-32 to 2^-50, around 1e-12 = 2^-39.9.
    rows._drop_dead()
    assert rows.count == 4
    np.testing.assert_allclose(rows.block[:4, 0], 0.5 ** np.array([19.0, 18.0, 17.0, 16.0]))


@pytest.mark.parametrize("make", [coefficients, dense_rows])
def test_extending_equals_observing(make):
    observed, extended = filled(4, 0.5, make), filled(4, 0.5, make)
    for surprise, arm in enumerate((0, 2, 1) * 7):
        rows = extended.cross(np.array([arm]))[0]
        extended.extend(0.7 * rows, [float(surprise)])
        found = observed.observe(arm, 0.7, float(surprise))
        np.testing.assert_allclose(found, 0.7 * rows[0], rtol=1e-12)
        for each in (observed, extended):
            each.decay(0.9)
    assert observed.count == extended.count == 25
    np.testing.assert_allclose(observed.block[:25], extended.block[:25], rtol=1e-12)
    assert observed.notes == extended.notes
    assert len(set(observed.notes[4:])) == 21
