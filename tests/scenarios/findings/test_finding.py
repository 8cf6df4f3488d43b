import numpy as np
import pytest
from scipy import stats

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.findings.finding import as_well_as, below, level
from gpbandits_env.scenarios.statistics import mean_and_error, mean_ranks, paired

WORLDS = np.random.default_rng(0).normal(size=50)


def test_paired_differences_against_scipy():
    rng = np.random.default_rng(1)
    a, b = WORLDS + rng.normal(size=50), WORLDS + 0.3 + rng.normal(size=50)
    got, want = paired(a, b), stats.ttest_rel(a, b)
    assert got.difference == pytest.approx((a - b).mean())
    assert got.se == pytest.approx((a - b).std(ddof=1) / np.sqrt(50))
    assert got.p == pytest.approx(want.pvalue)


def test_equal_agents_differ_by_nothing():
    got = paired(WORLDS, WORLDS)
    assert (got.difference, got.se, got.p) == (0.0, 0.0, 1.0)


def test_agents_that_differ_by_the_same_in_every_trial_differ_for_certain():
    got = paired(WORLDS[:1].repeat(3) + 2.0, WORLDS[:1].repeat(3))
    assert (got.difference, got.se, got.p) == (pytest.approx(2.0), 0.0, 0.0)


def test_two_trials_have_an_error():
    mean, error = mean_and_error(np.array([1.0, 3.0]))
    assert (mean, error) == (2.0, pytest.approx(1.0))
    # Student's t of one degree of freedom is Cauchy's: P(|t| > 2) = 1 - 2/pi arctan 2.
    got = paired(np.array([1.0, 3.0]), np.zeros(2))
    assert got.p == pytest.approx(1.0 - 2.0 / np.pi * np.arctan(2.0))


def test_one_trial_has_no_error():
    assert np.isnan(mean_and_error(np.array([2.0]))[1])
    assert np.isnan(paired(WORLDS[:1], WORLDS[:1]).p)


def test_trials_that_are_all_alike_have_no_standard_error():
    mean, error = mean_and_error(np.full((7, 2), 0.1))
    np.testing.assert_array_equal(error, 0.0)
    np.testing.assert_allclose(mean, 0.1)


def test_ranks_share_ties():
    assert mean_ranks(np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 0.0]])).tolist() == [1.75, 2.25, 2.0]


def test_below_uses_the_paired_error_not_the_spread_over_worlds():
    noise = np.random.default_rng(2).normal(size=50, scale=0.01)
    check = below("a", "b").check({"a": WORLDS, "b": WORLDS + 0.1 + noise})
    assert check.holds  # the worlds' own spread is 1: unpaired, 0.1 would be lost in it
    assert check.numbers["difference"] == pytest.approx(-(0.1 + noise).mean())
    assert not below("b", "a").check({"a": WORLDS, "b": WORLDS + 0.1 + noise}).holds


def test_below_needs_more_than_its_errors():
    difference = np.array([-1.0, -0.1, 0.5] * 10)
    z = -difference.mean() / (difference.std(ddof=1) / np.sqrt(30))
    final = {"a": difference, "b": np.zeros(30)}
    assert below("a", "b", errors=z - 0.01).check(final).holds
    assert not below("a", "b", errors=z + 0.01).check(final).holds


@pytest.mark.parametrize(("a", "two_sided", "one_sided"), [
    (0.05, True, True), (0.11, True, True), (0.13, False, False), (-0.09, False, True),
])  # fmt: skip
def test_level_is_measured_on_the_scale_of_the_figure(a, two_sided, one_sided):
    final = {"a": np.full(4, a), "b": np.full(4, 0.02), "worst": np.full(4, 1.02)}
    scale = ("b", "worst")
    assert level("a", "b", scale).check(final).holds is two_sided
    assert as_well_as("a", "b", scale).check(final).holds is one_sided


def test_an_agent_that_was_not_run_leaves_a_finding_open():
    check = below("a", "b").check({"a": WORLDS})
    assert check.holds is None
    assert "not run: b" in check.statement
    assert below("a", "b").check({"a": WORLDS[:1], "b": WORLDS[:1]}).holds is None


def test_a_scale_needs_two_agents():
    with pytest.raises(InvalidInput, match="two agents"):
        level("a", "b", ("a",))
