import numpy as np

from gpbandits_env.posterior.coefficients import Coefficients
from gpbandits_env.samplers import MatrixFactor


def filled(count, fade):
    """Rows of ones that fade by the same factor after each."""
    rows = Coefficients(MatrixFactor(np.eye(3), 0.0))
    for _ in range(count):
        rows.slot()[:] = 1.0
        rows.push(0.0)
        rows.scale *= fade
    return rows


def test_rows_fade_together_and_grow_without_end():
    rows = filled(50, 0.5)
    true = rows.block[:50] * rows.scale
    np.testing.assert_allclose(true, 0.5 ** np.arange(50, 0, -1)[:, None] * np.ones(3), rtol=1e-12)


def test_the_dead_are_dropped_by_their_whole_age():
    rows = filled(10, 0.5)
    rows.drop_dead(1e-12)
    assert (rows.count, rows.scale) == (10, 1.0)
    rows.scale *= 0.5**15  # Ages 16 to 25: squares of 2^-32 to 2^-50, around 1e-12 = 2^-39.9.
    rows.drop_dead(1e-12)
    assert rows.count == 4
    np.testing.assert_allclose(rows.block[:4, 0], 0.5 ** np.array([19.0, 18.0, 17.0, 16.0]))


def test_extending_equals_pushing():
    pushed, extended = filled(4, 0.5), filled(4, 0.5)
    more = np.arange(60.0).reshape(20, 3)
    extended.extend(more, None)
    for row in more:
        pushed.slot()[:] = row
        pushed.push(0.0)
    assert pushed.count == extended.count == 24
    np.testing.assert_array_equal(pushed.block[:24], extended.block[:24])
    np.testing.assert_array_equal(pushed.births[:24], extended.births[:24])
