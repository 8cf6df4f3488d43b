"""Every check of every claim holds on data made for it, and fails on the same data turned round."""

import itertools

import numpy as np
import pytest

from gpbandits_env.scenarios.claims import judge, yardsticks
from gpbandits_env.scenarios.claims.claim import paper
from gpbandits_env.scenarios.claims.yardsticks import FAILS, HOLDS, UNDECIDED, Limits
from gpbandits_env.scenarios.registry import GROUPS
from gpbandits_env.scenarios.results import evidence

CHECKS = [
    pytest.param(check, id=f"{claim.id}-{i}")
    for name in GROUPS
    for claim in paper(name).claims
    for i, check in enumerate(claim.check)
]
UNITS = 40


def values(mean, seed):
    """Values of units that scatter by 2% about a positive mean."""
    return mean * (1.0 + 0.02 * np.random.default_rng(seed).standard_normal(UNITS))


def made(check, turned):
    """The outcome of a check on made data, which are turned round or not."""
    if check.yardstick == "slope":
        return yardsticks.slope(*curve(check, turned), check)[0]
    a, others, label = agents(check, turned)
    return judge._by(check, a, others, label)[0]


def curve(check, turned):
    """Curves of units whose slope is on the right side of the limits, or on the wrong one."""
    sign = -1.0 if turned else 1.0
    right = check.below - 0.3 * sign if check.above is None else check.above + 0.3 * sign
    if None not in (check.above, check.below):
        right = check.below + 0.3 if turned else (check.above + check.below) / 2
    x = np.geomspace(10.0, 1000.0, 8)
    return np.outer(values(1.0, 0), x**right), x


def agents(check, turned):
    """The values of agent a, and of those with which it is compared."""
    name, label = check.yardstick, check.a[0]
    small, equal, large = values(1.0, 0), values(1.0, 1), values(4.0, 2)
    if check.logarithmic:
        small, equal, large = (np.log10(v) for v in (small, equal, large))
    others = {b: large for b in check.b if b != label} or {"b": large}
    if name in ("better", "best"):
        return (large, dict.fromkeys(others, small), label) if turned else (small, others, label)
    if name == "level":
        if (check.factor or 1.0) < 1.0:  # such as "at most half"
            equal = 0.9 * check.factor * equal
        return (large if turned else equal), dict.fromkeys(others, small), label
    if name == "published":
        value = check.value[label] if isinstance(check.value, dict) else check.value
        return values(value * (5.0 if turned else 1.0), 0), {}, label
    if name == "share":
        return np.full(UNITS, float(turned == (check.at_least is None))), {}, label
    low, high = (check.at_least, check.at_most) if name == "limit" else (check.above, check.below)
    edge = high if low is None else low
    inside = 1.0 if low is not None else -1.0
    centre = edge + inside * (-1.0 if turned else 1.0) * max(abs(edge), 1.0)
    if None not in (low, high):
        centre = high + 1.0 + abs(high) if turned else (low + high) / 2
    scatter = 0.0 if name == "limit" else 1e-3 * np.random.default_rng(0).standard_normal(UNITS)
    a = centre + scatter + np.zeros(UNITS)
    return a, {b: np.zeros(UNITS) for b in check.b}, label


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_holds_on_data_made_for_it_and_fails_when_they_are_turned_round(check):
    assert made(check, turned=False) == HOLDS
    assert made(check, turned=True) == FAILS


def test_two_agents_without_a_difference_are_seldom_told_apart():
    rng, found = np.random.default_rng(3), []
    for _ in range(500):
        a, b = rng.exponential(size=(2, UNITS))
        found.append(yardsticks.better(a, b, Limits())[0])
    assert found.count(HOLDS) <= 0.05 * len(found)
    assert found.count(FAILS) >= 0.02 * len(found)


def test_an_interval_covers_the_ratio_of_means_as_often_as_it_says():
    rng, inside = np.random.default_rng(4), 0
    for _ in range(1000):
        common = rng.exponential(size=UNITS)
        a, b = 2.0 * common + rng.exponential(size=UNITS), common + rng.exponential(size=UNITS)
        _, low, high = yardsticks.ratio(a, b)
        inside += low < 1.5 < high
    assert 860 <= inside <= 930


def test_one_run_shows_nothing_about_two_agents():
    a = values(1.0, 0)
    assert yardsticks.level(a, a.copy(), Limits())[0] == UNDECIDED
    assert yardsticks.better(a, a.copy(), Limits())[0] == FAILS


def test_few_units_decide_little():
    a, b = np.array([1.0, 1.6]), np.array([1.2, 1.9])
    assert yardsticks.level(a, b, Limits())[0] == HOLDS
    assert yardsticks.level(a, b[::-1], Limits())[0] == UNDECIDED


def test_trials_that_repeat_the_same_thing_are_one_unit():
    values = np.array([[1.0], [3.0], [10.0]])
    assert evidence.by_unit(values, np.array([7, 7, 9])).tolist() == [[2.0], [10.0]]


def test_a_slope_is_that_of_the_mean_curve():
    x = np.array([1.0, 10.0, 100.0])
    curves = np.stack([x**0.5, 3.0 * x**0.5])
    outcome, numbers = yardsticks.slope(curves, x, Limits(below=0.6))
    assert outcome == HOLDS
    assert numbers["slope"] == pytest.approx(0.5)
    constant = yardsticks.slope(np.full((2, 3), 5120.1), x, Limits(below=0.1))[1]
    assert constant == {"slope": 0.0, "low": 0.0, "high": 0.0}


@pytest.mark.parametrize("name", GROUPS)
def test_every_combination_of_outcomes_has_a_verdict_and_all_fails_do_not_hold(name):
    for outcomes in itertools.product(yardsticks.OUTCOMES, repeat=4):
        assert judge.by_paper(name, judge.Counter(outcomes)) in yardsticks.OUTCOMES
    for outcome in (HOLDS, FAILS, UNDECIDED):
        assert judge.by_paper(name, judge.Counter([outcome] * 5)) == outcome


def verdict(name):
    return judge.Verdict(name, ())


def test_a_verdict_is_robust_if_every_reading_agrees():
    holds, fails, open_ = (verdict(v) for v in ("holds", "does not hold", "cannot be judged"))
    assert judge.robust(holds, {}) == "one reading"
    assert judge.robust(holds, {"a": holds}) == "robust"
    assert judge.robust(holds, {"a": holds, "b": fails}) == "depends on: b"
    assert judge.robust(open_, {"a": fails, "b": open_}) == "does not hold under a"
    assert judge.robust(open_, {"b": open_}) == "-"


def test_a_reading_replaces_labels_also_where_a_published_number_has_one():
    check = judge.Check(yardstick="published", scenario=("p/s",), a=("ei",), value={"ei": 2.0})
    reading = judge.Reading("r", "other", agents={"ei": "ei/observed"}, scenarios={"p/s": "p/t"})
    changed = reading.applied(check)
    assert (changed.a, changed.scenario) == (("ei/observed",), ("p/t",))
    assert changed.value == {"ei/observed": 2.0}
    assert judge.Reading("r", "other", agents={"mpi": "x"}).applied(check) == check


@pytest.mark.parametrize("limits", [Limits(at_least=1.0), Limits(at_most=1.0)])
def test_a_value_that_misses_a_limit_by_rounding_meets_it(limits):
    away = -1.0 if limits.at_least else 1.0
    assert yardsticks.limit(np.array([1.0 + 1e-15 * away]), limits)[0] == HOLDS
    assert yardsticks.limit(np.array([1.0 + 1e-8 * away]), limits)[0] == FAILS
