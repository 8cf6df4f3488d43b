"""Moments in subspaces against those of whole points, whatever happens to the posterior."""

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Linear, Matern12, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior, Subspaces

CASES = {
    "se": (12, 3, SquaredExponential(0.2)),
    "matern12": (60, 4, Matern12(0.5)),
    "ard": (20, 5, Matern52(tuple(np.linspace(0.1, 0.3, 20)), variance=2.0)),
    "unit": (12, 3, Matern32(1.0)),
    "sum": (8, 2, Matern32(0.2) + Linear()),
    "nothing-moves": (4, 0, Matern52(0.2)),
    "everything-moves": (4, 4, Matern52(0.2)),
}


class Pair:
    """Subspaces beside their posterior, in a box whose ends are no single-precision numbers."""

    def __init__(self, case):
        dim, count, kernel = CASES[case]
        self.rng = np.random.default_rng(1)
        self.posterior = BoxPosterior(
            Box(-0.1 * np.ones(dim), 0.1 * np.ones(dim)), kernel, 0.01, 0.3
        )
        active = self.rng.permutation(dim)[:count]
        self.subspaces = Subspaces(self.posterior.box, active)

    def add(self, count):
        width = len(self.subspaces.inactive)
        self.subspaces.add(self.rng.uniform(-0.1, 0.1, (count, width)))

    def places(self, count):
        y = self.rng.uniform(-0.1, 0.1, (count, len(self.subspaces.active)))
        return y, self.rng.integers(self.subspaces.size, size=count)

    def learn(self, count=3):
        x = self.subspaces.points(*self.places(count))
        self.posterior.condition(x, self.rng.standard_normal(count))

    def replace_model(self, kernel, noise_var=0.1):
        """As agents do: a fresh posterior, given the same data."""
        old = self.posterior
        self.posterior = BoxPosterior(old.box, kernel, noise_var, 0.3)
        self.posterior.replay([(old.observed, old.rewards, 0.0)])

    def check(self):
        y, rows = self.places(25)
        # Points that were told too, in their own subspaces.
        x = self.subspaces.points(y, rows)
        want = self.posterior.gradients(x)
        self.subspaces.follow(self.posterior)
        found = self.subspaces.gradients(y, rows)
        for mine, whole in zip(found[:2], want[:2], strict=True):
            np.testing.assert_allclose(mine, whole, rtol=0, atol=1e-8)
        for mine, whole in zip(found[2:], want[2:], strict=True):
            np.testing.assert_allclose(mine, whole[:, self.subspaces.active], rtol=0, atol=1e-7)
        for mine, whole in zip(self.subspaces.moments(y, rows), want, strict=False):
            np.testing.assert_allclose(mine, whole, rtol=0, atol=1e-8)


@pytest.fixture(params=CASES)
def pair(request):
    return Pair(request.param)


def test_rounds(pair):
    for _ in range(12):
        pair.add(5)
        pair.check()
        pair.learn()
        pair.check()
    pair.posterior.advance(0.2)
    pair.check()
    pair.posterior.forget()
    pair.check()


def test_hallucinated_points_come_and_go(pair):
    pair.add(10)
    pair.learn()
    for _ in range(4):
        pair.posterior.hallucinate(pair.subspaces.points(*pair.places(3)))
        pair.check()
        pair.posterior.rollback()
        pair.check()


def test_another_model(pair):
    pair.add(10)
    pair.learn(8)
    pair.check()
    kernel = pair.posterior.kernel
    pair.replace_model(kernel * 3.0, 0.1)
    pair.check()
    longer = {name: 1.3 * value for name, value in kernel.parameters().items()}
    pair.replace_model(kernel.with_parameters(longer))
    pair.add(4)
    pair.check()
    pair.replace_model(Matern32(0.15))
    pair.check()
    pair.replace_model(kernel)
    pair.learn()
    pair.check()


def test_another_posterior_of_the_same_version(pair):
    pair.add(6)
    pair.learn()
    pair.check()
    first = pair.posterior
    pair.posterior = BoxPosterior(first.box, first.kernel, 0.02)
    pair.learn()
    assert pair.posterior.version == first.version
    pair.check()


def test_points_that_fade_are_dropped(pair):
    pair.add(6)
    for _ in range(80):
        pair.learn(1)
        pair.posterior.advance(0.8)
    assert len(pair.posterior.observed) < 60
    pair.check()


def test_a_posterior_that_starts_again(pair):
    pair.add(6)
    pair.learn()
    pair.posterior.forget()
    pair.learn()
    pair.check()
    pair.posterior.forget()
    pair.learn(2)  # As many points as an earlier state had, but others.
    pair.check()


def test_told_points_are_at_distance_zero():
    """A kernel with a kink shows the slightest distance."""
    pair = Pair("matern12")
    pair.add(200)
    y, rows = pair.places(30)
    x = pair.subspaces.points(y, rows)
    pair.posterior.condition(x, np.arange(30.0))
    pair.subspaces.follow(pair.posterior)
    mean, var = pair.subspaces.moments(y, rows)
    want = pair.posterior.moments(x)
    np.testing.assert_allclose(mean, want[0], atol=1e-11)
    np.testing.assert_allclose(var, want[1], atol=1e-13)


def test_fixed_parts_are_kept():
    pair = Pair("se")
    z = pair.rng.uniform(-0.1, 0.1, (7, 9)).astype(np.float32).astype(float)
    pair.subspaces.add(z[:3])
    pair.subspaces.add(z[3:])
    y, rows = pair.places(40)
    x = pair.subspaces.points(y, rows)
    np.testing.assert_array_equal(x[:, pair.subspaces.inactive], z[rows])
    np.testing.assert_array_equal(x[:, pair.subspaces.active], y)


def test_single_precision_stays_in_the_box():
    pair = Pair("se")
    ends = np.where(pair.rng.random((20, 9)) < 0.5, -0.1, 0.1)
    pair.subspaces.add(ends)
    y, rows = pair.places(30)
    x = pair.posterior.box.check(pair.subspaces.points(y, rows))
    np.testing.assert_allclose(x[:, pair.subspaces.inactive], ends[rows], atol=1e-8)


def test_many_blocks(monkeypatch):
    monkeypatch.setattr("gpbandits_env.gp.posterior.subspaces.BLOCK", 900)
    monkeypatch.setattr("gpbandits_env.gp.posterior.subspaces.STRIP", 100)
    pair = Pair("se")
    for count in (10, 150, 3, 200):
        pair.add(count)
        pair.learn()
        pair.check()
