import numpy as np
import pytest

from gpbandits_env.scenarios.findings.sweep import SlowerRise, Wider


def test_spread_not_mean_decides():
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(0, 2, 200), rng.normal(5, 1, 200)
    assert Wider("a", "b").check({"a": wide, "b": narrow}).holds
    assert not Wider("b", "a").check({"a": wide, "b": narrow}).holds
    assert not Wider("a", "b").check({"a": wide, "b": wide + 1}).holds


def test_a_rise_is_slow_per_unit():
    final = {"at": np.full(3, 1.0), "over": np.full(3, 1.5), "under": np.full(3, 1.4)}
    check = SlowerRise("at", "over", "under", (0.1, 0.01)).check(final)
    assert check.holds
    assert check.numbers["slope to over"] == pytest.approx(5.0)
    assert check.numbers["slope to under"] == pytest.approx(40.0)
    assert not SlowerRise("at", "over", "under", (0.1, 0.1)).check(final).holds
    assert not SlowerRise("over", "at", "under", (0.1, 0.01)).check(final).holds
