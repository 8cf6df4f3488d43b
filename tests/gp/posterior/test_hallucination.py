"""Points without values: the variance shrinks, and comes back to the bit."""

import numpy as np
import pytest


@pytest.fixture
def told(make, dense_of, world, representation):
    posterior = make(world, representation)
    dense = dense_of(posterior)
    rng = np.random.default_rng(11)
    for _ in range(13):
        arms, rewards = rng.integers(12, size=1), rng.standard_normal(1)
        for thing in (posterior, dense):
            thing.condition(arms, rewards)
            thing.advance(0.01)
    return posterior, dense


def test_variance_given_points(told, same):
    posterior, dense = told
    before = same.of(posterior)
    extra = [2, 5, 5, 11]
    posterior.hallucinate(extra)
    given = dense.moments(extra)[1].diagonal()
    np.testing.assert_allclose(posterior.var, given, rtol=0, atol=1e-8)
    posterior.rollback()
    same(before, posterior)


def test_hallucinating_in_parts_and_rolling_back(told, var_given, same):
    posterior, dense = told
    before = same.of(posterior)
    posterior.hallucinate([2])
    posterior.hallucinate(np.array([5, 5]))
    np.testing.assert_allclose(
        posterior.var, dense.moments([2, 5, 5])[1].diagonal(), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(posterior.mean, dense.moments()[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        var_given(posterior, [7], [0, 7, 3]),
        dense.moments([2, 5, 5, 7])[1].diagonal()[[0, 7, 3]],
        rtol=0,
        atol=1e-8,
    )
    chosen = [0, 7, 3]
    np.testing.assert_allclose(
        posterior.covariance(chosen),
        dense.moments([2, 5, 5])[1][np.ix_(chosen, chosen)],
        rtol=0,
        atol=1e-8,
    )
    posterior.rollback()
    same(before, posterior)
    posterior.rollback()
    np.testing.assert_array_equal(before["var"], posterior.var)


def test_telling_drops_what_was_hallucinated(told):
    posterior, dense = told
    posterior.hallucinate([0, 1, 2, 3, 4, 5, 6, 7, 8])
    for thing in (posterior, dense):
        thing.condition([4], [0.5])
    np.testing.assert_allclose(posterior.var, dense.moments()[1].diagonal(), rtol=0, atol=1e-8)
    posterior.hallucinate([0, 1])
    for thing in (posterior, dense):
        thing.advance(0.2)
    np.testing.assert_allclose(posterior.var, dense.moments()[1].diagonal(), rtol=0, atol=1e-8)


def test_covariance_is_symmetric_and_agrees_with_the_variance(told):
    posterior, dense = told
    chosen = np.array([3, 3, 0, 9])
    covariance = posterior.covariance(chosen)
    np.testing.assert_array_equal(covariance, covariance.T)
    np.testing.assert_allclose(covariance.diagonal(), posterior.var[chosen], rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        covariance, dense.moments()[1][np.ix_(chosen, chosen)], rtol=0, atol=1e-8
    )


def test_jitter_of_hallucinated_points_is_forgotten(make, var_given):
    posterior = make("se", "rows", noise_var=0.0)
    posterior.hallucinate([3])
    assert posterior.jitter > 0.0
    posterior.rollback()
    assert posterior.jitter == 0.0
    var_given(posterior, [3, 3], [0])
    assert posterior.jitter == 0.0
