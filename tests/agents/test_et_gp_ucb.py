"""The trigger of ET-GP-UCB against its formula."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gpbandits_env.agents.algorithms.et_gp_ucb import EventTrigger

POSTERIOR = SimpleNamespace(noise_var=0.04, moments=lambda at: (np.ones(len(at)), 0.25 * at))


@pytest.mark.parametrize(("first_round", "since"), [(3.0, 3), (math.inf, 1), (-4.0, 5)])
@pytest.mark.parametrize("beyond", [False, True])
def test_a_reward_outside_its_bound_is_an_event_unless_it_is_late(first_round, since, beyond):
    """Brunzema et al. (2022), Algorithm 1, with t the rounds since the last event."""
    rho = 2.0 * math.log(2.0 * (math.pi**2 * since**2 / 6.0) / 0.1)
    bound = math.sqrt(rho) * 0.5 + 0.2 * math.sqrt(rho)
    given = np.array([1.0, 1.0 - bound * (1.001 if beyond else 0.999), 99.0])
    trigger = EventTrigger(0.1)
    trigger.observe(
        SimpleNamespace(
            rounds=np.array([5.0, 5.0, 4.0]),
            round=5,
            first_round=first_round,
            posterior=POSTERIOR,
            points=np.ones(3),
            given=given,
        )
    )
    assert trigger.events == beyond
    assert trigger.start == (5.0 if beyond else -math.inf)
