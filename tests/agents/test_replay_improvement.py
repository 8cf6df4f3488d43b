"""EI and MPI against their definitions, re-derived at every step.

The formulas are those of the `normal` fixture: complementary error function and Gauss-Laguerre
sums in place of the library's Mills ratios.
"""

import copy

import numpy as np
import pytest

from gpbandits_env import agents


def incumbent(kind, dense, mean):
    if not dense.arms or kind == "max-mean":
        return mean.max()
    return max(dense.rewards) if kind == "observed" else max(mean[arm] for arm in dense.arms)


@pytest.mark.parametrize(
    ("kind", "margin"),
    [("posterior-mean", None), ("posterior-mean", 0.2), ("observed", 0.0), ("max-mean", 0.2)],
)
def test_ei_replays_its_definition(replay, normal, kind, margin):
    """E max(f - incumbent - margin, 0) = sigma h(z), z = (mu - incumbent - margin) / sigma."""

    def score(t, mean, var, dense):
        # The mean is held within a batch, and so is the incumbent.
        gap = mean - incumbent(kind, dense, mean) - (margin or 0.0)
        return np.log(np.sqrt(var)) + normal.log_improvement(gap / np.sqrt(var))

    given = {} if margin is None else {"margin": margin}
    replay("ei", score, rounds=40, incumbent=kind, **given)  # late, a margin of 1e-5 shows


def test_augmented_ei_replays_its_definition(replay, normal, world):
    """EI times 1 - s / sqrt(sigma^2 + s^2) for noise of variance s^2."""
    noise_var = world.problem().noise_var

    def score(t, mean, var, dense):
        gap = mean - incumbent("posterior-mean", dense, mean)
        factor = 1.0 - np.sqrt(noise_var / (var + noise_var))
        return np.log(np.sqrt(var)) + normal.log_improvement(gap / np.sqrt(var)) + np.log(factor)

    replay("ei", score, augmented=True)


def test_ei_replays_its_sampled_incumbent(world, normal, batch_size):
    """The incumbent is the largest value of one joint draw at the observed arms for each batch."""
    agent = agents.make(
        "ei", world.problem(), seed=0, batch_size=batch_size, incumbent="sampled", augmented=True
    )
    dense, levels, noise_var = world.dense(), [], world.problem().noise_var
    for _ in range(12):
        rng, mean = copy.deepcopy(agent.rng), dense.mean()
        level = mean.max()
        if dense.arms:
            arms = np.unique(dense.arms)
            arms = arms[np.argsort(mean[arms])]
            draw = rng.standard_normal(len(arms))
            covariance = dense.covariance(arms)
            covariance += 1e-6 * covariance.max() * np.eye(len(arms))
            level = (mean[arms] + np.linalg.cholesky(covariance) @ draw).max()
            levels.append(level - mean[arms].max())
        actions = agent.ask()
        for i, arm in enumerate(actions):
            var = dense.var(also=actions[:i])
            factor = 1.0 - np.sqrt(noise_var / (var + noise_var))
            improvement = normal.log_improvement((mean - level) / np.sqrt(var))
            scores = np.log(np.sqrt(var)) + improvement + np.log(factor)
            assert scores[arm] == pytest.approx(scores.max(), abs=1e-8)
        rewards = world.rewards(actions)
        agent.tell(actions, rewards)
        dense.tell(actions, rewards, 0)
    assert np.ptp(levels) > 0.05


@pytest.mark.parametrize(
    ("kind", "margin"),
    [("posterior-mean", None), ("posterior-mean", 0.2), ("observed", None), ("max-mean", 0.2)],
)
def test_mpi_replays_its_definition(replay, normal, kind, margin):
    """P(f > incumbent + margin) = Phi((mu - incumbent - margin) / sigma); the margin is 0.01."""

    def score(t, mean, var, dense):
        gap = mean - incumbent(kind, dense, mean) - (0.01 if margin is None else margin)
        return normal.log_cumulative(gap / np.sqrt(var))

    given = {} if margin is None else {"margin": margin}
    replay("mpi", score, incumbent=kind, **given)


def test_the_default_incumbent_is_the_posterior_mean(world):
    for name in ("ei", "mpi"):
        agent = agents.make(name, world.problem())
        agent.tell([3, 40], [9.0, 0.0])
        assert agent.acquisition().level == agent.posterior.mean[3] < 9.0


@pytest.mark.parametrize("name", ["ei", "mpi"])
def test_plays_on_when_plain_improvement_underflows(world, name, normal):
    """Far below an incumbent, plain EI and PI are 0 at all arms: argmax would play arm 0."""
    agent = agents.make(name, world.problem(), incumbent="observed")
    agent.tell([0], [90.0])
    agent.tell(np.zeros(400, int), np.full(400, -1.0))  # it was not true
    mean, var = agent.posterior.mean, agent.posterior.var
    gap = mean - agent.acquisition().level - agent.acquisition().margin
    assert normal.cumulative(gap / np.sqrt(var)).max() == 0.0
    scores = {
        "ei": normal.log_improvement(gap / np.sqrt(var)) + 0.5 * np.log(var),
        "mpi": normal.log_cumulative(gap / np.sqrt(var)),
    }[name]
    arm = agent.ask()[0]
    assert arm != 0
    assert scores[arm] == pytest.approx(scores.max(), rel=1e-10)
    assert np.sort(scores)[-2] < scores[arm]
