import pickle
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env.domains import Arms
from gpbandits_env.envs.task import scale_of
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.rewards.functions import TEST_FUNCTIONS, ArmFunction
from gpbandits_env.rewards.tasks import (
    TASKS,
    Axes,
    Axis,
    Best,
    Task,
    TaskEntry,
    TaskProcess,
    make_task,
)

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
    with pytest.raises(UnknownName, match="no scale of an axis named 'cubic'"):
        Axis("x", 0, 1, "cubic")
    with pytest.raises(InvalidInput, match="above 0"):
        Axis("x", 0, 1, "log")
    with pytest.raises(InvalidInput, match="below high"):
        _ = Axes((Axis("x", 1, 1),)).box
    with pytest.raises(InvalidInput, match="at least one coordinate"):
        Axes(())


@pytest.mark.parametrize("name", [*TASKS, *TEST_FUNCTIONS])
def test_a_task_is_small_to_pickle_before_it_is_prepared(name):
    task = make_task(name)
    assert len(pickle.dumps(task)) < 2000
    assert pickle.loads(pickle.dumps(task)) == task


@pytest.mark.parametrize("name", TASKS)
def test_a_task_keeps_its_word(name, prepared):
    """No value beats the optimum, and the best action is worth it."""
    task = prepared(make_task(name))
    latent = task.draw(np.random.default_rng(0))
    best, box = task.best(latent), task.coordinates.box
    points = np.vstack([box.sample(np.random.default_rng(1), 2), box.high])
    points = np.vstack([task.coordinates.rounded(points), box.check(best.action[None])])
    values = task.values(points, latent)
    assert values.shape == (4,)
    assert (values <= best.optimum + best.accuracy).all()
    assert abs(best.optimum - values[-1]) <= best.accuracy
    assert task.values(points[2:0:-1], latent) == pytest.approx(values[2:0:-1], rel=1e-9)


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
    with pytest.raises(UnknownName, match="your own as module:Class"):
        make_task("Oven")
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
    task = make_task("camelback")
    cube = Arms.grid((9, 8), -1, 1)
    function = TaskProcess(task, scaled=True, arms=cube).draw(np.random.default_rng(0))
    assert isinstance(function, ArmFunction)
    points = task.coordinates.natural(cube.coordinates)
    assert points.max(axis=0).tolist() == [3, 2]
    assert function.values == pytest.approx(task.values(points, np.zeros(0)))
    assert function.accuracy == 0.0


@dataclass(frozen=True)
class Bowl(Task):
    """A task of a user's own."""

    centre: float = 0.5

    @property
    def axes(self):
        return (Axis("n", 0, 10, "integer"), Axis("rate", 0.01, 1, "log"))

    def values(self, points, latent):
        return -((points[:, 0] - latent[0]) ** 2) - (np.log10(points[:, 1]) + 1) ** 2

    def draw(self, rng):
        return np.array([float(rng.integers(11))])

    def best(self, latent):
        return Best(np.array([latent[0], 0.1]), 0.0, 1e-12)


def test_a_task_of_ones_own(monkeypatch):
    monkeypatch.setitem(TASKS, "bowl", TaskEntry("a bowl", Bowl, "here"))
    env = gym.make("gpbandits/Task-v0", task="bowl", scaled=True, batch_size=2, noise_var=0.0)
    env.reset(seed=0)
    first = env.step([[0.0, 0.0], [0.04, 0.0]])[-1]
    assert (
        first["noiseless_rewards"][0]
        == first["noiseless_rewards"][1]
        == -((5 - env.unwrapped.function.latent[0]) ** 2)
    )
    best = env.step([first["best_action"]] * 2)[-1]
    assert best["regret"] == pytest.approx([0.0, 0.0], abs=1e-12)
    with pytest.raises(UnknownName, match="did you mean 'centre'"):
        gym.make("gpbandits/Task-v0", task="bowl", task_options={"center": 1})


@dataclass(frozen=True)
class Ridge(Task):
    """A task that is not registered."""

    height: float = 1.0
    axes = (Axis("x", -1.0, 2.0),)

    def values(self, points, latent):
        return self.height - np.abs(points[:, 0])

    def best(self, latent):
        return Best(np.zeros(1), self.height, 0.0)


def test_a_task_of_your_own_is_named_by_its_module():
    name = f"{__name__}:Ridge"
    assert make_task(name) == Ridge()
    env = gym.make("gpbandits/Task-v0", task=name, task_options={"height": 3.0})
    env.reset(seed=0)
    assert env.step([[1.0]])[-1]["regret"] == [1.0]
    with pytest.raises(UnknownName, match="did you mean 'height'"):
        make_task(name, {"hight": 3.0})
    with pytest.raises(InvalidInput, match="dim and box are for test functions"):
        make_task(name, dim=2)
    with pytest.raises(InvalidInput, match="no class 'Axes' derived from Task"):
        make_task("gpbandits_env.domains:Axes")


@dataclass(frozen=True)
class Lost(Ridge):
    """A task whose best action is stated by a user."""

    at: tuple[float, ...] = (2.5,)

    def best(self, latent):
        return Best(np.array(self.at), self.height, 0.0)


@pytest.mark.parametrize("options", [{}, {"scaled": True}, {"grid": 3}])
def test_a_best_action_outside_of_the_axes_is_refused(options):
    """In the cube it would be moved to the edge, and the regret there would be 0."""
    name = f"{__name__}:Lost"
    for at, says in (
        ((2.5,), "coordinate 0 ranges from -1.0 to 2.0, but action 0 has 2.5"),
        ((0.0, 0.0), r"of shape \(m, 1\), got \(1, 2\)"),
    ):
        env = gym.make("gpbandits/Task-v0", task=name, task_options={"at": at}, **options)
        with pytest.raises(InvalidInput, match=f"best action of the task Lost must fit.*{says}"):
            env.reset(seed=0)
    env = gym.make("gpbandits/Task-v0", task=name, task_options={"at": (2.0,)}, **options)
    env.reset(seed=0)


def test_values_of_a_task_of_one_s_own_that_are_no_numbers_are_named():
    class Broken(Bowl):
        def values(self, points, latent):
            return np.full(len(points), np.nan)

    class Flat(Bowl):
        def values(self, points, latent):
            return 0.0

    class Words(Bowl):
        def values(self, points, latent):
            return ["high"] * len(points)

    for task, must in (
        (Broken(), "return finite"),
        (Flat(), "return finite"),
        (Words(), "be an array of numbers"),
    ):
        function = TaskProcess(task).draw(np.random.default_rng(0))
        with pytest.raises(InvalidInput, match=f"task {type(task).__name__} must {must}"):
            function(function.best_action[None])
        with pytest.raises(InvalidInput, match=f"task {type(task).__name__} must {must}"):
            scale_of(task, False)


def test_what_a_task_of_ones_own_states_is_checked(monkeypatch):
    name = f"{__name__}:Ridge"
    for best, words in (
        ((np.zeros(1), 1.0), "best of the task Ridge must return a Best, got .*array"),
        (Best(np.zeros(1), np.nan, 0.0), "task Ridge must state its maximum.*optimum must be fin"),
        (Best(np.zeros(1), 1.0, -1.0), "task Ridge must state its maximum.*accuracy must be"),
    ):
        monkeypatch.setattr(Ridge, "best", lambda self, latent, best=best: best)
        with pytest.raises(InvalidInput, match=words):
            gym.make("gpbandits/Task-v0", task=name).reset(seed=0)
    monkeypatch.setattr(Ridge, "best", lambda self, latent: Best(np.zeros(1), 0.5, 0.0))
    env = gym.make("gpbandits/Task-v0", task=name)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="task Ridge has values above its optimum, so"):
        env.step([[0.25]])
    for axes, words in (
        (Axis("x", 0.0, 1.0), "axes of Ridge must be a list"),
        ([("x", 0.0, 1.0)], "axes of Ridge must be a list of one or more objects Axis"),
    ):
        monkeypatch.setattr(Ridge, "axes", axes)
        with pytest.raises(InvalidInput, match=words):
            make_task(name).coordinates  # noqa: B018
