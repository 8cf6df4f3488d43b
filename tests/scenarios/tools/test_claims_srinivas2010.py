"""The units, measures and computations by which the claims of srinivas2010 are judged."""

import numpy as np
import pytest

from gpbandits_env.agents.algorithms.gp_ucb import GPUCB
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios.cli.compare import run_again
from gpbandits_env.scenarios.registry import get
from gpbandits_env.scenarios.results.store import Store
from tools.claims import srinivas2010 as claims
from tools.claims import srinivas2010_information as information

NOISE_VAR = information.NOISE_VAR
# Two hills, of heights 1 and 2, with a valley at arm 3.
HILLS = np.array([0.0, 1.0, 0.5, 0.2, 1.2, 2.0, 1.5])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "se-1d.sqlite"
    scenario = get("srinivas2010/se-1d").select(["gp-ucb", "max-mean"], trials=3, horizon=40)
    run_again(scenario, path, 1, None)
    with Store.open(path) as opened:
        yield opened


def test_a_function_is_drawn_again_from_the_seed_of_its_trial(store):
    f = claims.functions(store, 0)
    for label in store.labels(0):
        played = store.arrays(0, label, "actions")[:, :, 0]
        values = store.arrays(0, label, "values")[:, :, 0]
        assert np.array_equal(np.take_along_axis(f, played, 1), values)
    assert len(np.unique(f.max(axis=1))) == 3


def test_a_reading_is_found_in_its_table():
    table = np.array([[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [5.0, 6.0]])
    assert claims.rows_of(table[[3, 2, 0]], table).tolist() == [3, 1, 0]


def test_a_hill_lies_between_two_local_minima():
    assert claims.hill_of(HILLS, np.arange(7)).tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("arms", "noise_var", "stuck"),
    [
        ([1] * 500, 0.04, True),
        ([5] * 500, 0.04, False),  # the highest hill
        ([1] * 500, 4.0, False),  # not lower by more than the noise
        ([1] * 470 + [5] * 30, 0.04, False),  # 94% of the last plays
        ([5] * 200 + [1] * 500, 0.04, True),  # earlier plays do not count
    ],
)
def test_a_trial_is_stuck_if_its_last_plays_stay_on_a_low_hill(arms, noise_var, stuck):
    assert claims.is_stuck(HILLS, np.array(arms), noise_var) == stuck


def test_measures_of_trials(store):
    found = claims.on_synthetic(store, 0, "gp-ucb")
    kernel, points = SquaredExponential(0.2), information.grid(1000, 1).coordinates
    played = store.arrays(0, "gp-ucb", "actions")[0, :, 0]
    gain = theory.information_gain(kernel(points[played]), NOISE_VAR)
    assert found["information_gain"][0] == pytest.approx(gain, rel=1e-6)
    assert set(claims.on_synthetic(store, 0, "max-mean")) == {"information_gain", "stuck"}
    assert {"above", "room", "room_of_random", "outside", "band"} < set(found)


def test_play_is_gp_ucb():
    arms, kernel, rounds = information.grid(60, 1), SquaredExponential(0.2), 30
    rng = np.random.default_rng(0)
    f, noise = np.sin(7.0 * arms.coordinates[:, 0]), 0.1 * rng.standard_normal(rounds)
    betas = theory.beta_finite(np.arange(1, rounds + 1), 60, 0.1)
    run = claims.play(posterior_for(arms, kernel, NOISE_VAR), f, noise, betas)
    beta = {"type": "finite", "delta": 0.1}
    agent = GPUCB(Problem(arms, kernel, NOISE_VAR), rng, beta=beta)
    for t, x in enumerate(run.arms):
        assert agent.ask() == [x]
        agent.tell([x], [f[x] + noise[t]])
    again = claims.play(posterior_for(arms, kernel, NOISE_VAR), f, noise, betas, run.arms)
    assert np.array_equal(again.arms, run.arms)
    assert np.allclose(run.regret, np.cumsum(f.max() - f[run.arms]))
    assert not run.outside
    assert claims.play(posterior_for(arms, kernel, NOISE_VAR), f, noise, 1e-3 * betas).outside


def test_a_run_against_a_bound():
    f, arms = np.array([0.0, 1.0, 3.0]), np.array([0, 1, 2])
    regret = np.cumsum(f.max() - f[arms])  # 3, 5, 5
    found = claims.against(np.array([3.0, 5.0, 5.0]), f, regret)
    assert found == {"above": 0.0, "room": 4.0, "room_of_random": pytest.approx(0.0)}
    assert claims.against(np.array([3.0, 4.9, 5.0]), f, regret)["above"] == 1.0


@pytest.mark.parametrize("total", [1, 7, 300])
def test_no_allocation_gains_more_than_the_relaxed_one(total):
    values = np.linalg.eigvalsh(Matern52(0.2)(information.grid(30, 1).coordinates))
    relaxed = information.relaxed_gain(values, NOISE_VAR, total)
    weights = np.random.default_rng(total).dirichlet(np.full(30, 0.5), 2000)
    gains = 0.5 * np.log1p(total * weights * values / NOISE_VAR).sum(axis=1)
    assert 0.5 * relaxed < gains.max() <= relaxed
    whole = theory.information.GREEDY * theory.spectral_bound(values, NOISE_VAR, total)[-1]
    assert whole <= relaxed
    if total == 300:
        assert relaxed < 1.01 * whole


def test_noise_has_mean_zero_given_the_past_and_is_bounded():
    noise = claims.martingale_noise(20_000, np.random.default_rng(1))
    sigma = np.sqrt(NOISE_VAR)
    assert abs(noise).max() == pytest.approx(sigma)
    after = noise[1:][noise[:-1] < 0.0]
    assert abs(after) == pytest.approx(sigma / 2)
    assert abs(after.mean()) < 4 * after.std() / np.sqrt(len(after))


def test_a_function_of_the_rkhs_has_the_stated_norm():
    arms, kernel = information.grid(200, 1), SquaredExponential(0.2)
    f = claims.rkhs_function(arms, kernel, np.random.default_rng(2))
    values, vectors = np.linalg.eigh(kernel(arms.coordinates))
    kept = values > 1e-9 * values[-1]
    on_arms = ((vectors[:, kept].T @ f) ** 2 / values[kept]).sum()
    # The least norm of a function with these values at the arms.
    assert 0.9 * claims.NORM_BOUND < on_arms < 1.001 * claims.NORM_BOUND


def test_more_points_of_the_ball_begin_with_the_same_ones():
    points = information.ball(400, 3)
    assert np.array_equal(points[:100], information.ball(100, 3))
    radius = np.linalg.norm(points, axis=1)
    assert radius.max() <= 1.0
    assert (radius**3).mean() == pytest.approx(0.5, abs=0.06)  # uniform


def test_local_slopes_of_a_power():
    found = information.local_slopes("a", np.arange(1.0, 1001.0) ** 0.7)
    assert list(found) == ["a 1", "a 2", "a 3", "a 4"]
    assert list(found.values()) == pytest.approx([0.7] * 4)


def test_independent_arms_are_those_of_the_greedy_rule():
    arms = information.Arms(np.arange(5.0))
    gain = theory.greedy_design(arms, information.Empirical(np.eye(5)), NOISE_VAR, 23)[1]
    bound = theory.regret_bound_theorem1(gain, 5, information.DELTA, NOISE_VAR)
    assert information._independent(5, 23) == pytest.approx(bound)


def test_the_least_ratio_finds_where_greedy_is_not_best():
    assert information._least_ratio(np.eye(6), 0.1, 3) == pytest.approx(1.0)
    # Greedy takes the third arm first, which says something of both others; the best pair is these.
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.75, 0.75]])
    covariance = features @ features.T / 1.125
    pairs = [theory.information_gain(covariance[np.ix_(p, p)], 0.01) for p in ([0, 2], [0, 1])]
    assert information._least_ratio(covariance, 0.01, 2) == pytest.approx(pairs[0] / pairs[1])
    assert pairs[0] < pairs[1]
