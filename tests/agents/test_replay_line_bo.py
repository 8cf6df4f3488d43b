"""LineBO against its paper's steps, by numpy.linalg."""

import numpy as np
import pytest

from gpbandits_env import agents


@pytest.mark.parametrize("directions", ["random", "coordinate", "ascent"])
def test_replays_line_bo(large, directions):
    for agent, action, x, y in large.played("line-bo", directions=directions):
        ends = agent.search.line.lift(np.array([[-1.0], [1.0]]))
        assert np.abs(ends).max(axis=1) == pytest.approx([1.0, 1.0])  # From face to face.
        line = ends[0] + np.linspace(0, 1, 4001)[:, None] * (ends[1] - ends[0])
        assert np.linalg.norm(line - action, axis=1).min() < 1e-2
        best = large.bound(line, x, y, large.ELL).max()
        assert large.bound(action, x, y, large.ELL)[0] >= best - 0.01 * abs(best)
        if len(x):
            anchor = x[agent.posterior.mean_at_observed().argmax()]
            assert np.linalg.norm(line - anchor, axis=1).min() < 1e-2
        if directions == "coordinate":
            assert np.count_nonzero(np.abs(ends[1] - ends[0]) > 1e-9) == 1


def test_replays_line_bo_through_random_points(large):
    """Its lines do not go through the best point, and depend on the seed and their number alone."""
    for agent, action, x, y in large.played("line-bo", anchor="random"):
        ends = agent.search.line.lift(np.array([[-1.0], [1.0]]))
        line = ends[0] + np.linspace(0, 1, 4001)[:, None] * (ends[1] - ends[0])
        best = large.bound(line, x, y, large.ELL).max()
        assert large.bound(action, x, y, large.ELL)[0] >= best - 0.01 * abs(best)
        if len(x):
            anchor = x[agent.posterior.mean_at_observed().argmax()]
            assert np.linalg.norm(line - anchor, axis=1).min() > 1e-2
    short, long = (agents.make("line-bo", large.PROBLEM, seed=2, anchor="random") for _ in range(2))
    long.prior_data(np.full((1, large.D), 0.1), [1.0])
    np.testing.assert_array_equal(short.search.line.anchor, long.search.line.anchor)


def test_a_line_is_kept_for_so_many_rounds(large):
    lines = [
        agent.search.line for agent, *_ in large.played("line-bo", rounds=6, rounds_per_line=3)
    ]
    assert lines[0] is lines[1] is lines[2]
    assert lines[2] is not lines[3]
    assert lines[3] is lines[5]


@pytest.mark.parametrize("directions", ["random", "coordinate"])
def test_a_direction_depends_on_the_seed_and_the_number_of_the_line(large, directions):
    def along(agent):
        ends = agent.search.line.lift(np.array([[-1e-3], [1e-3]]))
        return (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])

    short, long = (
        agents.make("line-bo", large.PROBLEM, seed=2, directions=directions, rounds_per_line=n)
        for n in (1, 3)
    )
    for i in range(9):
        if i % 3 == 1:
            long.prior_data(
                np.full((1, large.D), 0.1 * i), [float(i)]
            )  # a new anchor, the same line
        np.testing.assert_allclose(along(long), along(short), atol=1e-9)
        long.tell(long.ask(), [0.0])
        if i % 3 == 2:
            short.tell(short.ask(), [0.0])


def test_a_line_of_ascent_is_the_gradient_in_the_cube(large):
    agent = agents.make("line-bo", large.UNEVEN, seed=3, directions="ascent")
    x = large.UNEVEN.domain.sample(np.random.default_rng(1), 9)
    agent.prior_data(x, large.uneven_reward(x))
    anchor = x[[agent.posterior.mean_at_observed().argmax()]]
    step = 1e-5 * large.SIDES * np.eye(large.D)  # the same part of each side
    slope = agent.belief(np.clip(anchor + step, 0, large.SIDES))[0]
    slope = slope - agent.belief(np.clip(anchor - step, 0, large.SIDES))[0]
    along = np.diff(agent.search.line.lift(np.array([[-1.0], [1.0]])), axis=0)[0]
    cosine = along @ slope / np.linalg.norm(along) / np.linalg.norm(slope)
    assert cosine == pytest.approx(1.0, abs=1e-4)


def test_a_line_goes_through_the_largest_mean_not_the_largest_reward(large):
    noisy = large.PROBLEM.replaced(noise_var=1.0)
    lucky, sure = np.full(large.D, -0.7), np.full(large.D, 0.7)
    agent = agents.make("line-bo", noisy, seed=3)
    agent.prior_data(np.array([lucky, sure, sure, sure]), [3.0, 2.5, 2.5, 2.5])
    line = agent.search.line.lift(np.linspace(-1, 1, 2001)[:, None])
    assert np.linalg.norm(line - sure, axis=1).min() < 2e-3
    assert np.linalg.norm(line - lucky, axis=1).min() > 0.1
