"""The agents that forget, re-derived at every step over a dense time-varying posterior."""

import numpy as np
import pytest
from scipy.special import ive

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import ConstantKernel, SquaredExponential
from gpbandits_env.problem import Problem

LOGARITHM = {"type": "log", "c1": 0.8, "c2": 4.0}


def ucb(t, mean, var, dense):
    """beta_t = 0.8 log(4 t), t counted from the start: bogunovic2016, Section 5."""
    return mean + np.sqrt(0.8 * np.log(4 * t) * var)


@pytest.mark.parametrize("epsilon", [0.0, 0.03, 0.3, 1.0])
def test_tv_gp_ucb_replays_algorithm_2(replay, world, epsilon):
    dense = world.dense(epsilon=epsilon)
    replay("tv-gp-ucb", ucb, dense=dense, epsilon=epsilon)


@pytest.mark.parametrize("block", [1, 7])
def test_r_gp_ucb_replays_algorithm_1(replay, block):
    """Reset at every t with t mod N = 1, and at every t if N = 1."""
    replay("r-gp-ucb", ucb, forget=lambda t: t - (t - 1) % block, reset_every=block)


@pytest.mark.parametrize("window", [1, 9])
def test_sw_gp_ucb_replays(replay, window):
    replay("sw-gp-ucb", ucb, forget=lambda t: t - window, window=window)


def test_beta_is_2_where_the_agent_is_told_how_the_function_drifts(replay, world):
    def two(t, mean, var, dense):
        return mean + np.sqrt(2.0 * var)

    spec, time = IN_TIME["matern32"]
    replay("gp-ucb", two, dense=world.dense(epsilon=0.1), epsilon=0.1)
    for name in ("gp-ucb", "tv-gp-ucb"):
        replay(name, two, dense=world.dense(time=time), temporal=spec)


def test_any_gp_agent_can_forget(replay, world):
    replay("gp-ucb", ucb, dense=world.dense(epsilon=0.1), epsilon=0.1, beta=LOGARITHM)


def lag(t, s):
    return np.abs(np.subtract.outer(t, s))


def season(t, s):
    """Two harmonics of a season of 7 rounds, with a lengthscale so large that few are left."""
    squares = ive(np.arange(3), 1.0) * [1.0, 2.0, 2.0]
    waves = np.cos(2 * np.pi * lag(t, s)[..., None] * np.arange(3) / 7.0)
    return waves @ squares / squares.sum()


SEASON = {"type": "periodic", "period": 7.0, "harmonics": 2}
IN_TIME = {
    "matern32": (
        {"type": "matern32", "lengthscale": 9.0},
        lambda t, s: (1 + 3**0.5 * lag(t, s) / 9.0) * np.exp(-(3**0.5) * lag(t, s) / 9.0),
    ),
    "wiener": (
        {"type": "wiener", "rate": 0.05},
        # Round 1 is at time 0.
        lambda t, s: 1.0 + 0.05 * (np.minimum.outer(t, s) - 1.0),
    ),
    "season and drift": (
        {"type": "sum", "kernels": [SEASON, {"type": "markov", "epsilon": 0.2}]}
        | {"weights": [0.7, 0.6]},
        lambda t, s: 0.7 * season(t, s) + 0.6 * 0.8 ** (0.5 * lag(t, s)),
    ),
}


@pytest.mark.parametrize("name", IN_TIME)
def test_an_agent_with_a_temporal_kernel_replays(replay, world, name):
    spec, time = IN_TIME[name]
    dense = world.dense(time=time)
    replay("gp-ucb", ucb, dense=dense, temporal=spec, beta=LOGARITHM)


@pytest.mark.parametrize("name", IN_TIME)
def test_an_agent_in_a_box_with_a_temporal_kernel_replays(name):
    """Times are irregular; the choice is as good as the best of a fine grid."""
    spec, time = IN_TIME[name]
    problem = Problem(Box([0.0], [1.0]), SquaredExponential(0.2), 0.025)
    agent = agents.make("gp-ucb", problem, seed=0, temporal=spec, beta=LOGARITHM)
    grid = np.linspace(0.0, 1.0, 2001)
    seen, rewards, times, now = np.empty(0), np.empty(0), np.empty(0), 0.0
    rng = np.random.default_rng(0)
    for t in range(1, 21):
        at = agent.ask()[0]
        x = np.concatenate([at, grid])
        # `IN_TIME` counts from 1, as rounds do.
        then, present = times + 1.0, np.array([now + 1.0])
        gram = np.exp(-0.5 * (lag(seen, seen) / 0.2) ** 2) * time(then, then)
        cross = np.exp(-0.5 * (lag(seen, x) / 0.2) ** 2) * time(then, present)
        solved = np.linalg.solve(gram + 0.025 * np.eye(len(seen)), cross)
        var = time(present, present)[0] - (cross * solved).sum(axis=0)
        score = ucb(t, solved.T @ rewards, var, None)
        assert score[0] >= score[1:].max() - 1e-6
        reward, wait = float(np.sin(6.0 * at[0] + 0.3 * now)), float(rng.choice([1e-6, 0.7, 5.0]))
        agent.tell([at], [reward])
        agent.wait(wait)
        seen, rewards = np.append(seen, at[0]), np.append(rewards, reward)
        times, now = np.append(times, now), now + 1.0 + wait


def test_a_late_reward_is_learned_in_its_round_and_waits_count(world):
    spec, _ = IN_TIME["wiener"]
    late = agents.make("gp-ucb", world.problem(max_delay=4), seed=0, temporal=spec)
    prompt = agents.make("gp-ucb", world.problem(), seed=0, temporal=spec)
    for agent in (late, prompt):
        agent.wait(1.5)
        agent.tell([1], [0.3])
    late.expect([4])
    prompt.tell([4], [0.7])
    for agent in (late, prompt):
        agent.tell([20], [0.1])
        agent.wait(0.25)
    late.tell_late([4], [0.7], [2])
    np.testing.assert_allclose(late.belief(), prompt.belief(), atol=1e-12)


def test_tv_gp_ucb_knows_the_temporal_kernel_of_the_problem(world):
    spec, _ = IN_TIME["season and drift"]
    problem = world.problem(temporal=spec)
    known, told = (
        agents.make("tv-gp-ucb", problem, seed=0, **more) for more in ({}, {"temporal": spec})
    )
    for agent in (known, told):
        for _ in range(9):
            agent.tell(arms := agent.ask(), np.cos(arms))
    assert known.epsilon is None
    np.testing.assert_array_equal(known.belief(), told.belief())
    assert agents.make("tv-gp-ucb", problem, epsilon=0.1).posterior.temporal is None


def test_a_markov_kernel_is_epsilon(world):
    spec = {"type": "markov", "epsilon": 0.03}
    one = agents.make("gp-ucb", world.problem(), seed=0, temporal=spec)
    two = agents.make("gp-ucb", world.problem(), seed=0, epsilon=0.03)
    for agent in (one, two):
        for _ in range(20):
            agent.tell(arms := agent.ask(), np.sin(arms))
    np.testing.assert_array_equal(one.belief(), two.belief())


def test_thompson_sampling_draws_from_the_posterior(world):
    """Each arm as often as it is the best of draws from the dense joint posterior."""
    agent = agents.make("ts", world.problem(), seed=1, batch_size=40_000)
    dense, shown = world.dense(), [20, 20, 45]
    rewards = np.array([0.1, 0.3, -0.2])
    agent.tell(shown, rewards)
    dense.tell(shown, rewards, 0)
    x = world.arms.coordinates
    gram = np.exp(-0.5 * ((x - x.T) / 0.2) ** 2)
    inner = gram[np.ix_(shown, shown)] + 0.025 * np.eye(3)
    covariance = gram - gram[:, shown] @ np.linalg.solve(inner, gram[shown])
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = dense.mean() + np.random.default_rng(2).standard_normal((40_000, 60)) @ root.T
    ours, theirs = (
        np.add.reduceat(np.bincount(arms, minlength=60), np.arange(0, 60, 5))
        for arms in (agent.ask(), draws.argmax(axis=1))
    )
    both = ours + theirs
    statistic = ((ours - theirs)[both > 0] ** 2 / both[both > 0]).sum()
    # Chi-squared with at most 11 degrees of freedom: above 37 with probability 1e-4.
    assert statistic < 37
    assert (both > 400).sum() >= 4


@pytest.mark.parametrize("domain", [Arms.grid(40), Box([0.0], [1.0])], ids=["arms", "box"])
def test_an_agent_that_knows_a_shift_of_all_points_replays(domain):
    spec = {"type": "terms", "kernels": [{"type": "matern32", "lengthscale": 9.0}]}
    spec["kernels"].append({"type": "markov", "epsilon": 0.3})
    kernel, slow = SquaredExponential(0.2) + ConstantKernel(2.0), IN_TIME["matern32"][1]
    problem = Problem(domain, kernel, 0.025)
    agent = agents.make("gp-ucb", problem, seed=0, temporal=spec, beta=LOGARITHM)
    grid = domain.coordinates[:, 0] if domain.finite else np.linspace(0.0, 1.0, 2001)

    def prior(x, t, z, s):
        return np.exp(-0.5 * (lag(x, z) / 0.2) ** 2) * slow(t, s) + 2.0 * 0.7 ** (0.5 * lag(t, s))

    seen, rewards, times = np.empty(0), np.empty(0), np.empty(0)
    for t in range(1, 21):
        at = agent.ask()[0]
        point = grid[at] if domain.finite else at[0]
        x, now = np.concatenate([[point], grid]), np.array([t - 1.0])
        cross = prior(seen, times, x, now)
        noisy = prior(seen, times, seen, times) + 0.025 * np.eye(len(seen))
        solved = np.linalg.solve(noisy, cross)
        score = ucb(t, solved.T @ rewards, 3.0 - (cross * solved).sum(axis=0), None)
        assert score[0] >= score[1:].max() - 1e-6
        reward = float(np.sin(6.0 * point) + 2.0 * np.cos(1.7 * t))
        agent.tell([at], [reward])
        seen, rewards, times = (
            np.append(seen, point),
            np.append(rewards, reward),
            np.append(times, now),
        )
