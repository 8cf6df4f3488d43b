"""Learning temporal kernels: the likelihoods against the dense formula, and their maxima."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import ConstantKernel, Empirical, Matern32, SquaredExponential, Sum
from gpbandits_env.gp.learning import (
    HyperPriors,
    InputScaling,
    Observations,
    Series,
    fit,
    log_marginal_likelihood,
)
from gpbandits_env.gp.learning.time import TimeLikelihoodOfSeries
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    Matern52Time,
    PeriodicTime,
    QuasiPeriodicTime,
    TemporalProduct,
    TemporalSum,
    TermsInTime,
    WienerTime,
)
from gpbandits_env.problem import Problem

SEASON = PeriodicTime(6.5, 0.9, harmonics=2)
TEMPORAL = [
    MarkovTime(0.1),
    Matern52Time(4.0),
    TemporalSum((SEASON, MarkovTime(0.2)), (0.8, 0.4)),
    TemporalProduct((WienerTime(0.1), SEASON)),
]
RNG = np.random.default_rng(0)
READINGS = RNG.standard_normal((30, 4))
MODEL = Model(Empirical(np.cov(READINGS.T)), 0.2, np.array([0.1, -0.3, 0.0, 2.0]))
TIMES = np.cumsum(RNG.choice([0.3, 1.0, 4.0], 9))


def dense(model, temporal, arms, rewards, times, noise_var):
    """Log p(y) by numpy.linalg alone."""
    gram = model.kernel(np.arange(4.0)[:, None])
    covariance = gram[np.ix_(arms, arms)] * temporal(times, times) + noise_var * np.eye(len(arms))
    gap = rewards - np.broadcast_to(model.prior_mean, 4)[arms]
    fit = gap @ np.linalg.solve(covariance, gap)
    return -0.5 * (fit + np.linalg.slogdet(2 * np.pi * covariance)[1])


@pytest.mark.parametrize("temporal", TEMPORAL, ids=lambda kernel: kernel.type_name)
def test_the_likelihoods_are_the_dense_formula(temporal):
    rows = np.random.default_rng(1).standard_normal((9, 4))
    series = [Series(rows, TIMES), Series(rows[:3] + 1.0, TIMES[:3])]
    found = TimeLikelihoodOfSeries(MODEL, series)([temporal], np.array([0.2])).item()
    expected = 0.0
    for one in series:
        arms, count = np.tile(np.arange(4), len(one.values)), len(one.values)
        times = np.repeat(one.times - one.times[0], 4)
        expected += dense(MODEL, temporal, arms, one.values[:count].ravel(), times, 0.2)
    assert found == pytest.approx(expected, abs=1e-8)

    arms, times = np.array([0, 3, 3, 1, 2]), np.array([0.0, 0.0, 2.5, 3.0, 11.0])
    rewards = np.array([0.2, 1.0, -0.4, 0.3, 0.1])
    zero = Model(MODEL.kernel, 0.3, temporal=temporal)
    data = Observations(arms.astype(float), rewards, times)
    found, slopes = log_marginal_likelihood(zero, data)
    assert found == pytest.approx(dense(zero, temporal, arms, rewards, times, 0.3), abs=1e-8)
    for name, value in temporal.parameters().items():
        ends = (temporal.with_parameters({name: value * np.exp(s)}) for s in (1e-5, -1e-5))
        up, down = (dense(zero, end, arms, rewards, times, 0.3) for end in ends)
        expected = pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)
        assert slopes[f"temporal.{name}"] == expected


def test_a_markov_kernel_has_the_likelihood_of_epsilon():
    series = [Series(READINGS)]
    drifting = Model(MODEL.kernel, 0.2, epsilon=0.3)
    rewards = (READINGS - MODEL.prior_mean).ravel()
    data = Observations(np.tile(np.arange(4.0), 30), rewards, np.repeat(np.arange(30.0), 4))
    expected = log_marginal_likelihood(drifting, data)[0]
    found = TimeLikelihoodOfSeries(MODEL, series)([MarkovTime(0.3)], np.array([0.2])).item()
    assert found == pytest.approx(expected, abs=1e-8)
    start = Model(MODEL.kernel, 0.2, MODEL.prior_mean, temporal=MarkovTime(0.05))
    one = fit(start, series, learn=["temporal", "noise_var"])
    two = fit(Model(MODEL.kernel, 0.2, MODEL.prior_mean), series, learn=["epsilon", "noise_var"])
    assert one.log_likelihood == pytest.approx(two.log_likelihood, abs=1e-2)
    assert one.model.noise_var == pytest.approx(two.model.noise_var, rel=0.1)


def drawn(temporal, rows, seed):
    times = np.arange(float(rows))
    lower = np.linalg.cholesky(temporal(times, times) + 1e-9 * np.eye(rows))
    space = np.linalg.cholesky(MODEL.kernel(np.arange(4.0)[:, None]))
    rng = np.random.default_rng(seed)
    noise = np.sqrt(0.1) * rng.standard_normal((rows, 4))
    return lower @ rng.standard_normal((rows, 4)) @ space.T + noise


def test_parameters_of_time_are_learned():
    truth = TemporalSum((QuasiPeriodicTime(12.0, 1.0, 1, 0.002), MarkovTime(0.3)), (0.7, 0.3))
    data = [Series(drawn(truth, 40, 3))]
    start = truth.with_parameters(
        {"kernels.0.period": 13.0, "kernels.0.epsilon": 0.02, "weights.0": 0.2, "weights.1": 1.0}
    )
    model = Model(MODEL.kernel, 0.5, temporal=start)
    found = fit(model, data, learn=["temporal", "noise_var"])
    likelihood = TimeLikelihoodOfSeries(model, data)
    assert found.log_likelihood >= likelihood([truth], np.array([0.1])).item()
    values = found.model.temporal.parameters()
    assert values["kernels.0.period"] == pytest.approx(12.0, rel=0.03)
    assert found.model.noise_var == pytest.approx(0.1, rel=0.5)
    assert found.evaluations > 20
    only = fit(model, data, learn=["temporal.kernels.0.period"]).model
    changed = {k for k, v in only.temporal.parameters().items() if v != start.parameters()[k]}
    assert (changed, only.noise_var) == ({"kernels.0.period"}, 0.5)


def test_bad_searches_are_refused():
    data = [Series(READINGS)]
    model = Model(MODEL.kernel, 0.2, temporal=MarkovTime(0.1))
    with pytest.raises(UnknownName, match=r"temporal\.epsilon"):
        fit(model, data, learn=["temporal.epsilo"])
    with pytest.raises(InvalidInput, match="noise_var"):
        fit(Model(MODEL.kernel, 0.0, temporal=MarkovTime(0.1)), data, learn=["temporal"])
    with pytest.raises(InvalidInput, match="series allow no priors and no ard"):
        fit(model, data, learn=["temporal"], ard=True)
    with pytest.raises(InvalidInput, match="series say nothing about mean"):
        fit(model, data, learn=["temporal", "mean"])
    walk = Model(SquaredExponential(0.3), 0.2, temporal=WienerTime(0.1))
    early = Observations(np.linspace(0, 1, 3), np.ones(3), np.array([0.0, 2.0, -1.0]))
    with pytest.raises(InvalidInput, match=r"'wiener' time begins at 0, but the first .* is -1"):
        fit(walk, early, learn=["temporal"])
    with pytest.raises(InvalidInput, match="not both"):
        Model(MODEL.kernel, 0.1, epsilon=0.1, temporal=MarkovTime(0.1))


def test_an_agent_learns_its_temporal_kernel_as_it_goes():
    """Its model is that of a fit to its log, and its posterior is conditioned on all data anew."""
    arms, kernel = Arms.grid(8), SquaredExponential(0.4)
    spec = {"type": "sum", "kernels": [SEASON, {"type": "matern32", "lengthscale": 5.0}]}
    learn = {"every": 12, "what": ["temporal", "noise_var"], "last": 20}
    problem = Problem(arms, kernel, 0.1, batch_size=2)
    agent = agents.make("gp-ucb", problem, seed=0, temporal=spec, learn=learn)
    agent.prior_data([1, 2], [0.3, 0.1])
    agent.wait(2.5)
    seen, rewards, times = [1, 2], [0.3, 0.1], [0.0, 0.0]
    for t in range(24):
        actions = agent.ask()
        values = np.sin(2 * np.pi * t / 6.5 + actions)
        agent.tell(actions, values)
        seen, rewards, times = [*seen, *actions], [*rewards, *values], [*times, *[2.5 + t] * 2]
    assert [record["round"] for record in agent.learned] == [2, 14]
    model = agent.refit.model
    start, first = Model(kernel, 0.1, temporal=spec), agent.learned[0]
    own = {name: first[f"temporal.{name}"] for name in start.temporal.parameters()}
    before = Model(kernel, first["noise_var"], temporal=start.temporal.with_parameters(own))
    upto = slice(2 * 14 + 2 - 20, 2 * 14 + 2)
    data = Observations(
        arms.coordinates[seen][upto], np.array(rewards)[upto], np.array(times)[upto]
    )
    priors = replace(HyperPriors.default(InputScaling.of(arms)), temporal=start.temporal)
    expected = fit(before, data, learn=["temporal", "noise_var"], priors=priors)
    assert model.temporal.parameters() == pytest.approx(expected.model.temporal.parameters())
    assert agent.learned[-1]["log_likelihood"] == pytest.approx(expected.log_likelihood)
    period = model.temporal.parameters()["kernels.0.period"]
    assert agent.learned[-1]["temporal.kernels.0.period"] == period

    gram = kernel(arms.coordinates)
    t = np.array(times)
    now = np.array([26.5])
    noisy = gram[np.ix_(seen, seen)] * model.temporal(t, t) + model.noise_var * np.eye(len(seen))
    cross = gram[seen] * model.temporal(t, now)
    mean = cross.T @ np.linalg.solve(noisy, np.array(rewards))
    assert agent.posterior.mean == pytest.approx(mean, abs=1e-8)

    other = agents.make("gp-ucb", problem, seed=0, temporal=spec, learn=learn)
    other.restore(agent.snapshot())
    assert other.ask() == pytest.approx(agent.ask())
    agent.reset()
    assert agent.refit.model.temporal.parameters() == start.temporal.parameters()


def test_space_and_time_are_learned_together():
    """The lengthscales, the noise, the period and the weights, all at once."""
    rng, n = np.random.default_rng(0), 120
    x, times = rng.uniform(size=(n, 2)), np.cumsum(rng.choice([0.3, 1.0, 4.0], n))
    kernel = SquaredExponential((0.3, 0.9))
    truth = TemporalSum((PeriodicTime(24.0, 1.0, 4), MarkovTime(0.05)), (0.7, 0.3))
    covariance = kernel(x) * truth(times, times) + 0.01 * np.eye(n)
    y = np.linalg.cholesky(covariance) @ rng.standard_normal(n)
    start = truth.with_parameters({"kernels.0.period": 25.0, "kernels.1.epsilon": 0.01})
    model = Model(SquaredExponential(0.5), 0.1, temporal=start)
    priors = HyperPriors.default(InputScaling(np.zeros(2), np.ones(2)))
    what = ["lengthscale", "variance", "noise_var", "temporal"]
    data = Observations(x, y, times)
    found = fit(model, data, learn=what, priors=priors, ard=True, starts=1).model
    short, long = found.kernel.lengthscale
    assert short == pytest.approx(0.3, rel=0.3)
    assert long > 2.0 * short
    assert found.noise_var < 0.05
    assert found.temporal.parameters()["kernels.0.period"] == pytest.approx(24.0, rel=0.01)
    exact = Model(kernel, 0.01, temporal=truth)
    assert log_marginal_likelihood(found, data)[0] > log_marginal_likelihood(exact, data)[0] - 5.0
    # A kernel in time that is known counts where lengthscales are learned.
    known = fit(Model(model.kernel, 0.01, temporal=truth), data, learn=["lengthscale"]).model
    assert known.temporal == truth
    static = fit(Model(model.kernel, 0.01), data, learn=["lengthscale"]).model
    assert log_marginal_likelihood(known, data)[0] > log_marginal_likelihood(static, data)[0] + 20.0


def test_a_shift_that_all_points_share_is_learned():
    rng, n = np.random.default_rng(1), 150
    x, times = rng.uniform(size=(n, 1)), np.arange(float(n))
    kernel = SquaredExponential(0.3) + ConstantKernel(2.0)
    truth = TermsInTime((MarkovTime(0.004), MarkovTime(0.3)))

    def covariance(kernel, temporal, noise_var):
        pairs = zip(kernel.terms, temporal.kernels, strict=True)
        return sum(k(x) * t(times, times) for k, t in pairs) + noise_var * np.eye(n)

    y = np.linalg.cholesky(covariance(kernel, truth, 0.01)) @ rng.standard_normal(n)
    data, start = Observations(x, y, times), TermsInTime((MarkovTime(0.02), MarkovTime(0.1)))
    model = Model(SquaredExponential(0.5) + ConstantKernel(1.0), 0.1, temporal=start)
    found, slopes = log_marginal_likelihood(model, data)
    expected = multivariate_normal(np.zeros(n), covariance(model.kernel, start, 0.1)).logpdf(y)
    assert found == pytest.approx(expected, abs=1e-7)
    values = model.kernel.parameters() | {f"temporal.{k}": v for k, v in start.parameters().items()}
    assert slopes.keys() - {"epsilon", "noise_var"} == values.keys()
    for name, value in values.items():
        ends = []
        for step in (1e-5, -1e-5):
            own, in_time = model.kernel, start
            if name in own.parameters():
                own = own.with_parameters({name: value * np.exp(step)})
            else:
                moved = {name.removeprefix("temporal."): value * np.exp(step)}
                in_time = in_time.with_parameters(moved)
            gram = covariance(own, in_time, 0.1)
            ends.append(multivariate_normal(np.zeros(n), gram).logpdf(y))
        assert slopes[name] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-4)
    priors = HyperPriors.default(InputScaling(np.zeros(1), np.ones(1)))
    learned = fit(model, data, learn=["kernel", "noise_var", "temporal"], priors=priors).model
    slow, fast = learned.temporal.kernels
    assert slow.epsilon < 0.02
    assert fast.epsilon == pytest.approx(0.3, rel=0.6)
    exact = Model(kernel, 0.01, temporal=truth)
    assert log_marginal_likelihood(learned, data)[0] > log_marginal_likelihood(exact, data)[0] - 4.0


def test_a_term_in_time_may_be_a_sum_in_space():
    rng, in_time = np.random.default_rng(2), TermsInTime((MarkovTime(0.1), MarkovTime(0.4)))
    first, inner = SquaredExponential(0.3), (SquaredExponential(0.1, 0.5), ConstantKernel(2.0))
    data = Observations(rng.uniform(size=(9, 1)), rng.normal(size=9), np.arange(9.0))
    nested = Model(Sum((first, Sum(inner))), 0.1, temporal=in_time)
    split = TermsInTime((*in_time.kernels, in_time.kernels[1]))
    value, slopes = log_marginal_likelihood(nested, data)
    flat = log_marginal_likelihood(Model(Sum((first, *inner)), 0.1, temporal=split), data)
    assert value == pytest.approx(flat[0])
    for name, other in (("1.terms.0.lengthscale", "1.lengthscale"), ("0.variance", "0.variance")):
        assert slopes[f"terms.{name}"] == pytest.approx(flat[1][f"terms.{other}"])


def test_without_priors_one_search_ends_at_the_maximum():
    rng, n = np.random.default_rng(2), 40
    x, times = rng.uniform(size=(n, 3)), np.arange(float(n))
    season = QuasiPeriodicTime(6.5, epsilon=0.05)
    gram = Matern32((0.3, 0.6, 3.0), 2.0)(x) * season(times, times)
    y = np.linalg.cholesky(gram + 0.01 * np.eye(n)) @ rng.normal(size=n)
    start = Model(Matern32((2.0, 2.0, 2.0), 0.3), 0.5, temporal=QuasiPeriodicTime(6.0, epsilon=0.2))
    data = Observations(x, y, times)
    found = fit(start, data, learn=["kernel", "noise_var", "temporal", "mean"])
    assert len(found.starts) == 1
    slopes = log_marginal_likelihood(found.model, data)[1]
    assert max(map(abs, slopes.values())) < 0.05


def test_learning_needs_a_kernel_to_start_from():
    problem = Problem(Arms.grid(4), SquaredExponential(0.4), 0.1)
    with pytest.raises(InvalidInput, match="to start from"):
        agents.make("gp-ucb", problem, learn=["temporal"])
    with pytest.raises(UnknownName, match="period"):
        agents.make("gp-ucb", problem, learn=["temporal.peroid"], temporal=SEASON)
    silent = problem.replaced(noise_var=0.0)
    with pytest.raises(InvalidInput, match="without noise"):
        agents.make("gp-ucb", silent, learn=["temporal"], temporal=Matern32Time(3.0))
