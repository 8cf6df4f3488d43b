from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.scenarios.findings import (
    BelowAt,
    LessTime,
    ModelOrder,
    NeverBelow,
    Oscillates,
    ShareOf,
)
from gpbandits_env.scenarios.findings.rounds import first_refusal, resets
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store

TRIALS, ROUNDS, MANY = 40, 60, 100


def noise(seed, scale=0.1):
    return scale * np.random.default_rng(seed).normal(size=(TRIALS, ROUNDS))


@pytest.fixture
def told(by_hand):
    def told(orders=None, **regrets):
        full = {k: np.broadcast_to(v, (TRIALS, ROUNDS)) for k, v in regrets.items()}
        return by_hand(regrets=full, orders=orders or {})

    return told


def test_nothing_is_below_a_genie(told):
    above = told(genie=1 + noise(0), a=1.2 + noise(1), b=1.01 + noise(2))
    check = NeverBelow("genie", ("a", "b")).look(above)
    assert check.holds
    assert check.numbers["a above it by"] == pytest.approx(0.2, abs=0.02)
    assert not NeverBelow("a", ("genie", "b")).look(above).holds


def test_a_single_round_below_a_genie_is_seen(told):
    low = 1.2 + noise(1)
    low[:, 30] -= 0.5
    evidence = told(genie=1 + noise(0), a=low)
    assert not NeverBelow("genie", ("a",)).look(evidence).holds
    low[:, 30] += 0.5
    low[:, 0] -= 0.9  # before the genie knows anything
    assert NeverBelow("genie", ("a",)).look(evidence).holds


def saw(block):
    """Regret 1 falling to 0 within each block, and the posterior's size."""
    place = np.arange(ROUNDS) % block
    return 1.0 - place / block, np.where(place == block - 1, 0.0, place + 1.0)


def test_resets_are_where_the_posterior_is_empty():
    assert resets(saw(20)[1]).tolist() == [20, 40, 60]
    assert resets(np.zeros(5)).tolist() == []  # an agent without a posterior


def test_oscillation_is_the_step_at_a_reset(told):
    teeth, order = saw(20)
    evidence = told({"r": order}, r=teeth + noise(0), tv=0.3 + noise(1))
    check = Oscillates("r", "tv").look(evidence)
    assert check.holds
    after, before = teeth[20:25].mean(), teeth[15:20].mean()
    assert check.numbers["r after"] == pytest.approx(after, abs=0.02)
    assert check.numbers["r before"] == pytest.approx(before, abs=0.02)
    assert check.numbers["resets"] == 2  # after the one at the end nothing is played


def test_no_oscillation(told):
    _, order = saw(20)
    steady = told({"r": order}, r=0.3 + noise(0), tv=0.3 + noise(1))
    assert Oscillates("r", "tv").look(steady).holds is False
    never = told({"r": np.arange(1.0, ROUNDS + 1)}, r=0.3 + noise(0), tv=0.3 + noise(1))
    assert Oscillates("r", "tv").look(never).holds is None


@pytest.mark.parametrize("last", [ROUNDS - 1, ROUNDS])
def test_a_reset_with_too_few_rounds_after_it_tells_nothing(last, told):
    order = np.arange(1.0, ROUNDS + 1)
    order[last - 1] = 0.0
    check = Oscillates("r", "tv").look(told({"r": order}, r=0.3 + noise(0), tv=0.3 + noise(1)))
    assert check.holds is None
    assert "too few rounds" in check.statement


def test_a_world_that_moves_with_the_resets_is_not_the_agents_doing(told):
    teeth, order = saw(20)
    both = told({"r": order}, r=teeth + noise(0), tv=teeth + noise(1))
    assert Oscillates("r", "tv").look(both).holds is False


def test_who_is_ahead_depends_on_the_horizon(told):
    rising = np.linspace(0, 2, ROUNDS)
    evidence = told(a=rising + noise(0), b=0.7 + noise(1))
    assert BelowAt("a", "b", 20).look(evidence).holds
    later = BelowAt("a", "b", 60, also=(10,)).look(evidence)
    assert not later.holds
    assert later.numbers["a at 10"] == pytest.approx(rising[:10].mean(), abs=0.05)
    assert later.numbers["a at 60"] == pytest.approx(1.0, abs=0.05)


def test_identical_trials_are_one_environment_instance_at_an_earlier_round_too(by_hand):
    regrets = {"a": np.ones((20, 9)), "b": np.full((20, 9), 2.0)}
    found = BelowAt("a", "b", 5).look(by_hand(regrets=regrets))
    assert found.holds
    assert "one environment instance" in found.statement


def test_a_share_of_the_regret_in_some_rounds(told):
    a = np.where(np.arange(ROUNDS) < 10, 1.0, 9.0)
    evidence = told(a=a, b=10.0)
    assert ShareOf("a", "b", 1, 10, at_most=0.5).look(evidence).holds
    assert not ShareOf("a", "b", 1, 11, at_most=0.15).look(evidence).holds
    late = ShareOf("a", "b", 11, 60, at_least=0.8).look(evidence)
    assert late.holds
    assert late.numbers["share"] == pytest.approx(0.9)
    assert "in rounds 11-60 a has at least 0.8" in late.statement


def test_what_was_not_run_is_left_open(told, by_hand):
    check = NeverBelow("genie", ("a",)).look(told(a=1.0))
    assert check.holds is None
    assert "not run: genie" in check.statement
    one = by_hand(regrets={k: np.zeros((1, 5)) for k in "ab"})
    assert BelowAt("a", "b", 3).look(one).holds is None


@pytest.mark.parametrize(("finding", "needs"), [
    (BelowAt("a", "b", ROUNDS + 1), ROUNDS + 1),
    (ShareOf("a", "b", 1, ROUNDS + 9, at_most=0.5), ROUNDS + 9),
    (NeverBelow("a", ("b",), first=ROUNDS + 1), ROUNDS + 1),
])  # fmt: skip
def test_rounds_that_were_not_played_are_left_open(finding, needs, told):
    check = finding.look(told(a=0.0, b=1.0))
    assert check.holds is None
    assert f"needs {needs} rounds, not {ROUNDS}" in check.statement
    assert not check.numbers


def test_rounds_to_show_beside_are_those_played(told):
    check = BelowAt("a", "b", ROUNDS, also=(ROUNDS // 2, 2 * ROUNDS)).look(told(a=0.0, b=1.0))
    assert check.holds
    shown = {name.rpartition(" ")[2] for name in check.numbers}
    assert shown == {str(ROUNDS), str(ROUNDS // 2)}


def test_reports_show_evidence_of_the_store(run, tiny):
    seen = replace(
        tiny,
        findings=(
            NeverBelow("gp-ucb", ("random",)),
            ShareOf("gp-ucb", "random", 2, 12, at_most=1.0),
            BelowAt("gp-ucb", "genie", 3),
        ),
    )
    with Store.open(run(scenario=seen).path) as store:
        cell = report(store).cells[1]
        regret = store.arrays(1, "gp-ucb", "regret")[:, 1:, 0]
    never, share, missing = cell.findings
    assert never.numbers["gp-ucb"] == pytest.approx(regret.mean())
    assert share.numbers["gp-ucb"] == pytest.approx(regret.mean())
    assert missing.holds is None


def test_a_model_order_settles_or_grows(by_hand):
    rounds = np.arange(1, MANY + 1.0)
    orders = {"dense": rounds, "gated": np.minimum(rounds, 30), "slow": 30 + 0.05 * rounds}
    evidence = by_hand(orders=orders)
    settled = ModelOrder("gated", at_most=0.01).look(evidence)
    assert settled.holds
    assert settled.numbers["first refusal"] == 31
    assert settled.numbers["last"] == 30
    grown = ModelOrder("dense", above=0.5).look(evidence)
    assert grown.holds
    assert grown.numbers["slope"] == pytest.approx(1.0)
    assert "first refusal" not in grown.numbers
    assert not ModelOrder("gated", above=0.01).look(evidence).holds
    assert not ModelOrder("slow", at_most=0.01).look(evidence).holds
    assert ModelOrder("slow", at_most=0.06, above=0.01).look(evidence).holds
    # Over all rounds the gated one has grown.
    assert not ModelOrder("gated", at_most=0.01, part=1.0).look(evidence).holds
    assert ModelOrder("other", at_most=0.01).look(evidence).holds is None


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_model_order_over_few_rounds_is_left_open_where_it_has_no_slope(rounds, by_hand):
    orders = {"a": np.arange(1.0, rounds + 1.0)}
    found = ModelOrder("a", above=0.5).look(by_hand({"a": np.ones((2, rounds))}, orders=orders))
    last = rounds - round(0.5 * rounds)  # the rounds to which the line is fitted
    assert found.holds is (None if last < 2 else True)
    assert ("at least two" in found.statement) == (last < 2)


def test_the_first_refusal_is_that_of_the_first_trial_to_refuse(by_hand):
    one, other = np.minimum(np.arange(1, 11), 4), np.minimum(np.arange(1, 11), 7)
    assert first_refusal(one.astype(float)) == 5
    assert first_refusal((one + other) / 2) == 5
    assert first_refusal(np.arange(1, 11.0) + 16) is None


def test_time_counts_evaluations_where_they_cost(by_hand):
    times = {"a": np.full((2, MANY), 0.02), "b": np.full((2, MANY), 0.01)}
    spent = {"a": np.tile(np.minimum(np.arange(1, MANY + 1.0), 20), (2, 1)),
             "b": np.tile(np.arange(1, MANY + 1.0), (2, 1))}  # fmt: skip
    evidence = by_hand(times=times, spent=spent)
    alone = LessTime("a", "b", paper=0.5).look(evidence)
    assert not alone.holds
    assert alone.numbers["ratio"] == pytest.approx(2.0)
    assert "the paper: 0.50" in alone.statement
    whole = LessTime("a", "b", paper=0.28, evaluation=0.1).look(evidence)
    assert whole.holds
    assert whole.numbers["ratio"] == pytest.approx((2 + 20 * 0.1) / (1 + 100 * 0.1))
    assert "100 ms an evaluation" in whole.statement
    assert LessTime("a", "c").look(evidence).holds is None
    assert "paper" not in LessTime("a", "b").statement
