"""What decides the claims of tranthe2020: bounds against draws of a Gaussian process."""

import numpy as np
import pytest

from tools.claims import tranthe2020 as claims


@pytest.mark.parametrize("dim", [1, 2, 6])
def test_no_point_of_a_draw_is_beyond_its_maximum_and_minimum(dim):
    f = claims.Drawn(dim, 3)
    values = f(np.random.default_rng(0).uniform(-1.0, 1.0, (20_000, dim)))
    assert f.optimum >= values.max() - 1e-6
    assert f.optimum - f.range <= values.min() + 1e-6
    assert f(f.best[None])[0] == pytest.approx(f.optimum, abs=1e-5)


def test_a_ball_that_reaches_no_further_face_has_its_volume():
    """In the box [-1, 1]^n: r^n / n! around the centre, and 2^n times less in a corner."""
    for n, radius, volume in ((1, 0.5, 0.5), (2, 0.02, 2e-4), (5, 0.9, 0.9**5 / 120.0)):
        assert claims._within(n, "centre")(radius) == pytest.approx(volume, rel=1e-12)
        assert claims._within(n, "corner")(radius) == pytest.approx(volume / 2**n, rel=1e-12)
    for n in (2, 5):  # continuous where the ball reaches a face
        below, above = (claims._within(n, "centre")(r).item() for r in (1.0, 1.0 + 1e-9))
        assert above == pytest.approx(below, rel=1e-3)


def test_losses_are_those_of_the_nearest_subspaces_and_fall(monkeypatch):
    monkeypatch.setattr(claims, "FUNCTIONS_DRAWN", 3)
    claims._on_draws.cache_clear()
    losses, ranges, bounds = claims._on_draws(2)
    claims._on_draws.cache_clear()
    assert losses.shape == (3, len(claims.COUNTS))
    assert (np.diff(losses, axis=1) <= 1e-12).all()
    assert (losses[:, 0] <= ranges + 1e-6).all()
    assert (losses > -1e-5).all()
    assert (np.diff(bounds) < 0.0).all()
    f, z = claims.Drawn(3, 1), np.random.default_rng([2, 1]).uniform(-1.0, 1.0, (20_100, 3))[:10]
    z[:, 2] = f.best[2]
    assert losses[1, 1] == pytest.approx(f.optimum - f(z).max(), abs=1e-5)


def test_a_bound_of_nothing_is_exceeded(monkeypatch):
    monkeypatch.setattr(claims, "RUNS", 1)
    monkeypatch.setattr(claims, "ROUNDS", 5)
    monkeypatch.setattr(claims, "FUNCTIONS_DRAWN", 2)
    monkeypatch.setattr(claims, "DRAWN_SIZES", {1: (2, 1)})
    claims._on_draws.cache_clear()
    assert {v.item() for v in claims.effective_bound().values()} == {0.0}
    for name in ("covering_term", "regret_bound_subspaces"):
        monkeypatch.setattr(claims.theory, name, lambda *args, **more: np.zeros(len(args[0])))
    assert {v.item() for v in claims.effective_bound().values()} == {1.0}
    assert min(v.item() for v in claims.covering_on_draws().values()) > 0.0
    claims._on_draws.cache_clear()


def test_the_regret_of_a_run_grows_and_is_that_of_two_coordinates(monkeypatch):
    monkeypatch.setattr(claims, "ROUNDS", 8)
    total = claims._cumulative(1.0, 4.0, 0)
    assert total.shape == (8,)
    assert (np.diff(total) >= -1e-5).all()
    assert total[-1] <= 8 * claims.Drawn(2, 0).range
