import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.functions import BoxMaximum


class Bumps:
    """Two bumps on [0, 1], heights are the coefficients: a broad one and a narrow one.

    The narrow one's top lies between two points of the search's first set, so that hundreds of
    points of the broad one beat every point of it.
    """

    rank = 2
    error = 0.0
    centres = np.array([0.7, 500.5 / 2048])
    widths = np.array([0.3, 4 / 2048])

    def features(self, x):
        return np.exp(-0.5 * ((x - self.centres) / self.widths) ** 2)

    def gradient(self, x):
        slope = -(x - self.centres) / self.widths**2 * self.features(x)
        return slope[:, :, None]


@pytest.mark.parametrize(("height", "best"), [(1.003, 1), (0.9, 0)])
def test_a_narrow_peak_is_not_crowded_out_by_a_broad_one(height, best):
    under = Bumps().features(Bumps.centres[1:, None])[0, 0]  # the broad bump beneath the other
    point, _ = BoxMaximum(Bumps(), Box([0.0], [1.0]))(np.array([1.0, height - under]))
    assert point[0] == pytest.approx(Bumps.centres[best], abs=1e-3)


def test_sides_of_very_different_lengths_are_climbed_alike():
    """A smooth hill, its top between the points of the first set, in sides of 1e-3 and 1e6."""
    low, width = np.array([-2e-3, 50.0]), np.array([1e-3, 1e6])
    centre = low + np.array([0.30013, 0.70021]) * width

    class Hill:
        rank = 1
        error = 0.0

        def features(self, x):
            # The two bend differently, so that no step of the search lands on the top at once.
            gap = (x - centre) / width
            return -(gap[:, :1] ** 2 + 3.0 * np.expm1(gap[:, 1:]) ** 2 + gap[:, :1] * gap[:, 1:])

        def gradient(self, x):
            a, b = ((x - centre) / width).T
            rise = np.expm1(b)
            slope = -np.stack([2.0 * a + b, 6.0 * rise * np.exp(b) + a], axis=1) / width
            return slope[:, None]

    point, accuracy = BoxMaximum(Hill(), Box(low, low + width))(np.array([1.0]))
    assert Hill().features(point[None]).item() > -1e-3 * accuracy


def test_a_maximum_on_the_edge_is_found_exactly():
    class Line(Bumps):
        def features(self, x):
            return np.hstack([x, x**2])

        def gradient(self, x):
            return np.stack([np.ones_like(x), 2 * x], axis=1)

    point, _ = BoxMaximum(Line(), Box([-2.0], [3.0]))(np.array([1.0, 0.1]))
    assert point.tolist() == [3.0]
