"""Equal calls, pickles, forgetting; and input that must change nothing."""

import copy
import pickle

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput


def play(posterior, rounds, seed, hallucinates=True):
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        if t % 4 == 3:
            posterior.advance(0.02)
        pending = rng.integers(12, size=2)
        if hallucinates:
            posterior.hallucinate(pending)
        k = int(rng.integers(1, 3))
        posterior.condition(rng.integers(12, size=k), rng.standard_normal(k))


def test_the_same_calls_give_the_same_bits(make, world, representation, same):
    """Hallucinated points between them leave no trace; so resuming equals never stopping."""
    first, again = make(world, representation), make(world, representation)
    play(again, 5, 2)
    again.forget()
    view = again.mean
    play(first, 40, 3)
    play(again, 40, 3, hallucinates=False)
    same(first, again)
    np.testing.assert_array_equal(view, first.mean)


def test_pickled_posteriors_go_on_alike(make, world, representation, same):
    posterior = make(world, representation)
    play(posterior, 11, 4)
    posterior.hallucinate([1])
    other, third = pickle.loads(pickle.dumps(posterior)), copy.deepcopy(posterior)
    for twin in (posterior, other, third):
        play(twin, 20, 5)
    same(posterior, other)
    same(posterior, third)
    np.testing.assert_array_equal(other.mean, posterior.mean)
    np.testing.assert_array_equal(other.var, posterior.var)


def test_forgetting_is_starting_anew(make, world, representation, same):
    posterior, fresh = make(world, representation), make(world, representation)
    play(posterior, 30, 6)
    posterior.hallucinate([2])
    posterior.forget()
    assert (posterior.size, posterior.jitter, posterior.information_gain) == (0, 0.0, 0.0)
    np.testing.assert_array_equal(posterior.mean, posterior.prior_mean)
    play(posterior, 30, 7)
    play(fresh, 30, 7)
    same(posterior, fresh)


@pytest.mark.parametrize(
    ("actions", "rewards"),
    [
        ([30], [0.0]),
        ([-1], [0.0]),
        (np.array([30]), np.array([0.0])),
        (np.array([-1]), np.array([0.0])),
        ([0.0], [0.0]),
        ([True], [0.0]),
        (["0"], [0.0]),
        (3, 0.0),
        ([[3]], [0.0]),
        (np.array([[3]]), np.array([[0.0]])),
        ([3], [[0.0]]),
        ([3], [np.nan]),
        (np.array([3]), np.array([np.nan])),
        (np.array([3]), np.array([np.inf])),
        ([3], ["a"]),
        ([3, 4], [0.0]),
        ([3], [0.0, 1.0]),
        ([3, 4, 5], [0.0, np.inf, 1.0]),
        ([], [1.0]),
    ],
)
def test_bad_data_change_nothing(make, representation, same, actions, rewards):
    posterior = make("se", representation)
    play(posterior, 6, 8)
    posterior.hallucinate([3])
    before = same.of(posterior)
    with pytest.raises(InvalidInput):
        posterior.condition(actions, rewards)
    same(before, posterior)


@pytest.mark.parametrize("method", ["hallucinate", "covariance"])
@pytest.mark.parametrize("actions", [[30], [-1], [0.5], 30, [[1]]])
def test_bad_points_change_nothing(make, representation, same, method, actions):
    posterior = make("se", representation)
    play(posterior, 6, 8)
    before = same.of(posterior)
    calls = {
        "hallucinate": posterior.hallucinate,
        "covariance": posterior.covariance,
    }
    with pytest.raises(InvalidInput):
        calls[method](actions)
    same(before, posterior)


@pytest.mark.parametrize(
    ("epsilon", "dt"), [(-0.1, 1.0), (1.1, 1.0), (np.nan, 1.0), (0.1, -1.0), (0.1, np.inf)]
)
def test_bad_drift_changes_nothing(make, representation, same, epsilon, dt):
    posterior = make("se", representation)
    play(posterior, 6, 8)
    posterior.hallucinate([3])
    before = same.of(posterior)
    with pytest.raises(InvalidInput):
        posterior.advance(epsilon, dt)
    same(before, posterior)


def test_mean_and_variance_cannot_be_written_to(make, representation):
    posterior = make("se", representation)
    for array in (posterior.mean, posterior.var, posterior.prior_mean):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    posterior.sd[0] = 1.0
