"""The acquisitions against 50 digits, and their derivatives against differences."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.acquisitions.functions import (
    FAR,
    KNOWN,
    LCB,
    NEAR,
    UCB,
    Augmented,
    LogEI,
    LogPI,
    LogSigmaToRegret,
    Mean,
    RegretToSigma,
    Variance,
    leader,
    log_h,
    log_h_and_slopes,
    mills,
)
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.kernels.kernel import LEAST_VARIANCE
from gpbandits_env.problem import Problem

mp = mpmath.mp.clone()
mp.dps = 50

TAIL = -np.logspace(-3, 12, 120)
HEAD = np.logspace(-3, 3, 40)
# Both sides of each switch between formulas, and where e^(-z^2 / 2) and z^2 leave the floats.
SWITCHES = np.array([s + e for s in (0.0, NEAR, FAR, -38.5, 8.3, 38.5) for e in (-1e-6, 0, 1e-6)])
Z = np.concatenate([TAIL, HEAD, SWITCHES, np.linspace(-45, 12, 120)])

# (mean, variance) around an incumbent of 0.3: hopeless, close, sure, and of tiny variance.
POINTS = [(m, v) for m in (-5.0, -0.2, 0.29, 0.31, 0.8, 4.0) for v in (1e-6, 1e-3, 0.04, 1.0, 9.0)]
MEAN, VAR = (np.array(column) for column in zip(*POINTS, strict=True))

ACQUISITIONS = {
    "ucb": UCB(2.5),
    "lcb": LCB(2.5),
    "regret to sigma": RegretToSigma(4.5),
    "ei": LogEI(0.3),
    "ei with a margin": LogEI(0.2, 0.1),
    "augmented ei": Augmented(LogEI(0.3), 0.2),
    "pi": LogPI(0.3),
    "pi with a margin": LogPI(0.2, 0.1),
    "mean": Mean(),
    "variance": Variance(),
}


def exact_mills(z):
    """R(z) = Phi(z) / phi(z); below -30 by its continued fraction, which has no cancellation."""
    z = mp.mpf(z)
    if z > -30:
        return mp.erfc(-z / mp.sqrt(2)) / 2 * mp.sqrt(2 * mp.pi) * mp.exp(z**2 / 2)
    fraction = -z
    for k in range(200, 0, -1):
        fraction = -z + k / fraction
    return 1 / fraction


def exact_log_phi(z):
    return -(mp.mpf(z) ** 2) / 2 - mp.log(2 * mp.pi) / 2


def exact_log_h(z):
    z = mp.mpf(z)
    # 1 + z R loses 2 log10 |z| of the digits.
    with mp.workdps(90):
        return exact_log_phi(z) + mp.log(1 + z * exact_mills(z))


def exact_log_cumulative(z):
    return exact_log_phi(z) + mp.log(exact_mills(z))


def exact_log_factor(name, var):
    noise_var = mp.mpf(ACQUISITIONS[name].noise_var)
    return mp.log(1 - mp.sqrt(noise_var / (var + noise_var)))


def exact_score(name, mean, var):
    mean, var = mp.mpf(mean), mp.mpf(var)
    gap, sd = mean - mp.mpf("0.3"), mp.sqrt(var)
    return {
        "ucb": lambda: mean + mp.sqrt(mp.mpf("2.5")) * sd,
        "lcb": lambda: mean - mp.sqrt(mp.mpf("2.5")) * sd,
        "regret": lambda: (mean - mp.mpf("4.5")) / sd,
        "ei": lambda: exact_log_h(gap / sd) + mp.log(sd),
        "augmented": lambda: exact_score("ei", mean, var) + exact_log_factor(name, var),
        "pi": lambda: exact_log_cumulative(gap / sd),
        "mean": lambda: mean,
        "variance": lambda: var,
    }[name.split()[0]]()


def assert_digits(ours, exact, tolerance=1e-12):
    """Relative error where the value is large, absolute error else."""
    wanted = np.array([float(e) for e in exact])
    error = np.array([float(abs(mp.mpf(o) - e)) for o, e in zip(ours, exact, strict=True)])
    worst = (error / np.maximum(1.0, abs(wanted))).argmax()
    assert (error <= tolerance * np.maximum(1.0, abs(wanted))).all(), (worst, error[worst])


def test_the_exact_values_are_right():
    # Both forms of the Mills ratio, where both have their digits.
    with mp.workdps(400):
        direct = mp.erfc(31 / mp.sqrt(2)) / 2 * mp.sqrt(2 * mp.pi) * mp.exp(mp.mpf(31) ** 2 / 2)
    assert abs(exact_mills(-31) / direct - 1) < mp.mpf(10) ** -45
    assert exact_log_h(0) == pytest.approx(-0.5 * np.log(2 * np.pi), rel=1e-15)


def test_log_h_in_all_of_its_range():
    assert_digits(log_h(Z), [exact_log_h(z) for z in Z])


def test_log_h_rises():
    ordered = np.sort(np.concatenate([Z, Z + 1e-9 * abs(Z)]))
    assert (np.diff(log_h(ordered)) >= 0).all()


def test_log_h_at_the_ends():
    ends = log_h(np.array([-np.inf, -1e200, 1e200]))
    assert ends.tolist() == [-np.inf, -np.inf, np.log(1e200)]
    assert log_h(np.array(0.0)).shape == ()


def test_the_slopes_of_log_h_in_all_of_its_range():
    _, cumulative, density = log_h_and_slopes(Z)
    for z, first, second in zip(Z, cumulative, density, strict=True):
        with mp.workdps(90):
            ratio = exact_mills(z)
            bracket = 1 + mp.mpf(z) * ratio
        assert first == pytest.approx(float(ratio / bracket), rel=1e-11), z
        assert second == pytest.approx(float(1 / bracket), rel=1e-11, abs=1e-300), z


def test_mills_ratio():
    low = Z[Z < 37]
    exact = [exact_mills(z) for z in low]
    assert mills(low) == pytest.approx([float(e) for e in exact], rel=1e-13)
    assert mills(np.array([50.0])) == np.inf


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_scores(name):
    ours = ACQUISITIONS[name].score(MEAN, VAR)
    # mean - incumbent is rounded before it is divided by sd: some digits of z are lost.
    exact = [exact_score(name, m, v) for m, v in POINTS]
    assert_digits(ours, exact, 1e-10)


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("kind", [LogEI, LogPI])
def test_a_margin_is_added_to_the_incumbent(kind, margin):
    moved = kind(0.3 + margin).score(MEAN, VAR)
    assert kind(0.3, margin).score(MEAN, VAR) == pytest.approx(moved, rel=1e-15)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_gradients_against_50_digits(name):
    in_mean, in_var = ACQUISITIONS[name].gradient(MEAN, VAR)
    for i, (mean, var) in enumerate(POINTS):
        wanted = (
            mp.diff(lambda m, v=var: exact_score(name, m, v), mp.mpf(mean)),
            mp.diff(
                lambda v, m=mean: exact_score(name, m, v), mp.mpf(var), h=mp.mpf("1e-15") * var
            ),
        )
        assert in_mean[i] == pytest.approx(float(wanted[0]), rel=1e-8, abs=1e-30), (mean, var)
        assert in_var[i] == pytest.approx(float(wanted[1]), rel=1e-8, abs=1e-30), (mean, var)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_gradients_against_differences_of_the_score(name):
    acquisition = ACQUISITIONS[name]
    mean, var = (array[VAR > 0.01] for array in (MEAN, VAR))
    in_mean, in_var = acquisition.gradient(mean, var)
    step = 1e-6
    rise = acquisition.score(mean + step, var) - acquisition.score(mean - step, var)
    assert in_mean == pytest.approx(rise / (2 * step), rel=1e-5, abs=1e-7)
    rise = acquisition.score(mean, var * (1 + step)) - acquisition.score(mean, var * (1 - step))
    assert in_var == pytest.approx(rise / (2 * step * var), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_arguments_stay_and_results_are_fresh(name):
    mean, var = MEAN.copy(), VAR.copy()
    mean.flags.writeable = var.flags.writeable = False  # as a posterior gives them
    acquisition = ACQUISITIONS[name]
    results = [acquisition.score(mean, var), *acquisition.gradient(mean, var)]
    for result in results:
        assert result.shape == mean.shape
        assert not np.shares_memory(result, mean)
        assert not np.shares_memory(result, var)
        result[:] = 0.0


@pytest.mark.parametrize("var", [0.0, 0.1 * KNOWN])
def test_a_known_point_scores_its_limit(var):
    mean, none = np.array([-1.0, 0.3, 0.5, 2.3]), np.full(4, var)
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(mean - 0.3, 0.0))
    assert LogEI(0.3).score(mean, none).tolist() == logs.tolist()
    assert LogPI(0.3).score(mean, none).tolist() == [-np.inf, -np.inf, 0.0, 0.0]
    assert UCB(4.0).score(mean, none) == pytest.approx(mean, abs=1e-45)
    assert LCB(4.0).score(mean, none) == pytest.approx(mean, abs=1e-45)
    assert RegretToSigma(1.0).score(mean, none).tolist() == [-np.inf] * 3 + [np.inf]
    # The limit is one: a variance just above what counts as none gives almost the same.
    near = LogEI(0.3).score(mean[2:], np.full(2, 2 * KNOWN))
    assert near == pytest.approx(logs[2:], rel=1e-12)


@pytest.mark.parametrize("name", ACQUISITIONS)
@pytest.mark.parametrize("var", [0.0, 0.1 * KNOWN, 2 * KNOWN, 1e-30, 1e-300])
def test_gradients_are_finite_everywhere(name, var):
    mean = np.array([-1e3, -1.0, 0.3, 0.3 + 1e-12, 0.5, 1e3])
    for part in ACQUISITIONS[name].gradient(mean, np.full(6, var)):
        assert np.isfinite(part).all()


def test_the_gradient_at_a_known_point():
    mean, none = np.array([-1.0, 0.5, 2.3]), np.zeros(3)
    in_mean, in_var = LogEI(0.3).gradient(mean, none)
    assert in_mean == pytest.approx([0.0, 1 / 0.2, 1 / 2.0])
    assert in_var.tolist() == [0.0] * 3
    for part in LogPI(0.3).gradient(mean, none):
        assert part.tolist() == [0.0] * 3


def test_plain_improvement_would_underflow_where_the_logarithm_does_not():
    scores = LogEI(100.0).score(np.array([0.0, 0.5, 0.2]), np.array([1.0, 1.0, 1.0]))
    assert scores.argmax() == 1
    assert (scores < -4000).all()


def led(acquisition, score, mean, var=None):
    score, mean = np.array(score), np.array(mean)
    return leader(acquisition, score, mean, np.ones_like(mean) if var is None else var)[0]


def test_the_best_of_scores_without_digits_has_the_largest_mean():
    mean = [0.1, 0.4, 0.3, 0.2]
    assert led(LogPI(0.3), [-np.inf] * 4, mean) == 1
    assert led(LogPI(0.3), [-1.0, -np.inf, 0.0, 0.0], mean) == 2
    assert led(LogPI(0.3), [-1.0, -np.inf, 0.0, 0.0], [0.1, 0.4, 0.2, 0.3]) == 3
    assert led(LogPI(0.3), [-1.0, -2.0, -1.0, -3.0], mean) == 0


def test_a_score_that_is_nan_is_refused_instead_of_leading():
    with pytest.raises(InvalidInput, match=r"UCB scores an action of mean 0\.4 and variance 1 as"):
        led(UCB(1.0), [1.0, np.nan, 2.0, np.nan], [0.1, 0.4, 0.3, 0.2])


@pytest.mark.parametrize("name", ACQUISITIONS)
@pytest.mark.parametrize("level", [0.0, 0.3, 250.0])
def test_the_lowest_index_leads_whatever_the_last_digits_of_mean_and_variance(name, level):
    acquisition, rng = ACQUISITIONS[name], np.random.default_rng(3)
    if hasattr(acquisition, "level"):
        acquisition = replaced_level(acquisition, level)
    for mean, var in [(level - 0.2, 0.04), (level - 3.0, 1e-4), (level + 1e-7, 1.0), (level, 1.0)]:
        means, variances = np.full(50, mean), np.full(50, var)
        means *= 1.0 + 1e-12 * rng.standard_normal(50)
        variances *= 1.0 + 1e-12 * rng.standard_normal(50)
        assert led(acquisition, acquisition.score(means, variances), means, variances) == 0


def replaced_level(acquisition, level):
    if isinstance(acquisition, Augmented):
        return replace(acquisition, inner=replaced_level(acquisition.inner, level))
    return replace(acquisition, level=level)


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_a_larger_score_leads_by_a_millionth(name):
    acquisition = ACQUISITIONS[name]
    mean, var = np.full(50, 0.25), np.full(50, 0.5)
    best = 31
    mean[best] += 1e-6
    var[best] += -1e-6 if name == "lcb" else 1e-6
    assert led(acquisition, acquisition.score(mean, var), mean, var) == best


@pytest.mark.parametrize("name", ACQUISITIONS)
@pytest.mark.parametrize("kept", [slice(None), slice(0, 5), slice(25, 30), slice(0, 0)])
def test_score_and_gradient_are_those_asked_for_one_by_one(name, kept):
    acquisition, mean, var = ACQUISITIONS[name], MEAN[kept], VAR[kept].copy()
    var[::4] = 0.0
    score, in_mean, in_var = acquisition.score_and_gradient(mean, var)
    np.testing.assert_array_equal(score, acquisition.score(mean, var))
    np.testing.assert_array_equal([in_mean, in_var], acquisition.gradient(mean, var))


def test_without_noise_augmented_ei_is_ei():
    plain, augmented = LogEI(0.3), Augmented(LogEI(0.3), 0.0)
    for ours, wanted in zip(
        augmented.score_and_gradient(MEAN, VAR), plain.score_and_gradient(MEAN, VAR), strict=True
    ):
        np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-9)
    known = augmented.gradient(np.array([0.2, 0.5]), np.zeros(2))
    assert np.isfinite(known).all()


def test_no_arm_counts_as_known_at_the_least_variance_of_a_kernel():
    """Without noise, data reduce a variance by a factor of about 1e12."""
    actions = []
    for variance in (1.0, LEAST_VARIANCE):
        problem = Problem(Arms.grid(40), SquaredExponential(0.2, variance), 0.0)
        agent = agents.make("ei", problem, seed=0)
        for _ in range(12):
            action = agent.ask()
            agent.tell(action, np.sqrt(variance) * np.sin(7.0 * action / 40))
            actions.append(action.item())
    assert actions[:12] == actions[12:]
    assert len(set(actions)) > 6


@pytest.mark.parametrize("bound", [UCB, LCB])
@pytest.mark.parametrize("beta", [-2.0, math.nan, math.inf, "2"])
def test_an_agent_with_a_bound_has_a_beta_of_at_least_0(bound, beta):
    problem = Problem(Arms.grid(9), SquaredExponential(0.2), 0.1)
    with pytest.raises(InvalidInput, match="beta must be"):
        agents.GPAgent(problem, np.random.default_rng(0), bound(beta))


def test_a_mean_above_the_level_of_the_ratio_has_the_slope_of_its_score():
    """There a gap counts as a tenth of the standard deviation, so that the score is constant."""
    mean, var, step = np.array([0.2, 0.45, 0.55, 2.0]), np.full(4, 0.5), 1e-6
    ratio = LogSigmaToRegret(0.5)
    in_mean = (ratio.score(mean + step, var) - ratio.score(mean - step, var)) / (2 * step)
    in_var = (ratio.score(mean, var + step) - ratio.score(mean, var - step)) / (2 * step)
    np.testing.assert_allclose(ratio.gradient(mean, var), (in_mean, in_var), atol=1e-6)
    assert in_mean[0] > 0.0 == in_mean[1] == in_mean[3]
