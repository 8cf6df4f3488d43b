"""gpbandits/Task-v0: a test function, or something real to tune."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpbandits_env.arrays import flag, listed, positive
from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs.declared import DeclaredEnv, DeclaredVectorEnv
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.functions import StillSource
from gpbandits_env.kernels import Kernel, Matern32, kernel_from_dict
from gpbandits_env.problem import Problem
from gpbandits_env.tasks import TaskSource, make_task

# The default lengthscale, as a part of each side of the box.
PART = 0.2


def task_world(
    task: str = "ackley",
    dim: int | None = None,
    box: Sequence[Any] | Box | None = None,
    grid: int | Sequence[int] | None = None,
    scaled: bool = False,
    noise_var: float = 1e-6,
    model_noise_var: float | None = None,
    kernel: Mapping[str, Any] | Kernel | None = None,
    prior_mean: float = 0.0,
    batch_size: int = 1,
    task_options: Mapping[str, Any] | None = None,
) -> World:
    """The world of `TaskEnv`; see there for the arguments."""
    chosen = make_task(task, task_options, dim, box)
    variance = positive(noise_var, "noise_var", zero=True)
    told = variance if model_noise_var is None else model_noise_var
    chosen.prepare()
    whole = chosen.coordinates.cube if flag(scaled, "scaled") else chosen.coordinates.box
    arms = None if grid is None else grid_of(whole, grid)
    source = TaskSource(chosen, scaled, arms)
    model = default_kernel(whole) if kernel is None else kernel_from_dict(kernel)
    model.check_points(np.stack([whole.low, whole.high]))
    problem = Problem(source.domain, model, told, batch_size, prior_mean=prior_mean)
    return World(problem, StillSource(source), variance)


def grid_of(box: Box, shape: int | Sequence[int]) -> Arms:
    """A product grid over a whole box; a number is that of points on every axis."""
    points = (shape,) * box.dim if isinstance(shape, (int, np.integer)) else listed(shape, "grid")
    if len(points) != box.dim:
        raise InvalidInput(f"grid must be a number or have {box.dim} entries, got {shown(points)}")
    return Arms.grid(points, box.low, box.high)


def default_kernel(box: Box) -> Kernel:
    """Matern 3/2 with a lengthscale of a fifth of each side."""
    sides = PART * (box.high - box.low)
    same = np.ptp(sides) == 0.0
    return Matern32(float(sides[0]) if same else tuple(sides.tolist()))


class TaskEnv(DeclaredEnv):
    """Settings in a box, and the value of what they do: a test function, or a real task.

        gym.make("gpbandits/Task-v0", task="ackley", box=([-5, -5, -5], [5, 5, 5]))
        gym.make("gpbandits/Task-v0", task="push-3d", batch_size=5)

    Actions are in natural units; with ``scaled=True`` in the cube [-1, 1]^d, where an axis that
    is said to be logarithmic is.

    Args:
        render_mode: None, "ansi" or "rgb_array".
        task: one of `gpbandits_env.tasks.TASKS`, or a test function.
        dim: of a test function of any dimension.
        box: another box for a test function: its two corners, (d,) each.
        grid: play on a product grid over the box, so many points an axis; all are evaluated
            when an episode begins.
        scaled: actions lie in [-1, 1]^d.
        noise_var: the variance of noise added to each reward, at least 0; by default that of
            ren2024, whose standard deviation is 1e-3.
        model_noise_var: what learners are told it is, e.g. for a task with noise inside;
            ``noise_var`` if not given.
        kernel: the learner's model; Matern 3/2 with a lengthscale of a fifth of each side if not
            given.
        prior_mean: the learner's, a number.
        batch_size: the number of actions m in a round.
        task_options: options of the task, a dict.
    Raises:
        InvalidInput: a value out of range.
        UnknownName: an argument, task, option or kernel that does not exist.
        MissingExtra: a task needs a package that is not installed.
        MissingData: a task needs a file that is not there.
    """

    builder = staticmethod(task_world)


class TaskVector(DeclaredVectorEnv):
    """B of `TaskEnv` side by side; see there and `BanditVectorEnv`."""

    builder = staticmethod(task_world)
