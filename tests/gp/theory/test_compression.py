"""The bounds of bedi2022 against its printed formulas, and against what compressed agents do."""

import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

T = np.array([1.0, 10.0, 400.0])
BETA = np.array([3.0, 5.0, 20.0])
GAIN = np.array([1.0, 4.0, 9.0])
C1 = 8 / math.log(1 + 1 / 0.01)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_the_schedule_and_the_threshold(alpha):
    epsilon = theory.compression_budget(T, alpha)
    assert np.allclose(epsilon, 0.5 * np.log(1 + T**-alpha), rtol=1e-14)
    # Eq. (2.12) with the schedule: s^2 T^-alpha.
    for t, budget in zip(T, epsilon, strict=True):
        assert theory.compression_threshold(budget, 0.3) == pytest.approx(0.3 * t**-alpha)


def test_the_threshold_is_that_of_the_entropies():
    """1/2 log(2 pi e (s^2 + var)) > log sqrt(2 pi e s^2) + epsilon, as in eq. (2.11)."""
    for epsilon in (1e-4, 0.05, 2.0):
        var = theory.compression_threshold(epsilon, 0.02)
        here = 0.5 * math.log(2 * math.pi * math.e * (0.02 + var))
        assert here == pytest.approx(
            math.log(math.sqrt(2 * math.pi * math.e * 0.02)) + epsilon, rel=1e-12
        )
    assert theory.compression_threshold(0.0, 0.02) == 0.0
    assert theory.compression_threshold(1e9, 0.02) > 1e300


@pytest.mark.parametrize("alpha", [0.25, 0.5])
def test_bounds_3_2_and_3_4(alpha):
    epsilon = theory.compression_budget(T, alpha)
    printed = np.sqrt(C1 * T * BETA * GAIN) + T * np.sqrt(np.log(1 + T**-alpha)) * np.sqrt(
        C1 * BETA
    )
    bound = theory.regret_bound_compressed(T, BETA, GAIN, 0.01, epsilon)
    assert np.allclose(bound, printed, rtol=1e-12)
    box = theory.regret_bound_compressed(T, BETA, GAIN, 0.01, epsilon, continuous=True)
    assert np.allclose(box, printed + math.pi**2 / 6, rtol=1e-12)


def test_without_compression_it_is_the_bound_of_srinivas2010():
    gain = np.cumsum(1.0 / np.arange(1, 50))
    rounds = np.arange(1.0, 50.0)
    beta = theory.beta_finite(rounds, 20, 0.1)
    assert np.allclose(
        theory.regret_bound_compressed(rounds, beta, gain, 0.01, 0.0, variance=2.0),
        theory.regret_bound_theorem1(gain, 20, 0.1, 0.01, variance=2.0),
        rtol=1e-13,
    )


def test_bound_3_6():
    epsilon = theory.compression_budget(T, 0.5)
    width = np.sqrt(3 * (BETA + 1 + 2.5**2)) + np.sqrt(BETA)
    bracket = np.sqrt(2 * T * GAIN) + T * np.sqrt(np.log(1 + T**-0.5))
    log = math.log(1 + 1 / 0.01)
    printed = theory.regret_bound_compressed_ei(T, BETA, GAIN, 0.01, epsilon, 2.5, as_printed=True)
    assert np.allclose(printed, width / log * bracket, rtol=1e-12)
    derived = theory.regret_bound_compressed_ei(T, BETA, GAIN, 0.01, epsilon, 2.5)
    assert np.allclose(derived, width / math.sqrt(log) * bracket, rtol=1e-12)
    # Eq. (9.27), of which both are a consequence, with every pull rejected.
    inside = 2 * T * (GAIN + epsilon * T) / log
    assert (derived >= width * np.sqrt(inside) * (1 - 1e-12)).all()


def test_corollary_3_3():
    for trace in (1e-3, 7.0):
        z1 = trace / (0.01 * (1 - math.exp(-1)))
        expected = np.sqrt(C1 * BETA) * max(math.sqrt(z1), 1) * T**0.75
        got = theory.regret_bound_compressed_finite(T, BETA, trace, 0.01)
        assert np.allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_the_regret_of_cei_is_below_bound_3_6(epsilon):
    """In functions drawn from the kernel; R is read off the course of the trial."""
    kernel, noise_var, rounds = SquaredExponential(0.2), 0.01, 100
    root = np.linalg.cholesky(kernel(ARMS.coordinates) + 1e-10 * np.eye(40))
    gain = theory.greedy_design(ARMS, kernel, noise_var, rounds)[1] / (1 - math.exp(-1))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        function = root @ rng.standard_normal(40)
        agent = agents.make("cei", Problem(ARMS, kernel, noise_var), compress=epsilon)
        regret, largest, best = 0.0, 0.0, -np.inf
        for t in range(1, rounds + 1):
            arm = agent.ask()
            mean, sd = agent.belief()
            if t > 1:  # before the first reward there is no y_max
                largest = max(largest, float((np.abs(mean - best) / sd).max()))
            regret += function.max() - function[arm[0]]
            reward = function[arm] + 0.1 * rng.standard_normal(1)
            best = max(best, reward[0])
            agent.tell(arm, reward)
            bound = theory.regret_bound_compressed_ei(
                t,
                theory.beta_finite(t, 40, 0.1),
                gain[agent.posterior.size - 1],
                noise_var,
                epsilon,
                largest,
            )
            assert regret <= bound


def test_the_model_order_bound_by_gain_is_the_last_crossing():
    assert theory.model_order_bound_by_gain([0.5, 0.9, 1.1, 1.2], 0.4) == 2
    assert theory.model_order_bound_by_gain([0.5, 0.9, 1.3, 1.7], 0.4) == 4
    assert theory.model_order_bound_by_gain([0.3, 0.3], 0.4) == 0


ARMS = Arms.grid(40)


@pytest.mark.parametrize("epsilon", [0.15, 0.3])
@pytest.mark.parametrize("name", ["cub", "cei", "cmpi"])
def test_no_compressed_agent_exceeds_the_model_order_bound_by_gain(name, epsilon):
    kernel, noise_var = SquaredExponential(0.2), 0.01
    gain = theory.greedy_design(ARMS, kernel, noise_var, 400)[1] / (1 - math.exp(-1))
    limit = theory.model_order_bound_by_gain(gain, epsilon)
    assert limit < 400
    agent = agents.make(name, Problem(ARMS, kernel, noise_var), seed=0, compress=epsilon)
    rng = np.random.default_rng(0)
    for _ in range(400):
        # Whatever is played: the agent's own choice, and one at random.
        for arm in (agent.ask(), rng.integers(40, size=1)):
            agent.tell(arm, np.sin(arm) + 0.1 * rng.standard_normal(1))
    assert 5 < agent.posterior.size <= limit


def test_the_regret_of_cub_is_below_bound_3_2():
    """In functions drawn from the kernel, all of 20, at a delta of 0.1; with a margin of tens."""
    kernel, noise_var, epsilon, rounds = SquaredExponential(0.2), 0.01, 0.05, 150
    root = np.linalg.cholesky(kernel(ARMS.coordinates) + 1e-10 * np.eye(40))
    gain = theory.greedy_design(ARMS, kernel, noise_var, rounds)[1] / (1 - math.exp(-1))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        function = root @ rng.standard_normal(40)
        agent = agents.make("cub", Problem(ARMS, kernel, noise_var), compress=epsilon)
        regret = np.zeros(rounds)
        for t in range(rounds):
            arm = agent.ask()
            regret[t] = function.max() - function[arm[0]]
            agent.tell(arm, function[arm] + 0.1 * rng.standard_normal(1))
        t = np.arange(1.0, rounds + 1)
        bound = theory.regret_bound_compressed(
            t, theory.beta_finite(t, 40, 0.1), gain[agent.posterior.size - 1], noise_var, epsilon
        )
        assert (np.cumsum(regret) <= bound).all()


def test_qbar_of_the_theory():
    """6 alpha log(4 T / delta) / a^2, alpha = (1 + a) / (1 - a)."""
    assert theory.bkb_qbar(1000, 0.1) == pytest.approx(6 * 3 * math.log(40_000) / 0.25)
    assert theory.bkb_qbar(50, 0.05, 0.9) == pytest.approx(6 * 19 * math.log(4000) / 0.81)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.compression_budget(0.5, 0.5),
        lambda: theory.compression_budget(10, -0.5),
        lambda: theory.compression_threshold(-1e-9, 0.1),
        lambda: theory.regret_bound_compressed(T, BETA, -GAIN, 0.01, 0.1),
        lambda: theory.regret_bound_compressed(T, BETA, GAIN, 0.0, 0.1),
        lambda: theory.regret_bound_compressed_ei(T, BETA, GAIN, 0.01, 0.1, -1.0),
        lambda: theory.regret_bound_compressed_finite(T, BETA, -1.0, 0.01),
        lambda: theory.model_order_bound_by_gain([1.0], math.nan),
        lambda: theory.bkb_qbar(10, 1.0),
        lambda: theory.bkb_qbar(0, 0.1),
        lambda: theory.bkb_qbar(10, 0.1, 1.0),
    ],
)
def test_numbers_out_of_range_are_refused(call):
    with pytest.raises(InvalidInput):
        call()
