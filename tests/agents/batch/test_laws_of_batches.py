"""The arms that sampling rules choose have the law that brute force gives, on few arms.

A replay takes the agent's samples as they are; here they, and what is made of them, are held
against probabilities from a dense posterior: integrals of the normal distribution, or draws.
"""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal

from gpbandits_env import agents
from gpbandits_env.domains import Arms
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

# Replays hold every choice exactly; these take thousands of rounds.
pytestmark = pytest.mark.slow

POINTS, LENGTHSCALE, NOISE_VAR = np.array([0.0, 0.25, 0.4, 1.0]), 0.3, 0.05
TOLD, REWARDS = [0, 0, 0, 0, 1], [1.6, 1.6, 1.6, 1.6, 1.6]
N = len(POINTS)


def agent_told(name, m, epsilon, **settings):
    """An agent that was told the same in one round."""
    problem = Problem(Arms(POINTS[:, None]), SquaredExponential(LENGTHSCALE), NOISE_VAR)
    settings = {"epsilon": epsilon, **settings} if epsilon else settings
    agent = agents.make(name, problem.replaced(batch_size=m), seed=11, **settings)
    agent.tell(TOLD, REWARDS)
    return agent


def belief(epsilon):
    """Mean and covariance one round after the data."""
    prior = np.exp(-((POINTS[:, None] - POINTS) ** 2) / (2 * LENGTHSCALE**2))
    cross = np.sqrt(1 - epsilon) * prior[TOLD]
    weights = np.linalg.solve(prior[np.ix_(TOLD, TOLD)] + NOISE_VAR * np.eye(len(TOLD)), cross)
    return np.array(REWARDS) @ weights, prior - cross.T @ weights


def of_being_largest(mean, covariance):
    """P(f_i is the largest), (n,): that all f_j - f_i are below 0, an orthant of a normal law."""
    chance = []
    for i in range(N):
        above = np.delete(np.eye(N), i, axis=0) - np.eye(N)[i]
        law = multivariate_normal(above @ mean, above @ covariance @ above.T)
        chance.append(float(law.cdf(np.zeros(N - 1))))
    return np.array(chance)


def excess(counts, chance):
    """Pearson's statistic over its 99.9% quantile; cells expected below 5 times are put together.

    Args:
        counts: of each cell.
        chance: the law, summing to 1.
    """
    expected = np.asarray(chance).ravel() * counts.sum()
    large, found = expected >= 5.0, np.asarray(counts).ravel()
    assert large.sum() > 2
    cells = [*zip(found[large], expected[large], strict=True)]
    if expected[~large].sum() > 1.0:
        cells.append((found[~large].sum(), expected[~large].sum()))
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells)
    return statistic / chi2.ppf(0.999, len(cells) - 1)


def batches(agent, rounds):
    """How often each batch (in order) is asked for: (n, ..., n)."""
    counts = np.zeros((N,) * agent.batch_size)
    for _ in range(rounds):
        counts[tuple(agent.ask())] += 1
    return counts


def test_brute_force_agrees_with_draws():
    mean, covariance = belief(0.2)
    chance = of_being_largest(mean, covariance)
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, size=200_000)
    assert chance.sum() == pytest.approx(1.0, abs=1e-4)
    assert np.bincount(draws.argmax(axis=1)) / len(draws) == pytest.approx(chance, abs=5e-3)
    assert chance.min() > 0.02


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("back", ["rows", "coefficients"])
def test_thompson(epsilon, back):
    chance = of_being_largest(*belief(epsilon))
    agent = agent_told("ts", 2, epsilon, posterior=back)
    counts = batches(agent, 4000)
    assert excess(counts, np.outer(chance, chance)) < 1.0
    # Another law is found out: that of the other world.
    other = of_being_largest(*belief(0.2 - epsilon))
    assert excess(counts, np.outer(other, other)) > 2.0


def of_rsr(mean, covariance, redraws):
    """P(batch of two) by maxima redrawn as Appendix C says; the fall-back after ``redraws``.

    The first action's law and the second's given it are independent given the two maxima.
    """
    rng = np.random.default_rng(1)
    draws, sd = 100_000, np.sqrt(covariance.diagonal())
    maxima = rng.multivariate_normal(mean, covariance, size=draws).max(axis=1)
    above = maxima[maxima > mean.max()]
    low = (1 - len(above) / draws) ** (redraws + 1)
    fallback = mean.max() + sd[mean.argmax()]
    levels = [(np.sort(above), (1 - low) / len(above)), (np.array([fallback]), low)]
    first = sum(weight * ratio_law(values, mean, sd) for values, weight in levels)
    law = np.zeros((N, N))
    for arm in range(N):
        spread = covariance[arm] ** 2 / (covariance[arm, arm] + NOISE_VAR)
        after = np.sqrt(covariance.diagonal() - spread)
        law[arm] = first[arm] * sum(w * ratio_law(values, mean, after) for values, w in levels)
    return law


def ratio_law(levels, mean, sd):
    """How many of the levels have their smallest ratio at each arm, (n,)."""
    ratios = (levels[:, None] - mean) / sd
    return np.bincount(ratios.argmin(axis=1), minlength=N)


@pytest.mark.parametrize(("epsilon", "redraws"), [(0.0, 10), (0.2, 1)])
def test_ts_rsr(epsilon, redraws):
    law = of_rsr(*belief(epsilon), redraws)
    assert law.sum() == pytest.approx(1.0)
    agent = agent_told("ts-rsr", 2, epsilon, batch={"type": "ts-rsr", "redraws": redraws})
    counts = batches(agent, 4000)
    assert excess(counts, law) < 1.0
    # Maxima that are not redrawn would be found out; so would a variance that is not updated.
    assert excess(counts, of_rsr(*belief(epsilon), 0)) > 2.0
    assert excess(counts, np.outer(law.sum(axis=1), law.sum(axis=0))) > 2.0


def of_dpp(chance, covariance, m):
    """P(batch) = prod p_TS(x_i) det(I + K_t / s^2), normalised, over all ordered batches."""
    law = np.zeros((N,) * m)
    for batch in itertools.product(range(N), repeat=m):
        spread = np.eye(m) + covariance[np.ix_(batch, batch)] / NOISE_VAR
        law[batch] = chance[list(batch)].prod() * np.linalg.det(spread)
    return law / law.sum()


@pytest.fixture(scope="module")
def batches_of_three():
    """What the chain of the usual length gives."""
    return batches(agent_told("dpp-ts", 3, 0.0), 1200)


@pytest.mark.parametrize(("epsilon", "m"), [(0.2, 2), (0.0, 3)])
def test_dpp(request, epsilon, m):
    mean, covariance = belief(epsilon)
    chance = of_being_largest(mean, covariance)
    if m == 3:
        counts = request.getfixturevalue("batches_of_three")
    else:
        counts = batches(agent_told("dpp-ts", m, epsilon, batch={"type": "dpp", "steps": 20}), 1500)
    assert excess(counts, of_dpp(chance, covariance, m)) < 1.0
    # Thompson sampling is another law, and so is the determinant of another covariance.
    assert excess(counts, of_dpp(chance, 0.0 * covariance, m)) > 2.0
    assert excess(counts, of_dpp(chance, 0.1 * covariance, m)) > 1.0


def test_too_short_a_chain_is_found_out(batches_of_three):
    """How the number of steps shows: the distance to the law falls with them."""
    mean, covariance = belief(0.0)
    law = of_dpp(of_being_largest(mean, covariance), covariance, 3)
    far = []
    for steps in (0, 2, 10, 50):
        if steps == 50:
            counts = batches_of_three
        else:
            agent = agent_told("dpp-ts", 3, 0.0, batch={"type": "dpp", "steps": steps})
            counts = batches(agent, 800)
        far.append(0.5 * np.abs(counts / counts.sum() - law).sum())
    assert far[0] > 0.3
    assert far[0] > far[1] > far[2] + 0.02
    assert far[3] < 0.15
