from dataclasses import dataclass, field

import numpy as np
import pytest


@dataclass
class ByHand:
    """Results of a cell by hand; what is not given is as simple as can be."""

    finals: dict = field(default_factory=dict)
    regrets: dict = field(default_factory=dict)
    orders: dict = field(default_factory=dict)
    times: dict = field(default_factory=dict)
    spent: dict = field(default_factory=dict)

    @property
    def labels(self):
        return tuple({**self.finals, **self.regrets, **self.orders, **self.times})

    def size(self, labels):
        given = {**self.finals, **self.regrets, **self.times}
        shapes = [np.shape(given.get(label, np.zeros((2, 1)))) for label in labels]
        return min(s[0] for s in shapes), min(s[1] if len(s) > 1 else 1 for s in shapes)

    def final(self, metric, labels):
        return {label: self.finals[label] for label in labels}

    def regret(self, labels):
        return {label: self.regrets[label] for label in labels}

    def model_order(self, label):
        return self.orders[label]

    def seconds(self, label):
        return self.times[label]

    def evaluations(self, label):
        return self.spent[label]


@pytest.fixture
def by_hand():
    return ByHand


@pytest.fixture
def check():
    """What becomes of a finding, from the figures of each agent at the last round."""
    return lambda finding, final: finding.look(ByHand(finals=final))
