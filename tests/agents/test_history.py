"""What was told can be told anew, with all that has faded since."""

import numpy as np
import pytest

from gpbandits_env.agents.history import History
from gpbandits_env.domains import Arms
from gpbandits_env.kernels import SquaredExponential
from gpbandits_env.posterior import posterior_on

TOLD = [([0, 3], [0.4, -0.3], (0.2, 0.3)), ([1], [0.9], ()), ([3, 2], [0.6, 0.3], (0.1,))]


@pytest.mark.parametrize("fading", [True, False])
def test_a_posterior_told_anew_is_the_one_told_before(fading):
    before, after = (posterior_on(Arms.grid(6), SquaredExponential(0.3), 0.1) for _ in range(2))
    history = History()
    history.faded(0.5)  # of nothing
    for arms, rewards, epsilons in TOLD:
        before.condition(arms, rewards)
        history.add(np.array(arms), np.array(rewards))
        for epsilon in epsilons if fading else ():
            before.advance(epsilon)
            history.faded(epsilon)
    again = History()
    again.restore(history.snapshot())
    after.replay(again.log)
    assert after.mean == pytest.approx(before.mean, abs=1e-12)
    assert after.var == pytest.approx(before.var, abs=1e-12)
    history.clear()
    fresh = posterior_on(Arms.grid(6), SquaredExponential(0.3), 0.1)
    fresh.replay(history.log)
    assert fresh.size == 0
