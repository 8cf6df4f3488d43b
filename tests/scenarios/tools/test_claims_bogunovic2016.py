"""What decides the claims of bogunovic2016 beside its curves."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios import get, registry
from gpbandits_env.scenarios.papers import bogunovic2016 as declared
from gpbandits_env.scenarios.results.store import Store
from tools.claims import bogunovic2016 as measured
from tools.claims import bogunovic2016_real as real
from tools.claims import bogunovic2016_theory as theory


def bootstrap(of, *groups, seed=0, times=4000):
    """The standard error of a statistic when the units of each group are drawn again."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(times):
        found.append(of(*(g[rng.integers(len(g), size=len(g))] for g in groups)))
    return np.std(found)


def standard_error(values):
    return values.std(ddof=1) / np.sqrt(len(values))


def test_a_slope_of_logarithms_has_the_error_of_the_bootstrap():
    rng, x = np.random.default_rng(1), np.array([1.0, 2.0, 5.0, 10.0])
    curves = x**0.7 * (1.0 + 0.3 * rng.standard_normal((200, 1))) * rng.gamma(20.0, 0.05, (200, 4))
    values = measured.log_slopes(curves, x)

    def slope(c):
        return np.polyfit(np.log(x), np.log(c.mean(axis=0)), 1)[0]

    assert values.mean() == pytest.approx(slope(curves))
    assert standard_error(values) == pytest.approx(bootstrap(slope, curves), rel=0.1)
    against = measured.log_slopes(curves, x) - measured.log_slopes(curves[::-1] * x, x)
    assert against.mean() == pytest.approx(-1.0)


def test_ratios_and_differences_have_the_error_of_the_bootstrap():
    rng = np.random.default_rng(2)
    pairs = rng.gamma(30.0, 0.1, (100, 2)) * rng.gamma(20.0, 0.05, (100, 1))
    ratio = real.log_ratio(*pairs.T)
    assert ratio.mean() == pytest.approx(np.log(pairs[:, 0].mean() / pairs[:, 1].mean()))
    of_pairs = bootstrap(lambda p: np.log(p[:, 0].mean() / p[:, 1].mean()), pairs)
    assert standard_error(ratio) == pytest.approx(of_pairs, rel=0.1)
    a, b = rng.normal(3.0, 1.0, 40), rng.normal(1.0, 2.0, 80)
    found = real.difference(a, b)
    assert found.mean() == pytest.approx(a.mean() - b.mean())
    expected = bootstrap(lambda a, b: a.mean() - b.mean(), a, b)
    assert standard_error(found) == pytest.approx(expected, rel=0.1)
    x = np.arange(40.0)
    y = 0.2 * x + rng.standard_normal(40)
    assert real.slope(y, x).mean() == pytest.approx(np.polyfit(x, y, 1)[0])


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_exact_gains_are_those_of_the_best_sequence(epsilon):
    points = np.random.default_rng(0).uniform(size=(3, 2))
    covariance, t = SquaredExponential(0.5)(points), np.arange(4)
    decay = (1.0 - epsilon) ** (np.abs(t[:, None] - t) / 2)
    best = max(
        0.5 * np.linalg.slogdet(np.eye(4) + covariance[np.ix_(s, s)] * decay / 0.1)[1]
        for s in itertools.product(range(3), repeat=4)
    )
    assert theory.exact_gains(covariance, 0.1, epsilon, 4)[-1] == pytest.approx(best)


def test_a_single_arm_breaks_the_printed_bound_by_blocks_and_not_the_corrected_one():
    one = np.ones((1, 1))
    gains = [theory.exact_gains(one, 1e-4, e, 50) for e in (0.01, 0.0)]
    ratios = [theory.worst(*gains, 1e-4, 0.01, printed, (50,)) for printed in (True, False)]
    assert ratios[0] == pytest.approx(1.65, abs=0.01)
    assert ratios[1] < 1.0


def test_the_bound_of_the_genie_holds_for_smooth_functions():
    ratio, share = theory._eq_100(SquaredExponential(0.2), 0.05, np.random.default_rng(3))
    assert ratio > 1.0
    assert share > 0.5


def small(id, **changes):
    found = get(f"bogunovic2016/{id}")
    kwargs = {**found.env_kwargs, "grid": [6, 6]}
    return replace(found, env_kwargs=kwargs, trials=3, bounds=(), **changes)


def test_measures_of_the_matched_case(run, monkeypatch):
    scenario = small("se", horizon=150, grid={"epsilon": (0.01, 0.03)})
    monkeypatch.setitem(registry.scenarios(), scenario.id, scenario)
    measured.best_fixed.cache_clear()
    with Store.open(run(scenario=scenario.select(agents=["all"])).path) as store:
        regret = store.arrays(0, "r-gp-ucb", "regret")[:, :, 0]
        q = 10  # a quarter of N = 38
        want = np.mean([regret[:, k:k + q].mean(1) - regret[:, k - q:k].mean(1)
                        for k in (38, 76, 114)], axis=0)  # fmt: skip
        found = measured.rise(store, 0, "r-gp-ucb")["rise"]
        np.testing.assert_allclose(found, want)
        best = measured.best_fixed(scenario.id, 0, 3)
        # No fixed arm is better than the moving optimum, and some is as good as the mean arm.
        assert (best <= store.arrays(0, "random", "optimum").mean(axis=1)).all()
        played = measured.against_fixed(store, 0, "tv-gp-ucb")["against fixed"] + best
        np.testing.assert_allclose(played, store.arrays(0, "tv-gp-ucb", "values").mean(axis=(1, 2)))
        assert "epsilon slope" in measured.epsilon_slope(store, 1, "tv-gp-ucb")
        assert measured.epsilon_slope(store, 0, "tv-gp-ucb") == {}
        ratio = measured.ratio_to_tv(store, 0, "tv/temporal")["log ratio to tv-gp-ucb"]
        means = [store.arrays(0, a, "regret").mean() for a in ("tv/temporal", "tv-gp-ucb")]
        assert ratio.mean() == pytest.approx(np.log(means[0] / means[1]))


def test_the_best_fixed_arm_is_that_of_the_functions_of_the_trials(run, monkeypatch):
    """With a drift of 0 the best fixed arm is the optimum."""
    scenario = small("se", horizon=20, grid={"epsilon": (0.0,)})
    monkeypatch.setitem(registry.scenarios(), scenario.id, scenario)
    measured.best_fixed.cache_clear()
    with Store.open(run(scenario=scenario.select(agents=["random"])).path) as store:
        optimum = store.arrays(0, "random", "optimum")[:, 0]
        np.testing.assert_allclose(measured.best_fixed(scenario.id, 0, 3), optimum)
    measured.best_fixed.cache_clear()


def test_recovery_is_counted_from_the_imposed_fall():
    """Two sensors: the leader falls for good, and the regret of staying with it never recovers."""
    problem = Problem(
        Arms(np.arange(2.0)), SquaredExponential(0.1), 0.01, prior_mean=np.zeros(2), horizon=60
    )
    entry = declared.RANDOM
    rows = np.tile([50.0, 40.0], (60, 1))
    rows[30:, 0] = 10.0
    before = real._wait(entry, problem, rows, np.zeros(30, np.int64), 0.0)
    assert 0 <= before <= real.WAIT
    rows[30:, 0] = 50.0  # no fall: an agent on the leader has nothing to recover from
    greedy = replace(entry, agent="max-mean")
    assert real._wait(greedy, problem, rows, np.zeros(30, np.int64), 0.0) == 0
    rows[30:, 0] = 10.0
    stuck = replace(entry, agent="max-mean", settings={"noise_var": 1e6})
    assert real._wait(stuck, problem, rows, np.zeros(30, np.int64), 0.0) == real.WAIT
