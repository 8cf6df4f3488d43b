import numpy as np
import pytest
from scipy import stats

from gpbandits_env.scenarios.results.report import mean_and_error, mean_ranks, paired_test

WORLDS = np.random.default_rng(0).normal(size=50)


def test_paired_differences_against_scipy():
    rng = np.random.default_rng(1)
    a, b = WORLDS + rng.normal(size=50), WORLDS + 0.3 + rng.normal(size=50)
    got, want = paired_test(a, b), stats.ttest_rel(a, b)
    assert got.difference == pytest.approx((a - b).mean())
    assert got.se == pytest.approx((a - b).std(ddof=1) / np.sqrt(50))
    assert got.p == pytest.approx(want.pvalue)


@pytest.mark.parametrize("difference", [0.0, 2.0])
def test_trials_that_repeat_one_instance_give_no_p(difference):
    got = paired_test(WORLDS[:1].repeat(3) + difference, WORLDS[:1].repeat(3))
    assert (got.difference, got.se) == (pytest.approx(difference), 0.0)
    assert np.isnan(got.p)


def test_two_trials_have_an_error():
    mean, error = mean_and_error(np.array([1.0, 3.0]))
    assert (mean, error) == (2.0, pytest.approx(1.0))
    # Student's t of one degree of freedom is Cauchy's: P(|t| > 2) = 1 - 2/pi arctan 2.
    got = paired_test(np.array([1.0, 3.0]), np.zeros(2))
    assert got.p == pytest.approx(1.0 - 2.0 / np.pi * np.arctan(2.0))


def test_one_trial_has_no_error():
    assert np.isnan(mean_and_error(np.array([2.0]))[1])
    assert np.isnan(paired_test(WORLDS[:1], WORLDS[:1]).p)


def test_trials_that_are_all_alike_have_no_standard_error():
    mean, error = mean_and_error(np.full((7, 2), 0.1))
    np.testing.assert_array_equal(error, 0.0)
    np.testing.assert_allclose(mean, 0.1)


def test_ranks_share_ties():
    assert mean_ranks(np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 0.0]])).tolist() == [1.75, 2.25, 2.0]


def test_without_a_trial_of_all_agents_there_are_no_ranks():
    assert np.isnan(mean_ranks(np.empty((3, 0)))).all()


def test_an_unknown_regret_is_last():
    assert mean_ranks(np.array([[np.nan], [1.0], [0.0], [np.nan]])).tolist() == [3.5, 2.0, 1.0, 3.5]
