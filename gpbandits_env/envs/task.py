"""Test functions and tasks: Task-v0 and HighDim-v0."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Settings, listed
from gpbandits_env.domains import Arms, Box
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.declaration import EntryPoint, ModelArguments
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.kernels import Kernel, Matern32, Matern52
from gpbandits_env.gp.learning import OutputScaling
from gpbandits_env.gp.samplers.sobol import sobol
from gpbandits_env.rewards.functions import MOTIONS, AnalyticProcess, Motion, RewardProcess
from gpbandits_env.rewards.tasks import Task, TaskProcess, make_task
from gpbandits_env.rewards.tasks.task import values_of
from gpbandits_env.seeding import stream

# The default lengthscale of a task, as a share of each side of the box.
PART = 0.2
# The default model of a task has the mean and the variance of its values at 2^5 spread points.
POWER = 5
# The least noise variance of that model, relative to the variance of the values.
LEAST_NOISE = 1e-6
# The default lengthscale in a cube, divided by sqrt(D). Two uniform points of [-1, 1]^D have a root
# mean square distance of sqrt(2 D / 3), which is 1.6 of these lengthscales for every D.
LENGTHSCALE = 0.5


@dataclass(frozen=True, kw_only=True)
class KnownArguments(ModelArguments):
    """A known function, and the agents' model of it.

    Args:
        noise_var: the variance of noise added to each reward, at least 0; by default that of
            ren2024, whose standard deviation is 1e-3.
        model_noise_var: the noise variance of the agents' model, e.g. for a task with noise
            inside; by default ``noise_var``, and if the scale of the values is estimated at least
            1e-6 of their variance.
        prior_mean: the prior mean of the agents' model, a number; by default 0, or that of the
            values if their scale is estimated.
    """

    noise_var: float = 1e-6
    model_noise_var: float | None = None
    prior_mean: float | None = None

    def known(
        self,
        process: RewardProcess,
        default: Kernel,
        epsilon: float | None = None,
        scale: OutputScaling | None = None,
    ) -> Bandit:
        """The bandit of a process, with the kernel that is given or the default."""
        kernel, mean, noise_var, sd = self.covariance(default), 0.0, self.noise_var, None
        if scale is not None:
            mean, sd, kernel = scale.mean, scale.sd, kernel.scaled(scale.var)
            noise_var = max(noise_var, LEAST_NOISE * scale.var)
        if self.model_noise_var is not None:
            noise_var = self.model_noise_var
        mean = mean if self.prior_mean is None else self.prior_mean
        return self.modelled(
            process, kernel, noise_var=noise_var, prior_mean=mean, epsilon=epsilon, reward_sd=sd
        )


@dataclass(frozen=True, kw_only=True)
class TaskArguments(KnownArguments):
    """A test function or a real task on a box.

        gym.make("gpbandits/Task-v0", task="ackley", box=([-5, -5, -5], [5, 5, 5]))
        gym.make("gpbandits/Task-v0", task="push-3d", batch_size=5)

    Actions are in natural units. With ``scaled=True`` they are in the cube [-1, 1]^d, to which
    logarithmic axes are mapped by their logarithm. The default kernel is Matern 3/2 with a
    lengthscale of a fifth of each side. Its variance and the prior mean are those of the values at
    32 spread points (`scale_of`), unless a kernel is given.

    Args:
        task: one of `gpbandits_env.rewards.tasks.TASKS`, a test function, or "module:Class" for a
            task of your own.
        dim: the dimension of a test function of any dimension.
        box: another box for a test function: its two corners, (d,) each.
        grid: points per axis of a product grid over the box, whose points are then the arms; all
            of them are evaluated when an episode begins.
        scaled: whether actions lie in [-1, 1]^d.
        task_options: options of the task, a dict.
    Raises:
        InvalidInput: a value out of range.
        UnknownName: an argument, task, option or kernel that does not exist.
        MissingExtra: a task needs a package that is not installed.
        MissingData: a task needs a file that is not there.
    """

    task: str = "ackley"
    dim: int | None = None
    box: Sequence[ArrayLike] | Box | None = None
    grid: int | Sequence[int] | None = None
    scaled: bool = False
    task_options: Settings | None = None

    def bandit(self) -> Bandit:
        task = make_task(self.task, self.task_options, self.dim, self.box)
        task.prepare()
        whole = task.coordinates.cube if self.scaled else task.coordinates.box
        arms = None if self.grid is None else grid_of(whole, self.grid)
        scale = scale_of(task, self.scaled) if self.kernel is None else None
        process = TaskProcess(task, self.scaled, arms)
        return self.known(process, default_kernel(whole), scale=scale)


@dataclass(frozen=True, kw_only=True)
class HighDimArguments(KnownArguments):
    """A test function whose usual box is scaled to the cube [-1, 1]^D, with D up to thousands.

        gym.make("gpbandits/HighDim-v0", function="schwefel-1.2", dim=100, shift=True)
        gym.make("gpbandits/HighDim-v0", function="camelback", dim=5000)
        gym.make("gpbandits/HighDim-v0", function="ackley", dim=100, active=10,
                 motion={"type": "orbit", "radius": 0.2})

    The maximum is exact, also if the function is shifted or moves (see `AnalyticProcess`). The
    default kernel is Matern 5/2 with variance 1 and lengthscale 0.5 sqrt(D), as distances in the
    cube scale with sqrt(D). In tranthe2020 its parameters are learned from the data.

    Args:
        function: a test function.
        dim: the dimension D.
        active: the number of coordinates that matter, which are drawn at each reset; or their
            indices, in the order of the function; by default as many as the function has. The
            other coordinates have no effect.
        shift: False; True to draw the position of the maximum at each reset, uniformly in the
            inner 80% of the cube (less if a motion needs the space); or the displacement of the
            maximum, a number or one per active coordinate, in units of the cube.
        motion: the motion of the active coordinates: a dict with a "type" (orbit, line, turn,
            stretch).
        epsilon: the drift in the agents' model; by default none.
    Raises:
        InvalidInput: a value is out of range, or a shift or a motion moves the maximum out of the
            cube.
        UnknownName: an argument, function, motion or kernel does not exist.
    Source: tranthe2020, Experiments.
    """

    function: str = "ackley"
    dim: int = 20
    active: int | Sequence[int] | None = None
    shift: bool | ArrayLike = False
    motion: Settings | Motion | None = None
    epsilon: float | None = None

    def bandit(self) -> Bandit:
        motion = None if self.motion is None else MOTIONS.from_dict(self.motion)
        process = AnalyticProcess(
            self.function,
            dim=self.dim,
            motion=motion,
            cube=True,
            active=self.active,
            shift=self.shift,
        )
        default = Matern52(LENGTHSCALE * float(np.sqrt(process.domain.dim)))
        return self.known(process, default, self.epsilon)


def scale_of(task: Task, scaled: bool) -> OutputScaling:
    """The mean and the standard deviation of a prepared task's noiseless values.

    They are those at 32 points of a Sobol sequence in the box (in the cube, if actions are scaled),
    each with a draw of its own. They do not depend on the maximum of the task.
    """
    axes, rng = task.coordinates, stream("gpbandits_env", "scale of a task")
    box = axes.cube if scaled else axes.box
    points = box.low + (box.high - box.low) * sobol(box.dim, 2**POWER, rng)
    points = axes.rounded(axes.natural(points) if scaled else points)
    values = [values_of(task, point[None], task.draw(rng)).item() for point in points]
    return OutputScaling.of(np.array(values))


def grid_of(box: Box, shape: int | Sequence[int]) -> Arms:
    """A product grid over a whole box; a single number is the number of points on every axis."""
    points = (shape,) * box.dim if isinstance(shape, (int, np.integer)) else listed(shape, "grid")
    if len(points) != box.dim:
        raise InvalidInput(f"grid must be a number or have {box.dim} entries, got {shown(points)}")
    return Arms.grid(points, box.low, box.high)


def default_kernel(box: Box) -> Kernel:
    """Matern 3/2 with a lengthscale of a fifth of each side."""
    sides = PART * (box.high - box.low)
    same = np.ptp(sides) == 0.0
    return Matern32(float(sides[0]) if same else tuple(sides.tolist()))


TaskEnv = EntryPoint(TaskArguments)
TaskEnvVector = TaskEnv.vector
HighDim = EntryPoint(HighDimArguments)
HighDimVector = HighDim.vector
