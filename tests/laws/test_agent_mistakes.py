"""What no agent accepts, and what is left of it: nothing."""

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput


def no_actions(agent):
    """What is none of the agent's actions."""
    if isinstance(agent.problem.domain, Box):
        yield from ([-1.1, 0.5], [0.0, 3.1], [np.nan, 1.0], [0.0, np.inf])
        yield from ([0.0], [0.0, 1.0, 2.0], 0.5, [[0.0, 1.0]])
        if agent.belief():  # a point of the box that is none of the candidates
            yield [0.123456789, 1.5]
    else:
        yield from (-1, agent.problem.domain.size, 2**63, -(2**70), 1.0, 0.5, np.nan)
        yield from (True, "arm", None, [0], [0, 1], 1j)


def mistakes(agent, good):
    """Pairs of actions and rewards; of the actions ``good`` the agent would accept all."""
    yield from [([], []), (np.array([], int), np.array([])), ([[]], [])]
    for wrong in (np.nan, np.inf, -np.inf, "much", None, [1.0, 2.0]):
        yield good[:1], [wrong]
        yield good[:3], [0.5, -2.0, wrong]
    for k in (0, 1, 3, 6):
        yield good[:2], [0.5] * k
        yield good[:5], [0.5] * k
    yield from [(good[:1], [[0.5]]), (good[:3], [[0.5]] * 3), (good[:1], 0.5)]
    for wrong in no_actions(agent):
        yield [wrong], [0.5]
        if wrong is not True:  # among whole numbers NumPy reads it as 1, which is an arm
            yield [*good[:2], wrong], [0.5] * 3
    yield from [(None, None), ("ab", [1.0]), ({}, {}), (None, [1.0]), (0.5, [1.0])]
    yield [good[0], [0, [1]]], [0.5, 0.5]
    for rewards in (None, [10**400], np.array([1.0 + 1.0j]), ["1.0"]):
        yield good[:1], rewards
    yield good[:2], [[1.0, 2.0], [1.0]]


def test_bad_input_is_refused_and_changes_nothing(run):
    agent, before = run.middle(), run.kept()
    for actions, rewards in mistakes(agent, np.concatenate(run.played).tolist()):
        with pytest.raises(InvalidInput):
            agent.tell(actions, rewards)
        assert run.same(agent.snapshot(), before), (actions, rewards)
    assert run.ends_alike(agent)
