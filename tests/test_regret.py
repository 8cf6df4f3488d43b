import numpy as np
import pytest

from gpbandits_env import regret

VALUES = np.array([[1.0, 0.5], [2.0, -1.0], [1.5, 1.75]])
OPTIMUM = np.array([[2.0], [2.5], [2.0]])  # a maximum that moves
REGRET = np.array([[1.0, 1.5], [0.5, 3.5], [0.5, 0.25]])


def test_definitions_by_hand():
    assert np.array_equal(regret.instantaneous(OPTIMUM, VALUES), REGRET)
    assert np.array_equal(regret.per_batch(REGRET), [2.5, 4.0, 0.75])
    assert np.array_equal(regret.cumulative(REGRET), [2.5, 6.5, 7.25])
    assert np.array_equal(regret.simple(REGRET), [1.0, 0.5, 0.25])
    assert np.allclose(regret.average(REGRET), [2.5 / 2, 6.5 / 4, 7.25 / 6])


def test_one_action_a_round_may_be_flat():
    flat = REGRET[:, 0]
    for measure in (regret.cumulative, regret.simple, regret.average):
        assert np.array_equal(measure(flat), measure(flat[:, None]))


@pytest.mark.parametrize("m", [1, 2, 5, 8, 9, 130])
def test_running_tallies_equal_the_definitions_and_each_other(m):
    worlds, rounds = 3, 20
    table = np.random.default_rng(0).random((rounds, worlds, m))
    side_by_side = regret.Tallies(worlds)
    singles = [regret.Tally() for _ in range(worlds)]
    for t in range(rounds):
        side_by_side.add(table[t])
        for i, tally in enumerate(singles):
            tally.add(table[t, i].copy())
    for i, tally in enumerate(singles):
        assert tally.cumulative == side_by_side.cumulative[i]
        assert tally.simple == side_by_side.simple[i]
        assert tally.cumulative == pytest.approx(regret.cumulative(table[:, i])[-1], rel=1e-12)
        assert tally.simple == regret.simple(table[:, i])[-1]


def test_clearing_one_world_leaves_the_others():
    tallies = regret.Tallies(2)
    tallies.add(np.array([[1.0], [2.0]]))
    tallies.clear(0)
    assert tallies.cumulative.tolist() == [0.0, 2.0]
    assert tallies.simple.tolist() == [np.inf, 2.0]
