"""The likelihood against the dense formula and finite differences; learning against known truth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp import descent
from gpbandits_env.gp.kernels import Empirical, Linear, Matern52, SquaredExponential
from gpbandits_env.gp.learning import (
    HyperPriors,
    InputScaling,
    Observations,
    Series,
    climbs,
    fit,
    log_marginal_likelihood,
    time,
)
from gpbandits_env.gp.learning.time import TimeLikelihoodOfSeries
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import MarkovTime, WienerTime

ALL = ("epsilon", "noise_var", "kernel")


def readings(n=25, seed=0, dim=2):
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, 8, n)).astype(float)
    times[3:] += 0.37
    return Observations(rng.random((n, dim)), rng.standard_normal(n), times)


@pytest.mark.parametrize("epsilon", [0.0, 0.03, 0.5])
@pytest.mark.parametrize(
    "kernel", [SquaredExponential(lengthscale=0.3), Matern52(lengthscale=(0.2, 0.5))]
)
def test_value_is_the_gaussian_density(kernel, epsilon):
    data = readings()
    lags = np.abs(data.times[:, None] - data.times)
    sigma = kernel(data.points) * (1 - epsilon) ** (lags / 2) + 0.1 * np.eye(25)
    expected = multivariate_normal(np.zeros(25), sigma).logpdf(data.rewards)
    value, _ = log_marginal_likelihood(Model(kernel, 0.1, epsilon=epsilon), data)
    assert value == pytest.approx(expected, abs=1e-9)
    above = Observations(data.points, data.rewards + 0.7, data.times)
    moved, _ = log_marginal_likelihood(Model(kernel, 0.1, 0.7, epsilon), above)
    assert moved == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        SquaredExponential(lengthscale=0.3, variance=2.0),
        Matern52((0.2, 0.5)),
        Matern52(0.4) * Linear(0.7) + SquaredExponential(0.3),
    ],
)
def test_gradient_is_that_of_finite_differences(kernel):
    data, noise, eps, h = readings(), 0.1, 0.04, 1e-6

    def value(k=kernel, noise_var=noise, epsilon=eps):
        return log_marginal_likelihood(Model(k, noise_var, epsilon=epsilon), data)[0]

    _, slopes = log_marginal_likelihood(Model(kernel, noise, epsilon=eps), data)
    slope = (value(epsilon=eps + h) - value(epsilon=eps - h)) / (2 * h)
    assert slopes["epsilon"] == pytest.approx(slope, rel=1e-5)
    up, down = value(noise_var=noise * np.exp(h)), value(noise_var=noise * np.exp(-h))
    assert slopes["noise_var"] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-5)
    assert set(slopes) == {"epsilon", "noise_var", *kernel.parameters()}
    for name, given in kernel.parameters().items():
        up = value(kernel.with_parameters({**kernel.parameters(), name: given * np.exp(h)}))
        down = value(kernel.with_parameters({**kernel.parameters(), name: given * np.exp(-h)}))
        assert slopes[name] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-5)


def test_gradient_where_the_variance_grows_with_time():
    data, h = readings(), 1e-4

    def at(**moved):
        of = {"lengthscale": 0.4, "variance": 1.5, "temporal.rate": 0.3} | moved
        model = Model(
            Matern52(of["lengthscale"], of["variance"]),
            0.1,
            temporal=WienerTime(of["temporal.rate"]),
        )
        return of, *log_marginal_likelihood(model, data)

    given, _, slopes = at()
    for name, value in given.items():
        up, down = (at(**{name: value * np.exp(step)})[1] for step in (h, -h))
        assert slopes[name] == pytest.approx((up - down) / (2 * h), rel=1e-5)


def test_a_series_has_the_likelihood_of_its_readings():
    rng = np.random.default_rng(1)
    points = rng.random((5, 1))
    kernel, times = SquaredExponential(lengthscale=0.4), np.array([0.0, 1.0, 2.5, 7.0])
    values = rng.standard_normal((4, 5))
    flat = Observations(np.tile(points, (4, 1)), values.ravel(), np.repeat(times, 5))
    value, _ = log_marginal_likelihood(Model(kernel, 0.2, epsilon=0.1), flat)
    shift = rng.standard_normal(5)
    model = Model(Empirical(kernel(points)), 0.2, shift, 0.1)
    assert of_series(model, [Series(values + shift, times)]) == pytest.approx(value, abs=1e-9)


def of_series(model, data):
    """The log likelihood of series under a model without a temporal kernel."""
    noise_vars = np.array([model.noise_var])
    return TimeLikelihoodOfSeries(model, data)([MarkovTime(model.epsilon)], noise_vars).item()


def drifting_series(epsilon, rounds, arms, noise_var, seed):
    rng = np.random.default_rng(seed)
    points = np.linspace(0, 1, arms)[:, None]
    covariance = SquaredExponential(lengthscale=0.2)(points)
    factor = np.linalg.cholesky(covariance + 1e-10 * np.eye(arms))
    rows = [factor @ rng.standard_normal(arms)]
    for _ in range(rounds - 1):
        g = factor @ rng.standard_normal(arms)
        rows.append(np.sqrt(1 - epsilon) * rows[-1] + np.sqrt(epsilon) * g)
    noise = np.sqrt(noise_var) * rng.standard_normal((rounds, arms))
    return points, covariance, np.array(rows) + noise


def test_epsilon_is_found_again():
    _, covariance, values = drifting_series(0.05, 150, 12, 0.1, seed=3)
    found = fit(Model(Empirical(covariance), 0.1), [Series(values)], learn=["epsilon"])
    assert 0.04 < found.model.epsilon < 0.07


def test_epsilon_is_found_between_rows_that_are_closer_than_most():
    """60% of the gaps are 20 units; the largest epsilon was 0.999 per 20 units: 0.29 per unit."""
    points, covariance, values = drifting_series(0.6, 2000, 4, 0.1, seed=3)
    at = np.cumsum(np.random.default_rng(0).choice([1, 20], p=[0.4, 0.6], size=90))
    rows, times = values[at], at.astype(float)
    series = fit(Model(Empirical(covariance), 0.1), [Series(rows, times)], learn=["epsilon"])
    assert 0.45 < series.model.epsilon < 0.75
    data = Observations(np.tile(points, (90, 1)), rows.ravel(), np.repeat(times, 4))
    found = fit(Model(SquaredExponential(lengthscale=0.2), 0.1), data, learn=["epsilon"])
    assert found.model.epsilon == pytest.approx(series.model.epsilon, rel=1e-3)


@pytest.mark.parametrize("seed", [6, 8])
def test_what_was_learned_is_the_best_that_any_start_ended_at(seed):
    """With the first of these data all starts end alike, with the other the first ends lower."""
    data = readings(seed=seed)
    found = fit(Model(Matern52((0.2, 0.5)), 0.1), data, learn=ALL)
    value, _ = log_marginal_likelihood(found.model, data)
    assert found.log_likelihood == max(found.starts) == pytest.approx(value, abs=1e-9)
    assert (found.starts[0] < found.log_likelihood - 1.0) == (seed == 8)


def test_a_drift_that_is_given_counts_in_what_is_learned_beside_it():
    found = fit(Model(Matern52((0.2, 0.5)), 0.1, epsilon=0.3), readings(), learn=["noise_var"])
    value, _ = log_marginal_likelihood(found.model, readings())
    assert found.model.epsilon == 0.3
    assert found.log_likelihood == pytest.approx(value, abs=1e-9)


def test_what_was_learned_of_series_is_their_likelihood():
    _, covariance, values = drifting_series(0.05, 40, 5, 0.1, seed=3)
    data = [Series(values)]
    found = fit(Model(Empirical(covariance), 0.2), data, learn=["epsilon", "noise_var"])
    value = of_series(found.model, data)
    assert found.log_likelihood == max(found.starts) == pytest.approx(value, abs=1e-9)


def finite_differences(monkeypatch, run):
    """Has every search that `run` starts compared in its gradient with differences of values."""
    checked = []

    def descend(objective, first, limits, **options):
        for shift in (0.0, 0.05):
            u = first + shift
            slope = objective(u)[1]
            steps = 1e-6 * np.eye(len(u))
            rise = [(objective(u + h)[0] - objective(u - h)[0]) / 2e-6 for h in steps]
            np.testing.assert_allclose(slope, rise, rtol=1e-4, atol=1e-4)
        checked.append(len(first))
        return descent.descend(objective, first, limits, **options)

    monkeypatch.setattr(climbs, "descend", descend)
    monkeypatch.setattr(time, "descend", descend)
    run()
    return checked


@pytest.mark.parametrize(
    ("learned", "free"),
    [(("epsilon",), 1), (("noise_var", "kernel"), 4), (("kernel", "epsilon", "noise_var"), 5)],
)
def test_the_search_is_given_the_gradient_of_its_own_parameters(monkeypatch, learned, free):
    def run():
        fit(Model(Matern52((0.2, 0.5)), 0.1, epsilon=0.02), readings(), learn=learned)

    starts = 3 if "epsilon" in learned else 1
    assert finite_differences(monkeypatch, run) == [free] * starts


@pytest.mark.parametrize(
    ("kernel", "free"), [(Matern52((0.2, 0.5)), 4), (Matern52(0.3) + Linear(0.5), 5)]
)
def test_under_priors_too(monkeypatch, kernel, free):
    priors = HyperPriors.default(InputScaling(np.zeros(2), np.ones(2)))

    def run():
        fit(Model(kernel, 0.1), readings(), learn=(*ALL, "mean"), priors=priors)

    assert finite_differences(monkeypatch, run) == [free] * 3


@pytest.mark.parametrize("learn_noise", [False, True])
def test_the_search_of_series_is_given_its_gradient(monkeypatch, learn_noise):
    _, covariance, values = drifting_series(0.05, 20, 5, 0.1, seed=3)

    def run():
        learned = ["epsilon", "noise_var"][: 1 + learn_noise]
        fit(Model(Empirical(covariance), 0.1), [Series(values)], learn=learned)

    assert finite_differences(monkeypatch, run) == [1 + learn_noise] * 3


def test_a_static_function_has_epsilon_near_zero():
    _, covariance, values = drifting_series(0.0, 60, 8, 0.1, seed=4)
    model = Model(Empirical(covariance), 0.1)
    found = fit(model, [Series(values)], learn=["epsilon", "noise_var"]).model
    assert found.epsilon < 2e-3
    assert found.noise_var == pytest.approx(0.1, rel=0.3)


def test_all_hyper_parameters_are_learned_from_bandit_data():
    points, _, values = drifting_series(0.05, 160, 12, 0.01, seed=5)
    rng = np.random.default_rng(0)
    arms = rng.integers(12, size=160)
    data = Observations(points[arms], values[np.arange(160), arms], np.arange(160.0))
    found = fit(Model(SquaredExponential(lengthscale=0.5), 0.1), data, learn=ALL)
    true = Model(SquaredExponential(lengthscale=0.2), 0.01, epsilon=0.05)
    # Nothing may be likelier than what a maximum found, the truth included.
    assert found.log_likelihood >= log_marginal_likelihood(true, data)[0]
    found = found.model
    assert found.kernel.parameters()["lengthscale"] == pytest.approx(0.2, rel=0.35)
    assert 0.01 < found.epsilon < 0.15
    kept = fit(true, data, learn=("epsilon",)).model
    assert (kept.noise_var, kept.kernel) == (0.01, SquaredExponential(lengthscale=0.2))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Observations(np.zeros((3, 1)), np.zeros(2)), "agree"),
        (lambda: Observations(np.zeros((0, 1)), np.zeros(0)), "agree"),
        (lambda: Observations(np.zeros((2, 1)), np.array([0.0, np.nan])), "finite"),
        (lambda: Series(np.zeros((3, 2)), np.zeros(2)), "agree"),
        (lambda: Series(np.zeros((2, 2)), np.array([1.0, 0.0])), "decrease"),
        (lambda: fit(Model(SquaredExponential(0.2), -1.0), readings()), "noise_var"),
        (lambda: fit(Model(SquaredExponential(0.2), 0.0), readings()), "noise_var"),
        (lambda: fit(Model(SquaredExponential(0.2), 1.0), readings(), learn=()), "nothing"),
        (lambda: fit(Model(SquaredExponential(0.2), 1.0, np.zeros(2)), readings()), "one number"),
        (lambda: fit(Model(SquaredExponential(0.2), 1.0, epsilon=1.0), readings()), "below 1"),
        (lambda: Model(SquaredExponential(0.2), 1.0, epsilon=1.5), "epsilon"),
        (
            lambda: fit(Model(Empirical(np.eye(2)), 1.0), [], learn=["epsilon"]),
            "one or more Series",
        ),
        (lambda: fit(Model(Empirical(np.eye(2)), 1.0), [Series(np.eye(2))]), "only epsilon"),
        (
            lambda: log_marginal_likelihood(Model(Empirical(np.eye(2)), 1.0), Series(np.eye(2))),
            "data must be Observations, got Series",
        ),
    ],
)
def test_bad_input_is_refused(make, says):
    with pytest.raises(InvalidInput, match=says):
        make()


def test_unknown_word_names_the_nearest():
    with pytest.raises(UnknownName, match="epsilon"):
        fit(Model(SquaredExponential(0.2), 1.0), readings(), learn=("epsilom",))


def test_noise_that_is_known_for_some_observations():
    data, kernel, h = readings(), Matern52(0.4), 1e-6
    own = np.where(np.arange(25) % 3, np.linspace(0.01, 2.0, 25), np.nan)
    some = replace(data, noise_var=own)

    def dense(noise):
        lags = np.abs(data.times[:, None] - data.times)
        told = np.where(np.isnan(own), noise, own)
        sigma = kernel(data.points) * 0.95 ** (lags / 2) + np.diag(told)
        return multivariate_normal(np.zeros(25), sigma).logpdf(data.rewards)

    value, slopes = log_marginal_likelihood(Model(kernel, 0.1, epsilon=0.05), some)
    assert value == pytest.approx(dense(0.1), abs=1e-9)
    slope = (dense(0.1 * np.exp(h)) - dense(0.1 * np.exp(-h))) / (2 * h)
    assert slopes["noise_var"] == pytest.approx(slope, abs=1e-5)
    with pytest.raises(InvalidInput, match="noise_var must have shape"):
        replace(data, noise_var=own[1:])


def test_the_noise_is_learned_from_the_observations_whose_noise_is_unknown():
    rng = np.random.default_rng(0)
    points = rng.random((300, 1))
    own = np.where(np.arange(300) % 2, 1.0, np.nan)
    sds = np.where(np.isnan(own), 0.1, 1.0)
    rewards = np.sin(6 * points[:, 0]) + sds * rng.standard_normal(300)
    priors = HyperPriors.default(InputScaling(np.zeros(1), np.ones(1)))
    start = Model(SquaredExponential(0.2), 0.1)
    apart = fit(start, Observations(points, rewards, noise_var=own), priors=priors).model
    assert apart.noise_var == pytest.approx(0.01, rel=0.3)
    together = fit(start, Observations(points, rewards), priors=priors).model
    assert together.noise_var == pytest.approx(0.5, rel=0.3)


def test_an_epsilon_near_one_is_kept_and_has_its_derivative():
    points, covariance, values = drifting_series(1.0, 50, 6, 0.2, seed=1)
    data = Observations(np.tile(points, (50, 1)), values.ravel(), np.repeat(np.arange(50.0), 6))
    model = Model(SquaredExponential(lengthscale=0.2), 0.2, epsilon=0.9999)

    def value(epsilon):
        return log_marginal_likelihood(replace(model, epsilon=epsilon), data)[0]

    slope = log_marginal_likelihood(model, data)[1]["epsilon"]
    assert slope == pytest.approx((value(0.99991) - value(0.99989)) / 2e-5, rel=1e-2)
    series = [Series(values)]
    found = fit(replace(model, kernel=Empirical(covariance)), series, learn=["noise_var"])
    assert found.model.epsilon == 0.9999
    assert found.log_likelihood == pytest.approx(of_series(found.model, series))


def test_the_arrays_of_observations_are_copies():
    given = {name: np.full(3, 0.5) for name in ("points", "rewards", "times", "noise_var")}
    kept = Observations(**given)
    for name, array in given.items():
        array[0] = 7.0  # the caller may still write to it
        assert 7.0 not in getattr(kept, name)
