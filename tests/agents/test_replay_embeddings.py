"""DropoutUCB, LineBO, REMBO, HeSBO and SRE against their papers' steps, by numpy.linalg."""

import math

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.embeddings.embedding import HashEmbedding
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

D, ELL, NOISE, BETA = 8, 1.1, 0.01, 2.0
PROBLEM = Problem(Box(-np.ones(D), np.ones(D)), SquaredExponential(ELL), NOISE, horizon=12)


def reward(x):
    return -((x - 0.3) ** 2).sum(axis=1)


def bound(at, told, y, ell):
    def k(a, b):
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / (2 * ell**2))

    mean, var = np.zeros(len(at)), np.ones(len(at))
    if len(told):
        solved = np.linalg.solve(k(told, told) + NOISE * np.eye(len(told)), k(told, at))
        mean, var = y @ solved, var - (k(told, at) * solved).sum(axis=0)
    return mean + np.sqrt(BETA * np.maximum(var, 0))


def played(name, rounds=8, **settings):
    """An agent and its choices, with the data known before each."""
    agent = agents.make(name, PROBLEM, seed=2, beta=BETA, **settings)
    x, y = np.empty((0, D)), np.empty(0)
    for _ in range(rounds):
        action = agent.ask()
        yield agent, action, x, y
        agent.tell(action, reward(action))
        x, y = np.concatenate([x, action]), np.concatenate([y, reward(action)])


@pytest.mark.parametrize("name", ["rembo", "hesbo"])
def test_replays_gp_ucb_in_the_small_box(name):
    rng = np.random.default_rng(0)
    for agent, action, _, y in played(name, d=2):
        half, ell = agent.action_map.embedding.half, agent.posterior.kernel.lengthscale
        assert ell == pytest.approx(ELL / agent.action_map.embedding.stretch)
        told = agent.posterior.observed
        mine = agent.action_map.points(action)
        assert agent.action_map.embedding.lift(mine) == pytest.approx(action)
        at = rng.uniform(-half, half, (20000, 2))
        best = bound(at, told, y, ell).max()
        assert bound(mine, told, y, ell)[0] >= best - 0.01 * abs(best)


@pytest.mark.parametrize("name", ["rembo", "hesbo", "sre"])
@pytest.mark.parametrize("dim", [2, D])  # the small box may have as many coordinates
def test_the_belief_is_about_points_of_the_large_box(name, dim):
    *_, (agent, _, x, _) = played(name, d=dim, **({"rounds": 20} if name == "sre" else {}))
    mean, sd = agent.belief(x)
    expected = agent.posterior.moments(agent.action_map.points(x))
    np.testing.assert_array_equal([mean, sd**2], [expected[0], np.sqrt(expected[1]) ** 2])
    with pytest.raises(InvalidInput, match=rf"shape \(m, {D}\)"):
        agent.belief(x[:, 1:])


@pytest.mark.parametrize("fill", ["copy", "random"])
def test_replays_dropout(fill):
    rng = np.random.default_rng(0)
    for agent, action, x, y in played("dropout-ucb", d=2, fill=fill):
        active = agent.action_map.active
        assert len(set(active)) == 2
        best = bound(rng.uniform(-1, 1, (20000, 2)), x[:, active], y, ELL).max()
        mine = bound(action[:, active], x[:, active], y, ELL)[0]
        assert mine >= best - 0.01 * abs(best)
        if len(x):
            rest = np.setdiff1d(np.arange(D), active)
            copied = np.array_equal(action[0, rest], x[y.argmax(), rest])
            assert copied == (fill == "copy")


@pytest.mark.parametrize("directions", ["random", "coordinate", "ascent"])
def test_replays_line_bo(directions):
    for agent, action, x, y in played("line-bo", directions=directions):
        ends = agent.search.line.lift(np.array([[-1.0], [1.0]]))
        assert np.abs(ends).max(axis=1) == pytest.approx([1.0, 1.0])  # From face to face.
        line = ends[0] + np.linspace(0, 1, 4001)[:, None] * (ends[1] - ends[0])
        assert np.linalg.norm(line - action, axis=1).min() < 1e-2
        best = bound(line, x, y, ELL).max()
        assert bound(action, x, y, ELL)[0] >= best - 0.01 * abs(best)
        if len(x):
            anchor = x[agent.posterior.mean_at_observed().argmax()]
            assert np.linalg.norm(line - anchor, axis=1).min() < 1e-2
        if directions == "coordinate":
            assert np.count_nonzero(np.abs(ends[1] - ends[0]) > 1e-9) == 1


def test_replays_line_bo_through_random_points():
    """Its lines do not go through the best point, and depend on the seed and their number alone."""
    for agent, action, x, y in played("line-bo", anchor="random"):
        ends = agent.search.line.lift(np.array([[-1.0], [1.0]]))
        line = ends[0] + np.linspace(0, 1, 4001)[:, None] * (ends[1] - ends[0])
        best = bound(line, x, y, ELL).max()
        assert bound(action, x, y, ELL)[0] >= best - 0.01 * abs(best)
        if len(x):
            anchor = x[agent.posterior.mean_at_observed().argmax()]
            assert np.linalg.norm(line - anchor, axis=1).min() > 1e-2
    short, long = (agents.make("line-bo", PROBLEM, seed=2, anchor="random") for _ in range(2))
    long.prior_data(np.full((1, D), 0.1), [1.0])
    np.testing.assert_array_equal(short.search.line.anchor, long.search.line.anchor)


def test_a_line_is_kept_for_so_many_rounds():
    lines = [agent.search.line for agent, *_ in played("line-bo", rounds=6, rounds_per_line=3)]
    assert lines[0] is lines[1] is lines[2]
    assert lines[2] is not lines[3]
    assert lines[3] is lines[5]


@pytest.mark.parametrize("directions", ["random", "coordinate"])
def test_a_direction_depends_on_the_seed_and_the_number_of_the_line(directions):
    def along(agent):
        ends = agent.search.line.lift(np.array([[-1e-3], [1e-3]]))
        return (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])

    short, long = (
        agents.make("line-bo", PROBLEM, seed=2, directions=directions, rounds_per_line=n)
        for n in (1, 3)
    )
    for i in range(9):
        if i % 3 == 1:
            long.prior_data(np.full((1, D), 0.1 * i), [float(i)])  # a new anchor, the same line
        np.testing.assert_allclose(along(long), along(short), atol=1e-9)
        long.tell(long.ask(), [0.0])
        if i % 3 == 2:
            short.tell(short.ask(), [0.0])


def test_sre_goes_on_from_the_best_point():
    for agent, _, x, y in played("sre", rounds=14, d=2, stages=3):
        assert agent.action_map.stage == min(agent.round // 4, 2)
        if agent.round in (4, 8):
            anchor = agent.action_map.embedding.lift(np.array([[1.0, 0.0, 0.0]]))
            assert anchor[0] == pytest.approx(x[y.argmax()])
            assert agent.posterior.observed.tolist() == [[1.0, 0.0, 0.0]]
            assert agent.posterior.rewards[0] == y.max()
            assert agent.data.times[-1] == agent.clock


def test_what_was_chosen_in_a_stage_of_sre_is_not_a_point_of_the_next():
    mapped = agents.make("sre", PROBLEM, seed=2, d=2, stages=3).action_map
    x = mapped.actions(np.array([[0.3, 0.2, -0.1]]))
    mapped._start(1, np.full(D, 0.1))
    np.testing.assert_array_equal(mapped.points(x), mapped._map.lower(x))


def test_every_stage_of_sre_has_an_embedding_of_its_own():
    agent = agents.make("sre", PROBLEM.replaced(horizon=11), seed=2, d=2, stages=3)
    axes, stages = [], []
    for _ in range(11):
        stages.append(agent.action_map.stage)
        far = 1e-3 * np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        axes.append(agent.action_map.embedding.lift(far))
        agent.tell(agent.ask(), [0.0])
    assert stages == [0] * 4 + [1] * 4 + [2] * 3  # eleven rounds, the last stage the shorter
    for one, other in ((0, 4), (4, 8), (0, 8)):
        assert not np.isclose(axes[one], axes[other]).any()
    np.testing.assert_array_equal(axes[4], axes[7])


def test_a_window_of_sre_reaches_no_further_back_than_its_stage():
    """Points of the stage before are in the coordinates of another embedding."""
    agent = agents.make("sre", PROBLEM, seed=2, d=2, rounds=4, window=3)
    for _ in range(4):
        agent.tell(agent.ask(), [0.0])
    known = agent.posterior.observed
    action = agent.ask()
    agent.tell(action, [1.0])
    expected = np.concatenate([known, agent.action_map.points(action)])
    assert len(known) == 1
    np.testing.assert_allclose(agent.posterior.observed, expected)


def test_points_outside_the_image_count_at_its_nearest_point():
    agent = agents.make("hesbo", PROBLEM, seed=2, d=2)
    x = PROBLEM.domain.sample(np.random.default_rng(1), 3)
    agent.prior_data(x, reward(x))
    assert isinstance(agent.action_map.embedding, HashEmbedding)
    assert agent.posterior.observed == pytest.approx(agent.action_map.embedding.lower(x))
    on_x = agents.make("rembo", PROBLEM, seed=2, d=2, kernel_on="x")
    on_x.prior_data(x, reward(x))
    assert np.array_equal(on_x.posterior.observed, x)


def test_settings_are_checked():
    with pytest.raises(UnknownName, match="fill"):
        agents.make("dropout-ucb", PROBLEM, fill="none")
    with pytest.raises(UnknownName, match="directions"):
        agents.make("line-bo", PROBLEM, directions="up")
    with pytest.raises(UnknownName, match="acquisition"):
        agents.make("hesbo", PROBLEM, acquisition="pi")
    for kernel_on in ("x", "y"):
        with pytest.raises(InvalidInput, match="candidates"):
            agents.make("rembo", PROBLEM, kernel_on=kernel_on, candidates=9)
    with pytest.raises(InvalidInput, match="horizon"):
        agents.make("sre", PROBLEM.replaced(horizon=None))


@pytest.mark.parametrize("name", ["dropout-ucb", "hesbo", "line-bo", "ms-ucb", "rembo", "sre"])
def test_a_snapshot_of_another_seed_is_refused_and_changes_nothing(name):
    one, other = (agents.make(name, PROBLEM, seed=seed) for seed in (1, 2))
    first = other.snapshot()
    with pytest.raises(InvalidInput, match="with another seed"):
        other.restore(one.snapshot())
    action = other.ask()
    other.restore(first)
    assert np.array_equal(other.ask(), action)


# A box of unequal sides, and a lengthscale per coordinate.
SIDES = np.array([1.0, 8.0, 0.5, 4.0, 2.0, 3.0, 1.0, 6.0])
ARD = np.array([0.4, 5.0, 0.3, 1.0, 2.0, 0.9, 0.7, 2.5])


def uneven(noise_var=NOISE):
    kernel = SquaredExponential(tuple(ARD))
    return Problem(Box(np.zeros(D), SIDES), kernel, noise_var, horizon=12)


def uneven_reward(x):
    return -(((x / SIDES) - 0.6) ** 2).sum(axis=1)


def test_dropout_copies_no_point_of_before_a_reset():
    agent = agents.make("dropout-ucb", PROBLEM, seed=3, d=2, fill="copy")
    agent.tell(agent.ask(), [1.0])
    assert agent.action_map._best is not None
    agent.reset()
    assert agent.action_map._best is None


def test_dropout_takes_the_lengthscales_of_its_coordinates():
    agent = agents.make("dropout-ucb", uneven(), seed=3, d=2, beta=BETA, fill="copy")
    told = uneven().domain.sample(np.random.default_rng(1), 5)
    agent.prior_data(told, uneven_reward(told))
    for _ in range(4):
        active = agent.action_map.active
        own = agent.posterior.kernel.radial.lengthscale
        assert own == pytest.approx(2.0 * ARD[active] / SIDES[active])
        action = agent.ask()
        scaled = told[:, active] / ARD[active]
        at = np.random.default_rng(0).uniform(0, SIDES[active] / ARD[active], (20000, 2))
        best = bound(at, scaled, uneven_reward(told), 1.0).max()
        mine = bound(action[:, active] / ARD[active], scaled, uneven_reward(told), 1.0)[0]
        assert mine >= best - 0.01 * abs(best)
        agent.tell(action, uneven_reward(action))
        told = np.concatenate([told, action])


def test_dropout_restored_before_a_fit_keeps_the_lengthscales_of_its_coordinates():
    agent, other = (
        agents.make("dropout-ucb", uneven(), seed=3, d=2, learn={"every": 30}) for _ in range(2)
    )
    agent.tell(agent.ask(), [0.3])
    other.restore(agent.snapshot())
    ell = other.posterior.kernel.radial.lengthscale
    assert ell == pytest.approx(2.0 * ARD[other.action_map.active] / SIDES[other.action_map.active])
    np.testing.assert_array_equal(other.ask(), agent.ask())


def test_dropout_conditions_on_its_coordinates_whatever_counts():
    """bogunovic2016, eqs. (7)-(8), on two coordinates, for the data of a window or with decay."""
    x = PROBLEM.domain.sample(np.random.default_rng(1), 6)
    for settings, rows, rate in (
        ({"epsilon": 0.3}, slice(None), 0.7),
        ({"window": 3}, slice(3, 6), 1.0),
    ):
        agent = agents.make("dropout-ucb", PROBLEM, seed=3, d=2, **settings)
        for i in range(6):
            agent.tell(x[[i]], reward(x[[i]]))
        at, ages = x[rows][:, agent.action_map.active] / ELL, np.arange(6, 0, -1)[rows]
        gram = np.exp(-((at[:, None] - at) ** 2).sum(-1) / 2)
        gram *= rate ** (np.abs(np.subtract.outer(ages, ages)) / 2)
        cross = np.exp(-(at**2).sum(-1) / 2) * rate ** (ages / 2)
        mean = cross @ np.linalg.solve(gram + NOISE * np.eye(len(at)), reward(x[rows]))
        assert agent.posterior.mean_at(np.zeros((1, 2)))[0] == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_mix_is_random_with_probability_p(p):
    for agent, action, x, y in played("dropout-ucb", rounds=5, d=2, fill="mix", p=p):
        rest = np.setdiff1d(np.arange(D), agent.action_map.active)
        if len(x):
            assert np.array_equal(action[0, rest], x[y.argmax(), rest]) == (p == 0.0)


def test_a_line_of_ascent_is_the_gradient_in_the_cube():
    agent = agents.make("line-bo", uneven(), seed=3, directions="ascent")
    x = uneven().domain.sample(np.random.default_rng(1), 9)
    agent.prior_data(x, uneven_reward(x))
    anchor = x[[agent.posterior.mean_at_observed().argmax()]]
    step = 1e-5 * SIDES * np.eye(D)  # the same part of each side
    slope = agent.belief(np.clip(anchor + step, 0, SIDES))[0]
    slope = slope - agent.belief(np.clip(anchor - step, 0, SIDES))[0]
    along = np.diff(agent.search.line.lift(np.array([[-1.0], [1.0]])), axis=0)[0]
    cosine = along @ slope / np.linalg.norm(along) / np.linalg.norm(slope)
    assert cosine == pytest.approx(1.0, abs=1e-4)


def test_a_line_goes_through_the_largest_mean_not_the_largest_reward():
    noisy = PROBLEM.replaced(noise_var=1.0)
    lucky, sure = np.full(D, -0.7), np.full(D, 0.7)
    agent = agents.make("line-bo", noisy, seed=3)
    agent.prior_data(np.array([lucky, sure, sure, sure]), [3.0, 2.5, 2.5, 2.5])
    line = agent.search.line.lift(np.linspace(-1, 1, 2001)[:, None])
    assert np.linalg.norm(line - sure, axis=1).min() < 2e-3
    assert np.linalg.norm(line - lucky, axis=1).min() > 0.1


def test_sre_remembers_the_best_of_what_was_observed():
    agent = agents.make("sre", PROBLEM, seed=2, d=2, batch_size=3, rounds=1)
    x = agent.ask()
    agent.tell(x, [0.1, 0.5, np.nan], [True, True, False])
    assert agent.action_map.embedding.lift(np.array([[1.0, 0.0, 0.0]]))[0] == pytest.approx(x[1])
    assert agent.posterior.rewards.tolist() == [0.5]


def test_a_stage_of_sre_begins_with_one_reward_also_if_it_is_the_first_one():
    agent = agents.make("sre", PROBLEM, seed=2, d=2, rounds=2)
    agent.expect(agent.ask())
    agent.tell(agent.ask(), [0.5])  # ends the stage
    assert agent.action_map.stage == 1
    np.testing.assert_array_equal(agent.posterior.observed, [[1.0, 0.0, 0.0]])
    agent.tell(agent.ask(), [0.1])
    assert agent.posterior.rewards.tolist() == [0.5, 0.1]


def test_a_stage_of_sre_begins_with_a_reward_that_came_late_from_an_earlier_one():
    """Also if no reward of the stage between has arrived, and none in the round that ends it."""
    agent = agents.make("sre", PROBLEM, seed=2, d=2, rounds=2)
    for _ in range(2):
        agent.expect(agent.ask())
    agent.expect(agent.ask())
    agent.tell_late([agent.pending[0].action], [0.5])  # of stage 0, in stage 1
    assert (agent.action_map.stage, agent.posterior.size) == (1, 0)
    agent.expect(agent.ask())
    assert agent.action_map.stage == 2
    assert agent.posterior.rewards.tolist() == [0.5]


def test_sre_begins_anew_after_a_reset():
    agent = agents.make("sre", PROBLEM, seed=2, d=2, rounds=2)
    for high in (10.0, 1.0):
        for _ in range(2):
            x = agent.ask()
            agent.tell(x, [high])
        assert agent.posterior.rewards.tolist() == [high]
        agent.reset()
        assert agent.action_map.stage == 0


def test_dropout_learns_of_the_coordinates_it_chooses_next_and_resumes():
    settings = {"seed": 3, "d": 2, "learn": {"every": 6}, "standardize": True}
    agent, again = (agents.make("dropout-ucb", uneven(), **settings) for _ in range(2))
    x = uneven().domain.sample(np.random.default_rng(1), 6)
    agent.prior_data(x[:4], uneven_reward(x[:4]))
    agent.tell(x[4:5], uneven_reward(x[4:5]))
    (found,) = agent.learned
    y = uneven_reward(x[:5])
    y, sd = y - found["mean"], y.std()
    active = agent.action_map.active
    at = 2.0 * (x[:5] / SIDES)[:, active] / found["lengthscale"]
    gram = found["variance"] * np.exp(-((at[:, None] - at) ** 2).sum(-1) / 2)
    gram += found["noise_var"] * np.eye(5)
    likelihood = -0.5 * (y @ np.linalg.solve(gram, y) + np.linalg.slogdet(gram / sd**2)[1])
    assert found["log_likelihood"] == pytest.approx(likelihood - 2.5 * np.log(2 * np.pi))
    again.restore(agent.snapshot())
    assert again.learned == agent.learned
    assert np.array_equal(again.ask(), agent.ask())


@pytest.mark.parametrize("name", ["rembo", "line-bo"])
def test_gradients_of_the_whole_boxes_belief_are_pulled_into_the_small_box(name):
    settings = {"kernel_on": "x", "d": 1} if name == "rembo" else {}
    agent = agents.make(name, uneven(), seed=3, **settings)
    x = uneven().domain.sample(np.random.default_rng(1), 9)
    agent.prior_data(x, uneven_reward(x))
    through, y, step = agent.search.through, np.array([[0.05], [-0.3]]), 1e-5
    ends = [agent.belief(through.lift(y + move))[0] for move in (-step, step)]
    slope = agent.posterior.gradients(through.lift(y))[2]
    numeric = (ends[1] - ends[0]) / (2 * step)
    assert through.pull(y, slope)[:, 0] == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "dim", "side"),
    [
        ("rembo", 2, 2.0 * math.sqrt(2.0)),
        ("hesbo", 2, 2.0),
        ("sre", 3, 2.0),
        ("dropout-ucb", 2, 2.0),
        ("line-bo", 1, 2.0),
    ],
)
def test_beta_is_that_of_the_small_box(name, dim, side):
    settings = {} if name == "line-bo" else {"d": 2}
    agent = agents.make(name, uneven(), seed=3, **settings)
    cells = dim * side * math.sqrt(math.log(4 * dim / 0.1))
    theorem_2 = 2 * math.log(2 * math.pi**2 / 0.3) + 2 * dim * math.log(cells)
    assert agent.acquisition().beta == pytest.approx(theorem_2 / 5)


@pytest.mark.parametrize("name", ["rembo", "hesbo"])
def test_a_lengthscale_that_is_not_learned_stays_that_of_the_small_box(name):
    agent = agents.make(name, PROBLEM, seed=3, d=2, standardize=True)
    x = PROBLEM.domain.sample(np.random.default_rng(1), 6)
    agent.prior_data(x, 7.0 + 3.0 * reward(x))
    assert agent.learned
    assert agent.posterior.kernel.lengthscale == pytest.approx(
        ELL / agent.action_map.embedding.stretch
    )


def test_sre_learns_from_the_stage_it_is_in():
    """Points of other embeddings say nothing of distances in this one."""
    learn = {"every": 1, "first": 2}
    agent = agents.make("sre", PROBLEM, seed=2, d=2, stages=3, rounds=5, learn=learn)
    rng = np.random.default_rng(0)
    for _ in range(14):
        agent.tell(agent.ask(), rng.standard_normal(1))
    seen = {record["round"]: record["observations"] for record in agent.learned}
    # A stage starts with the best point known.
    assert [seen[t] for t in (4, 6, 9, 11, 14)] == [4, 2, 5, 2, 5]
