import numpy as np
import pytest

from gpbandits_env.rewards import regret

VALUES = np.array([[1.0, 0.5], [2.0, -1.0], [1.5, 1.75]])
OPTIMUM = np.array([[2.0], [2.5], [2.0]])  # a maximum that moves
REGRET = np.array([[1.0, 1.5], [0.5, 3.5], [0.5, 0.25]])


def test_definitions_by_hand():
    assert np.array_equal(regret.instantaneous(OPTIMUM, VALUES), REGRET)
    assert np.array_equal(regret.cumulative(REGRET), [2.5, 6.5, 7.25])
    assert np.array_equal(regret.simple(REGRET), [1.0, 0.5, 0.25])
    assert np.allclose(regret.average(REGRET), [2.5 / 2, 6.5 / 4, 7.25 / 6])


def test_one_action_a_round_may_be_flat():
    flat = REGRET[:, 0]
    for measure in (regret.cumulative, regret.simple, regret.average):
        assert np.array_equal(measure(flat), measure(flat[:, None]))


@pytest.mark.parametrize("m", [1, 2, 5, 8, 9, 130])
def test_running_sums_equal_the_definitions_and_each_other(m):
    instances, rounds = 3, 20
    table = np.random.default_rng(0).random((rounds, instances, m))
    total, least = np.zeros(instances), np.full(instances, np.inf)
    singles = [(0.0, np.inf)] * instances
    for t in range(rounds):
        total, least = regret.counted_each(total, least, table[t])
        singles = [regret.counted(*single, table[t, i]) for i, single in enumerate(singles)]
    for i, (cumulative, simple) in enumerate(singles):
        assert cumulative == total[i]
        assert simple == least[i]
        assert cumulative == pytest.approx(regret.cumulative(table[:, i])[-1], rel=1e-12)
        assert simple == regret.simple(table[:, i])[-1]
