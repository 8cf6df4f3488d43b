"""What decides the claims of bedi2022: runs by formulas, and measures of made results."""

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions.functions import log_h
from gpbandits_env.domains import Arms
from gpbandits_env.gp import theory
from gpbandits_env.scenarios.results import evidence
from tools.claims import bedi2022, bedi2022_bounds, bedi2022_runs
from tools.claims.bedi2022_runs import DELTA, NOISE_VAR, Runs, line

ARMS = Arms.grid(40, -4.0, 4.0)
VALUES = np.sin(ARMS.coordinates[:, 0])


def dense(points, rewards):
    x = ARMS.coordinates
    gram = np.exp(-0.5 * (x - x.T) ** 2)
    inverse = np.linalg.inv(gram[np.ix_(points, points)] + NOISE_VAR * np.eye(len(points)))
    mean = gram[:, points] @ inverse @ np.array(rewards)
    return mean, 1.0 - np.einsum("ij,jk,ik->i", gram[:, points], inverse, gram[:, points])


@pytest.mark.parametrize("rule", ["ucb", "ei", "mpi"])
def test_a_run_follows_algorithm_1(rule):
    horizon, epsilon = 40, 0.2
    found = Runs(ARMS).run(rule, VALUES, epsilon, horizon, seed=3, initial=2)
    rng = np.random.default_rng(3)
    noise = rng.normal(0.0, np.sqrt(NOISE_VAR), horizon + 2)
    points = rng.integers(40, size=2).tolist()
    rewards = [VALUES[arm] + noise[horizon + i] for i, arm in enumerate(points)]
    optimum_var, missed = 0.0, False
    for t in range(1, horizon + 1):
        mean, var = dense(points, rewards)
        root = np.sqrt(2 * np.log(40 * t**2 * np.pi**2 / (6 * DELTA)))
        sd = np.sqrt(var)
        if rule == "ucb":
            score = mean + root * sd
        else:
            z = (mean - (max(rewards) if rule == "ei" else mean.max())) / sd
            score = np.log(sd) + log_h(z)
        arm = int(score.argmax())
        assert found.regret[t - 1] == pytest.approx(VALUES.max() - VALUES[arm], abs=1e-9)
        optimum_var += var[VALUES.argmax()]
        missed |= bool((np.abs(VALUES - mean) > root * sd).any())
        if var[arm] > NOISE_VAR * (np.exp(2 * epsilon) - 1):
            points.append(arm)
            rewards.append(VALUES[arm] + noise[t - 1])
        assert found.order[t - 1] == len(points)
    assert found.optimum_var == pytest.approx(optimum_var, rel=1e-6)
    assert found.missed == missed
    assert len(points) < horizon


@pytest.mark.parametrize("rule", ["ucb", "ei", "mpi"])
def test_ties_go_to_the_lowest_arm(rule):
    """Without data all arms of a stationary prior are tied."""
    runs = Runs(line())
    values = np.arange(runs.arms.size, dtype=float)
    assert runs.run(rule, values, 0.05, 1, seed=0).regret == values[-1]


def test_a_domain_has_the_spacing_of_the_example():
    steps = [np.diff(line(length).coordinates[:, 0]).mean() for length in (10.0, 20.0, 40.0)]
    assert np.ptp(steps) < 1e-4
    assert [line(length).size for length in (10.0, 20.0)] == [501, 1000]


def test_a_refitted_posterior_is_the_dense_one():
    posterior = bedi2022_runs.Refitted(ARMS)
    for arm, reward in ((3, 0.1), (20, -0.5), (20, -0.4)):
        posterior.condition([arm], [reward])
    mean, var = dense([3, 20, 20], [0.1, -0.5, -0.4])
    assert np.allclose(posterior.mean, mean, atol=1e-9)
    assert np.allclose(posterior.var, var, atol=1e-9)


class Made:
    """Results of one cell, as far as measures read them."""

    def __init__(self, regret, order):
        self.scenario = {}
        self._arrays = {
            "regret": regret[:, :, None],
            "model_order": order,
            "evaluations": order,
            "optimum": np.zeros_like(order),
        }

    def arrays(self, cell, label, name):
        return self._arrays[name]

    def labels(self, cell):
        return ["cub", "gp-ucb"]


def test_late_regret_counts_only_where_something_was_rejected_before():
    regret = np.concatenate([np.full((3, 10), 5.0), np.full((3, 10), 1.0)], axis=1)
    grows = np.tile(np.arange(1.0, 21.0), (3, 1))
    settled = np.minimum(grows, 8.0)
    settles = bedi2022.late(Made(regret, settled), 0, "cub")
    assert settles["late_regret"].tolist() == [1.0] * 3
    assert settles["settling_order"][:, -1].tolist() == [8.0] * 3
    never = bedi2022.late(Made(regret, grows), 0, "cub")
    assert np.isnan(never["late_regret"]).all()
    assert bedi2022.late(Made(regret, grows), 0, "gp-ucb")["late_regret"].tolist() == [1.0] * 3
    tiny = bedi2022.late(Made(1e-9 * regret, settled), 0, "cub")["late_regret"]
    assert (tiny == bedi2022.NEGLIGIBLE).all()


def of_tasks(monkeypatch, horizon, **kinds):
    """Evidence of one task in which agents of a kind have an order and a regret in each round."""
    rounds = np.arange(1, horizon + 1)
    values, labels = {}, {"cub": 0, "cei": 0, "cmpi": 0, "gp-ucb": 1, "ei": 1, "mpi": 1}
    labels |= {f"bkb-{rule}": 2 for rule in bedi2022.RULES}
    for label, kind in labels.items():
        order, regret = list(kinds.values())[kind]
        average = np.cumsum(np.broadcast_to(regret, horizon)) / rounds
        for name, of in (
            ("model_order", order),
            ("evaluations", order),
            ("average_regret", average),
        ):
            values[0, label, name] = np.tile(of, (2, 1))
        values[0, label, "settling_order"] = np.tile(order, (2, 1))
    found = evidence.Evidence(rounds, [{}], values)
    monkeypatch.setattr(bedi2022, "kept", lambda id: found)
    monkeypatch.setattr(bedi2022, "TASKS", (("example", "example", 10),))


def test_regrets_are_compared_at_equal_times(monkeypatch):
    horizon, t = 12, np.arange(1.0, 13.0)
    order, dense, few = np.minimum(t + 2, 6.0), t + 2, np.full(12, 3.0)
    falls = np.array([8.0, 4, 2, *[1] * 9])
    of_tasks(monkeypatch, horizon, own=(order, falls), dense=(dense, falls / 2), bkb=(few, 9.0))
    found = bedi2022.trade_off()
    spent = np.cumsum(order**2)
    for part in (0.5, 1.0):
        done = np.count_nonzero(spent <= part * spent[-1])
        rival = np.count_nonzero(np.cumsum(dense**2) <= part * spent[-1])
        ratio = falls[:done].mean() / (falls[:rival] / 2).mean()
        assert found[f"ratio example ei {part:g}"] == pytest.approx(np.full(2, ratio))
    # A quarter of the time has passed before an observation is rejected.
    assert "ratio example ei 0.25" not in found
    of_tasks(monkeypatch, horizon, own=(dense, falls), dense=(dense, falls), bkb=(few, 9.0))
    ratio = np.full(2, spent[-1] / np.sum(dense**2))
    assert found["compressed/dense example ei"] == pytest.approx(ratio)
    assert found["seconds example ei compressed"] == pytest.approx(np.full(2, 1e-8 * spent[-1]))
    again = bedi2022.trade_off()
    (alone,) = (of for name, of in again.items() if name.startswith("ratio example mpi"))
    assert np.isnan(alone).all()


def test_an_order_that_still_grows_is_not_told(monkeypatch):
    t = np.arange(1.0, 13.0)
    of_tasks(monkeypatch, 12, own=(t, 1.0), dense=(t, 1.0), bkb=(t, 1.0))
    assert np.isnan(bedi2022.settled()["order example ucb"]).all()
    of_tasks(monkeypatch, 12, own=(np.minimum(t, 4.0), 1.0), dense=(t, 1.0), bkb=(t, 1.0))
    assert bedi2022.settled()["order example ucb"].tolist() == [4.0, 4.0]


def test_the_bound_of_a_rule_is_that_of_its_theorem():
    gain, shape = np.full((3, 6), 7.0), (3, 6)
    horizons = np.array(bedi2022_bounds.HORIZONS)
    beta, budget, z = np.full(6, 9.0), np.full(6, 0.01), np.full(shape, 2.0)
    ucb = bedi2022_bounds._bound("ucb", beta, gain, budget, z)
    bound = theory.regret_bound_compressed(horizons, 9.0, 7.0, 0.001, 0.01)
    assert ucb == pytest.approx(np.tile(bound, (3, 1)))
    ei = bedi2022_bounds._bound("ei", beta, gain, budget, z)
    width = np.sqrt(3 * (9 + 1 + 4)) + 3
    bracket = np.sqrt(2 * horizons * 7.0) + horizons * np.sqrt(0.02)
    assert ei == pytest.approx(np.tile(width / np.log(1001) * bracket, (3, 1)))


def test_dictionaries_count_points_with_and_without_repeats():
    found = bedi2022_bounds.dictionaries(horizon=12)
    assert len(found) == 5 * 2 * 2 * 3
    for name in (n.removeprefix("rank ") for n in found if n.startswith("rank ")):
        (missing, largest, repeats, distinct, rank) = (
            found[f"{what} {name}"][0]
            for what in ("missing", "largest", "repeats", "distinct", "rank")
        )
        assert 0 <= missing <= 12
        assert rank <= distinct <= repeats <= largest
        if name.startswith("arm"):
            assert distinct == repeats


def test_a_clock_has_the_times_of_three_agents_with_the_same_rewards():
    found = bedi2022_runs.clock(0.0, horizon=6, trials=2)
    values = 2.0 * VALUES
    for rule in bedi2022_runs.RULES:
        ratios = [found[f"{a}/{b} example {rule}"] for a, b in bedi2022_runs.RATIOS]
        assert all((ratio > 0.0).all() for ratio in ratios)
        assert ratios[1] * ratios[2] == pytest.approx(1.0)
        # With epsilon = 0 nothing is left out, and with a large one everything.
        timed = [
            bedi2022_runs._timed(ARMS, values, 2, epsilon, 12, rule, kind, 0)
            for epsilon, kind in ((0.0, "compressed"), (0.0, "dense"), (9.0, "compressed"))
        ]
        assert all((np.diff(times) >= 0.0).all() for times, _ in timed)
        same, dense_regret, never = (regret.tolist() for _, regret in timed)
        assert same == dense_regret != never
