"""Likelihoods against the dense formula and finite differences; learning against known truth."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import (
    Empirical,
    Kernel,
    Linear,
    Matern,
    Matern52,
    OnCoordinates,
    SquaredExponential,
    Stationary,
    Sum,
)
from gpbandits_env.gp.learning import (
    HyperPriors,
    InputScaling,
    Observations,
    OutputScaling,
    Series,
    fit,
)
from gpbandits_env.gp.learning.data import time_gaps
from gpbandits_env.gp.learning.likelihood import PointLikelihood, RadialCovariances
from gpbandits_env.gp.model import Model

KERNELS = [SquaredExponential(1.0), Matern52(1.0), Matern(1.0, nu=1.7)]


def readings(n, dim, kernel, noise_var, seed=0, mean=0.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, dim))
    factor = np.linalg.cholesky(kernel(x) + noise_var * np.eye(n))
    return x, mean + factor @ rng.standard_normal(n)


def cube(dim):
    return InputScaling.of(Box(-np.ones(dim), np.ones(dim)))


def learn(kernel, noise_var, x, y, *, inputs, what=("kernel", "noise_var"), mean=None, **more):
    """A fit under the usual priors; the mean is learned if it is not given."""
    model = Model(kernel, noise_var, 0.0 if mean is None else mean)
    words = [*what, "mean"] if mean is None and what else what
    return fit(model, Observations(x, y), learn=words, priors=HyperPriors.default(inputs), **more)


def likelihood_of(kernel, x, y, mean, count):
    """As a function of the logs: one or more lengthscales, the variance, the noise."""
    groups = None if count == 1 else np.arange(count)
    likelihood = PointLikelihood(RadialCovariances(kernel, x, groups), y, mean=mean)
    return lambda u: likelihood(np.exp(u[:-1]), float(np.exp(u[-1])))


def likelihoods(kernel, x, y, mean):
    rng, dim = np.random.default_rng(5), x.shape[1]
    yield likelihood_of(kernel, x, y, mean, 1), np.log([0.7, 1.3, 0.1])
    scales = rng.uniform(0.3, 2.0, dim)
    yield likelihood_of(kernel, x, y, mean, dim), np.log([*scales, 0.6, 0.2])
    if dim > 2:  # two groups of coordinates
        groups = np.arange(dim) % 2
        grouped = PointLikelihood(RadialCovariances(kernel, x, groups), y, mean=mean)
        of_logs = lambda u: grouped(np.exp(u[:-1]), float(np.exp(u[-1])))  # noqa: E731
        yield of_logs, np.log([0.5, 1.4, 0.6, 0.2])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 3, 60])
def test_likelihood_is_the_gaussian_density_at_its_best_mean(kernel, dim):
    x, y = readings(25, dim, kernel, 0.1, mean=2.0)
    for likelihood, u in likelihoods(kernel, x, y, None):
        ell, v, s2 = np.exp(u[:-2]), *np.exp(u[-2:])
        ell = ell if len(ell) in (1, dim) else ell[np.arange(dim) % 2]
        sigma = v * kernel(x / ell) + s2 * np.eye(25)
        value, _, best = likelihood(u)

        def density(mean, sigma=sigma):
            return multivariate_normal(np.full(25, mean), sigma).logpdf(y)

        assert value == pytest.approx(density(best), abs=1e-8)
        assert value > max(density(best + 0.01), density(best - 0.01))
    for likelihood, u in likelihoods(kernel, x, y, 0.3):
        assert likelihood(u).mean == 0.3
        ell, v, s2 = np.exp(u[:-2]), *np.exp(u[-2:])
        ell = ell if len(ell) in (1, dim) else ell[np.arange(dim) % 2]
        sigma = v * kernel(x / ell) + s2 * np.eye(25)
        expected = multivariate_normal(np.full(25, 0.3), sigma).logpdf(y)
        assert likelihood(u).value == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("mean", [None, 0.3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_is_that_of_finite_differences(kernel, mean):
    x, y = readings(30, 4, kernel, 0.1, mean=1.0)
    for likelihood, u in likelihoods(kernel, x, y, mean):
        slope = likelihood(u).gradient
        for j in range(len(u)):
            step = 1e-5 * np.eye(len(u))[j]
            numeric = (likelihood(u + step)[0] - likelihood(u - step)[0]) / 2e-5
            assert slope[j] == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_known_hyper_parameters_are_recovered(seed):
    true = Matern52(0.6, 4.0)
    x, y = readings(250, 3, true, 0.09, seed=seed, mean=10.0)
    found = learn(Matern52(3.0), 1.0, x, y, inputs=cube(3))
    assert found.model.kernel.lengthscale == pytest.approx(0.6, rel=0.25)
    assert found.model.kernel.variance == pytest.approx(4.0, rel=0.6)
    assert found.model.noise_var == pytest.approx(0.09, rel=0.35)
    assert abs(found.model.prior_mean - 10.0) < 3.0


def test_a_lengthscale_per_coordinate():
    true = SquaredExponential((0.4, 6.0, 0.8), 1.0)
    x, y = readings(150, 3, true, 0.01, seed=1)
    found = learn(SquaredExponential(1.0), 0.1, x, y, inputs=cube(3), ard=True)
    assert np.array(found.model.kernel.lengthscale) == pytest.approx([0.4, 6.0, 0.8], rel=0.5)
    pooled = learn(SquaredExponential(1.0), 0.1, x, y, inputs=cube(3))
    assert found.log_likelihood > pooled.log_likelihood + 10
    again = learn(
        found.model.kernel, found.model.noise_var, x, y, inputs=cube(3), ard=np.True_, starts=1
    )
    assert again.model.kernel.lengthscale == pytest.approx(found.model.kernel.lengthscale, rel=0.02)


def test_the_coordinates_of_a_group_share_their_lengthscale():
    true = SquaredExponential((0.4, 2.5, 2.5), 1.0)
    x, y = readings(120, 3, true, 0.01, seed=1)
    found = learn(SquaredExponential(1.0), 0.1, x, y, inputs=cube(3), ard=(0, 1, 1))
    first, second, third = found.model.kernel.lengthscale
    assert second == third
    assert [first, second] == pytest.approx([0.4, 2.5], rel=0.4)
    # A short search from the maximum stays there.
    short = learn(
        found.model.kernel, found.model.noise_var, x, y, inputs=cube(3), ard=(0, 1, 1), starts=0
    )
    assert short.model.kernel.lengthscale == pytest.approx((first, second, second), rel=0.02)
    assert short.evaluations < found.evaluations / 2


@pytest.mark.parametrize("groups", [(0, 1), (0, 2, 2), (0, 1, 3), (0.5, 1, 1)])
def test_groups_that_do_not_fit_are_refused(groups):
    x, y = readings(10, 3, SquaredExponential(1.0), 0.01)
    with pytest.raises(InvalidInput, match="group"):
        learn(SquaredExponential(1.0), 0.1, x, y, inputs=cube(3), ard=groups)


def test_groups_need_a_radial_kernel():
    x, y = readings(10, 2, SquaredExponential(1.0), 0.01)
    with pytest.raises(InvalidInput, match="radial kernel"):
        learn(Linear() + Matern52(1.0), 0.1, x, y, inputs=cube(2), ard=(0, 0))


def test_few_data_keep_lengthscales_near_the_common_one():
    """Within the stated spread; many data move them apart all the same."""
    true = SquaredExponential((0.3, 3.0), 1.0)
    apart = {}
    for n in (6, 150):
        x, y = readings(n, 2, true, 0.01, seed=2)
        for spread in (None, 0.2):
            priors = HyperPriors.default(cube(2), spread)
            found = fit(
                Model(SquaredExponential(1.0), 0.1), Observations(x, y), priors=priors, ard=True
            )
            apart[n, spread] = float(np.ptp(np.log(found.model.kernel.lengthscale)))
    assert apart[6, 0.2] < 0.25
    assert apart[6, 0.2] < 0.5 * apart[6, None]
    assert apart[150, 0.2] > 1.0


@dataclass(frozen=True)
class Rational(Stationary):
    """(1 + r^2 / (2 alpha))^-alpha."""

    alpha: float = field(default=1.0, kw_only=True)

    def profile(self, r):
        return (1.0 + r**2 / (2.0 * self.alpha)) ** -self.alpha

    def slope(self, r):
        return (1.0 + r**2 / (2.0 * self.alpha)) ** (-self.alpha - 1.0)


@dataclass(frozen=True)
class Waves(Kernel):
    """exp(-2 sin^2(pi d / period) / lengthscale^2) on the line."""

    lengthscale: float = 1.0
    period: float = 0.3
    variance: float = 1.0

    def __call__(self, x, z=None):
        d = x[:, None, 0] - (x if z is None else z)[None, :, 0]
        wave = np.sin(np.pi * d / self.period) / self.lengthscale
        return self.variance * np.exp(-2 * wave**2)

    def diagonal(self, x):
        return np.full(len(x), self.variance)


def test_a_lengthscale_per_coordinate_of_a_kernel_with_more_to_learn():
    x, y = readings(120, 2, Rational((0.4, 4.0), alpha=2.0), 0.01, seed=1)
    given = Rational(1.0, alpha=1.0)
    pooled = learn(given, 0.1, x, y, inputs=cube(2))
    found = learn(given, 0.1, x, y, inputs=cube(2), ard=True)
    assert np.array(found.model.kernel.lengthscale) == pytest.approx([0.4, 4.0], rel=0.5)
    assert found.model.kernel.alpha != 1.0
    assert found.log_likelihood > pooled.log_likelihood + 10
    assert found.evaluations > pooled.evaluations  # which are a part of them
    again = learn(found.model.kernel, 0.01, x, y, inputs=cube(2), ard=True)
    assert again.model.kernel.lengthscale == pytest.approx(found.model.kernel.lengthscale, rel=0.1)


def test_a_kernel_of_one_lengthscale_refuses_one_per_coordinate():
    x, y = readings(20, 2, SquaredExponential(1.0), 0.01)
    with pytest.raises(InvalidInput, match="ard needs a kernel with a lengthscale for each"):
        learn(Waves(), 0.1, x, y, inputs=cube(2), ard=True)
    learn(Waves(), 0.1, x, y, inputs=cube(2), what=("period",), ard=True)


@pytest.mark.parametrize("given", [0.2, 0.25, 0.36])
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_period_is_not_learned_at_an_alias(given, seed):
    x, y = readings(30, 1, Waves(period=0.6), 1e-4, seed=seed)
    found = learn(Waves(period=2 * given), 1e-4, x, y, inputs=cube(1), mean=0.0)
    assert found.model.kernel.period == pytest.approx(0.6, rel=0.02)


def density_of(likelihood, dim):
    """The log posterior density of u, up to a constant, under the usual priors."""
    priors = HyperPriors.default(cube(dim))

    def posterior(u):
        parts = [priors.lengthscale] * (len(u) - 2) + [priors.variance, priors.noise_var]
        return likelihood(u).value + sum(float(p(v)[0]) for p, v in zip(parts, u, strict=True))

    return posterior


@pytest.mark.parametrize(("seed", "better"), [(0, "given"), (9, "pooled")])
def test_of_lengthscales_per_coordinate_the_better_of_two_ends_is_kept(seed, better):
    """That of the climb from one lengthscale for all, or of that from those given."""
    true = SquaredExponential((0.3, 3.0, 0.5, 2.0))
    x, y = readings(25, 4, true, 0.01, seed=seed)
    given = true if better == "given" else SquaredExponential((3.0, 0.3, 3.0, 0.3))
    found = learn(given, 0.1, x, y, inputs=cube(4), ard=True, starts=1)
    pooled, own = found.starts
    assert abs(pooled - own) > 0.5
    assert (own > pooled) == (better == "given")
    outputs = OutputScaling.of(y)
    likelihood = likelihood_of(true, x, outputs.scale(y), None, 4)
    scaled = [found.model.kernel.variance, found.model.noise_var] / np.float64(outputs.sd**2)
    u = np.log([*found.model.kernel.lengthscale, *scaled])
    assert density_of(likelihood, 4)(u) == pytest.approx(max(found.starts), abs=1e-8)
    assert found.log_likelihood == pytest.approx(likelihood(u).value, abs=1e-8)


def test_no_value_of_the_posterior_beats_what_was_learned():
    """Against a grid of the three numbers, priors and all."""
    x, y = readings(40, 2, SquaredExponential(0.5), 0.05)
    found = learn(SquaredExponential(1.0), 0.1, x, y, inputs=cube(2), starts=3)
    outputs = OutputScaling.of(y)
    likelihood = likelihood_of(SquaredExponential(1.0), x, outputs.scale(y), None, 1)
    posterior = density_of(likelihood, 2)

    grid = np.stack(
        np.meshgrid(
            np.log(np.geomspace(0.1, 5, 15)),
            np.log(np.geomspace(0.1, 10, 12)),
            np.log(np.geomspace(1e-3, 1, 12)),
        ),
        axis=-1,
    ).reshape(-1, 3)
    best = max(posterior(u) for u in grid)
    assert max(found.starts) >= best - 1e-3


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("reward", [lambda x: np.sin(9 * x.sum(1)), lambda x: 0 * x[:, 0] + 7])
def test_twenty_points_in_a_hundred_dimensions_do_not_blow_up(reward, ard):
    x = np.random.default_rng(3).uniform(-1, 1, (20, 100))
    y = reward(x)
    found = learn(Matern52(1.0), 0.1, x, y, inputs=cube(100), ard=ard, starts=3)
    priors, unit = HyperPriors.default(cube(100)), OutputScaling.of(y).sd ** 2
    for ell in np.ravel(found.model.kernel.lengthscale):
        assert priors.lengthscale.low <= ell <= priors.lengthscale.high
    assert priors.variance.low <= found.model.kernel.variance / unit <= priors.variance.high
    assert priors.noise_var.low <= found.model.noise_var / unit <= priors.noise_var.high
    assert y.min() <= found.model.prior_mean <= y.max()


def test_only_what_is_named_is_learned():
    x, y = readings(40, 2, Matern52(0.5), 0.05)
    given = Matern52((0.5, 0.7), 2.0)
    noise = learn(given, 0.2, x, y, inputs=cube(2), what=["noise_var"], mean=0.0)
    assert noise.model.kernel.lengthscale == pytest.approx((0.5, 0.7))
    assert noise.model.kernel.variance == pytest.approx(2.0)
    assert noise.model.noise_var != pytest.approx(0.2, rel=1e-3)
    assert noise.model.prior_mean == 0.0
    rest = learn(given, 0.2, x, y, inputs=cube(2), what=["lengthscale", "variance"])
    assert rest.model.noise_var == pytest.approx(0.2)
    variance = learn(given, 0.2, x, y, inputs=cube(2), what=["variance"])
    assert variance.model.kernel.lengthscale == (0.5, 0.7)
    assert variance.model.kernel.variance != pytest.approx(2.0, rel=1e-2)


def test_what_is_learned_of_any_kernel_is_what_is_learned_of_a_stationary_one():
    """Under the same priors, by the names of its parameters and in its own units."""
    x, y = readings(50, 2, Matern52(0.5), 0.05, mean=3.0)
    inputs = InputScaling(np.zeros(2), np.full(2, 8.0))
    x = inputs.unscale(x)
    one = learn(Matern52(1.0), 0.1, x, 5 * y, inputs=inputs, starts=3)
    two = learn(Sum((Matern52(1.0),)), 0.1, x, 5 * y, inputs=inputs, starts=3)
    assert two.starts == pytest.approx(one.starts, abs=1e-2)
    assert max(two.starts) == pytest.approx(max(one.starts), abs=1e-4)
    assert two.model.kernel.terms[0].lengthscale == pytest.approx(
        one.model.kernel.lengthscale, rel=0.02
    )
    assert two.model.prior_mean == pytest.approx(one.model.prior_mean, rel=0.02)
    for words in (["noise_var"], ["noise_var", "epsilon"]):
        one = learn(Matern52(4.0, 20.0), 0.1, x, 5 * y, inputs=inputs, what=words)
        two = learn(Sum((Matern52(4.0, 20.0),)), 0.1, x, 5 * y, inputs=inputs, what=words)
        assert two.model.noise_var == pytest.approx(one.model.noise_var, rel=1e-3)
        assert two.model.kernel.terms[0] == one.model.kernel == Matern52(4.0, 20.0)
    kept = learn(Sum((Matern52(1.0),)), 0.1, x, y, inputs=inputs, what=["terms.0.variance"])
    assert kept.model.kernel.terms[0].lengthscale == 1.0
    assert kept.model.noise_var == 0.1


def test_one_lengthscale_remains_if_several_are_no_more_likely():
    """Rough readings say little of each, and each is as far from its prior as a common one."""
    x, y = readings(50, 3, SquaredExponential(0.08), 0.01, seed=1)
    one, several = (
        learn(Sum((SquaredExponential(1.0),)), 0.1, x, y, inputs=cube(3), ard=ard)
        for ard in (False, True)
    )
    assert several.model == one.model


def test_times_that_repeat_are_no_gaps():
    assert time_gaps([np.array([0.0, 0.0, 100.0, 300.0, 300.0, 400.0])]) == (100.0, 100.0)


def test_drift_is_learned_beside_the_rest():
    """And is none where the function is static."""
    x, y = readings(80, 1, SquaredExponential(0.5), 0.01)
    data = Observations(x, y, np.arange(80.0))
    words = ["kernel", "noise_var", "epsilon"]
    static = fit(Model(SquaredExponential(1.0), 0.1), data, learn=words, priors=usual(1)).model
    assert static.epsilon < 1e-3
    assert static.kernel.lengthscale == pytest.approx(0.5, rel=0.4)
    undated = fit(static, Observations(x, y), learn=words, priors=usual(1)).model
    assert undated.epsilon == static.epsilon
    fading = Observations(x, np.where(np.arange(80) < 40, y, -y), np.arange(80.0))
    assert fit(static, fading, learn=["epsilon"], priors=usual(1)).model.epsilon > 0.003


def usual(dim):
    return HyperPriors.default(cube(dim))


@pytest.mark.parametrize("arms", [1, 2])
def test_the_unit_of_time_does_not_matter(arms):
    """Times in days and in seconds; from starts of 0.003 a second no search found the drift."""
    rng, times = np.random.default_rng(1), np.arange(60.0)
    decay = 0.9 ** (np.abs(times[:, None] - times) / 2)
    values = np.linalg.cholesky(decay) @ rng.normal(size=(60, arms))
    values += 0.3 * rng.normal(size=(60, arms))

    def fitted(unit):
        if arms == 1:
            data = Observations(np.zeros((60, 1)), values[:, 0], unit * times)
            return fit(Model(SquaredExponential(0.3), 0.1), data, learn=["epsilon"])
        model = Model(Empirical(np.eye(arms)), 0.1)
        return fit(model, [Series(values, unit * times)], learn=["epsilon"])

    days, seconds = fitted(1.0), fitted(86400.0)
    assert 0.02 < days.model.epsilon < 0.3
    of_day = 1 - (1 - seconds.model.epsilon) ** 86400
    assert of_day == pytest.approx(days.model.epsilon, rel=1e-4)
    assert seconds.log_likelihood == pytest.approx(days.log_likelihood, abs=1e-6)


def test_units_do_not_matter():
    """The same data in other units give the same model in those units."""
    x, y = readings(60, 3, Matern52(0.6), 0.05)
    low, high = np.array([-5.0, 0.0, 100.0]), np.array([5.0, 1.0, 400.0])
    inputs = InputScaling(low, high)
    one = learn(Matern52(1.0), 0.1, x, y, inputs=cube(3))
    given = Matern52(tuple(1.0 * inputs.unit), 49.0)
    two = learn(given, 4.9, inputs.unscale(x), 7 * y - 3, inputs=inputs)
    assert two.model.kernel.lengthscale == pytest.approx(
        one.model.kernel.lengthscale * inputs.unit, rel=1e-3
    )
    assert two.model.kernel.variance == pytest.approx(49 * one.model.kernel.variance, rel=1e-3)
    assert two.model.noise_var == pytest.approx(49 * one.model.noise_var, rel=1e-3)
    assert two.model.prior_mean == pytest.approx(7 * one.model.prior_mean - 3, rel=1e-3)


def test_a_warm_start_stays():
    x, y = readings(60, 3, Matern52(0.6), 0.05)
    one = learn(Matern52(1.0), 0.1, x, y, inputs=cube(3))
    two = learn(one.model.kernel, one.model.noise_var, x, y, inputs=cube(3), starts=1)
    assert two.evaluations <= 5
    assert two.model.kernel.lengthscale == pytest.approx(one.model.kernel.lengthscale, rel=1e-2)


def test_there_are_as_many_starts_as_asked_for():
    x, y = readings(12, 1, Matern52(0.6), 0.05)
    for starts in (1, 2, 6):
        found = learn(Matern52(1.0), 0.1, x, y, inputs=cube(1), starts=starts)
        assert len(found.starts) == starts


def test_bad_input_is_refused():
    x, y = readings(10, 2, Matern52(0.6), 0.05)
    with pytest.raises(UnknownName, match="variance"):
        learn(Linear(), 0.1, x, y, inputs=cube(2), what=["lengthscale"])
    with pytest.raises(InvalidInput, match="must agree"):
        learn(Matern52(1.0), 0.1, x, y[:5], inputs=cube(2))
    with pytest.raises(InvalidInput, match="must agree"):
        learn(Matern52(1.0), 0.1, x, y, inputs=cube(3))
    with pytest.raises(UnknownName, match="noise_var"):
        learn(Matern52(1.0), 0.1, x, y, inputs=cube(2), what=["noise"])
    with pytest.raises(InvalidInput, match="nothing to learn"):
        learn(Matern52(1.0), 0.1, x, y, inputs=cube(2), what=[])
    with pytest.raises(InvalidInput, match="noise_var"):
        learn(Matern52(1.0), 0.0, x, y, inputs=cube(2), what=["lengthscale"])
    one, two = Model(Matern52(1.0), 0.1), Model(Matern52((1.0, 1.0)), 0.1)
    with pytest.raises(InvalidInput, match="learn must be a list, got 'lengthscale'"):
        fit(one, Observations(x, y), learn="lengthscale")
    with pytest.raises(InvalidInput, match="ard must be true or false"):
        fit(one, Observations(x, y), ard=None)
    with pytest.raises(InvalidInput, match="ard needs priors"):
        fit(one, Observations(x, y), ard=True)
    assert np.ptp(fit(two, Observations(x, y)).model.kernel.lengthscale) > 0.0
    for data in (np.ones((5, 2)), Series(np.ones((5, 2)))):
        with pytest.raises(InvalidInput, match="or a list of one or more Series of the same arms"):
            fit(Model(Empirical(np.eye(2)), 0.1), data, learn=["epsilon"])


@pytest.mark.parametrize("own", [0.7, (0.7, 0.7)])
def test_the_scale_of_a_term_on_some_coordinates_is_that_of_these(own):
    rng = np.random.default_rng(11)
    x, y, found = rng.uniform(size=(15, 3)), rng.normal(size=15), []
    for sides in (np.ones(3), np.array([4.0, 32.0, 32.0])):
        ell = tuple((32.0 if sides[1] > 1.0 else 1.0) * np.atleast_1d(own))
        term = SquaredExponential(ell if isinstance(own, tuple) else ell[0])
        kernel = Sum((OnCoordinates((1, 2), term), SquaredExponential(tuple(0.5 * sides))))
        priors = HyperPriors.default(InputScaling(np.zeros(3), sides))
        data = Observations(x * sides, y)
        found.append(fit(Model(kernel, 0.1), data, priors=priors).log_likelihood)
    assert found[0] == pytest.approx(found[1], abs=1e-4)
