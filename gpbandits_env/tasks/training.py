"""Training of the networks of tasks: data in two parts, and optimizers.

Optimizers work on one flat vector of parameters.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import frozen

Vector = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows (n, p) and held-out rows (k, p), with a last column of ones, and their targets.

    The training targets are values (n,) or one-hot (n, classes); the held-out targets are values or
    labels. All arrays are read-only, because they are loaded once per process and shared.
    """

    inputs: NDArray[Any]
    targets: NDArray[Any]
    held_inputs: NDArray[Any]
    held_targets: NDArray[Any]

    def __post_init__(self) -> None:
        for array in (self.inputs, self.targets, self.held_inputs, self.held_targets):
            frozen(array)


class RMSProp:
    """RMSProp with weight decay and momentum, as in common libraries.

        g <- g + decay p;  v <- a v + (1 - a) g^2;  b <- momentum b + g / (sqrt v + 1e-8);
        p <- p - rate b,   a = 0.99

    Source: Hinton, lecture 6e of "Neural networks for machine learning" (2012).
    """

    smoothing, least = 0.99, 1e-8

    def __init__(self, size: int, rate: float, decay: float, momentum: float) -> None:
        self.rate, self.decay, self.momentum = rate, decay, momentum
        self._square: Vector = np.zeros(size)
        self._buffer: Vector = np.zeros(size)
        self._work: Vector = np.zeros(size)

    def step(self, parameters: Vector, gradient: Vector) -> None:
        """Move the parameters against the gradient; both arrays are changed."""
        work = self._work
        np.multiply(parameters, self.decay, out=work)
        gradient += work
        np.multiply(gradient, gradient, out=work)
        work -= self._square
        work *= 1.0 - self.smoothing
        self._square += work
        np.sqrt(self._square, out=work)
        work += self.least
        self._buffer *= self.momentum
        self._buffer += np.divide(gradient, work, out=work)
        parameters -= np.multiply(self._buffer, self.rate, out=work)


class Adam:
    """Adam with its usual constants, 0.9, 0.999 and 1e-8.

    Source: Kingma and Ba (2015), Algorithm 1, in the efficient order of its Section 2.
    """

    first, second, least = 0.9, 0.999, 1e-8

    def __init__(self, size: int, rate: float, dtype: type = np.float64) -> None:
        self.rate, self._steps = rate, 0
        self._mean: Vector = np.zeros(size, dtype)
        self._square: Vector = np.zeros(size, dtype)
        self._work: Vector = np.zeros(size, dtype)

    def step(self, parameters: Vector, gradient: Vector) -> None:
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
