"""The arms that TS, TS-RSR and DPP-TS choose have the law their papers say: brute force.

Replays take the agent's own samples for granted; these do not. All is re-derived from the dense
mean and covariance, by draws of NumPy's own multivariate normal or by enumeration.
"""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

DRAWS = 4000
# A sound rule fails each of these tests with this probability.
UNLIKELY = 1e-4


def chosen(agent, draws=DRAWS):
    """Batches asked for over and over, nothing told."""
    return np.array([agent.ask() for _ in range(draws)])


def paths(mean, covariance, size, seed=99):
    return np.random.default_rng(seed).multivariate_normal(mean, covariance, size)


def codes(batches, arms):
    """Each batch as one number, whatever the order of its actions."""
    return np.sort(batches, axis=1) @ arms ** np.arange(batches.shape[1])


def same_law(found, expected):
    """Two samples of whole numbers come from one law."""
    table = np.array(
        [np.bincount(x, minlength=max(found.max(), expected.max()) + 1) for x in (found, expected)]
    )
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > UNLIKELY


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
class TestThompson:
    def test_each_action_by_its_probability_of_being_best(self, few, epsilon):
        agent, mean, covariance = few("ts", 2, epsilon=epsilon)
        best = paths(mean, covariance, 400_000).argmax(axis=1)
        probability = np.bincount(best, minlength=4) / len(best)
        found = np.bincount(chosen(agent).ravel(), minlength=4)
        assert chisquare(found, probability * found.sum()).pvalue > UNLIKELY

    def test_the_actions_of_a_batch_are_independent(self, few, epsilon):
        agent, mean, covariance = few("ts", 2, epsilon=epsilon)
        one, two = chosen(agent).T
        counts = np.zeros((4, 4))
        np.add.at(counts, (one, two), 1)
        assert chi2_contingency(counts + 1e-9).pvalue > UNLIKELY


def rsr_batches(mean, covariance, noise_var, m, rounds):
    """ren2024, Algorithm 1 with Appendix C, by rejection and conditioning from scratch."""
    top = np.concatenate(
        [path.max(axis=1, keepdims=True) for path in [paths(mean, covariance, 8 * m * rounds)]]
    ).ravel()
    top = top[top > mean.max()][: m * rounds].reshape(rounds, m)
    batches = np.empty((rounds, m), int)
    deviations = {}
    for row, levels in zip(batches, top, strict=True):
        for i, level in enumerate(levels):
            before = tuple(row[:i])
            if before not in deviations:
                a = list(before)
                inner = covariance[np.ix_(a, a)] + noise_var * np.eye(i)
                lost = covariance[:, a] @ np.linalg.solve(inner, covariance[a])
                deviations[before] = np.sqrt((covariance - lost).diagonal())
            row[i] = np.argmin((level - mean) / deviations[before])
    return batches


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_ts_rsr_chooses_by_the_law_of_the_maxima(few, epsilon):
    agent, mean, covariance = few("ts-rsr", 2, epsilon=epsilon)
    found = codes(chosen(agent), 4)
    expected = codes(rsr_batches(mean, covariance, 0.2, 2, 20_000), 4)
    assert len(np.unique(expected)) > 2
    assert same_law(found, expected)


def determinantal(mean, covariance, noise_var, m):
    """Of every batch (sorted): p_TS(batch) det(I + K / s2), normalised; by enumeration."""
    arms = len(mean)
    best = paths(mean, covariance, 1_000_000).argmax(axis=1)
    single = np.bincount(best, minlength=arms) / len(best)
    weights = np.zeros(arms**m)
    plain = np.zeros(arms**m)
    for batch in itertools.product(range(arms), repeat=m):
        code = codes(np.array([batch]), arms)[0]
        spread = covariance[np.ix_(batch, batch)] / noise_var
        plain[code] += single[list(batch)].prod()
        weights[code] += single[list(batch)].prod() * np.linalg.det(np.eye(m) + spread)
    return weights / weights.sum(), plain


def distance(found, probability):
    """The total variation between frequencies and probabilities."""
    counts = np.bincount(found, minlength=len(probability)) / len(found)
    return 0.5 * np.abs(counts - probability).sum()


@pytest.mark.parametrize("m", [2, 3])
class TestDeterminantal:
    def test_exact_probabilities(self, few, m):
        """50 steps, the default, are as good as the limit on few arms."""
        agent, mean, covariance = few("dpp-ts", m)
        probability, plain = determinantal(mean, covariance, 0.2, m)
        found = codes(chosen(agent), 4)
        counts = np.bincount(found, minlength=len(probability))
        kept = probability * DRAWS > 5
        observed = np.append(counts[kept], counts[~kept].sum())
        expected = np.append(probability[kept], probability[~kept].sum()) * DRAWS
        keep = expected > 0
        assert chisquare(observed[keep], expected[keep]).pvalue > UNLIKELY
        # The chain of no steps is Thompson sampling, which is another law.
        assert 0.5 * np.abs(plain - probability).sum() > 0.05

    def test_more_steps_come_nearer(self, few, m):
        """No steps: Thompson's law; one, four: on the way."""
        away = []
        for steps in (0, 1, 4, 50):
            agent, mean, covariance = few("dpp-ts", m, batch={"type": "dpp", "steps": steps})
            probability, plain = determinantal(mean, covariance, 0.2, m)
            found = codes(chosen(agent, 2500), 4)
            away.append(distance(found, probability))
            if steps == 0:
                assert distance(found, plain) < 0.04
        assert away[0] > away[1] > away[3]
        assert away[2] > away[3] - 0.02
        assert away[3] < 0.05


def test_batches_of_a_determinantal_process_repeat_less(few):
    def repeats(name):
        agent, _, _ = few(name, 4, arms=8)
        return np.mean([4 - len(set(batch)) for batch in chosen(agent, 300).tolist()])

    assert repeats("dpp-ts") < 0.8 * repeats("ts")


def test_sp_sharpens_with_time(few):
    """From nearly uniform to nearly greedy; at every time the most likely arm is the best."""
    agent, mean, covariance = few("sp", 1)
    shares = []
    for played in (0, 10**2, 10**6):
        agent.round = played
        found = np.bincount(chosen(agent, 1500).ravel(), minlength=4)
        scores = agent.acquisition().score(mean, covariance.diagonal())
        shares.append(found[scores.argmax()] / found.sum())
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.9
