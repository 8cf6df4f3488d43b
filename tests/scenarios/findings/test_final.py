import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.findings import (
    AtMost,
    Below,
    Level,
    NearlyBest,
    SlowerRise,
    Wider,
    WithinPublished,
)

WORLDS = np.random.default_rng(0).normal(size=50)


def test_below_uses_the_paired_error_not_the_spread_over_worlds(check):
    noise = np.random.default_rng(2).normal(size=50, scale=0.01)
    found = check(Below("a", "b"), {"a": WORLDS, "b": WORLDS + 0.1 + noise})
    assert found.holds  # the worlds' own spread is 1: unpaired, 0.1 would be lost in it
    assert found.numbers["difference"] == pytest.approx(-(0.1 + noise).mean())
    assert not check(Below("b", "a"), {"a": WORLDS, "b": WORLDS + 0.1 + noise}).holds


def test_below_needs_more_than_its_errors(check):
    difference = np.array([-1.0, -0.1, 0.5] * 10)
    z = -difference.mean() / (difference.std(ddof=1) / np.sqrt(30))
    final = {"a": difference, "b": np.zeros(30)}
    assert check(Below("a", "b", errors=z - 0.01), final).holds
    assert not check(Below("a", "b", errors=z + 0.01), final).holds


def test_identical_trials_are_said_to_be_one_environment_instance(check):
    alike = check(Below("a", "b"), {"a": np.full(20, 0.8), "b": np.full(20, 1.1)})
    assert alike.holds
    assert "all 20 trials of a and of b are identical: one environment instance" in alike.statement
    one = check(Below("a", "b"), {"a": np.full(50, -9.0), "b": WORLDS})
    assert "trials of a are identical" in one.statement
    oracle = check(Below("a", "b"), {"a": np.zeros(50), "b": WORLDS})  # no regret in any instance
    assert "identical" not in oracle.statement


@pytest.mark.parametrize(("a", "two_sided", "one_sided"), [
    (0.05, True, True), (0.11, True, True), (0.13, False, False), (-0.09, False, True),
])  # fmt: skip
def test_level_is_measured_on_the_scale_of_the_figure(a, two_sided, one_sided, check):
    final = {"a": np.full(4, a), "b": np.full(4, 0.02), "worst": np.full(4, 1.02)}
    scale = ("b", "worst")
    assert check(Level("a", "b", scale), final).holds is two_sided
    assert check(Level("a", "b", scale, one_sided=True), final).holds is one_sided


def test_an_agent_that_was_not_run_leaves_a_finding_open(check):
    found = check(Below("a", "b"), {"a": WORLDS})
    assert found.holds is None
    assert "not run: b" in found.statement
    assert check(Below("a", "b"), {"a": WORLDS[:1], "b": WORLDS[:1]}).holds is None


def test_a_scale_needs_two_agents():
    with pytest.raises(InvalidInput, match="two or more agents"):
        Level("a", "b", ("a",))


def test_spread_not_mean_decides(check):
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(0, 2, 200), rng.normal(5, 1, 200)
    assert check(Wider("a", "b"), {"a": wide, "b": narrow}).holds
    assert not check(Wider("b", "a"), {"a": wide, "b": narrow}).holds
    assert not check(Wider("a", "b"), {"a": wide, "b": wide + 1}).holds


def test_a_rise_is_slow_per_unit(check):
    final = {"at": np.full(3, 1.0), "over": np.full(3, 1.5), "under": np.full(3, 1.4)}
    found = check(SlowerRise("at", "over", "under", (0.1, 0.01)), final)
    assert found.holds
    assert found.numbers["slope to over"] == pytest.approx(5.0)
    assert found.numbers["slope to under"] == pytest.approx(40.0)
    assert not check(SlowerRise("at", "over", "under", (0.1, 0.1)), final).holds
    assert not check(SlowerRise("over", "at", "under", (0.1, 0.01)), final).holds


def test_close_is_a_ratio_of_means(by_hand):
    evidence = by_hand(finals={"a": np.array([1.0, 1.4]), "b": np.array([1.2, 0.8])})
    check = AtMost("a", "b").look(evidence)
    assert check.holds
    assert check.numbers["ratio"] == pytest.approx(1.2)
    assert not AtMost("a", "b", factor=1.1).look(evidence).holds
    assert AtMost("a", "c").look(evidence).holds is None


def test_nearly_best(check):
    def nearly(ours, *theirs):
        final = {"a": np.array(ours), "b": np.array(theirs[0]), "c": np.array(theirs[1])}
        return check(NearlyBest("a", ("b", "c")), final)

    assert nearly([1.0, 1.2], [2.0, 2.0], [3.0, 1.9]).holds
    level = nearly([1.0, 1.2], [0.9, 1.25], [3.0, 1.9])
    assert level.holds
    assert level.numbers["rank"] == 2
    assert not nearly([1.0, 1.2], [0.5, 0.65], [3.0, 1.9]).holds
    assert check(NearlyBest("a", ("b",)), {"a": np.ones(2)}).holds is None


def test_nearly_best_needs_rivals():
    with pytest.raises(ValueError, match="rivals"):
        NearlyBest("a", ())


@pytest.mark.parametrize(("mean", "holds"), [(1.9, True), (2.1, False)])
def test_within_published_counts_from_twice_the_papers_mean(mean, holds, check):
    found = check(WithinPublished("ts-rsr", 1.0), {"ts-rsr": np.array([mean - 0.5, mean + 0.5])})
    assert found.holds is holds
    assert found.numbers["ratio"] == pytest.approx(mean)
