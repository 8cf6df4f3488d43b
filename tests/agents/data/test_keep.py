"""Which rounds count, and that a restored rule counts the same."""

import math
from functools import partial

import numpy as np
import pytest

from gpbandits_env import agents
from gpbandits_env.agents.algorithms.et_gp_ucb import EventTrigger
from gpbandits_env.agents.data.keep import Keep, Restart, Since, Window
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52
from gpbandits_env.problem import Problem


@pytest.mark.parametrize(
    ("make", "firsts"),
    [
        (Keep, [-math.inf] * 7),
        (Since, [2.0] * 7),
        (lambda: Window(rounds=2), [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        (lambda: Restart(every=3), [-math.inf] * 3 + [3.5] * 3 + [6.5]),
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


def test_keep_is_a_setting_beside_window_and_reset_every():
    problem = Problem(Arms.grid(9), Matern52(0.3), 0.1)

    def play(**settings):
        agent = agents.make("ucbpe", problem, seed=0, **settings)
        for t in range(9):
            agent.tell(agent.ask(), [np.sin(t)])
        return agent.belief()

    for keep, short in (
        (partial(Window, rounds=3), {"window": 3}),
        (partial(Restart, every=4), {"reset_every": 4}),
        (Keep, {}),
    ):
        np.testing.assert_array_equal(play(keep=keep), play(**short))
    for wrong in (list, 3, "window", {"type": "window", "rounds": 3}):
        with pytest.raises(InvalidInput, match="must make a Keep, got"):
            play(keep=wrong)
    for name in ("et-gp-ucb", "bma-gp-ucb"):
        with pytest.raises(InvalidInput, match="has a keep of its own"):
            agents.make(name, problem, keep=Keep)


def test_a_keep_that_needs_arguments_is_refused():
    problem = Problem(Arms.grid(5), Matern52(0.2), 0.1)
    with pytest.raises(InvalidInput, match="called without arguments"):
        agents.make("gp-ucb", problem, keep=Window)


def test_a_first_round_of_one_s_own_is_a_number():
    problem = Problem(Arms.grid(5), Matern52(0.2), 0.1)
    for given, refused in (
        (lambda t: math.nan, "Own.first returned nan for round 1"),
        (lambda t: math.nan if t > 2 else -math.inf, "Own.first returned nan for round 3"),
        (lambda t: None, "Own.first must return a number, got None"),
    ):
        Own = type("Own", (Keep,), {"first": lambda self, t, given=given: given(t)})

        def play(keep=Own):
            agent = agents.make("gp-ucb", problem, seed=0, keep=keep)
            for _ in range(3):
                agent.tell(agent.ask(), [0.5])

        with pytest.raises(InvalidInput, match=refused):
            play()
