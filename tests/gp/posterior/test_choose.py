"""Which representation is taken, and what is refused."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import GPBanditsError, InvalidInput, UnknownName
from gpbandits_env.gp.kernels import Empirical, Kernel, Linear, Matern32, SquaredExponential
from gpbandits_env.gp.posterior import (
    ArmPosterior,
    BoxPosterior,
    NystromPosterior,
    choose,
    posterior_for,
)
from gpbandits_env.gp.samplers import sampler_for

SE = SquaredExponential(lengthscale=0.2)
THOUSAND = Arms.grid(1000)


@pytest.mark.parametrize(
    ("arms", "kernel", "noise_var", "horizon", "representation"),
    [
        (THOUSAND, SE, 0.025, 1000, "coefficients"),
        (THOUSAND, SE, 0.025, None, "coefficients"),
        (THOUSAND, SE, 0.025, 3, "rows"),
        (THOUSAND, SE, 1e-7, 1000, "rows"),
        (THOUSAND, SE, 0.0, 1000, "rows"),
        (THOUSAND, 100.0 * SE, 1e-3, 1000, "rows"),
        (THOUSAND, 100.0 * SE, 1.0, 1000, "coefficients"),
        (THOUSAND, Matern32(lengthscale=0.2), 0.025, 1000, "rows"),
        (Arms.grid((50, 50)), SE, 0.01, 500, "coefficients"),
        (Arms.grid((20, 20), -1.0, 1.0), Linear(), 0.01, 500, "coefficients"),
        (Arms(np.arange(46.0)), Empirical(np.eye(46)), 0.5, 46, "rows"),
    ],
)
def test_the_cheaper_representation_that_is_exact(arms, kernel, noise_var, horizon, representation):
    assert posterior_for(arms, kernel, noise_var, horizon=horizon).representation == representation


@pytest.mark.parametrize("noise_var", [0.1, 1e-3, 1e-4])
def test_both_representations_are_equal_as_far_as_coefficients_are_allowed(noise_var):
    """Data in one corner are the hardest: what lies beyond is extrapolated."""
    arms = Arms.grid(200)
    rows = posterior_for(arms, SE, noise_var, kind="rows")
    coefficients = posterior_for(arms, SE, noise_var, kind="coefficients")
    rng = np.random.default_rng(31)
    for _ in range(800):
        arm = rng.integers(40, size=1)
        reward = np.sin(arm / 20.0) + np.sqrt(noise_var) * rng.standard_normal(1)
        rows.condition(arm, reward)
        coefficients.condition(arm, reward)
    np.testing.assert_allclose(rows.mean, coefficients.mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(rows.var, coefficients.var, rtol=0, atol=1e-8)
    assert rows.information_gain == pytest.approx(coefficients.information_gain, abs=1e-8)


@pytest.mark.parametrize(
    "given",
    [
        {"noise_var": -0.1},
        {"noise_var": np.nan},
        {"prior_mean": np.zeros(7)},
        {"prior_mean": np.inf},
        {"horizon": 0},
        {"kind": "coefficients", "noise_var": 1e-9},
        {"kernel": Empirical(np.eye(3))},
    ],
)
def test_what_is_refused(given):
    with pytest.raises(InvalidInput):
        posterior_for(**{"domain": Arms.grid(30), "kernel": SE, "noise_var": 0.1, **given})


def test_coefficients_of_too_high_a_rank_are_refused(monkeypatch):
    monkeypatch.setattr(choose, "LARGEST_RANK_CHOSEN", 20)
    with pytest.raises(InvalidInput, match="rank at most 20"):
        posterior_for(Arms.grid(30), Matern32(0.01), 0.1, kind="coefficients")


def test_an_unknown_representation():
    with pytest.raises(UnknownName, match="did you mean 'coefficients'"):
        posterior_for(THOUSAND, SE, 0.1, kind="coeficients")


def test_prior_mean_is_copied():
    mean = np.ones(30)
    posterior = posterior_for(Arms.grid(30), SE, 0.1, prior_mean=mean)
    mean[:] = 5.0
    posterior.forget()
    np.testing.assert_array_equal(posterior.mean, 1.0)


BOX, RNG = Box([0.0], [1.0]), np.random.default_rng(0)


@pytest.mark.parametrize(
    ("domain", "given", "made"),
    [
        (Arms.grid(30), {}, ArmPosterior),
        (Arms.grid(30), {"kind": "rows"}, ArmPosterior),
        (Arms.grid(30), {"kind": "coefficients", "horizon": 9}, ArmPosterior),
        (
            Arms.grid(30),
            {"kind": {"type": "nystrom", "qbar": 2.0}, "rng": RNG},
            NystromPosterior,
        ),
        (Arms.grid(30), {"kind": "nystrom", "rng": RNG}, NystromPosterior),
        (BOX, {}, BoxPosterior),
    ],
)
def test_one_interface_for_every_kind(domain, given, made):
    posterior = posterior_for(domain, SE, 0.1, 0.3, **given)
    assert type(posterior) is made
    posterior.replay([(domain.sample(RNG, 2), np.ones(2), 0.0)] * 2)
    points = domain.check(posterior.observed)
    mean, var = posterior.moments(points)
    np.testing.assert_allclose(mean, posterior.mean_at_observed(), atol=1e-12)
    np.testing.assert_array_equal(var, posterior.var_at(points))
    assert posterior.domain is domain
    assert np.ptp(posterior.prior_mean) == 0.0 < posterior.information_gain


@pytest.mark.parametrize(
    ("domain", "given", "why"),
    [
        (BOX, {"kind": "rows"}, "in a box the posterior must be 'auto'"),
        (BOX, {"kind": "nystrom", "rng": RNG}, "in a box the posterior must be 'auto'"),
        (Arms.grid(30), {"kind": "nystrom"}, "rng"),
        (
            *(Arms.grid(30), {"kind": {"type": "rows", "qbar": 2.0}}),
            "only the posterior 'nystrom' has a qbar and a per, got",
        ),
        (Arms.grid(30), {"kind": {"type": "nystrom", "z": 1}, "rng": RNG}, r"or a dict .*'z': 1\}"),
        (Arms.grid(30), {"kind": np.ones(2)}, "or a dict such as"),
        (Arms.grid(30), {"kind": "nystrm"}, "did you mean 'nystrom'"),
        (None, {}, "must be Arms or a Box"),
    ],
)
def test_kinds_without_a_meaning_are_refused(domain, given, why):
    with pytest.raises(GPBanditsError, match=why):
        posterior_for(domain, SE, 0.1, **given)


@dataclass(frozen=True)
class Gap(Kernel):
    """Squared exponential, but NaN where `gap` of both points is true."""

    gap: ClassVar[Callable[..., Any]]

    def __call__(self, x, z=None):
        z = x if z is None else z
        return np.where(self.gap(x[:, None, 0], z[None, :, 0]), np.nan, SE(x, z))

    def diagonal(self, x):
        return np.ones(len(x))


class Everywhere(Gap):
    gap = staticmethod(lambda x, z: x == x)


class FarApart(Gap):
    gap = staticmethod(lambda x, z: abs(x - z) > 0.9)


class InTheMiddle(Gap):
    gap = staticmethod(lambda x, z: (abs(x - 0.5) < 0.1) & (abs(z - 0.5) < 0.1))


@pytest.mark.parametrize("kernel", [Everywhere(), FarApart(), InTheMiddle()], ids=repr)
@pytest.mark.parametrize("arms", [Arms.grid(30), Arms.grid((12, 5))], ids=["line", "grid"])
def test_a_kernel_of_one_s_own_that_gives_nan_is_named(kernel, arms):
    def learn(kind):
        posterior = posterior_for(arms, kernel, 0.1, kind=kind, rng=np.random.default_rng(0))
        posterior.condition(np.array([arms.size // 2]), np.ones(1))
        return posterior.mean

    named = f"the kernel '.*{type(kernel).__name__}' gives NaN or infinity"
    for kind in ("auto", "rows", "coefficients", "nystrom"):
        with pytest.raises(InvalidInput, match=named):
            learn(kind)
    with pytest.raises(InvalidInput, match=named):
        sampler_for(arms, kernel)  # of an environment, and of posterior samples
    if not isinstance(kernel, InTheMiddle):
        with pytest.raises(InvalidInput, match=named):
            posterior_for(Box([0.0], [1.0]), kernel, 0.1)


def test_a_kernel_of_one_s_own_with_another_shape_or_infinity_is_named():
    class Flat(Gap):
        def __call__(self, x, z=None):
            return np.ones(len(x))

    class Infinite(FarApart):
        def diagonal(self, x):
            return np.full(len(x), np.inf)

    for kernel, wrong in ((Flat(), "the shapes (1000,) and (1,)"), (Infinite(), "NaN or infinity")):
        for make in (lambda k: posterior_for(THOUSAND, k, 0.1), lambda k: sampler_for(THOUSAND, k)):
            with pytest.raises(InvalidInput, match=f"{type(kernel).__name__}.* {re.escape(wrong)}"):
                make(kernel)
