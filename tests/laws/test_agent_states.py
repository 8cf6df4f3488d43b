"""Every registered agent can be stopped, copied and carried on, and no failure leaves a trace."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.kernels import SquaredExponential
from gpbandits_env.problem import Problem


def test_carrying_on_is_as_good_as_never_stopping(laws, fresh):
    """From a snapshot, in the same agent and in another one, and as a pickled agent."""
    agent = fresh()
    laws.play(agent, 7)  # a multiple of no number of rounds after which an agent does something
    state = agent.snapshot()
    kept, twin = (pickle.loads(pickle.dumps(one)) for one in (state, agent))
    ahead = laws.play(agent, 6)
    end = agent.snapshot()
    assert laws.same(state, kept)  # the snapshot is a copy
    assert laws.same(twin.snapshot(), kept)
    assert np.array_equal(laws.play(twin, 6), ahead)
    assert laws.beliefs_agree(twin, agent)
    agent.restore(state)
    assert laws.same(agent.snapshot(), kept)
    assert np.array_equal(laws.play(agent, 6), ahead)
    assert laws.same(agent.snapshot(), end)
    assert laws.same(state, kept)  # and so is what was restored
    other = fresh()
    laws.play(other, 2)  # what it did before must leave no trace
    other.restore(kept)
    assert laws.same(other.snapshot(), state)
    assert np.array_equal(laws.play(other, 6), ahead)
    assert laws.same(other.snapshot(), end)
    assert laws.beliefs_agree(other, agent)


@pytest.mark.parametrize("domain", ["grid", "candidates", "box"])
def test_a_restore_that_fails_changes_nothing(laws, case, domain):
    agent = laws.build(case, laws.problem_on(domain, 2), domain)
    laws.play(agent, 5)
    before = agent.snapshot()
    wrong = [{}, None, {**before, "more": 1}, {**before, "rng": 3}, {**before, "round": "first"}]
    wrong += [{k: v for k, v in before.items() if k != key} for key in before]
    wrong += [{**before, key: object()} for key in before]
    for state in wrong:
        with pytest.raises(InvalidInput):
            agent.restore(state)
        assert laws.same(agent.snapshot(), before)
    other = laws.build(case, laws.problem_on(domain, 2), domain)
    other.restore(before)
    assert np.array_equal(laws.play(agent, 5), laws.play(other, 5))


@pytest.mark.parametrize("place", [("arms", 4), ("box", 1)], ids=["arms-4", "box-1"])
def test_two_agents_in_two_threads_do_as_alone(laws, fresh, short_turns):
    def played(seed):
        return laws.play(fresh(seed=seed), 5)

    alone = [played(seed) for seed in (3, 4)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(played, (3, 4)))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_a_batch_may_have_more_actions_than_there_are_arms(laws, case):
    problem = Problem(Arms.grid(3), SquaredExponential(0.3), 0.05, 7, horizon=50, epsilon=0.05)
    needed = laws.needed.get(case[0], {})
    agent = laws.build((case[0], {**needed, **case[1]}), problem)
    played = laws.play(agent, 4)
    assert played.shape == (4, 7)
    assert set(played.ravel().tolist()) <= {0, 1, 2}
