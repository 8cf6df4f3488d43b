import pickle

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.functions import TEST_FUNCTIONS, ArmFunction
from gpbandits_env.tasks import TASKS, Axes, Axis, TaskSource, make_task

AXES = Axes(
    (
        Axis("rate", 1e-4, 1.0, "log"),
        Axis("nodes", 1, 101, "integer"),
        Axis("w", -2.0, 6.0, count=3),
    )
)


def test_the_cube_is_logarithmic_where_the_axis_is():
    assert AXES.box.low.tolist() == [1e-4, 1, -2, -2, -2]
    assert AXES.box.high.tolist() == [1, 101, 6, 6, 6]
    cube = np.array([[-1.0] * 5, [0.0] * 5, [1.0] * 5, [0.5, 0.31, 0.25, -0.5, 0.0]])
    points = AXES.natural(cube)
    assert points[0] == pytest.approx(AXES.box.low)
    assert points[1] == pytest.approx([1e-2, 51, 2, 2, 2])
    assert points[2] == pytest.approx(AXES.box.high)
    assert points[3] == pytest.approx([1e-1, 66.5, 3, 0, 2])
    assert AXES.to_cube(points) == pytest.approx(cube)
    assert AXES.rounded(points)[3] == pytest.approx([1e-1, 66, 3, 0, 2])


def test_the_corners_of_the_cube_are_in_the_box():
    for task in (make_task("boston"), make_task("mnist-logistic")):
        axes = task.coordinates
        for corner in (axes.cube.low, axes.cube.high):
            axes.box.check(axes.natural(corner[None]))
            axes.cube.check(axes.to_cube(axes.natural(corner[None])))


def test_axes_that_cannot_be_are_refused():
    with pytest.raises(InvalidInput, match="scale"):
        Axis("x", 0, 1, "cubic")
    with pytest.raises(InvalidInput, match="above 0"):
        Axis("x", 0, 1, "log")
    with pytest.raises(InvalidInput, match="below high"):
        _ = Axes((Axis("x", 1, 1),)).box


@pytest.mark.parametrize("name", [*TASKS, *TEST_FUNCTIONS])
def test_a_task_is_small_to_pickle_before_it_is_prepared(name):
    task = make_task(name)
    assert len(pickle.dumps(task)) < 2000
    assert pickle.loads(pickle.dumps(task)) == task


@pytest.mark.parametrize("name", TASKS)
def test_a_task_keeps_its_word(name, prepared):
    """Values lie within the bounds, none beats the optimum, and the best action is worth it."""
    task = prepared(make_task(name))
    drawn = task.draw(np.random.default_rng(0))
    best, box = task.best(drawn), task.coordinates.box
    low, high = task.bounds()
    points = np.vstack([box.sample(np.random.default_rng(1), 8), box.low, box.high])
    values = task.values(task.coordinates.rounded(points), drawn)
    assert values.shape == (10,)
    assert ((low <= values) & (values <= high)).all()
    assert (values <= best.optimum + best.accuracy).all()
    worth = task.values(box.check(best.action[None]), drawn)[0]
    assert abs(best.optimum - worth) <= best.accuracy
    again = task.values(task.coordinates.rounded(points[::-1]), drawn)[::-1]
    assert values == pytest.approx(again, rel=1e-9)


@pytest.mark.parametrize("name", ["ackley", "rosenbrock"])
def test_a_test_function_in_another_box(name):
    task = make_task(name, dim=2, box=(-3, [4, 5]))
    assert task.coordinates.box.low.tolist() == [-3, -3]
    assert task.coordinates.box.high.tolist() == [4, 5]
    points = task.coordinates.box.sample(np.random.default_rng(0), 9)
    given = TEST_FUNCTIONS[name]
    assert (task.values(points, np.zeros(0)) == given.formula(points)).all()
    assert task.best(np.zeros(0)).optimum == given.maximum


def test_a_number_is_a_corner_in_every_coordinate():
    assert make_task("ackley", dim=4, box=(-5, 5)).coordinates.box.high.tolist() == [5] * 4
    assert make_task("rosenbrock", box=(-5, 5)).coordinates.box.low.tolist() == [-5] * 2


def test_what_does_not_fit_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'push-3d'"):
        make_task("push-3")
    with pytest.raises(InvalidInput, match="task_options"):
        make_task("push-3d", dim=3)
    with pytest.raises(UnknownName, match="option"):
        make_task("ackley", {"a": 3})
    for box in ("abc", [1], 3, ([0, 0], [1, 1, 1]), (2, 1)):
        with pytest.raises(InvalidInput):
            make_task("ackley", dim=2, box=box)
    with pytest.raises(InvalidInput, match="maximum"):
        make_task("ackley", dim=2, box=(1, 5))


def test_on_arms_all_are_evaluated_and_the_maximum_is_exact():
    from gpbandits_env.domains import Arms

    task = make_task("camelback")
    cube = Arms.grid((9, 8), -1, 1)
    function = TaskSource(task, scaled=True, arms=cube).draw(np.random.default_rng(0))
    assert isinstance(function, ArmFunction)
    points = task.coordinates.natural(cube.coordinates)
    assert points.max(axis=0).tolist() == [3, 2]
    assert function.values == pytest.approx(task.values(points, np.zeros(0)))
    assert function.accuracy == 0.0
