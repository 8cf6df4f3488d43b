"""MS-UCB against Algorithm 1 of tranthe2020: its subspaces, its choice, its ends d = 0 and d = D.

The posterior is written out here with numpy.linalg; the maximum over the agent's own subspaces is
that of a long search: a dense sample of each, polished from its best points.
"""

import math
import time

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import kstest

from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.problem import Problem

ELL, NOISE = 0.9, 0.01
LOW, HIGH = np.array([-1.0, 0.0, -3.0, 2.0]), np.array([1.0, 1.0, 1.0, 6.0])


def problem(dim=4, batch_size=1, **more):
    box = Box(LOW[:dim], HIGH[:dim])
    return Problem(box, Matern52(ELL), NOISE, batch_size=batch_size, prior_mean=0.3, **more)


def reward(x):
    return np.sin(2 * x[:, 0]) + x[:, 1] ** 2 - 0.3 * np.abs(x[:, 2] + 1) + 0.1 * x[:, 3]


def matern(x, z):
    a = math.sqrt(5) * np.sqrt(((x[:, None] - z[None]) ** 2).sum(-1)) / ELL
    return (1 + a + a**2 / 3) * np.exp(-a)


class Dense:
    def __init__(self):
        self.x, self.y = np.empty((0, 4)), np.empty(0)

    def tell(self, x, y):
        self.x, self.y = np.concatenate([self.x, x]), np.concatenate([self.y, y])

    def bound(self, points, beta, also=()):
        """mu + sqrt(beta) sigma; sigma also given the points chosen so far in this batch."""
        mean, var = np.full(len(points), 0.3), np.ones(len(points))
        if len(self.x):
            gram = matern(self.x, self.x) + NOISE * np.eye(len(self.x))
            mean = mean + matern(points, self.x) @ np.linalg.solve(gram, self.y - 0.3)
        seen = np.concatenate([self.x, *[a[None] for a in also]])
        if len(seen):
            cross = matern(points, seen)
            gram = matern(seen, seen) + NOISE * np.eye(len(seen))
            var = 1 - np.einsum("ij,ji->i", cross, np.linalg.solve(gram, cross.T))
        return mean + np.sqrt(beta * np.maximum(var, 0))


def long_search(dense, fixed, d, beta, also):
    """The largest bound over {(z, y)}, z a row of ``fixed``, y in the last d sides of the box."""
    low, high = LOW[4 - d :], HIGH[4 - d :]
    rng, best = np.random.default_rng(0), -np.inf
    for z in fixed:
        y = rng.uniform(low, high, (200, d))
        y[: 2**d] = [[(low, high)[(i >> j) & 1][j] for j in range(d)] for i in range(2**d)]

        def bound(y, z=z):
            return dense.bound(np.column_stack([np.tile(z, (len(y), 1)), y]), beta, also)

        values = bound(y)
        best = max(best, values.max())
        if d == 0:
            continue
        for start in y[np.argsort(-values)[:2]]:
            found = minimize(
                lambda v: -bound(v[None])[0], start, bounds=list(zip(low, high, strict=True))
            )
            best = max(best, -found.fun)
    return best


def fixed_parts(agent, d):
    count = agent.search.size
    lowest = np.tile(LOW[4 - d :], (count, 1))
    return agent.search.subspaces.points(lowest, np.arange(count))[:, : 4 - d]


def formula(t, d, big=4, delta=0.1):
    if d == 0:
        return 4 * math.log(math.pi**2 * t**2 / (2 * delta))
    tail = math.sqrt(math.log(6 * big / delta))
    return 2 * math.log(math.pi**2 * t**2 / delta) + 2 * d * math.log(2 * d * tail * t**2)


@pytest.mark.parametrize(
    ("d", "n0", "alpha", "batch_size"),
    [(2, 1, 0.0, 1), (1, 2, 1.0, 1), (3, 1, 0.5, 2), (0, 3, 1.0, 2)],
)
def test_replays_algorithm_1(d, n0, alpha, batch_size):
    agent = agents.make(
        "ms-ucb",
        problem(batch_size=batch_size),
        seed=1,
        d=d,
        n0=n0,
        alpha=alpha,
        beta={"type": "subspaces", "subspace_dim": d, "scale": 0.5},
    )
    dense, expected, before = Dense(), 0, np.empty((0, 4 - d))
    for t in range(1, 6):
        expected += math.ceil(n0 * t**alpha - 1e-9)
        assert agent.search.size == expected
        fixed = fixed_parts(agent, d)
        assert np.array_equal(fixed[: len(before)], before)  # Subspaces accumulate.
        before = fixed
        beta = 0.5 * formula(t, d)
        assert agent.acquisition().beta == pytest.approx(beta)
        x = agent.ask()
        for i, point in enumerate(x):
            assert (fixed == point[: 4 - d]).all(axis=1).any()
            mine = dense.bound(point[None], beta, also=x[:i])[0]
            best = long_search(dense, fixed, d, beta, x[:i])
            assert mine >= best - 0.01 * abs(best), (t, i)
        y = reward(x) + 0.1 * np.random.default_rng(t).standard_normal(len(x))
        agent.tell(x, y)
        dense.tell(x, y)


def test_fixed_coordinates_are_uniform_in_the_box():
    agent = agents.make("ms-ucb", problem(), seed=3, d=1, n0=4000)
    points = agent.search.subspaces.points(np.zeros((4000, 1)), np.arange(4000))[:, :3]
    for j in range(3):
        unit = (points[:, j] - LOW[j]) / (HIGH[j] - LOW[j])
        assert kstest(unit, "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(points.T) - np.eye(3)).max() < 0.06


def test_other_seeds_draw_other_subspaces_and_the_same_seed_the_same():
    def drawn(seed):
        agent = agents.make("ms-ucb", problem(), seed=seed, d=1, n0=5)
        return agent.search.subspaces.points(np.zeros((5, 1)), np.arange(5))

    assert np.array_equal(drawn(1), drawn(1))
    assert not np.array_equal(drawn(1), drawn(2))


def test_a_cap_stops_the_growth():
    agent = agents.make("ms-ucb", problem(), seed=3, d=1, n0=1, alpha=2.0, cap=20)
    for expected in (1, 5, 14, 20, 20):
        assert agent.search.size == expected
        x = agent.ask()
        agent.tell(x, reward(x))


@pytest.mark.parametrize("batch_size", [1, 2])
def test_all_coordinates_are_gp_ucb(batch_size):
    beta = {"type": "continuous", "r": 2.0, "scale": 0.2}
    ours = agents.make("ms-ucb", problem(batch_size=batch_size), seed=1, d=4)
    plain = agents.make(
        "gp-ucb",
        problem(batch_size=batch_size),
        seed=1,
        beta={**beta, "scale": 0.2},
        candidates=None,
    )
    for _ in range(5):
        x = ours.ask()
        assert ours.acquisition().beta == pytest.approx(plain.acquisition().beta)
        assert np.array_equal(x, plain.ask())
        for agent in (ours, plain):
            agent.tell(x, reward(x))


def test_told_points_from_outside_count():
    agent = agents.make("ms-ucb", problem(), seed=1, d=2)
    x = problem().domain.sample(np.random.default_rng(0), 6)
    agent.prior_data(x, reward(x))
    assert agent.search.size == 1
    told = agent.ask()
    agent.tell(x[:1], reward(x[:1]))
    assert agent.search.size == 2
    assert agent.belief(x)[1].max() < 0.2
    assert told.shape == (1, 4)


@pytest.mark.parametrize("acquisition", ["ei", "mpi", "ts"])
def test_any_acquisition(acquisition):
    agent = agents.make("ms-ucb", problem(batch_size=2), seed=1, d=2, n0=4, acquisition=acquisition)
    for _ in range(4):
        x = agent.ask()
        assert x in problem().domain.action_space(2)
        agent.tell(x, reward(x))


def test_settings_are_checked():
    bad = [
        ("d", -1),
        ("n0", 0),
        ("alpha", -1.0),
        ("alpha", 1e18),
        ("cap", 0),
        ("refine", 0),
        ("search", {}),
    ]
    for name, value in bad:
        with pytest.raises(InvalidInput, match=name):
            agents.make("ms-ucb", problem(), seed=0, **{"d": 2, name: value})
    with pytest.raises(InvalidInput, match="box"):
        agents.make("ms-ucb", Problem(Arms.grid(5), Matern52(1.0), 0.1))


@pytest.mark.slow
def test_twenty_thousand_subspaces_of_five_thousand_dimensions():
    """Round 200 of (N_0, alpha) = (1, 1), d = 10: under 5 s and 2 GiB."""
    big = Problem(Box(-np.ones(5000), np.ones(5000)), Matern52(28.0), 1e-3)
    agent = agents.make("ms-ucb", big, seed=0, d=10, n0=1, alpha=1.0)
    for x in big.domain.sample(np.random.default_rng(0), 199)[:, None]:
        agent.tell(x, -((x - 0.2) ** 2).sum(axis=1) / 100)
    assert agent.search.size == 20_100
    agent.ask()
    start = time.perf_counter()
    agent.tell(agent.ask(), [0.0])
    assert time.perf_counter() - start < 5.0
    assert sum(block.nbytes for block in agent.search.subspaces._fixed._blocks) < 2**30


def test_a_restored_agent_goes_on_in_the_same_subspaces():
    settings = {"seed": 1, "d": 2, "n0": 3}
    played = agents.make("ms-ucb", problem(), **settings)
    for _ in range(3):
        x = played.ask()
        played.tell(x, reward(x))
    again = agents.make("ms-ucb", problem(), **settings)
    again.restore(played.snapshot())
    assert again.search.size == played.search.size == 12
    state, action = played.snapshot(), played.ask()
    assert np.array_equal(again.ask(), action)
    played.tell(action, reward(action))
    played.restore(state)  # back to fewer subspaces
    assert played.search.size == 12
    assert np.array_equal(played.ask(), action)


@pytest.mark.parametrize("better", [True, False])
def test_climbs_elsewhere_count_where_they_end_higher(better, monkeypatch):
    agent = agents.make("ms-ucb", problem(), seed=1, d=2, n0=4)
    corner = HIGH[2:][None]

    def elsewhere(acquisition, ends, values):
        return corner, np.array([3]), values.max(keepdims=True) + (1.0 if better else -1.0)

    monkeypatch.setattr(agent.search, "_elsewhere", elsewhere)
    x = agent.ask()
    assert np.array_equal(x, agent.search.subspaces.points(corner, np.array([3]))) == better


def test_starts_in_leading_subspaces_are_the_best_of_many():
    agent = agents.make("ms-ucb", problem(), seed=1, d=2, n0=60)
    x = problem().domain.sample(np.random.default_rng(2), 5)
    agent.prior_data(x, reward(x))
    search, acquisition = agent.search, agent.acquisition()
    y, rows = np.tile([0.0, 4.0], (16, 1)), np.arange(16)
    search.subspaces.follow(agent.posterior)
    starts, within = search._closer(acquisition, y, rows)
    assert set(within[8:]) <= set(range(8))
    score = acquisition.score(*search.subspaces.moments(starts[8:], within[8:]))
    assert (np.diff(score) <= 1e-12).all()


def test_every_sample_has_its_own_maximum():
    agent = agents.make("ms-ucb", problem(), seed=1, d=2, n0=20)
    points, values = agent.search.sampled(agent.posterior, np.random.default_rng(0), 6)
    assert points.shape == (6, 4)
    assert len(np.unique(points, axis=0)) > 3
    assert len(np.unique(values)) == 6


def test_random_starts_find_the_maximum_over_all_subspaces():
    """Spread evenly over few subspaces; without the best observed points."""
    settings = {"d": 2, "n0": 3, "random_starts": True, "refine": 60, "evaluations": 3000}
    agent, dense = agents.make("ms-ucb", problem(), seed=1, **settings), Dense()
    for t in range(1, 7):
        fixed, beta = fixed_parts(agent, 2), 0.2 * formula(t, 2)
        x = agent.ask()
        best = long_search(dense, fixed, 2, beta, ())
        assert dense.bound(x, beta)[0] >= best - 1e-3 * abs(best), t
        agent.tell(x, reward(x))
        dense.tell(x, reward(x))


def test_with_more_subspaces_than_random_starts_each_start_has_its_own():
    settings = {"d": 1, "n0": 500, "random_starts": True, "refine": 2, "evaluations": 40}
    agent = agents.make("ms-ucb", problem(), seed=1, **settings)
    fixed, chosen = fixed_parts(agent, 1), []
    for _ in range(12):
        x = agent.ask()
        chosen.append(int((fixed == x[:, :3]).all(axis=1).argmax()))
        agent.tell(x, reward(x))
        fixed = fixed_parts(agent, 1)
    assert len(set(chosen)) == 12


def test_z_is_drawn_from_a_share_of_the_sides():
    agent = agents.make("ms-ucb", problem(), seed=1, d=2, n0=200, z_share=0.1)
    z = agent.search.subspaces.points(np.zeros((200, 2)), np.arange(200))[:, :2]
    middle, side = 0.5 * (LOW + HIGH)[:2], (HIGH - LOW)[:2]
    far = np.abs(z - middle).max(axis=0) / side
    assert (far <= 0.05).all()
    assert (far > 0.045).all()
    for share in (0.0, 1.1):
        with pytest.raises(InvalidInput, match="z_share"):
            agents.make("ms-ucb", problem(), z_share=share)
