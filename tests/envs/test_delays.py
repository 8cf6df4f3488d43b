"""The law of delays."""

import numpy as np
import pytest
from scipy.special import ndtri

from gpbandits_env.envs.delays import NEVER, Delays


@pytest.mark.parametrize(("least", "most", "lost"), [(0, 3, 0.0), (2, 6, 0.25), (4, 4, 0.5)])
def test_delays_are_uniform_from_the_least_to_the_most_unless_rewards_are_lost(least, most, lost):
    at = (np.arange(6000) + 0.5) / 6000
    delays = Delays(least=least, most=most, lost=lost).from_normal(ndtri(at))
    found, counts = np.unique(delays, return_counts=True)
    each = dict.fromkeys(range(least, most + 1), (1.0 - lost) / (most - least + 1))
    expected = each | ({NEVER: lost} if lost else {})
    shares = dict(zip(found.tolist(), (counts / 6000).tolist(), strict=True))
    assert shares == pytest.approx(expected, abs=1e-3)
