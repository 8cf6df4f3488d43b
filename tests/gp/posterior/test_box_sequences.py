"""Any sequence of operations: the box, the arms and the dense formula agree on the same points."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpbandits_env.domains import Box
from gpbandits_env.gp.posterior import BoxPosterior

arms = st.lists(st.integers(0, 29), min_size=1, max_size=5)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("condition"), arms, st.integers(0, 99)),
        st.tuples(st.just("hallucinate"), arms),
        st.tuples(st.just("rollback")),
        st.tuples(
            st.just("advance"),
            st.sampled_from([0.0, 0.01, 0.3, 0.999999, 1.0]),
            st.sampled_from([0.0, 0.3, 1.0, 7.0]),
        ),
        st.tuples(st.just("save")),
        st.tuples(st.just("go_back")),
        st.tuples(st.just("forget")),
    ),
    min_size=5,
    max_size=40,
)


class Three:
    """A posterior on a box, one on arms, and the dense formula."""

    def __init__(self, on_arms, dense):
        self.on_arms, self.dense, self.extra = on_arms, dense, []
        self.points = on_arms.arms.coordinates
        box = Box(self.points.min(axis=0), self.points.max(axis=0))
        self.in_box = BoxPosterior(
            box, on_arms.kernel, on_arms.noise_var, float(on_arms.prior_mean[0])
        )
        self.saved = None

    def condition(self, chosen, seed):
        rewards = np.random.default_rng(seed).standard_normal(len(chosen))
        self.in_box.condition(self.points[chosen], rewards)
        self.on_arms.condition(np.array(chosen), rewards)
        self.dense.condition(chosen, rewards)
        self.extra = []

    def hallucinate(self, chosen):
        self.in_box.hallucinate(self.points[chosen])
        self.on_arms.hallucinate(chosen)
        self.extra = self.extra + chosen

    def rollback(self):
        self.in_box.rollback()
        self.on_arms.rollback()
        self.extra = []

    def advance(self, epsilon, dt):
        for thing in (self.in_box, self.on_arms, self.dense):
            thing.advance(epsilon, dt)
        self.extra = []

    def save(self):
        self.saved = copy.deepcopy((self.in_box, self.on_arms, self.dense, self.extra))

    def go_back(self):
        if self.saved:
            self.in_box, self.on_arms, self.dense, self.extra = copy.deepcopy(self.saved)

    def forget(self):
        self.in_box.forget()
        self.on_arms.forget()
        self.dense.arms, self.dense.rewards, self.dense.ages = [], [], []
        self.extra = []

    def check(self):
        mean, var = self.in_box.moments(self.points)
        want, covariance = self.dense.moments(self.extra)
        np.testing.assert_allclose(mean, want, rtol=0, atol=1e-8)
        np.testing.assert_allclose(var, covariance.diagonal(), rtol=0, atol=1e-8)
        np.testing.assert_allclose(mean, self.on_arms.mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(var, self.on_arms.var, rtol=0, atol=1e-8)
        assert self.in_box.size == self.on_arms.size
        assert self.in_box.information_gain == pytest.approx(
            self.on_arms.information_gain, rel=1e-8, abs=1e-8
        )
        np.testing.assert_allclose(
            self.in_box.mean_at_observed(), self.in_box.moments(self.in_box.observed)[0], atol=1e-8
        )


@pytest.mark.parametrize("world", ["se", "se-ard", "matern52", "linear", "sum"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequence=operations)
def test_any_sequence(make, dense_of, world, sequence):
    on_arms = make(world, "rows", prior_mean=0.3)
    three = Three(on_arms, dense_of(on_arms))
    for name, *given_ in sequence:
        getattr(three, name)(*given_)
        three.check()


def test_a_long_run_under_drift(make, dense_of):
    """Points are dropped on the way."""
    on_arms = make("matern52", "rows")
    three = Three(on_arms, dense_of(on_arms))
    rng = np.random.default_rng(0)
    for t in range(300):
        three.condition([int(rng.integers(30))], t)
        three.advance(0.3, 1.0)
        if t % 25 == 24:
            three.check()
    assert len(three.in_box.observed) < 200
