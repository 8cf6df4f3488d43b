"""Every registered agent can be stopped, copied and carried on, and no failure leaves a trace."""

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem


def spoil(state):
    """Change all arrays and lists of a snapshot."""
    if isinstance(state, np.ndarray):
        state.fill(0)
    elif isinstance(state, dict | list | tuple):
        for part in state.values() if isinstance(state, dict) else state:
            spoil(part)
        if isinstance(state, list):
            state.clear()


def test_carrying_on_is_as_good_as_never_stopping(run):
    """From a snapshot, in the same agent and in another one, and as a pickled agent."""
    assert run.same(run.state, run.kept())  # the snapshot is a copy
    twin = run.middle()
    assert run.same(twin.snapshot(), run.kept())
    spoil(twin.snapshot())
    assert run.same(twin.snapshot(), run.kept())
    assert run.ends_alike(twin)
    other = run.fresh()
    run.play(other, 2)  # what it did before must leave no trace
    for agent in (run.last(), other):
        state = run.kept()
        agent.restore(state)
        assert run.same(agent.snapshot(), state)
        assert run.ends_alike(agent)
        assert run.same(state, run.kept())  # what was restored is a copy, too


def test_a_restore_that_fails_changes_nothing(run):
    agent, before = run.middle(), run.kept()
    wrong = [{}, None, {**before, "more": 1}, {**before, "rng": 3}, {**before, "round": "first"}]
    wrong += [{k: v for k, v in before.items() if k != key} for key in before]
    wrong += [{**before, key: object()} for key in before]
    for state in wrong:
        with pytest.raises(InvalidInput):
            agent.restore(state)
        assert run.same(agent.snapshot(), before)
    assert run.ends_alike(agent)


def test_a_batch_may_have_more_actions_than_there_are_arms(laws, case):
    problem = Problem(Arms.grid(3), SquaredExponential(0.3), 0.05, 7, horizon=50, epsilon=0.05)
    if laws.refused(case, problem):
        return
    needed = laws.needed.get(case[0], {})
    agent = laws.build((case[0], {**needed, **case[1]}), problem, "arms")
    played = laws.play(agent, 4)
    assert played.shape == (4, 7)
    assert set(played.ravel().tolist()) <= {0, 1, 2}
