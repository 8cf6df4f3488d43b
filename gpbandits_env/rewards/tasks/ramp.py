"""A support vector machine with the ramp loss, as a search for 5,001 weights.

Source: tranthe2020, Experiments (`ramp-loss`), with the loss of Collobert, Sinz, Weston and Bottou
(2006).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, finite_array, frozen, positive
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.descent import descend
from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.rewards.datasets.gisette import FEATURES, PARTS, load_gisette
from gpbandits_env.rewards.tasks.task import TASKS, Axis, Best, Task, TaskEntry

# The bias is the weight of a constant feature of this value, which adds almost nothing to the norm.
HEIGHT = 100.0
RESTRICTIONS = 10


@dataclass(frozen=True)
class RampLoss(Task):
    """The negated objective of a linear classifier with the ramp loss.

        -(1/2 |w|^2 + C sum_l R_s(y_l (w . v_l + b))),   R_s(u) = H_1(u) - H_s(u),
        H_s(u) = max(0, s - u),   so that R_s(u) = min(max(1 - u, 0), 1 - s) for s < 1

    The patterns v_l have 5,000 features in [0, 1]. The coordinates are all weights, then b.

    Cost: one product with the 1,000 x 5,001 matrix, about 2 ms, and less per point in a batch.
    Single precision would leave only three correct digits near the optimum, where hundreds of
    patterns lie on the margin.

    Args:
        cost: C, above 0; the paper uses 1, 2, 5 and 10.
        s: the margin below which the loss stops growing, below 1.
        bound: every weight and b lie in [-bound, bound]. The box of the paper is [-1, 1]^D, but the
            loss of weights that large reflects only their norm and chance.
        data: the patterns (see `load_gisette`): "made" (1,000), "made-train", "train" (6,000) or
            "valid".
    Raises:
        InvalidInput: a number is out of range.
        UnknownName: there is no such part of the patterns.
    """

    cost: float = 1.0
    s: float = 0.0
    bound: float = 1.0
    data: str = "made"

    def __post_init__(self) -> None:
        positive(self.cost, "cost")
        positive(self.bound, "bound")
        one_of(self.data, PARTS, "part of gisette")
        if not float(finite_array(self.s, "s", ndim=0)) < 1.0:
            raise InvalidInput(f"s must be below 1, got {self.s!r}")

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (
            Axis("w", -self.bound, self.bound, count=FEATURES),
            Axis("b", -self.bound, self.bound),
        )

    def prepare(self) -> None:
        _signed(self.data)

    def values(self, points: Array, latent: Array) -> Array:
        weights = points[:, :-1]
        margins = points @ _signed(self.data).T
        np.subtract(1.0, margins, out=margins)
        loss = np.clip(margins, 0.0, 1.0 - self.s, out=margins).sum(axis=1)
        return -(0.5 * np.einsum("ij,ij->i", weights, weights) + self.cost * loss)

    def best(self, latent: Array) -> Best:
        """The best weights found by the concave-convex procedure, and a bound on their error.

        The hinge loss is an upper bound on the ramp loss and equals it if no pattern lies beyond s.
        A support vector machine is therefore solved without the patterns beyond s until this set
        does not change. For a lower bound on the objective, weights that put a pattern beyond s
        cost at least C (1 - s), and all other weights cost at least the value of the dual; the
        smaller of the two applies. ``accuracy`` is the gap: below 1e-4 for the 1,000 patterns made
        here and C from 1 to 10, but the whole optimum if the patterns are far from separable.

        Cost: half a second with 1,000 patterns; a minute or more and 1 GB with 6,000; once per
        process.
        """
        action, lower = _solved(self.cost, self.s, self.bound, self.data)
        value = float(self.values(action[None], latent)[0])
        return Best(action, value, max(0.0, -value - lower))


@cache
def _signed(data: str) -> Array:
    """The patterns with a 1 for the bias, multiplied by their labels: (n, 5001)."""
    features, labels = load_gisette(data)
    signed = np.ones((len(labels), FEATURES + 1))
    signed[:, :-1] = features
    signed *= labels[:, None]
    return frozen(signed)


@cache
@one_blas_thread()
def _solved(cost: float, s: float, bound: float, data: str) -> tuple[Array, float]:
    """The best weights and bias found, and a lower bound on the objective."""
    signed = _signed(data).copy()
    signed[:, -1] *= HEIGHT
    gram = signed @ signed.T
    kept = np.ones(len(gram), dtype=np.bool_)
    lower = 0.0
    for attempt in range(RESTRICTIONS):
        alpha, dual = _hinge(gram, cost * kept)
        if not attempt:
            # The dual bound treats b as a weight, but b adds nothing to the norm in the task.
            lower = max(0.0, min(dual - 0.5 * (bound / HEIGHT) ** 2, cost * (1.0 - s)))
        within = gram @ alpha > s
        if (within == kept).all():
            break
        kept = within
    weights = alpha @ signed
    weights[-1] *= HEIGHT
    least = float((gram @ alpha).min())
    if least > 0.99:  # remaining violations of a hard margin cost C per pattern
        weights /= least
    return frozen(np.clip(weights, -bound, bound)), lower


def _hinge(gram: Array, limits: NDArray[np.floating]) -> tuple[Array, float]:
    """The dual of a support vector machine: max sum a - a'Ka/2, 0 <= a <= limits, and its value."""

    def negated(alpha: Array) -> tuple[float, Array]:
        product = gram @ alpha
        return float(0.5 * alpha @ product - alpha.sum()), product - 1.0

    zero = np.zeros(len(gram))
    most = {"maxiter": 20_000, "maxfun": 20_000, "maxcor": 50}
    found = descend(negated, zero, (zero, limits), **most, ftol=0.0, gtol=1e-8)
    return np.asarray(found.x), -float(found.fun)


TASKS["ramp-loss"] = TaskEntry("a support vector machine", RampLoss, "tranthe2020, Experiments")
