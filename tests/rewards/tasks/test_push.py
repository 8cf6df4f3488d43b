import sys

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, MissingExtra, UnknownName
from gpbandits_env.rewards.tasks import make_task
from gpbandits_env.rewards.tasks.push import Push, engine, pushed

# Where the disc ends in the engine itself, driven by the controller alone.
KNOWN = [
    (False, (-3, 2, 10), (1.226541, -0.817694)),
    (False, (-2, -2, 5), (0.327076, 0.327076)),
    (False, (0.5, 0.5, 1), (-0.356164, -0.356164)),
    (True, (-3, 2, 10, 0.3), (2.902300, -0.017344)),
    (True, (-2, -2, 5, 2.5), (2.626056, 3.057076)),
    (True, (4.5, 1, 25, 0), (-8.952232, -0.223343)),
]


@pytest.fixture(params=["push-3d", "push-4d"])
def task(request, prepared):
    return prepared(make_task(request.param))


@pytest.mark.parametrize(("turned", "point", "end"), KNOWN)
def test_where_the_disc_ends(turned, point, end, prepared):
    task = prepared(Push(turned))
    assert task.end(np.array(point, float), np.zeros(2)) == pytest.approx(end, abs=1e-4)
    goal = np.array([1.0, -2.0])
    value = task.values(np.array([point], float), goal)
    assert value == pytest.approx(5.0 - np.hypot(*(goal - end)), abs=2e-4)


def test_evaluations_leave_no_trace(task):
    rng = np.random.default_rng(0)
    box, goal = task.coordinates.box, task.draw(rng)
    points = box.sample(rng, 5)
    together = task.values(points, goal)
    assert together.tolist() == [task.values(p[None], goal)[0] for p in points[::-1]][::-1]


def test_the_time_counts_in_tenths_of_a_second(task):
    point = np.array([2.0, 2.0, 1.0, 0.8])[: len(task.axes)]

    def after(seconds):
        return task.end(np.array([*point[:2], seconds, *point[3:]]), np.zeros(2))

    assert after(9.99) == after(9.9) != after(10.0)


def test_the_noise_is_one_draw_on_the_speed(task):
    points = np.tile(np.array([2.0, 2.0, 10.0, 2.0])[: len(task.axes)], (60, 1))
    goal = np.array([0.0, 0.0])
    seen = task.noisy(points, goal, np.random.default_rng(1))
    again = task.noisy(points, goal, np.random.default_rng(1))
    assert (seen == again).all()
    off = 0.1 * np.random.default_rng(1).standard_normal((60, 2))
    by_hand = [5.0 - np.hypot(*task.end(points[0], o)) for o in off]
    assert seen == pytest.approx(np.array(by_hand), abs=1e-12)
    assert np.ptp(seen) > 0.01


def test_goals_are_uniform_on_the_table(task):
    rng = np.random.default_rng(2)
    goals = np.array([task.draw(rng) for _ in range(2000)])
    assert np.abs(goals).max() <= 5.0
    assert goals.mean(axis=0) == pytest.approx([0, 0], abs=4 * 2.887 / np.sqrt(2000))
    assert goals.std(axis=0) == pytest.approx([2.887] * 2, rel=0.05)


def test_a_push_to_the_goal_is_known(task):
    """And nobody gets beyond 5."""
    rng = np.random.default_rng(3)
    for goal in [*(task.draw(rng) for _ in range(3)), np.array([5.0, 5.0]), np.zeros(2)]:
        best = task.best(goal)
        assert task.coordinates.box.check(best.action[None]) is not None
        value = task.values(best.action[None], goal)[0]
        assert best.optimum == 5.0 == value + best.accuracy
        assert 0.0 <= best.accuracy < 2e-3


@pytest.mark.slow
def test_goals_near_the_disc_are_the_hard_ones(task):
    rng = np.random.default_rng(4)
    short = np.array([task.best(goal).accuracy for goal in rng.uniform(-5, 5, (300, 2))])
    assert np.mean(short < 1e-3) > 0.95
    assert short.max() < 0.05


def test_a_hand_at_the_centre_has_no_direction(task):
    point = np.zeros(len(task.axes))
    point[2] = 1.0
    end = task.end(point, np.zeros(2))
    assert np.isfinite(end).all()
    assert np.hypot(*end) < 2.0


def test_a_goal_may_be_fixed(prepared):
    task = prepared(make_task("push-3d", {"goal": [1, 2]}))
    assert task.draw(np.random.default_rng(0)).tolist() == [1.0, 2.0]
    for bad in ([1, 2, 3], [6, 0], "far", [np.nan, 0.0]):
        with pytest.raises(InvalidInput, match="goal"):
            make_task("push-3d", {"goal": bad})
    with pytest.raises(UnknownName, match="did you mean 'goal'"):
        make_task("push-4d", {"gaol": [1, 2]})


def test_without_the_engine_the_extra_is_named(monkeypatch):
    engine.cache_clear()
    monkeypatch.setitem(sys.modules, "Box2D", None)  # which Python takes for "not installed"
    with pytest.raises(MissingExtra, match=r"gpbandits-env\[push\]"):
        Push().prepare()
    with pytest.raises(MissingExtra):
        pushed((1.0, 1.0), 0.0, (0.0, 0.0), 1)
