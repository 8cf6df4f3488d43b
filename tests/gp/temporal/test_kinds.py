"""Temporal kernels: the state-space model has the covariance of the formula, and nothing else."""

import json

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import ive

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.temporal import (
    TEMPORAL,
    MarkovTime,
    Matern32Time,
    PeriodicTime,
    TemporalProduct,
    TemporalSum,
    decay,
    epsilon_per,
    temporal_from_dict,
)

MARKOV = {"type": "markov", "epsilon": 0.03}
SEASON = {"type": "periodic", "period": 7.3, "lengthscale": 0.8, "harmonics": 3}
TERMS = {"type": "terms", "kernels": [MARKOV, SEASON]}
KERNELS = {
    "static": {"type": "static"},
    "markov": MARKOV,
    "matern32": {"type": "matern32", "lengthscale": 6.0},
    "matern52": {"type": "matern52", "lengthscale": 9.0},
    "wiener": {"type": "wiener", "rate": 0.02},
    "periodic": SEASON,
    "quasi-periodic": {"type": "quasi-periodic", "period": 5.0, "harmonics": 2, "epsilon": 0.02},
    "sum": {"type": "sum", "kernels": [SEASON, MARKOV], "weights": [0.6, 0.7]},
    "product": {
        "type": "product",
        "kernels": [{"type": "matern32", "lengthscale": 20.0}, SEASON],
    },
    "walking season": {"type": "product", "kernels": [{"type": "wiener", "rate": 0.05}, SEASON]},
    "nested": {
        "type": "sum",
        "kernels": [
            {"type": "product", "kernels": [SEASON, {"type": "matern52", "lengthscale": 30.0}]},
            {"type": "static"},
        ],
        "weights": [1.5, 0.5],
    },
}
# A new kernel is tried with its defaults. That of several terms is no function of two times.
TRIED = {"terms", *(spec["type"] for spec in KERNELS.values())}
KERNELS |= {name: {"type": name} for name in TEMPORAL.members if name not in TRIED}
FORMULAS = {
    "static": lambda t, s: 1.0,
    "markov": lambda t, s: 0.97 ** (0.5 * abs(t - s)),
    "matern32": lambda t, s: (1 + 3**0.5 * abs(t - s) / 6) * np.exp(-(3**0.5) * abs(t - s) / 6),
    "matern52": lambda t, s: (
        (1 + 5**0.5 * abs(t - s) / 9 + 5 * (t - s) ** 2 / 243) * np.exp(-(5**0.5) * abs(t - s) / 9)
    ),
    "wiener": lambda t, s: 1 + 0.02 * min(t, s),
    "sum": lambda t, s: 0.6 * season(t, s) + 0.7 * 0.97 ** (0.5 * abs(t - s)),
    "walking season": lambda t, s: (1 + 0.05 * min(t, s)) * season(t, s),
}


def season(t, s, period=7.3, ell=0.8, harmonics=3):
    weights = np.array([2.0 * ive(j, ell**-2) for j in range(harmonics + 1)])
    weights[0] /= 2.0
    waves = np.cos(2 * np.pi * np.arange(harmonics + 1) * (t - s) / period)
    return weights @ waves / weights.sum()


@pytest.fixture(params=KERNELS)
def kernel(request):
    return temporal_from_dict(KERNELS[request.param])


def covariance_of_states(kernel, times):
    """T by the recursion of the states alone."""
    n, k = kernel.states, len(times)
    states = np.zeros((k, k, n, n))
    states[0, 0] = kernel.covariance(times[0])
    for i in range(1, k):
        dt = times[i] - times[i - 1]
        carry, noise = kernel.step(times[i - 1], dt)
        for j in range(i):
            states[i, j] = carry @ states[i - 1, j]
            states[j, i] = states[i, j].T
        states[i, i] = carry @ states[i - 1, i - 1] @ carry.T + noise
    rows = np.array([kernel.row(t) for t in times])
    return np.einsum("ip,ijpq,jq->ij", rows, states, rows)


def test_the_state_space_model_has_the_covariance_of_the_formula(kernel):
    times = np.cumsum(np.array([0.0, 1.0, 0.0, 0.25, 3.5, 1.0, 40.0, 1e-3, 500.0]))
    found = covariance_of_states(kernel, times)
    np.testing.assert_allclose(found, kernel(times, times), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_is_that_of_the_docstring(name):
    times = np.array([0.0, 0.5, 3.0, 17.0, 1000.0])
    expected = [[FORMULAS[name](t, s) for s in times] for t in times]
    np.testing.assert_allclose(temporal_from_dict(KERNELS[name])(times, times), expected, atol=1e-9)


@pytest.mark.parametrize("epsilon", [1e-12, 3e-9, 0.003, 0.5, 1.0 - 1e-12])
@pytest.mark.parametrize("dt", [1e-3, 1.0, 2.5, 1e3, 1e9])
def test_decays_keep_their_digits_over_any_time(epsilon, dt):
    with mp.workdps(50):
        kept = (1 - mpf(epsilon)) ** (mpf(dt) / 2)
        want, after = float(kept), float(1 - kept**2)
    markov = MarkovTime(epsilon)
    close = {"rel": 1e-13, "abs": 1e-300}
    assert decay(epsilon, dt) == pytest.approx(want, **close)
    assert markov.transition(dt).item() == pytest.approx(want, **close)
    assert markov(np.zeros(1), np.array([dt])).item() == pytest.approx(want, **close)
    assert epsilon_per(dt, epsilon) == pytest.approx(after, rel=1e-13)


def test_one_round_decays_by_the_square_root_of_the_papers():
    for epsilon in [0.0, 0.001, 0.01, 0.03, 0.3, 1.0]:
        assert decay(epsilon, 1.0) == (1.0 - epsilon) ** 0.5
        assert epsilon_per(1.0, epsilon) == epsilon


def test_nothing_is_left_after_any_time_at_epsilon_one():
    for dt in (1e-100, 0.5, 1.0, 1e150):
        assert (decay(1.0, dt), epsilon_per(dt, 1.0), decay(0.0, dt)) == (0.0, 1.0, 1.0)
    assert (decay(1.0, 0.0), epsilon_per(0.0, 1.0)) == (1.0, 0.0)
    times = np.array([0.0, 1e-100, 1e150])
    np.testing.assert_array_equal(MarkovTime(1.0)(times, times), np.eye(3))


def test_the_noise_of_a_step_is_positive_semidefinite(kernel):
    for t, dt in ((0.0, 1.0), (3.0, 1e-4), (1e5, 0.3), (2.0, 1e4)):
        noise = kernel.step(t, dt)[1]
        np.testing.assert_array_equal(noise, noise.T)
        assert np.linalg.eigvalsh(noise).min() >= -1e-14 * np.abs(kernel.covariance(t + dt)).max()


def test_a_periodic_kernel_with_all_harmonics_is_that_of_mackay():
    kernel = PeriodicTime(10.0, 0.7, harmonics=20)
    t = np.linspace(0.0, 30.0, 50)
    full = np.exp(-2.0 * np.sin(np.pi * np.subtract.outer(t, t) / 10.0) ** 2 / 0.7**2)
    assert abs(kernel.omitted) < 1e-12
    np.testing.assert_allclose(kernel(t, t), full, atol=1e-12)
    few = PeriodicTime(10.0, 0.7, harmonics=3)
    assert 0.0 < np.abs(few(t, t) - full).max() <= 2.0 * few.omitted
    one_period = np.exp(-2.0 * np.sin(np.pi * np.arange(64) / 64) ** 2 / 0.7**2)
    assert few.omitted == pytest.approx(2.0 * np.fft.rfft(one_period)[4:].real.sum() / 64)


@pytest.mark.parametrize("ell", [1e-4, 3e-5, 1e-9, 1e-150])
def test_the_harmonics_of_a_periodic_kernel_are_equal_as_its_lengthscale_vanishes(ell):
    kernel = PeriodicTime(10.0, ell, harmonics=64)
    t = np.linspace(0.0, 9.5, 20)
    angles = 2.0 * np.pi / 10.0 * np.multiply.outer(np.subtract.outer(t, t), np.arange(1, 65))
    expected = (1.0 + 2.0 * np.cos(angles).sum(axis=2)) / 129.0
    np.testing.assert_allclose(kernel(t, t), expected, atol=1e-4)
    assert 0.98 < kernel.omitted <= 1.0


def test_dicts_round_trip_and_parameters_have_names(kernel):
    spec = json.loads(json.dumps(kernel.to_dict()))
    assert temporal_from_dict(spec) == kernel
    for name, value in kernel.parameters().items():
        moved = kernel.with_parameters({name: 0.9 * value})
        expected = kernel.parameters() | {name: 0.9 * value}
        assert moved.parameters() == pytest.approx(expected)


def test_names_of_the_parameters_of_a_sum():
    found = temporal_from_dict(KERNELS["sum"]).parameters()
    assert found == {
        "kernels.0.period": 7.3,
        "kernels.0.lengthscale": 0.8,
        "kernels.1.epsilon": 0.03,
        "weights.0": 0.6,
        "weights.1": 0.7,
    }


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"type": "markov", "epsilon": 1.5}, "epsilon must lie in"),
        ({"type": "matern32", "lengthscale": 0.0}, "lengthscale"),
        ({"type": "periodic", "period": -1.0}, "period"),
        ({"type": "periodic", "period": 3.0, "harmonics": 0}, "harmonics"),
        ({"type": "wiener", "rate": 0.0}, "rate"),
        ({"type": "sum", "kernels": []}, "one or more"),
        ({"type": "sum", "kernels": [MARKOV], "weights": [0.5, 0.5]}, "one weight per kernel"),
        ({"type": "product", "kernels": [3]}, "temporal kernels"),
        ({"type": "product", "kernels": [SEASON] * 3}, "at most 256 states"),
        ({"type": "terms", "kernels": [MARKOV]}, "two or more"),
        ({"type": "terms", "kernels": [MARKOV, TERMS]}, "not a part of another"),
        ({"type": "sum", "kernels": [MARKOV, TERMS]}, "not a part of another"),
        ({"type": "product", "kernels": [TERMS]}, "not a part of another"),
    ],
)
def test_errors(spec, words):
    with pytest.raises(InvalidInput, match=words):
        temporal_from_dict(spec)


def test_unknown_names():
    with pytest.raises(UnknownName, match="markov"):
        temporal_from_dict({"type": "markow", "epsilon": 0.1})
    with pytest.raises(UnknownName, match="lengthscale"):
        Matern32Time(3.0).with_parameters({"lengthscal": 2.0})


def test_256_states_are_possible():
    assert TemporalProduct((Matern32Time(3.0),) * 8).states == 256


def test_weights_are_equal_by_default():
    assert TemporalSum((PeriodicTime(3.0), Matern32Time(4.0))).weights == (0.5, 0.5)
