from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from gpbandits_env.scenarios.results import statistics
from gpbandits_env.scenarios.results.report import mean_and_error, mean_ranks, paired_test
from gpbandits_env.scenarios.results.statistics import (
    Scale,
    holm,
    interquartile_mean,
    ranking,
    reached,
    sentence,
    share_below,
    signed_rank,
)

WORLDS = np.random.default_rng(0).normal(size=50)


def test_paired_differences_against_scipy():
    rng = np.random.default_rng(1)
    a, b = WORLDS + rng.normal(size=50), WORLDS + 0.3 + rng.normal(size=50)
    difference, se, p = paired_test(a, b)
    assert difference == pytest.approx((a - b).mean())
    assert se == pytest.approx((a - b).std(ddof=1) / np.sqrt(50))
    assert p == pytest.approx(stats.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize("difference", [0.0, 2.0])
def test_trials_that_repeat_one_instance_give_no_p(difference):
    found, se, p = paired_test(WORLDS[:1].repeat(3) + difference, WORLDS[:1].repeat(3))
    assert (found, se) == (pytest.approx(difference), 0.0)
    assert np.isnan(p)


def test_two_trials_have_an_error():
    mean, error = mean_and_error(np.array([1.0, 3.0]))
    assert (mean, error) == (2.0, pytest.approx(1.0))
    # Student's t of one degree of freedom is Cauchy's: P(|t| > 2) = 1 - 2/pi arctan 2.
    _, _, p = paired_test(np.array([1.0, 3.0]), np.zeros(2))
    assert p == pytest.approx(1.0 - 2.0 / np.pi * np.arctan(2.0))


def test_one_trial_has_no_error():
    assert np.isnan(mean_and_error(np.array([2.0]))[1])
    assert np.isnan(paired_test(WORLDS[:1], WORLDS[:1])[2])


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


def test_holm_multiplies_the_smallest_p_by_their_number():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.5]) == [1.0, 1.0]


def test_one_problem_is_wilcoxons_test():
    d = np.random.default_rng(0).normal(0.3, 1.0, 40)
    want = stats.wilcoxon(d, method="asymptotic", correction=False)
    ranks = stats.rankdata(np.abs(d))
    effect, p = signed_rank([d])
    assert p == pytest.approx(want.pvalue)
    assert effect == pytest.approx((ranks * np.sign(d)).sum() / ranks.sum())
    few = d[:9]
    assert signed_rank([few])[1] == pytest.approx(stats.wilcoxon(few, method="exact").pvalue)


def test_a_problem_counts_the_same_at_any_scale():
    rng = np.random.default_rng(1)
    parts = [rng.normal(0.2, 1.0, 30), rng.normal(-0.1, 1.0, 10), np.zeros(5)]
    assert signed_rank([1e6 * parts[0], parts[1], parts[2]]) == signed_rank(parts)
    effects = [signed_rank([part])[0] for part in parts]
    assert signed_rank(parts)[0] == pytest.approx(np.mean(effects))
    assert signed_rank([np.zeros(4)]) == (0.0, 1.0)


def test_the_distribution_of_many_trials_is_that_of_random_signs():
    rng = np.random.default_rng(2)
    parts = [np.abs(rng.standard_t(2, 30)) * 10.0**k for k in range(4)] + [np.zeros(3)]
    parts = [part * rng.choice([1.0, -1.0], len(part), p=(0.6, 0.4)) for part in parts]
    effect, p = signed_rank(parts)
    flipped = [
        signed_rank([d * rng.choice([1.0, -1.0], len(d)) for d in parts])[0] for _ in range(4000)
    ]
    share = np.mean(np.abs(flipped) >= abs(effect))
    assert p == pytest.approx(share, abs=4 * np.sqrt(share / 4000))


def test_the_middle_half_counts_samples_alike():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 6)), rng.normal(size=(2, 4))
    both = np.sort(np.concatenate([a.repeat(2, axis=1), b.repeat(3, axis=1)], axis=1))
    np.testing.assert_allclose(interquartile_mean([a, b]), both[:, 6:-6].mean(axis=1))
    # Of 6 values the quartiles cut the second and the fifth in half.
    weights = np.array([0.0, 0.5, 1.0, 1.0, 0.5, 0.0]) / 3.0
    np.testing.assert_allclose(interquartile_mean([a]), np.sort(a) @ weights)


def test_a_profile_has_the_band_of_a_bootstrap():
    rng = np.random.default_rng(4)
    samples, limits = [rng.normal(size=30), rng.normal(1.0, 2.0, 10)], np.linspace(-1.0, 2.0, 7)
    share, low, high = share_below(samples, limits, rng, 20_000)
    drawn = [
        np.mean([(rng.choice(s, len(s))[:, None] <= limits).mean(axis=0) for s in samples], axis=0)
        for _ in range(20_000)
    ]
    np.testing.assert_allclose(share, np.mean(drawn, axis=0), atol=0.005)
    np.testing.assert_allclose([low, high], np.quantile(drawn, [0.025, 0.975], axis=0), atol=0.02)


def test_a_target_is_reached_when_the_regret_stays_below():
    rounds = np.array([1, 3, 10])
    curves = np.array([[0.1, 0.9, 0.4], [0.8, 0.5, 0.5]])
    want = [[1.0, 10.0, np.inf], [1.0, 3.0, np.inf]]
    np.testing.assert_array_equal(reached(rounds, curves, np.array([0.9, 0.5, 0.3])), want)


def critical(table):
    """Ranks, Friedman's p and adjusted p-values of pairs, computed apart from the package."""
    k, n = table.shape
    ranks = np.array([[sum(x < y) + (sum(x == y) + 1) / 2 for y in x] for x in table.T])
    mean = ranks.mean(axis=0)
    ties = sum(c**3 - c for x in table.T for c in np.unique(x, return_counts=True)[1])
    chi = (
        12 * n / (k * (k + 1)) * ((mean - (k + 1) / 2) ** 2).sum() / (1 - ties / n / k / (k**2 - 1))
    )
    raw = {}
    for a in range(k):
        for b in range(a + 1, k):
            d = table[a] - table[b]
            r, signs = stats.rankdata(np.abs(d)), np.sign(d)
            flips = np.array([[1 - 2 * (i >> j & 1) for j in range(n)] for i in range(2**n)])
            raw[a, b] = np.mean(np.abs(flips @ r) >= abs(signs @ r) - 1e-9)
    left, adjusted, worst = len(raw), {}, 0.0
    for pair in sorted(raw, key=raw.get):
        worst = max(worst, min(1.0, left * raw[pair]))
        adjusted[pair], left = worst, left - 1
    return mean, stats.chi2.sf(chi, k - 1), adjusted


def test_critical_differences_agree_with_an_independent_computation():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(5, 12)) + np.array([0.0, 0.1, 1.5, 1.6, 4.0])[:, None]
    names, problems = list("vwxyz"), [str(i) for i in range(12)]
    found = ranking(names, problems, table)
    mean, friedman, pairs = critical(table)
    assert found.ranks == pytest.approx(np.sort(mean))
    assert found.friedman == pytest.approx(friedman)
    for (a, b), p in pairs.items():
        one, other = names[a], names[b]
        got = found.p.get((one, other)) or found.p[other, one]
        assert got == pytest.approx(p, rel=1e-6)
    level = {frozenset(pair) for pair, p in found.p.items() if p > 0.05}
    for group in found.groups:
        assert all(frozenset((a, b)) in level for a in group for b in group if a < b)
    assert 0 < len(level) < 10
    assert {frozenset(pair) for pair in pairwise(found.agents)} & level == {
        frozenset(pair) for group in found.groups for pair in pairwise(group)
    }


def test_pairs_are_not_tested_if_friedmans_test_does_not_reject():
    """The first agent is far better in 12 problems and hardly worse in 6."""
    far = np.concatenate([np.arange(7.0, 19.0), -np.arange(1.0, 7.0)])
    table = np.stack([np.zeros(18), far, np.tile([-20.0, 20.0], 9)])
    assert 3 * stats.wilcoxon(far).pvalue < 0.05 < stats.friedmanchisquare(*table).pvalue
    found = ranking(list("abc"), [str(i) for i in range(18)], table)
    assert set(found.p.values()) == {1.0}
    assert found.groups == (found.agents,)


def test_ranks_of_too_few_are_not_tested():
    assert ranking(["a", "b"], ["x", "y"], np.ones((2, 2))) is None
    assert ranking(["a", "b", "c"], ["x"], np.ones((3, 1))) is None
    same = ranking(["a", "b", "c"], ["x", "y"], np.ones((3, 2)))
    assert (same.friedman, same.groups) == (1.0, (("a", "b", "c"),))


def test_a_sentence_says_what_was_tested():
    win, loss, even = (
        statistics.Tested("m", name, effect, p, trials)
        for name, effect, p, trials in (
            ("a", 0.5, 0.01, 30),
            ("b", -0.5, 0.01, 20),
            ("c", 0.1, 0.6, 30),
        )
    )
    assert sentence("m", [win, loss, even], "3 problems of s") == (
        "On 3 problems of s, m has lower regret than 1 of 3 agents, higher regret than 1, and no "
        "clear difference from 1, paired over 20 to 30 trials (Holm, 5%)"
    )
    said = "m has lower regret than 2 of 2 agents, higher regret than none, and no clear"
    assert f"{said} difference from none, paired over 30" in sentence("m", [win, win], "s")
    for label, test, said in (
        ("m", even, "m has no clear difference from c"),
        ("m", win, "m has lower regret than a"),
        ("m", loss, "m has higher regret than b"),
        ("b", loss, "b has lower regret than m"),
    ):
        assert sentence(label, [test], "1 problem").startswith(f"On 1 problem, {said}, paired")
    assert sentence("a", [loss], "s") == "There is no agent to compare a with"


def test_a_scale_needs_an_agent_below_random():
    assert Scale.of({"genie": 0.0, "random": 1.0, "a": 0.5, "b": 2.0}).usable
    assert not Scale.of({"genie": 0.0, "random": 1.0, "a": 2.0}).usable
    assert not Scale.of({"genie": 1.0, "random": 1.0, "a": 0.5}).usable
