"""Any sequence of operations leaves the posterior equal to the dense formula."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

arms = st.lists(st.integers(0, 11), min_size=1, max_size=5)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("condition"), arms, st.integers(0, 99)),
        st.tuples(
            st.just("condition"), st.lists(st.integers(0, 11), min_size=1, max_size=1), st.just(7)
        ),
        st.tuples(st.just("hallucinate"), arms),
        st.tuples(st.just("rollback")),
        st.tuples(st.just("advance"), st.sampled_from([0.0, 0.01, 0.3, 0.999999, 1.0])),
        st.tuples(st.just("save")),
        st.tuples(st.just("go_back")),
        st.tuples(st.just("forget")),
    ),
    min_size=5,
    max_size=40,
)


class Pair:
    """A posterior beside its dense counterpart."""

    def __init__(self, posterior, dense):
        self.posterior, self.dense = posterior, dense
        self.extra = []
        self.saved = None

    def condition(self, arms, seed):
        rewards = np.random.default_rng(seed).standard_normal(len(arms))
        self.posterior.condition(np.array(arms), rewards)
        self.dense.condition(arms, rewards)
        self.extra = []

    def hallucinate(self, arms):
        self.posterior.hallucinate(arms)
        self.extra = self.extra + arms

    def rollback(self):
        self.posterior.rollback()
        self.extra = []

    def advance(self, epsilon):
        self.posterior.advance(epsilon)
        self.dense.advance(epsilon)
        self.extra = []

    def save(self):
        self.saved = copy.deepcopy((self.posterior, self.dense, self.extra))

    def go_back(self):
        if self.saved:
            self.posterior, self.dense, self.extra = copy.deepcopy(self.saved)

    def forget(self):
        self.posterior.forget()
        self.dense.arms, self.dense.rewards, self.dense.ages = [], [], []
        self.extra = []

    def check(self):
        mean, covariance = self.dense.moments(self.extra)
        np.testing.assert_allclose(self.posterior.mean, mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(self.posterior.var, covariance.diagonal(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("world", ["se", "empirical", "sum"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequence=operations)
def test_any_sequence(make, dense_of, world, representation, sequence):
    posterior = make(world, representation, prior_mean=0.3)
    pair = Pair(posterior, dense_of(posterior))
    for name, *given_ in sequence:
        getattr(pair, name)(*given_)
        pair.check()
