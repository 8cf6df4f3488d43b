"""The maps equal their papers' by construction, and lead back."""

import numpy as np
import pytest

from gpbandits_env.agents.embeddings.embedding import (
    Coordinates,
    EmbeddedMap,
    HashEmbedding,
    gaussian_embedding,
    sequential_embedding,
)
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

D, LOW = 40, 4


def rng(seed=0):
    return np.random.default_rng(seed)


def embeddings():
    anchor = rng(5).uniform(-1, 1, D)
    return {
        "rembo": gaussian_embedding(D, LOW, rng(1)),
        "hesbo": HashEmbedding(D, LOW, rng(2)),
        "sre": sequential_embedding(anchor, LOW, rng(3)),
        "dropout": Coordinates(np.array([7, 0, 39, 12]), rng(4).uniform(-1, 1, (1, D))),
    }


@pytest.fixture(params=list(embeddings()))
def embedding(request):
    return embeddings()[request.param]


def small_points(embedding, n=50, shrink=1.0):
    return rng(9).uniform(-1, 1, (n, len(embedding.half))) * embedding.half * shrink


def test_lifts_lie_in_the_cube(embedding):
    x = embedding.lift(small_points(embedding))
    assert x.shape == (50, D)
    assert np.abs(x).max() <= 1.0


def test_what_was_lifted_is_found_again(embedding):
    y = small_points(embedding, shrink=0.3)
    x = embedding.lift(y)
    assert (np.abs(x) < 1).sum(axis=1).min() >= len(embedding.half)
    assert embedding.lower(x) == pytest.approx(y, abs=1e-9)


def test_lowered_points_lift_to_the_same_point_or_near(embedding):
    """Also where the clip hides some of y."""
    y = small_points(embedding)
    x = embedding.lift(y)
    again = embedding.lift(np.clip(embedding.lower(x), -embedding.half, embedding.half))
    apart = np.abs(again - x).max(axis=1)
    assert np.mean(apart < 1e-9) > 0.9
    outside = rng(8).uniform(-1, 1, (20, D))
    lowered = embedding.lower(outside)
    assert (np.abs(lowered) <= embedding.half).all()
    near = np.linalg.norm(embedding.lift(lowered) - outside, axis=1)
    guesses = [embedding.lift(small_points(embedding, shrink=s)) for s in (0.1, 0.3, 1.0)]
    best = np.min([np.linalg.norm(g[:20] - outside, axis=1) for g in guesses], axis=0)
    assert near.mean() < best.mean()


def test_gradients_are_pulled_back(embedding):
    y = small_points(embedding, n=8, shrink=0.6)
    slope = rng(3).standard_normal(D)
    pulled = embedding.pull(y, np.tile(slope, (8, 1)))
    for j in range(y.shape[1]):
        step = 1e-6 * np.eye(y.shape[1])[j]
        numeric = (embedding.lift(y + step) - embedding.lift(y - step)) @ slope / 2e-6
        assert pulled[:, j] == pytest.approx(numeric, abs=1e-6)


def test_stretch_is_the_mean_length_of_a_step(embedding):
    if isinstance(embedding, Coordinates):
        assert embedding.stretch == 1.0
        return
    axes = 1e-6 * np.eye(len(embedding.half))[-LOW:]
    steps = np.linalg.norm(embedding.lift(axes), axis=1) / 1e-6
    assert embedding.stretch == pytest.approx(
        np.sqrt(np.mean(steps**2)), rel=1e-5 if len(embedding.half) == LOW else 0.5
    )


def test_rembo_is_a_clipped_gaussian_map():
    embedding = gaussian_embedding(2000, 3, rng(1))
    a = embedding.matrix
    assert a.shape == (2000, 3)
    assert embedding.half.tolist() == pytest.approx([3**0.5] * 3)
    assert a.mean() == pytest.approx(0.0, abs=0.05)
    assert np.cov(a.T) == pytest.approx(np.eye(3), abs=0.1)
    assert np.mean(a**4) == pytest.approx(3.0, rel=0.15)  # A normal distribution's.
    y = np.array([[1.7, -0.2, 0.4]])
    direct = [max(-1.0, min(1.0, sum(a[i, j] * y[0, j] for j in range(3)))) for i in range(2000)]
    assert embedding.lift(y)[0] == pytest.approx(direct)


def test_hesbo_copies_one_coordinate_with_a_sign():
    embedding = HashEmbedding(3000, 3, rng(2))
    y = np.array([[0.2, -0.5, 0.9]])
    x = embedding.lift(y)[0]
    for i in range(3000):
        assert x[i] == embedding.signs[i] * y[0, embedding.hash[i]]
    assert np.bincount(embedding.hash) == pytest.approx([1000] * 3, rel=0.1)
    assert set(embedding.signs) == {-1.0, 1.0}
    assert abs(embedding.signs.mean()) < 0.06
    # Orthogonal columns of known length: distances are kept up to the copies.
    other = np.array([[-0.1, 0.3, 0.0]])
    apart = np.linalg.norm(embedding.lift(y) - embedding.lift(other))
    copies = np.bincount(embedding.hash)
    assert apart == pytest.approx(np.sqrt(np.sum(copies * (y - other) ** 2)))


def test_more_low_coordinates_than_high_ones():
    embedding = HashEmbedding(2, 5, rng(0))
    y = small_points(embedding)
    assert embedding.lift(embedding.lower(embedding.lift(y))) == pytest.approx(embedding.lift(y))


def test_sre_moves_around_the_point_before():
    anchor = rng(5).uniform(-1, 1, D)
    embedding = sequential_embedding(anchor, LOW, rng(3))
    assert embedding.lift(np.array([[1.0, 0, 0, 0, 0]]))[0] == pytest.approx(anchor)
    assert embedding.lift(np.array([[-0.5, 0, 0, 0, 0]]))[0] == pytest.approx(-0.5 * anchor)
    many = sequential_embedding(np.zeros(4000), 5, rng(3)).matrix[:, 1:]
    assert np.var(many) == pytest.approx(1 / 5, rel=0.05)


def test_dropout_fills_the_rest():
    fill = rng(4).uniform(-1, 1, (2, 6))
    embedding = Coordinates(np.array([4, 1]), fill)
    x = embedding.lift(np.array([[0.1, 0.2], [0.3, 0.4]]))
    assert x[0].tolist() == [fill[0, 0], 0.2, fill[0, 2], fill[0, 3], 0.1, fill[0, 5]]
    assert x[1].tolist() == [fill[1, 0], 0.4, fill[1, 2], fill[1, 3], 0.3, fill[1, 5]]


def test_points_are_played_in_the_units_of_the_box(embedding):
    box = Box(np.linspace(-5, 0, D), np.linspace(1, 90, D))
    problem = Problem(box, SquaredExponential(3.0), 0.1)
    played = EmbeddedMap(problem, embedding)
    y = small_points(embedding, n=1)
    x = played.actions(y)
    assert x in box.action_space(1)
    unit = (x - box.low) / (box.high - box.low) * 2 - 1
    assert unit == pytest.approx(embedding.lift(y), abs=1e-12)
    assert np.array_equal(played.points(x), y)  # Remembered, where the clip hides it.
    inner = played.inner.domain
    assert (inner.check(played.points(box.sample(rng(), 5))) <= embedding.half).all()
    assert played.fingerprint == EmbeddedMap(problem, embedding).fingerprint
    other = EmbeddedMap(problem, HashEmbedding(D, LOW, rng(77)))
    assert played.fingerprint != other.fingerprint


def test_the_hash_and_its_signs_are_independent_and_uniform():
    many = HashEmbedding(40_000, LOW, rng(1))
    assert np.bincount(many.hash, minlength=LOW) / 40_000 == pytest.approx(0.25, abs=0.015)
    assert (many.hash[1:] == many.hash[:-1]).mean() == pytest.approx(0.25, abs=0.015)
    assert many.signs.mean() == pytest.approx(0.0, abs=0.025)
    for value in range(LOW):
        assert many.signs[many.hash == value].mean() == pytest.approx(0.0, abs=0.05)
