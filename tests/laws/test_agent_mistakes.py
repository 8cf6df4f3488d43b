"""What no agent accepts, and what is left of it: nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput


class Mistakes:
    """Strategies of (actions, rewards) that no agent may accept."""

    numbers = st.floats(-3, 3)

    def __init__(self, agent):
        self.agent, self.domain = agent, agent.problem.domain
        self.is_box = isinstance(self.domain, Box)
        self.pool = np.concatenate([agent.ask() for _ in range(5)]).tolist()

    def _good(self, k):
        return self.pool[:k]

    def all(self):
        kinds = [self.no_data(), self.rewards(), self.lengths(), self.actions(), self.nonsense()]
        return st.one_of(kinds)

    def no_data(self):
        return st.sampled_from([([], []), (np.array([], int), np.array([])), ([[]], [])])

    def rewards(self):
        wrong = st.sampled_from([np.nan, np.inf, -np.inf, "much", None, [1.0, 2.0]])
        return st.integers(1, 5).flatmap(
            lambda k: st.tuples(
                st.just(self._good(k)),
                st.tuples(st.lists(self.numbers, min_size=k, max_size=k), wrong).map(
                    lambda pair: [*pair[0][:-1], pair[1]]
                ),
            )
        )

    def lengths(self):
        counts = st.tuples(st.integers(1, 5), st.integers(0, 6)).filter(lambda p: p[0] != p[1])
        shapes = counts.map(lambda p: (self._good(p[0]), [0.5] * p[1]))
        deeper = st.integers(1, 4).map(lambda k: (self._good(k), [[0.5]] * k))
        flat = st.just((self._good(1), 0.5))
        return st.one_of(shapes, deeper, flat)

    def actions(self):
        if self.is_box:
            outside = st.sampled_from([[-1.1, 0.5], [0.0, 3.1], [np.nan, 1.0], [0.0, np.inf]])
            shapes = st.sampled_from([[0.0], [0.0, 1.0, 2.0], 0.5, [[0.0, 1.0]]])
            # A point of the box that is none of the candidates, for those who have candidates.
            stray = st.just([0.123456789, 1.5]) if self.agent.belief() else st.nothing()
            one = st.one_of(outside, shapes, stray)
        else:
            n = self.domain.size
            one = st.one_of(
                st.integers(max_value=-1),
                st.integers(min_value=n),
                st.floats(),
                st.sampled_from([True, "arm", None, [0], [0, 1], 1j]),
            )
        position = st.integers(0, 2)
        return (
            st.tuples(one, position)
            .map(lambda pair: ([*self._good(pair[1]), pair[0]], [0.5] * (pair[1] + 1)))
            .filter(self._wrong)
        )

    def _wrong(self, pair):
        # Among whole numbers NumPy reads True as 1, which is an arm.
        return not (len(pair[0]) > 1 and pair[0][-1] is True)

    def nonsense(self):
        return st.sampled_from(
            [
                (None, None),
                ("ab", [1.0]),
                ({}, {}),
                (self._good(1), None),
                (None, [1.0]),
                (3, [1.0]),
                ([self._good(1)[0], [0, [1]]], [0.5, 0.5]),
                (self._good(1), [10**400]),
                (self._good(1), np.array([1.0 + 1.0j])),
                (self._good(1), ["1.0"]),
                (self._good(2), [[1.0, 2.0], [1.0]]),
            ]
        )


@pytest.mark.parametrize("domain", ["grid", "candidates", "box"])
def test_bad_input_is_refused_and_changes_nothing(laws, case, domain):
    agent = laws.build(case, laws.problem_on(domain, 2), domain)
    laws.play(agent, 7)
    mistakes = Mistakes(agent)

    @settings(max_examples=25, deadline=None, database=None, derandomize=True)
    @given(mistakes.all())
    def refuse(pair):
        before = agent.snapshot()
        with pytest.raises(InvalidInput):
            agent.tell(*pair)
        assert laws.same(agent.snapshot(), before)

    refuse()
    other = laws.build(case, laws.problem_on(domain, 2), domain)
    laws.play(other, 7)
    other.restore(agent.snapshot())
    assert np.array_equal(laws.play(agent), laws.play(other))
