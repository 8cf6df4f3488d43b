import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior import DriftHypothesis, MixturePosterior, posterior_for
from gpbandits_env.gp.temporal import StaticTime

ARMS = Arms.grid(12)


def mixture(epsilons=(0.0, 0.3), switching=0.1, trigger=None, noise_var=0.05):
    kernel = SquaredExponential(0.3)
    parts = [
        DriftHypothesis(posterior_for(ARMS, kernel, noise_var, 0.2), epsilon, trigger)
        for epsilon in epsilons
    ]
    return MixturePosterior(parts, switching)


def told(found, rounds=6):
    for t in range(rounds):
        found.condition([3 * t % 12, t], [np.sin(t), 0.5])
        found.advance(0.0)
    return found


def test_one_part_is_that_posterior():
    one, alone = mixture(epsilons=(0.2,)), posterior_for(ARMS, SquaredExponential(0.3), 0.05, 0.2)
    told(one)
    for t in range(6):
        alone.condition([3 * t % 12, t], [np.sin(t), 0.5])
        alone.advance(0.2)
    np.testing.assert_allclose(one.mean, alone.mean, atol=1e-14)
    np.testing.assert_allclose(one.var, alone.var, atol=1e-14)
    assert one.size == alone.size == 12
    assert one.information_gain == alone.information_gain
    np.testing.assert_array_equal(one.observed, alone.observed)


def test_a_replayed_log_lets_time_pass():
    log = [(np.array([3 * t % 12, t]), np.array([np.sin(t), 0.5]), 1.0) for t in range(6)]
    replayed, other = mixture(), told(mixture())
    replayed.replay(log)
    np.testing.assert_array_equal(replayed.mean, other.mean)
    np.testing.assert_array_equal(replayed.weights, other.weights)


def test_time_passes_in_one_step_or_in_several():
    """A drift of all parts is one beside that of each."""
    once, twice, alone = told(mixture()), told(mixture()), mixture((0.3,)).parts[0].posterior
    once.advance(0.2, 2.0)
    twice.advance(0.2)
    twice.advance(0.2)
    np.testing.assert_allclose(once.weights, twice.weights, atol=1e-12)
    np.testing.assert_allclose(once.mean, twice.mean, atol=1e-12)
    np.testing.assert_allclose(once.var, twice.var, atol=1e-12)
    for t in range(6):
        alone.condition([3 * t % 12, t], [np.sin(t), 0.5])
        alone.advance(0.3)
    alone.advance(1.0 - 0.7 * 0.8, 2.0)
    np.testing.assert_allclose(once.parts[1].posterior.mean, alone.mean, atol=1e-12)


def test_repeated_arms_without_noise_are_judged():
    found = mixture(noise_var=0.0)
    for _ in range(3):
        found.condition([4, 4], [1.0, 1.0])
        found.advance(0.0)
    assert found.mean[4] == pytest.approx(1.0, abs=0.01)
    assert found.weights[0] > 0.9


def test_covariance_and_samples_are_those_of_the_mixture():
    found = told(mixture())
    covariance = found.covariance(np.arange(12))
    np.testing.assert_allclose(covariance.diagonal(), found.var, atol=1e-12)
    draws = found.sample(np.random.default_rng(0), 40_000)
    np.testing.assert_allclose(draws.mean(axis=0), found.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.03)


def test_a_part_that_vanished_returns():
    found = mixture(epsilons=(0.0, 1.0), switching=0.01)
    for _ in range(40):
        found.condition([4], [1.0])
        found.advance(0.0)
    assert found.weights[0] > 0.98
    for t in range(12):
        found.condition([4], [(-1.0) ** t])
        found.advance(0.0)
    assert found.weights[1] > 0.9


def test_a_trigger_drops_the_data_of_its_part_alone():
    found = MixturePosterior([*mixture(trigger=3.0, epsilons=(0.0,)).parts, *mixture((0.0,)).parts])
    for reward in (0.5, 0.5, 0.5, -4.0):
        found.condition([4], [reward])
    assert found.restarts == 1
    assert [part.posterior.size for part in found.parts] == [1, 4]
    found.forget()
    assert (found.restarts, found.size) == (0, 0)
    np.testing.assert_array_equal(found.weights, [0.5, 0.5])


def test_hallucinated_points_reduce_the_variance_and_can_be_rolled_back():
    found = told(mixture())
    mean, var = found.mean, found.var
    found.hallucinate([5, 5])
    assert found.var[5] < var[5]
    np.testing.assert_array_equal(found.mean, mean)
    found.rollback()
    np.testing.assert_array_equal(found.var, var)


def test_the_same_calls_after_forgetting_give_the_same_bits(same):
    found, other = told(mixture()), told(mixture())
    other.hallucinate([3])
    other.forget()
    same(told(other), found)
    np.testing.assert_array_equal(other.weights, found.weights)
    assert other.restarts == found.restarts


def test_mistakes_are_named():
    with pytest.raises(InvalidInput, match="at least one part"):
        MixturePosterior([])
    with pytest.raises(InvalidInput, match="switching"):
        mixture(switching=1.5)
    with pytest.raises(InvalidInput, match="trigger"):
        mixture(trigger=0.0)
    with pytest.raises(InvalidInput, match="epsilon"):
        mixture(epsilons=(0.1, 3.0))


def test_weights_that_decay_equal_a_growing_noise_over_many_rounds():
    """The dense formula with the noise variance s^2 / gamma^age, after 300 rounds."""
    found = posterior_for(ARMS, SquaredExponential(0.3), 0.05, 0.2, discount=0.97)
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(12, size=300), rng.standard_normal(300)
    for arm, reward in zip(arms, rewards, strict=True):
        found.condition([arm], [reward])
        for dt in (1.0,) if reward > 0.0 else (0.25, 0.75):
            found.advance(0.0, dt)
    x = ARMS.coordinates
    gram = np.exp(-0.5 * ((x - x.T) / 0.3) ** 2)
    inner = gram[np.ix_(arms, arms)] + np.diag(0.05 / 0.97 ** np.arange(300.0, 0.0, -1.0))
    solved = np.linalg.solve(inner, gram[arms])
    np.testing.assert_allclose(found.mean, 0.2 + (rewards - 0.2) @ solved, atol=1e-8)
    np.testing.assert_allclose(found.var, 1.0 - (solved * gram[arms]).sum(axis=0), atol=1e-8)


@pytest.mark.parametrize(
    "settings", [{"discount": 1.5}, {"discount": 0.9, "temporal": StaticTime()}]
)
def test_a_discount_out_of_range_is_refused(settings):
    with pytest.raises(InvalidInput, match="a discount needs"):
        posterior_for(ARMS, SquaredExponential(0.3), 0.05, **settings)
