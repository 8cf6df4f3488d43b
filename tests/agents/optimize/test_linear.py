"""Linear constraints hold exactly at every suggestion, and optima on them are found."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog

from gpbandits_env import agents
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real, Space, plots
from gpbandits_env.agents.optimize.spread import spread_params
from gpbandits_env.agents.search.linear import GRID, LinearLimits
from gpbandits_env.errors import InvalidInput

SUM = LinearConstraint([[1.0, 1.0]], -np.inf, 1.0)
MIXED = {
    "rate": Real(1e-4, 1.0, log=True),
    "n": Integer(1, 10),
    "kind": Choice(("a", "b", "c")),
}
# 10 rate + n <= 5
COST = LinearConstraint([[10.0, 1.0, 0.0]], -np.inf, 5.0)


# Where the suggestions need not be the best ones.
FEW = {"starts": 2, "candidates": 64, "evaluations": 40}


@pytest.mark.parametrize("seed", range(8))
def test_repaired_points_of_random_polytopes_satisfy_them(seed):
    rng = np.random.default_rng(seed)
    d, k = 5, 4
    inside = rng.random(d)
    matrix = rng.normal(size=(k, d)) * rng.choice([1e-3, 1.0, 1e3], (k, 1))
    level = matrix @ inside
    high = level + rng.exponential(size=k) * np.abs(matrix).sum(axis=1) * 0.1
    low = np.where(rng.random(k) < 0.5, -np.inf, level - 0.1 * np.abs(matrix).sum(axis=1))
    low[0] = high[0] = level[0]
    logs = np.where(rng.random(d) < 0.4, 5.0, 0.0)
    limits = LinearLimits(matrix, low, high, logs)
    assert limits.proposable(limits._points(limits.anchor[None])).all()
    points = rng.random((500, d))
    found = limits.repaired(points)
    w = limits.numbers(found)
    assert ((found >= 0) & (found <= 1)).all()
    scale = np.linalg.norm(matrix, axis=1)
    assert (w @ matrix.T <= high + 2e-9 * scale).all()
    assert (w @ matrix.T >= low - 2e-9 * scale).all()
    # Inequalities hold without any tolerance.
    assert (w @ matrix[1:].T <= high[1:]).all()
    assert limits.proposable(found).all()
    kept = limits.proposable(points)
    np.testing.assert_array_equal(found[kept], points[kept])


def test_ascents_end_at_the_vertex_of_a_linear_program():
    rng = np.random.default_rng(0)
    matrix, goal = rng.random((3, 4)), rng.random(4)
    limits = LinearLimits(matrix, np.full(3, -np.inf), np.full(3, 1.0), np.zeros(4))

    def surface(x, rows):
        return x @ goal, np.tile(goal, (len(x), 1))

    starts = limits.repaired(rng.random((5, 4)))
    _, values = limits.slid(surface, starts, starts @ goal)
    best = linprog(-goal, A_ub=matrix, b_ub=np.ones(3), bounds=[(0, 1)] * 4)
    assert values.max() == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize("equalities", [0, 1])
def test_noise_of_rounding_does_not_change_where_ascents_along_constraints_end(equalities):
    """SciPy passes the noise on, so that an end in 100 falls on another point of the grid."""
    moved = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        matrix, goal = rng.random((3, 4)), rng.random(4)
        high = matrix @ np.full(4, 0.4)
        low = np.where(np.arange(3) < equalities, high, -np.inf)
        limits = LinearLimits(matrix, low, high, np.array([0.0, 0.0, 3.0, 0.0]))
        starts = limits.repaired(rng.random((5, 4)))

        def ends(noise, rng=rng, goal=goal, limits=limits, starts=starts):
            def surface(x, rows):
                away, noises = x - goal, 1.0 + noise * rng.standard_normal((2, len(x)))
                values = np.exp(0.3 * np.sin(9.0 * away).sum(axis=1) - 4.0 * (away**2).sum(axis=1))
                slopes = values[:, None] * (2.7 * np.cos(9.0 * away) - 8.0 * away)
                return values * noises[0], slopes * noises[1][:, None]

            return limits.slid(surface, starts, surface(starts, None)[0])[0]

        plain = ends(0.0)
        assert np.abs(plain - starts).max() > 0.1
        moved += [np.abs(ends(1e-12) - plain).max(axis=1) for _ in range(5)]
    assert np.mean(np.array(moved) > 1e-15) <= 0.02
    assert np.max(moved) <= 2.0 / GRID


@pytest.mark.parametrize("agent", ["ei", "ts", pytest.param("ts-rsr", marks=pytest.mark.slow)])
def test_the_optimum_on_a_line_is_found(agent):
    """The minimum of (x - 1)^2 + (y - 0.8)^2 with x + y <= 1 is 0.32 at (0.6, 0.4)."""
    found = agents.minimize(
        lambda x: (x[0] - 1) ** 2 + (x[1] - 0.8) ** 2, [(0.0, 1.0)] * 2, agent,
        n_calls=12, n_initial=4, seed=0, constraints=SUM,
    )  # fmt: skip
    x = np.array(found.x_iters)
    assert (x[:, 0] + x[:, 1] <= 1.0).all()
    assert found.fun == pytest.approx(0.32, abs=1e-3)
    spread = x[: found.campaign.n_initial]
    assert np.linalg.norm(spread[:, None] - spread, axis=2)[np.triu_indices(4, 1)].min() > 0.05


def test_shares_add_to_one():
    goal = np.array([0.5, 0.3, 0.2])
    found = agents.minimize(
        lambda x: float(((x - goal) ** 2).sum()), [(0.0, 1.0)] * 3,
        n_calls=12, seed=0, constraints=LinearConstraint(np.ones((1, 3)), 1.0, 1.0),
    )  # fmt: skip
    assert np.abs(np.array(found.x_iters).sum(axis=1) - 1.0).max() < 1e-9
    assert found.fun < 1e-3


@pytest.mark.parametrize(("agent", "seed"), [("ei", 1), ("ts", 2)])
def test_logarithms_integers_and_choices(agent, seed):
    def fun(p):
        return (np.log10(p["rate"]) + 2) ** 2 + (p["n"] - 7) ** 2 + "abc".index(p["kind"])

    found = agents.minimize(fun, MIXED, agent, n_calls=14, n_initial=4, seed=seed, constraints=COST)
    rows = [record.params for record in found.campaign.records]
    assert all(10 * row["rate"] + row["n"] <= 5.0 for row in rows)
    assert found.x["n"] == 4
    assert found.fun < 9.5  # 9 is the least


COUNTS = {"a": Integer(0, 50), "b": Integer(0, 50), "c": Integer(0, 50)}


@pytest.mark.parametrize("agent", ["ei", "ts"])
def test_integers_alone_are_searched_by_exchanges(agent):
    """Nothing is continuous and more than 4096 combinations exist: there is nothing to ascend."""
    campaign = Campaign(
        COUNTS, agent, seed=0, n_initial=2, search=FEW,
        constraints=LinearConstraint([[1, 1, 1]], -np.inf, 60.5),
    )  # fmt: skip
    for _ in range(5):
        (suggestion,) = campaign.ask()
        assert sum(suggestion.params.values()) <= 60
        campaign.tell(suggestion.id, float(suggestion.params["a"]))


@pytest.mark.parametrize("high", [60, 61])
def test_integers_on_a_bound_are_proposed(high):
    space = Space(COUNTS, [LinearConstraint([[1, 1, 1]], 60, high)])
    points = np.array([space.encode({"a": a, "b": 50 - a, "c": 10}) for a in range(51)])
    assert space.cube.linear.proposable(points).all()
    sums = [sum(spread_params(space, 0, index).values()) for index in range(8)]
    assert all(60 <= one <= high for one in sums)


def test_equalities_of_integers_and_real_numbers_reach_all_integers():
    space = Space(
        {"a": Integer(0, 9), "b": (0.0, 9.0), "c": Real(0.01, 9.0, log=True)},
        [LinearConstraint([[1, 1, 1]], 5.5, 5.5)],
    )
    found = [spread_params(space, 0, index) for index in range(24)]
    assert all(sum(one.values()) == pytest.approx(5.5, abs=1e-8) for one in found)
    assert {one["a"] for one in found} == {0, 1, 2, 3, 4, 5}


def test_nothing_is_suggested_that_violates_a_constraint():
    campaign = Campaign(COUNTS, seed=0, constraints=LinearConstraint([[1, 1, 1]], 60.2, 60.4))
    with pytest.raises(InvalidInput, match="no spread point satisfies the linear constraints"):
        campaign.ask(time=5.0)
    assert campaign.records == []
    assert campaign.now == 0.0


@pytest.mark.parametrize("total", [0.5, 1e-3])
def test_uniform_points_satisfy_the_constraints(total):
    """Where hardly any does, they are moved inside."""
    space = {"x": (0.0, 1.0), "n": Integer(1, 9000), "y": (0.0, 1.0)}
    limit = LinearConstraint([[1.0, 0.0, 1.0]], -np.inf, total)
    rule = {"type": "initialised", "rounds": 20, "first": "uniform", "then": "hallucinate"}
    campaign = Campaign(space, "ei", seed=0, n_initial=1, constraints=limit, batch=rule)
    for _ in range(10):
        (asked,) = campaign.ask()
        assert asked.params["x"] + asked.params["y"] <= total + 1e-9
        campaign.tell(asked.id, asked.params["x"])
    x = campaign.space.cube.sample(np.random.default_rng(0), 4000)[:, 0]
    if total == 0.5:
        assert x.mean() == pytest.approx(total / 3.0, rel=0.05)  # the centre of a triangle


def test_few_combinations_are_listed_without_those_outside():
    space = Space({"a": Integer(0, 5), "b": Integer(0, 5)}, [LinearConstraint([[1, 1]], 4, 5)])
    assert space.domain.size == 11
    campaign = Campaign(
        {"a": Integer(0, 5), "b": Integer(0, 5)},
        seed=0,
        constraints=LinearConstraint([[1, 1]], 4, 5),
    )
    for _ in range(11):
        (suggestion,) = campaign.ask()
        assert 4 <= sum(suggestion.params.values()) <= 5
        campaign.tell(suggestion.id, float(suggestion.params["a"]))
    assert campaign.best.params == {"a": 5, "b": 0}


def test_many_dimensions():
    found = agents.minimize(
        lambda x: float(((x - 1) ** 2).sum()), [(0.0, 1.0)] * 24, n_calls=5, seed=0,
        constraints=LinearConstraint(np.ones((1, 24)), -np.inf, 6.0),
    )  # fmt: skip
    assert (np.array(found.x_iters).sum(axis=1) <= 6.0).all()


def test_linear_and_black_box_constraints_together(tmp_path):
    def made(**options):
        return Campaign(
            [(0.0, 1.0)] * 2, maximize=False, seed=0, n_initial=3,
            constraints=[SUM, {"g": 0.0}], search=FEW, **options,
        )  # fmt: skip

    def step(campaign):
        (suggestion,) = campaign.ask()
        x = list(suggestion.params.values())
        assert sum(x) <= 1.0
        campaign.tell(suggestion.id, -x[0], constraints={"g": x[0] - 0.7})
        return suggestion

    straight, kept = made(), made(file=tmp_path / "c.json")
    for _ in range(5):
        assert step(straight) == step(kept)
    again = Campaign.resume(tmp_path / "c.json")
    for _ in range(3):
        assert step(again) == step(straight)
    assert 0.5 < -again.best.value <= 0.7
    with pytest.raises(InvalidInput, match="its linear is"):
        Campaign.open(
            tmp_path / "c.json",
            [(0.0, 1.0)] * 2,
            maximize=False,
            constraints={"g": 0.0},
            search=FEW,
        )


def test_plots_leave_out_what_violates_a_constraint():
    found = agents.minimize(
        lambda x: float(x @ x), [(0.0, 1.0)] * 2, n_calls=6, seed=0, constraints=SUM
    )
    line = plots.slices(found, at=[0.4, 0.5]).axes[0].lines[0]
    x, mean = line.get_xdata(), line.get_ydata()
    np.testing.assert_array_equal(np.isnan(mean), x > 0.5 + 1e-9)
    (mesh,) = plots.pairs(found).axes[0].collections
    shown = mesh.get_array().reshape(41, 41)
    assert np.ma.getmaskarray(shown)[-1, -1]
    assert not np.ma.getmaskarray(shown)[0, 0]


def test_what_lies_outside_or_makes_no_sense_is_refused():
    campaign = Campaign([(0.0, 1.0)] * 2, seed=0, constraints=SUM)
    for give in (campaign.expect, campaign.predict, lambda p: campaign.observe(p, 1.0)):
        with pytest.raises(InvalidInput, match="violate a linear constraint"):
            give({"x0": 0.6, "x1": 0.5})
    campaign.observe({"x0": 0.1, "x1": 0.9}, 1.0)
    with pytest.raises(InvalidInput, match="linear constraint"):
        agents.minimize(sum, [(0.0, 1.0)] * 2, n_calls=3, x0=[[0.9, 0.9]], constraints=SUM)
    wrong = [
        LinearConstraint([[1.0]], 0.0, 1.0),
        LinearConstraint([[1.0, 1.0]], 3.0, 4.0),
        LinearConstraint([[1.0, 1.0]], 1.0, 0.0),
        LinearConstraint([[0.0, 0.0]], 0.0, 1.0),
        LinearConstraint([[np.nan, 0.0]], 0.0, 1.0),
    ]
    for one in wrong:
        with pytest.raises(InvalidInput):
            Campaign([(0.0, 1.0)] * 2, constraints=one)
    with pytest.raises(InvalidInput, match=r"coefficient of Choice.* must be 0"):
        Campaign(MIXED, constraints=LinearConstraint([[1.0, 0.0, 1.0]], 0.0, 1.0))
    with pytest.raises(InvalidInput, match="no combination"):
        Campaign([Integer(0, 2)], constraints=LinearConstraint([[1.0]], 0.4, 0.6))
    for name, settings in (("line-bo", {}), ("rembo", {}), ("ei", {"search": "round"})):
        with pytest.raises(InvalidInput, match="does not support linear constraints"):
            Campaign(
                [(0.0, 1.0)] * 6,
                name,
                constraints=LinearConstraint(np.ones((1, 6)), 0, 2),
                **settings,
            )
