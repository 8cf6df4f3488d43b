"""The log of observations: what it keeps, and the posterior that is conditioned on it anew."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior import posterior_on
from gpbandits_env.gp.temporal import Matern32Time, TemporalSum, WienerTime
from gpbandits_env.problem import Problem

OBSERVED = [([0, 3], [0.4, -0.3], (0.2, 0.3)), ([1], [0.9], ()), ([3, 2], [0.6, 0.3], (0.1,))]


def logged(rounds=None, fading=False):
    log = ObservationLog(rounds, history=10)
    for round_, (arms, rewards, epsilons) in enumerate(OBSERVED, 1):
        log.append(round_, np.array(arms), np.array(rewards))
        for epsilon in epsilons if fading else ():
            log.fade(epsilon)
    return log


@pytest.mark.parametrize("fading", [True, False])
def test_a_posterior_conditioned_anew_is_the_one_before(fading):
    before, after = (posterior_on(Arms.grid(6), SquaredExponential(0.3), 0.1) for _ in range(2))
    for arms, rewards, epsilons in OBSERVED:
        before.condition(arms, rewards)
        for epsilon in epsilons if fading else ():
            before.advance(epsilon)
    log, again = logged(fading=fading), ObservationLog(None)
    again.fade(0.5)  # of nothing
    again.restore(log.snapshot())
    again.replay(after)
    assert after.mean == pytest.approx(before.mean, abs=1e-12)
    assert after.var == pytest.approx(before.var, abs=1e-12)
    log.clear()
    fresh = posterior_on(Arms.grid(6), SquaredExponential(0.3), 0.1)
    log.replay(fresh)
    assert fresh.size == log.observations == 0


def test_time_that_passes_is_logged_for_a_temporal_kernel():
    kernel = TemporalSum((WienerTime(0.3), Matern32Time(4.0)))
    before, after = (
        posterior_on(Arms.grid(6), SquaredExponential(0.3), 0.1, temporal=kernel) for _ in range(2)
    )
    log, again = ObservationLog(None), ObservationLog(None)
    before.advance(0.0, 2.5)
    log.elapse(2.5)
    for round_, (arms, rewards, passed) in enumerate(OBSERVED):
        before.condition(arms, rewards)
        log.append(round_, np.array(arms), np.array(rewards))
        for dt in passed:
            before.advance(0.0, dt)
            log.elapse(dt)
    again.restore(log.snapshot())
    again.replay(after)
    assert after.mean == pytest.approx(before.mean, abs=1e-12)
    assert after.var == pytest.approx(before.var, abs=1e-12)
    log.clear()
    assert log.snapshot() == ObservationLog(None).snapshot()


def test_the_data_are_what_came_since_the_last_reset():
    log = logged()
    assert log.best_reward == 0.9
    log.forget()
    assert (log.data, log.best_reward) == ([], -np.inf)
    log.append(4, np.array([5]), np.array([0.1]))
    assert [entry.round for entry in log.data] == [4]
    assert log.best_reward == 0.1
    points, rewards, *_ = log.gathered()
    assert points[-4:].tolist() == [1, 3, 2, 5]
    assert rewards[-4:].tolist() == [0.9, 0.6, 0.3, 0.1]
    assert log.observations == 6


def test_a_window_drops_the_oldest_and_their_best_reward():
    log = logged()
    assert not log.keep_last(3)
    assert log.keep_last(2)
    assert log.best_reward == 0.9
    assert log.keep_last(1)
    assert log.best_reward == 0.6
    assert [entry.round for entry in log.data] == [3]
    assert len(log.entries) == 3


def test_it_keeps_as_many_entries_as_it_was_told_to_and_arrays_of_its_own():
    log = logged(rounds=2)
    assert [entry.round for entry in log.entries] == [2, 3]
    assert [entry.round for entry in log.data] == [2, 3]
    assert logged(rounds=0).entries == []
    assert logged(rounds=0).best_reward == 0.9
    points = np.array([1])
    log.append(4, points, np.array([0.0]))
    points[:] = 9
    assert log.entries[-1].points.tolist() == [1]


def test_kept_rounds_fade_at_the_new_rate():
    log = logged(fading=True)
    log.keep_rounds(2, 0.25)
    assert [entry.round for entry in log.data] == [2, 3]
    assert [entry.faded for entry in log.data] == [0.0, 0.25]  # no time passed after round 2
    assert log.best_reward == 0.9


def test_kept_rounds_fade_by_the_time_after_them():
    """Also by the time that passed after prior data between them."""
    log = ObservationLog(None)
    for t, dt in ((1, 1.0), (2, 0.5), (0, 2.0), (3, 1.0)):
        log.append(t, np.array([t]), np.array([0.5]))
        log.fade(0.1, dt)
    log.keep_rounds(3, 0.19)
    assert [entry.round for entry in log.data] == [1, 2, 3]
    assert [entry.faded for entry in log.data] == pytest.approx([0.19, 1.0 - 0.9**5, 0.19])
    assert [entry.elapsed for entry in log.data] == [1.0, 2.5, 1.0]


def test_what_nobody_needs_is_dropped():
    """All that is kept are the data and, with them, the last observations that a fit looks at."""
    whole, short = ObservationLog(None, 10**6), ObservationLog(None, 5)
    for t in range(1, 101):
        k = t % 3
        for log in (whole, short):
            log.append(t, np.full(k, t), np.full(k, 0.1 * t))
            log.keep_last(2)
        assert short.best_reward == whole.best_reward
        assert [e.round for e in short.data] == [e.round for e in whole.data]
        if t > 5:
            for ours, all_of_them in zip(short.gathered()[:2], whole.gathered()[:2], strict=True):
                assert np.array_equal(ours[-5:], all_of_them[-5:])
    assert len(whole.entries) == 100
    assert len(short.entries) < 20
    short.forget()
    assert short.gathered()[0][-5:].tolist() == whole.gathered()[0][-5:].tolist()


def test_an_agent_logs_how_its_data_fade():
    problem = Problem(Arms.grid(6), SquaredExponential(0.3), 0.1)
    agent = agents.make("gp-ucb", problem, seed=0, epsilon=0.2, learn={"first": 99})
    for arm in (1, 4, 1, 3):
        agent.tell([arm], [0.1 * arm])
    after = posterior_on(problem.domain, problem.kernel, problem.noise_var)
    agent.log.replay(after)
    assert after.mean == pytest.approx(agent.posterior.mean, abs=1e-12)
    assert after.var == pytest.approx(agent.posterior.var, abs=1e-12)
