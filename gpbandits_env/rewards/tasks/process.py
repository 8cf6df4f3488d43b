"""Tasks as functions of an environment: in their box, in the cube, or on arms in either."""

import numpy as np

from gpbandits_env.arrays import Array, Points, frozen
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions import ArmFunction, Function, StaticProcess
from gpbandits_env.rewards.tasks.task import Task


class TaskFunction(Function):
    """A task with the result of `Task.draw` for an episode; points are in its box or the cube.

    Raises:
        InvalidInput: the best action of the task is not in its box.
    """

    def __init__(self, task: Task, latent: Array, scaled: bool) -> None:
        self.task, self.latent, self.scaled = task, frozen(np.array(latent)), scaled
        best, axes = task.best(self.latent), task.coordinates
        try:
            action = axes.box.check([best.action])
        except InvalidInput as error:
            said = f"the best action of the task {type(task).__name__} must fit its axes: {error}"
            raise InvalidInput(said) from None
        self.best_action = frozen(np.array((axes.to_cube(action) if scaled else action)[0]))
        self.optimum, self.accuracy = best.optimum, best.accuracy

    def __call__(self, actions: Points) -> Array:
        return self.task.values(self.natural(actions), self.latent)

    def natural(self, actions: Points) -> Array:
        """Checked actions (m, d) in natural units, with integer coordinates rounded."""
        axes = self.task.coordinates
        return axes.rounded(axes.natural(actions) if self.scaled else actions)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.task, self.latent, self.scaled)


class NoisyTaskFunction(TaskFunction):
    """A task with random evaluations."""

    def noisy(self, actions: Points, rng: np.random.Generator) -> Array:
        """The rewards (m,) of checked actions, with the noise of the task itself."""
        return self.task.noisy(self.natural(actions), self.latent, rng)


class TaskProcess(StaticProcess):
    """The functions of a task.

    On arms, all arms are evaluated when a function is drawn (only once if the task draws nothing),
    and the maximum is exact.

    Args:
        task: a prepared task.
        scaled: whether the domain is in the cube [-1, 1]^d instead of natural units.
        arms: arms inside the box or the cube; by default the domain is the whole box or cube.
    Raises:
        InvalidInput: arms are given for a task with its own noise, which a table cannot represent.
    """

    def __init__(self, task: Task, scaled: bool = False, arms: Arms | None = None) -> None:
        if arms is not None and task.noise_inside:
            raise InvalidInput("a task with its own noise runs in its box, not on a grid")
        axes = task.coordinates
        self.task, self.scaled = task, scaled
        self.domain: Arms | Box = arms if arms is not None else axes.cube if scaled else axes.box
        self._kept: Function | None = None

    def draw(self, rng: np.random.Generator) -> Function:
        latent = self.task.draw(rng)
        if self._kept is not None and not latent.size:
            return self._kept
        kind = NoisyTaskFunction if self.task.noise_inside else TaskFunction
        function: Function = kind(self.task, latent, self.scaled)
        if self.domain.finite:
            function = ArmFunction(function(self.domain.span))
        if not latent.size:
            self._kept = function
        return function
