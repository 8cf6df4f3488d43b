from dataclasses import dataclass, field

import numpy as np
import pytest

from gpbandits_env.scenarios.findings.compression import AtMost, LessTime, ModelOrder, first_refusal

ROUNDS = 100


@dataclass
class Told:
    """Evidence by hand."""

    finals: dict = field(default_factory=dict)
    orders: dict = field(default_factory=dict)
    times: dict = field(default_factory=dict)
    spent: dict = field(default_factory=dict)

    @property
    def labels(self):
        return tuple({**self.finals, **self.orders, **self.times})

    def final(self, metric, labels):
        return {k: v for k, v in self.finals.items() if k in labels}

    def model_order(self, label):
        return self.orders[label]

    def seconds(self, label):
        return self.times[label]

    def evaluations(self, label):
        return self.spent[label]


def test_close_is_a_ratio_of_means():
    evidence = Told(finals={"a": np.array([1.0, 1.4]), "b": np.array([1.2, 0.8])})
    check = AtMost("a", "b").look(evidence)
    assert check.holds
    assert check.numbers["ratio"] == pytest.approx(1.2)
    assert not AtMost("a", "b", factor=1.1).look(evidence).holds
    assert AtMost("a", "c").look(evidence).holds is None


def test_a_model_order_settles_or_grows():
    rounds = np.arange(1, ROUNDS + 1.0)
    orders = {"dense": rounds, "gated": np.minimum(rounds, 30), "slow": 30 + 0.05 * rounds}
    evidence = Told(orders=orders)
    settled = ModelOrder("gated", at_most=0.01).look(evidence)
    assert settled.holds
    assert settled.numbers["first refusal"] == 31
    assert settled.numbers["last"] == 30
    grown = ModelOrder("dense", above=0.5).look(evidence)
    assert grown.holds
    assert grown.numbers["slope"] == pytest.approx(1.0)
    assert "first refusal" not in grown.numbers
    assert not ModelOrder("gated", above=0.01).look(evidence).holds
    assert not ModelOrder("slow", at_most=0.01).look(evidence).holds
    assert ModelOrder("slow", at_most=0.06, above=0.01).look(evidence).holds
    # Over all rounds the gated one has grown.
    assert not ModelOrder("gated", at_most=0.01, part=1.0).look(evidence).holds
    assert ModelOrder("other", at_most=0.01).look(evidence).holds is None


def test_the_first_refusal_is_that_of_the_first_trial_to_refuse():
    one, other = np.minimum(np.arange(1, 11), 4), np.minimum(np.arange(1, 11), 7)
    assert first_refusal(one.astype(float)) == 5
    assert first_refusal((one + other) / 2) == 5
    assert first_refusal(np.arange(1, 11.0) + 16) is None


def test_time_counts_evaluations_where_they_cost():
    times = {"a": np.full((2, ROUNDS), 0.02), "b": np.full((2, ROUNDS), 0.01)}
    spent = {"a": np.tile(np.minimum(np.arange(1, ROUNDS + 1.0), 20), (2, 1)),
             "b": np.tile(np.arange(1, ROUNDS + 1.0), (2, 1))}  # fmt: skip
    evidence = Told(times=times, spent=spent)
    alone = LessTime("a", "b", paper=0.5).look(evidence)
    assert not alone.holds
    assert alone.numbers["ratio"] == pytest.approx(2.0)
    assert "the paper: 0.50" in alone.statement
    whole = LessTime("a", "b", paper=0.28, evaluation=0.1).look(evidence)
    assert whole.holds
    assert whole.numbers["ratio"] == pytest.approx((2 + 20 * 0.1) / (1 + 100 * 0.1))
    assert "100 ms an evaluation" in whole.statement
    assert LessTime("a", "c").look(evidence).holds is None
    assert "paper" not in LessTime("a", "b").statement
