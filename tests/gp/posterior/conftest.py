"""The dense formula, written with numpy.linalg alone, and the posteriors it is held against."""

import copy
from dataclasses import dataclass, field

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import Empirical, Linear, Matern32, Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior, posterior_for
from gpbandits_env.gp.posterior.arms import ArmPosterior
from gpbandits_env.gp.posterior.covariances import prior_covariance
from gpbandits_env.gp.posterior.representation import Coefficients, DenseRows
from gpbandits_env.gp.samplers import factor_for
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    Matern52Time,
    PeriodicTime,
    QuasiPeriodicTime,
    StaticTime,
    TemporalProduct,
    TemporalSum,
    TermsInTime,
    WienerTime,
)

LINE = Arms.grid(30)
SQUARE = Arms.grid((6, 5), low=-1.0, high=1.0)


def _empirical():
    readings = np.random.default_rng(5).standard_normal((40, 12))
    return Empirical(np.cov(readings.T))


# From 1e-6 to 1e6, in multiples of 2^-20: their sums, the times of the formula, have no rounding.
IRREGULAR = 10.0 ** np.random.default_rng(0).uniform(-6.0, 6.0, 200)
GAPS = {
    "usual": (0.0, 0.3, 1.0, 1.0, 9.7),
    "irregular": np.ceil(IRREGULAR * 2.0**20) / 2.0**20,
}
SEASON = PeriodicTime(6.5, 0.9, harmonics=2)
TEMPORAL = {
    "static": StaticTime(),
    "markov": MarkovTime(0.04),
    "matern32": Matern32Time(7.0),
    "matern52": Matern52Time(11.0),
    "wiener": WienerTime(0.1),
    "periodic": SEASON,
    "quasi-periodic": QuasiPeriodicTime(5.3, 0.7, harmonics=2, epsilon=0.03),
    "sum": TemporalSum((SEASON, MarkovTime(0.2)), (0.8, 0.4)),
    "product": TemporalProduct((Matern32Time(15.0), SEASON)),
    "mixed": TemporalSum(
        (TemporalProduct((WienerTime(0.05), SEASON)), Matern52Time(4.0)), (0.5, 1)
    ),
    # One kernel in time for each term in space, of which the second is a constant.
    "common shift": TermsInTime((Matern32Time(25.0), MarkovTime(0.3))),
    "walking shift": TermsInTime((SEASON, WienerTime(0.1))),
}


@pytest.fixture(params=[name for name in TEMPORAL if "shift" not in name])
def temporal(request):
    """A kernel in time: each of those without terms, or those that a test names."""
    return TEMPORAL[request.param]


@pytest.fixture(params=GAPS)
def gaps(request):
    """Times from one round to the next."""
    return GAPS[request.param]


WORLDS = {
    "se": (LINE, SquaredExponential(lengthscale=0.2)),
    "se-ard": (SQUARE, SquaredExponential(lengthscale=(0.7, 1.5), variance=2.0)),
    "matern32": (LINE, Matern32(lengthscale=0.2)),
    "matern52": (SQUARE, Matern52(lengthscale=0.8)),
    "linear": (SQUARE, Linear()),
    "empirical": (Arms(np.arange(12.0)), _empirical()),
    "sum": (LINE, SquaredExponential(lengthscale=0.3) + Matern32(lengthscale=0.5)),
}
REPRESENTATIONS = ("rows", "folded", "coefficients")


@dataclass
class Dense:
    """Eqs. (7)-(8) of bogunovic2016 (eqs. (1)-(2) of srinivas2010 while the age stands still)."""

    covariance: np.ndarray
    noise_var: float
    prior_mean: np.ndarray
    arms: list = field(default_factory=list)
    rewards: list = field(default_factory=list)
    ages: list = field(default_factory=list)
    age: float = 0.0

    def condition(self, arms, rewards):
        self.arms += list(arms)
        self.rewards += list(rewards)
        self.ages += [self.age] * len(arms)

    def advance(self, epsilon, dt=1.0):
        if epsilon == 1.0 and dt > 0:
            self.arms, self.rewards, self.ages = [], [], []
        elif epsilon < 1.0:
            self.age -= 0.5 * dt * np.log1p(-epsilon)

    def moments(self, extra=()):
        """Mean (n,) and covariance (n, n) of all arms, the latter given also extra arms."""
        seen = np.array([*self.arms, *extra], dtype=int)
        if not len(seen):
            return self.prior_mean, self.covariance
        ages = np.array([*self.ages, *[self.age] * len(extra)])
        fade = np.exp(-np.abs(ages[:, None] - ages))
        gram = self.covariance[np.ix_(seen, seen)] * fade + self.noise_var * np.eye(len(seen))
        cross = self.covariance[seen] * np.exp(ages - self.age)[:, None]
        covariance = self.covariance - cross.T @ np.linalg.solve(gram, cross)
        k = len(self.arms)
        residual = np.array(self.rewards) - self.prior_mean[seen[:k]]
        mean = self.prior_mean + cross[:k].T @ np.linalg.solve(gram[:k, :k], residual)
        return mean, covariance


def _posterior(world, representation, noise_var=0.025, prior_mean=0.0):
    """ "folded" is "rows" with an n x n matrix from the start."""
    arms, kernel = WORLDS[world]
    if representation == "folded":
        inside = DenseRows(prior_covariance(arms, kernel), noise_var, 3)
    elif representation == "coefficients":
        inside = Coefficients(factor_for(arms, kernel, arms.size, 1e-13), 7)
    else:
        return posterior_for(arms, kernel, noise_var, prior_mean, kind=representation)
    return ArmPosterior(arms, kernel, noise_var, prior_mean, inside)


def _dense(posterior):
    points = posterior.arms.coordinates
    return Dense(posterior.kernel(points, points), posterior.noise_var, posterior.prior_mean)


@pytest.fixture
def make():
    """(world, representation, noise_var, prior_mean) -> posterior."""
    return _posterior


@pytest.fixture
def dense_of():
    """posterior -> its dense counterpart, before any data."""
    return _dense


@pytest.fixture(params=WORLDS)
def world(request):
    return request.param


@pytest.fixture(params=REPRESENTATIONS)
def representation(request):
    return request.param


class Same:
    """Whether two posteriors, or what `of` says of them, are equal to the bit."""

    @staticmethod
    def of(posterior):
        """All that a posterior says, as numbers and arrays."""
        numbers = {key: getattr(posterior, key) for key in ("size", "jitter", "information_gain")}
        if isinstance(posterior, BoxPosterior):
            numbers["points"], numbers["rewards"] = posterior.conditioned, posterior.rewards
            everywhere = posterior.box.sample(np.random.default_rng(0), 20)
        else:
            everywhere = np.arange(posterior.arms.size)
        numbers["observed"], numbers["covariance"] = (
            posterior.observed,
            posterior.covariance(everywhere),
        )
        numbers["mean"], numbers["var"] = map(np.copy, posterior.moments(everywhere))
        return numbers

    def __call__(self, one, other):
        one, other = (x if isinstance(x, dict) else self.of(x) for x in (one, other))
        assert one.keys() == other.keys()
        for key, value in one.items():
            np.testing.assert_array_equal(value, other[key], err_msg=key)


@pytest.fixture(scope="session")
def same():
    return Same()


@pytest.fixture(scope="session")
def var_given():
    """The variance at some points if others were observed too."""

    def given(posterior, points, at):
        twin = copy.deepcopy(posterior)
        twin.hallucinate(points)
        return twin.var_at(np.asarray(at))

    return given
