"""Which rounds count, and that a restored rule counts the same."""

import math

import pytest

from gpbandits_env.agents.algorithms.et_gp_ucb import EventTrigger
from gpbandits_env.agents.data.keep import Keep, Restart, Since, Window


@pytest.mark.parametrize(
    ("make", "firsts"),
    [
        (Keep, [-math.inf] * 7),
        (Since, [2.0] * 7),
        (lambda: Window(2), [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        (lambda: Restart(3), [-math.inf] * 3 + [3.5] * 3 + [6.5]),
        (lambda: EventTrigger(0.1), [2.0] * 7),
    ],
    ids=["keep", "since", "window", "restart", "event"],
)
def test_the_first_round_that_counts_also_after_a_stage_and_once_restored(make, firsts):
    keep, other = make(), make()
    if isinstance(keep, Since):
        keep.start = 2.0
    if isinstance(keep, EventTrigger):
        keep.events = 3
    for stage in (-math.inf, 4.5):
        keep.stage, keep.stages = stage, 1
        other.restore(keep.state())
        assert vars(other) == vars(keep)
        for one in (keep, other):
            assert [one.first(t) for t in range(1, 8)] == [max(stage, first) for first in firsts]
    keep.begin()
    assert vars(keep) == vars(make())
