"""Tuning four training settings of a regression network on the Boston housing data.

Source: ren2024, Section 5 (`boston`). The paper gives the four ranges, "RMSProp", "one hidden
layer", "validation L2 loss" and "fixed initialisation and split". Choices that the paper does not
state: rectified units; 404 districts for training and 102 for validation; 50 epochs of 13 batches
of at most 32, in a fixed order; properties standardized by the training rows; values in 1000
dollars without scaling; a rounded number of units.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from gpbandits_env.arrays import Array, IntArray, flag, frozen
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards.datasets.boston import PROPERTIES, ROWS, load_boston
from gpbandits_env.rewards.tasks.task import TASKS, Axis, Best, Split, Task, TaskEntry
from gpbandits_env.seeding import stream

UNITS = 100
TRAINING, BATCH, EPOCHS = 404, 32, 50
# The loss assigned to a training run that diverged.
WORST = 1e4
# The best settings found (see `Boston.best`), with a loss of 10.66 on the machine that found them.
# Their value is computed when needed.
BEST = (19.0, 0.003191348001855887, 0.18072456452885305, 0.45510831403093527)
ACCURACY = 0.5


@cache
def split() -> Split[np.float64]:
    """The fixed split into standardized properties and values."""
    properties, values = load_boston()
    order = stream("tasks/boston", "split").permutation(ROWS)
    train, held = order[:TRAINING], order[TRAINING:]
    known = properties[train]
    inputs = (properties - known.mean(axis=0)) / known.std(axis=0)
    inputs = np.hstack([inputs, np.ones((ROWS, 1))])
    return Split(inputs[train], values[train], inputs[held], values[held])


@cache
def beginning() -> tuple[Array, Array]:
    """Uniform weights in [-1, 1] for the largest number of units: (14, 100) and (101,)."""
    rng = stream("tasks/boston", "weights")
    inner = rng.uniform(-1, 1, (PROPERTIES + 1, UNITS))
    return frozen(inner), frozen(rng.uniform(-1, 1, UNITS + 1))


@cache
def batches() -> tuple[IntArray, ...]:
    """The rows of each batch of each epoch."""
    rng = stream("tasks/boston", "batches")
    orders = [rng.permutation(TRAINING) for _ in range(EPOCHS)]
    return tuple(frozen(o[i : i + BATCH]) for o in orders for i in range(0, TRAINING, BATCH))


class RMSProp:
    """RMSProp with weight decay and momentum, as in common libraries.

        g <- g + decay p;  v <- a v + (1 - a) g^2;  b <- momentum b + g / (sqrt v + 1e-8);
        p <- p - rate b,   a = 0.99

    Source: Hinton, lecture 6e of "Neural networks for machine learning" (2012).
    """

    smoothing, least = 0.99, 1e-8

    def __init__(self, size: int, rate: float, decay: float, momentum: float) -> None:
        self.rate, self.decay, self.momentum = rate, decay, momentum
        self._square: Array = np.zeros(size)
        self._buffer: Array = np.zeros(size)

    def step(self, parameters: Array, gradient: Array) -> None:
        """Move the parameters against the gradient; only the parameters are changed."""
        gradient = gradient + self.decay * parameters
        self._square += (1.0 - self.smoothing) * (gradient**2 - self._square)
        self._buffer *= self.momentum
        self._buffer += gradient / (np.sqrt(self._square) + self.least)
        parameters -= self.rate * self._buffer


class HousingNetwork:
    """A network with one hidden layer of rectified units: V' max(0, W'x) + v.

    The initial weights are those of the first units of one fixed draw, scaled as usual by
    1 / sqrt(number of inputs).
    """

    def __init__(self, units: int) -> None:
        inner, outer = beginning()
        k, n = units, (PROPERTIES + 1) * units
        self.parameters = np.concatenate([inner[:, :k].ravel(), outer[:k], outer[-1:]])
        self.parameters[:n] /= np.sqrt(PROPERTIES)
        self.parameters[n:] /= np.sqrt(k)
        self.gradient = np.empty_like(self.parameters)
        self._inner, self._d_inner = (
            p[:n].reshape(-1, k) for p in (self.parameters, self.gradient)
        )
        self._outer, self._d_outer = (p[n : n + k] for p in (self.parameters, self.gradient))

    def __call__(self, inputs: Array) -> Array:
        """Predictions (n,) from properties (n, 14)."""
        return np.maximum(inputs @ self._inner, 0.0) @ self._outer + self.parameters[-1]

    def backward(self, inputs: Array, targets: Array) -> None:
        """The gradient of the mean squared error."""
        hidden = np.maximum(inputs @ self._inner, 0.0)
        error = hidden @ self._outer + (self.parameters[-1] - targets)
        error *= 2.0 / len(targets)
        self._d_outer[:] = error @ hidden
        self.gradient[-1] = error.sum()
        self._d_inner[:] = inputs.T @ ((hidden > 0.0) * self._outer * error[:, None])


def validation_loss(units: int, rate: float, decay: float, momentum: float) -> float:
    """The mean squared error on the validation rows after training; takes 10 to 40 ms."""
    data = split()
    network = HousingNetwork(units)
    optimiser = RMSProp(len(network.parameters), rate, decay, momentum)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in batches():
            network.backward(data.inputs[rows], data.targets[rows])
            optimiser.step(network.parameters, network.gradient)
        loss = float(np.mean((network(data.held_inputs) - data.held_targets) ** 2))
    return loss if loss < WORST else WORST  # NaN also counts as WORST


@dataclass(frozen=True)
class Boston(Task):
    """The negated validation loss of a regression network trained with these settings.

    Args:
        root: whether the loss is the root mean squared error, as in the public code of ren2024, or
            the mean squared error.
    Raises:
        InvalidInput: root is not a bool.
    """

    root: bool = False
    axes = (
        Axis("nodes", 1, UNITS, "integer"),
        Axis("learning rate", 0.001, 0.1),
        Axis("weight decay", 0.1, 0.5),
        Axis("momentum", 0.1, 0.5),
    )

    def __post_init__(self) -> None:
        flag(self.root, "root")

    def prepare(self) -> None:
        split()

    def values(self, points: Array, latent: Array) -> Array:
        losses = [validation_loss(round(p[0]), p[1], p[2], p[3]) for p in points.tolist()]
        return -(np.sqrt(losses) if self.root else np.array(losses))

    def best(self, latent: Array) -> Best:
        """The best settings found by search, as in the paper.

        The search was `python benchmarks/task_optimum.py boston --steps 8192 --seed 1`: 4,096 Sobol
        points, then random steps from the best ten, which end at a loss of 10.66 (seed 0: 10.95). A
        longer search may improve on it by up to ``accuracy``. The value is computed instead of
        stored, because training rounds differently on other processors.
        """
        action, value = np.array(BEST), _value_of_best()
        if self.root:
            root = float(np.sqrt(-value))
            return Best(action, -root, 0.5 * ACCURACY / root)
        return Best(action, value, ACCURACY)


@cache
@one_blas_thread()
def _value_of_best() -> float:
    units, *others = BEST
    return -validation_loss(round(units), *others)


TASKS["boston"] = TaskEntry("train a regression network", Boston, "ren2024, Section 5")
