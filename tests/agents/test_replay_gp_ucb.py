"""GP-UCB against srinivas2010, Algorithm 1, re-derived at every step."""

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

pi, e, log, sqrt = np.pi, np.e, np.log, np.sqrt
N, DELTA = 60, 0.1


def ucb(beta):
    """Eq. (6): mu + sqrt(beta_t) sigma."""
    return lambda t, mean, var, dense: mean + sqrt(beta(t, dense)) * sqrt(var)


def gamma(dense):
    return dense.gain() / (1 - 1 / e) if dense.arms else 0.0


BETAS = {
    # name: what the agent is told, and the paper's formula
    "default": ({}, lambda t, _: 2 * log(N * t**2 * pi**2 / (6 * DELTA)) / 5),
    "theorem 1": (
        {"beta": {"type": "finite", "delta": 0.05}},
        lambda t, _: 2 * log(N * t**2 * pi**2 / (6 * 0.05)),
    ),
    "theorem 2": (
        {"beta": {"type": "continuous", "delta": 0.2, "a": 2.0, "b": 3.0, "scale": 0.1}},
        lambda t, _: (
            0.1
            * (
                2 * log(t**2 * 2 * pi**2 / (3 * 0.2))
                + 2 * log(t**2 * 3.0 * 1.0 * sqrt(log(4 * 2.0 / 0.2)))
            )
        ),
    ),
    "theorem 3": (
        {"beta": {"type": "rkhs", "scale": 1e-3}, "max_norm": 2.5},
        lambda t, dense: 1e-3 * (2 * 2.5 + 300 * gamma(dense) * log(t / 0.1) ** 3),
    ),
    "theorem 3, gamma known": (
        {"beta": {"type": "rkhs", "norm_bound": 2.5, "gamma": 4.0, "scale": 1e-3}},
        lambda t, _: 1e-3 * (2 * 2.5 + 300 * 4.0 * log(t / 0.1) ** 3),
    ),
    "igp": (
        {"beta": {"type": "igp", "delta": 0.2, "norm_bound": 1.5, "scale": 0.5}},
        lambda _, dense: (
            0.5
            * (1.5 + sqrt(2 * 0.025 * (dense.gain() * bool(dense.arms) + 1 + log(1 / 0.2)))) ** 2
        ),
    ),
    "number": ({"beta": 3.0}, lambda t, _: 3.0),
    "constant": ({"beta": {"type": "constant", "value": 3.0, "scale": 2.0}}, lambda t, _: 6.0),
    "logarithm": (
        {"beta": {"type": "log", "c1": 0.8, "c2": 0.4}},
        lambda t, _: max(0.0, 0.8 * log(0.4 * t)),
    ),
}


@pytest.mark.parametrize("case", BETAS)
def test_replays_algorithm_1(replay, case):
    settings, beta = BETAS[case]
    played = replay("gp-ucb", ucb(beta), **settings)
    assert len(set(played)) > 2  # a choice was made


@pytest.mark.parametrize("back", ["rows", "coefficients"])
def test_both_backs_replay(replay, back):
    replay("gp-ucb", ucb(BETAS["default"][1]), posterior=back)


def test_the_tables_of_beta_go_on_past_their_first_block(world):
    agent = agents.make("gp-ucb", world.problem(), seed=0)
    for t in (1, 1024, 1025, 2048, 2049, 5000, 1):
        agent.round = t - 1
        assert agent.acquisition().beta == pytest.approx(BETAS["default"][1](t, None), rel=1e-12)


def test_replays_on_the_candidates_of_a_box(normal):
    box = Box([-1.0, 0.0], [1.0, 3.0])
    kernel, noise_var, m, delta = SquaredExponential((0.5, 1.0)), 0.1, 2, 0.1
    problem = Problem(box, kernel, noise_var, batch_size=m)
    agent = agents.make("gp-ucb", problem, seed=4, candidates=50)
    points = agent.posterior.arms.coordinates / [0.5, 1.0]
    gram = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(-1))

    def var(seen):
        inner = gram[np.ix_(seen, seen)] + noise_var * np.eye(len(seen))
        return 1 - (gram[seen] * np.linalg.solve(inner, gram[seen])).sum(0) if seen else np.ones(50)

    seen, told = [], []
    for t in range(1, 21):
        inner = gram[np.ix_(seen, seen)] + noise_var * np.eye(len(seen))
        mean = gram[:, seen] @ np.linalg.solve(inner, told) if seen else np.zeros(50)
        beta = 2 * log(50 * t**2 * pi**2 / (6 * delta)) / 5
        actions = agent.ask()
        assert actions.shape == (m, 2)
        assert actions in problem.domain.action_space(m)
        for point in actions:
            arm = int(np.flatnonzero((agent.posterior.arms.coordinates == point).all(1))[0])
            score = mean + sqrt(beta * var(seen))
            assert score[arm] == pytest.approx(score.max(), abs=1e-8)
            seen.append(arm)
        rewards = np.sin(3 * actions[:, 0]) - (actions[:, 1] - 1) ** 2
        agent.tell(actions, rewards)
        told += rewards.tolist()
