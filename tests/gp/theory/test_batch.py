"""rho_m against its bound on every subset; the bound of Theorem 1 against its formula."""

import itertools

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp import theory
from gpbandits_env.gp.kernels import Matern32, SquaredExponential

NOISE_VAR = 0.05
ARMS = Arms.grid(9)


def variances(gram, seen):
    if not seen:
        return gram.diagonal().copy()
    inner = gram[np.ix_(seen, seen)] + NOISE_VAR * np.eye(len(seen))
    return gram.diagonal() - (gram[seen] * np.linalg.solve(inner, gram[seen])).sum(axis=0)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Matern32(0.5, 2.0)])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_no_batch_shrinks_a_deviation_by_more_than_the_bound(kernel, m):
    """All multisets A of m arms, after each number of readings of largest variance."""
    gram = kernel(ARMS.coordinates)
    design, gain = theory.greedy_design(ARMS, kernel, NOISE_VAR, 20)
    bound = theory.rho_bound(gain, m)
    for count in (1, 3, 8, 20):
        seen = design[:count].tolist()
        before = variances(gram, seen)
        rho = max(
            np.sqrt(before / variances(gram, seen + list(batch))).max()
            for batch in itertools.combinations_with_replacement(range(ARMS.size), m)
        )
        assert 1.0 < rho <= bound[count - 1]
        # It is no idle bound: in logarithms within a factor that is not absurd.
        assert np.log(bound[count - 1]) < 12 * np.log(rho)


def test_the_bound_is_its_formula_and_falls_to_one():
    gain = np.log(np.arange(1.0, 5001.0))
    bound = theory.rho_bound(gain, 5)
    assert bound[99] == pytest.approx(np.exp(5 * np.log(100) / 100))
    assert 1.0 < bound[-1] < 1.01
    assert theory.rho_bound([1e6], 3)[0] == np.inf


def test_theorem_1_with_its_constants():
    gain, noise = np.sqrt(np.arange(1.0, 41.0)), 0.25
    curve = theory.regret_bound_ts_rsr(gain, 4, 100, noise, 3.0)
    for rounds in (1, 10):
        n = 4 * rounds
        c1 = 2.0 / noise / np.log(1.0 + 1.0 / noise)
        first = 2.0 * np.sqrt(2.0 * np.log(4.0 * 100 * n**3)) * 3.0
        expected = first * np.sqrt(n * noise * c1 * n**0.5) + np.sqrt(24.0 * np.log(100) * n)
        assert curve[rounds - 1] == pytest.approx(expected)


def test_without_initial_points_rho_is_the_root_of_one_plus_m_over_the_noise():
    """The same arm observed m times attains the bound that the scenarios draw."""
    gram, m = SquaredExponential(0.2)(ARMS.coordinates), 4
    found = np.sqrt(1.0 / variances(gram, [3] * m)[3])
    assert found == pytest.approx(np.sqrt(1.0 + m / NOISE_VAR))


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.rho_bound([1.0, -1.0], 2),
        lambda: theory.rho_bound([1.0], 0),
        lambda: theory.regret_bound_ts_rsr([1.0, 2.0], 1, 1, 0.1, 1.0),
        lambda: theory.regret_bound_ts_rsr([1.0, 2.0], 3, 10, 0.1, 1.0),
        lambda: theory.regret_bound_ts_rsr([1.0, 2.0], 1, 10, 0.0, 1.0),
        lambda: theory.regret_bound_ts_rsr([1.0, 2.0], 1, 10, 0.1, 0.5),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(InvalidInput):
        call()
