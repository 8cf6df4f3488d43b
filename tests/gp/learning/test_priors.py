"""The priors of lengthscales against the formulas of Hvarfner et al. (2024)."""

import numpy as np
import pytest
from scipy.stats import lognorm

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.gp.learning import HyperPriors, InputScaling
from gpbandits_env.gp.learning.priors import LogNormal
from gpbandits_env.problem import Problem

GRID = np.linspace(-6, 8, 400)


def law(dim):
    """Hvarfner et al. (2024), Section 4: LogNormal(sqrt 2 + log(D) / 2, sqrt 3) on [0, 1]^D."""
    return lognorm(s=np.sqrt(3), scale=np.exp(np.sqrt(2) + 0.5 * np.log(dim)))


@pytest.mark.parametrize("dim", [1, 4, 100])
def test_the_dimension_scaled_prior_is_the_law_of_the_paper(dim):
    """Up to a constant, the density of u = log(ell) is that of ell times ell."""
    inputs = InputScaling(np.zeros(dim), np.ones(dim))  # one unit of [-1, 1]^D is 1/2
    prior = HyperPriors.default(inputs, prior="dimension-scaled").lengthscale
    ours = prior(GRID)[0]
    paper = law(dim).logpdf(np.exp(GRID) / 2) + GRID
    np.testing.assert_allclose(ours - ours[0], paper - paper[0], atol=1e-9)
    assert prior.low < 2 * law(dim).ppf(0.02)
    assert prior.high > 2 * law(dim).ppf(0.98)


@pytest.mark.parametrize("dim", [1, 4, 100])
def test_the_default_prior_gives_the_estimate_of_the_paper(dim):
    """The paper maximizes the density of ell itself, without the factor ell."""
    inputs = InputScaling(np.zeros(dim), np.ones(dim))
    ours = HyperPriors.default(inputs).lengthscale(GRID)[0]
    paper = law(dim).logpdf(np.exp(GRID) / 2)
    np.testing.assert_allclose(ours - ours[0], paper - paper[0], atol=1e-9)


@pytest.mark.parametrize("dim", [4, 100])
def test_without_a_prior_a_fit_starts_at_that_of_msr(dim):
    """sqrt(D) / 10 on the unit cube, whose sides are 2 in the units of the prior."""
    flat = HyperPriors.default(InputScaling(np.zeros(dim), np.ones(dim)), prior="flat").lengthscale
    assert flat.median == pytest.approx(2 * np.sqrt(dim) / 10)
    density, slope = flat(GRID)
    assert np.ptp(density) == 0.0 or np.abs(density).max() < 1e-15
    assert np.abs(slope).max() < 1e-15


def test_an_agent_learns_longer_lengthscales_under_it():
    d, rng = 12, np.random.default_rng(0)
    x = rng.random((15, d))
    y = x[:, 0] + 0.1 * rng.standard_normal(15)
    found = {}
    for prior in ("default", "dimension-scaled"):
        problem = Problem(Box(np.zeros(d), np.ones(d)), Matern52(1.0), 1e-2)
        agent = agents.make(
            "ei", problem, seed=0, learn={"what": ["lengthscale"], "prior": prior}, standardize=True
        )
        agent.prior_data(x, y)
        found[prior] = agent.posterior.kernel.lengthscale
    assert found["dimension-scaled"] > 1.05 * found["default"]
    with pytest.raises(UnknownName, match="dimension-scaled"):
        agents.make("ei", problem, learn={"prior": "dimensionscaled"})


def test_a_prior_is_a_density_of_the_logarithm():
    prior = LogNormal(0.3, 1.7, 1e-3, 1e3)
    u = np.linspace(-25, 8, 20001)
    value, slope = prior(u)
    assert slope[1:-1] == pytest.approx(
        (value[2:] - value[:-2]) / (u[2] - u[0]), abs=2e-2, rel=1e-4
    )
    mass = np.exp(value - value.max())
    centre = np.sum(mass * np.exp(u)) / np.sum(mass)
    assert centre == pytest.approx(0.3 * np.exp(1.7**2 / 2), rel=2e-2)


def test_several_lengthscales_are_expected_around_the_common_one():
    priors = HyperPriors.default(InputScaling.of(Box(-np.ones(3), np.ones(3))), spread=0.4)
    prior = priors.around(0.15)
    assert prior(np.log([0.15]))[1] == pytest.approx(0.0)
    assert prior(np.log([0.15]) + 0.4)[0] == pytest.approx(-0.5)
    alike = HyperPriors.default(priors.inputs)
    assert alike.around(0.15) == alike.lengthscale


def test_bounds_must_be_ordered():
    with pytest.raises(InvalidInput, match="low < high"):
        LogNormal(1.0, 1.0, 2.0, 1.0)


@pytest.mark.parametrize("dim", [1, 100])
def test_lengthscales_are_expected_in_proportion_to_the_root_of_the_dimension(dim):
    prior = HyperPriors.default(InputScaling.of(Box(-np.ones(dim), np.ones(dim)))).lengthscale
    assert prior.median == pytest.approx(0.41 * np.sqrt(dim), rel=1e-2)
    assert (prior.low, prior.high) == pytest.approx((0.02 * dim**0.5, 20 * dim**0.5))
