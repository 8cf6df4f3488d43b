"""Mini-GP-UCB and mini-EI: a few points, each evaluated several times before the next choice.

Paper: Calandriello, Carratino, Lazaric, Valko and Rosasco (2022), "Scaling Gaussian Process
Optimization by Evaluating a Few Unique Candidates Multiple Times".
Assumes: Gaussian noise of known variance, above 0 for any repetition.
Departures: 1. the number of repetitions is derived from the paper's condition (see `Repeats`);
2. the posterior learns each reward when it arrives; only the choice waits; 3. beta_t is that of
`GPUCB`, and EI that of `EI`; 4. a batch is repeated as a whole; 5. late rewards start no
repetition; 6. those of `GPAgent`.
"""

from functools import partial
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions.rules import POSTERIOR_EI, ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import THEOREM_OVER_5
from gpbandits_env.agents.data.part import Observed, Part
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Array, Points, positive
from gpbandits_env.errors import InvalidInput

MOST = 10**9  # repetitions, where the variance is 0


class Repeats(Part):
    r"""Plays actions again until they have been evaluated B times.

    .. math:: B = \max(1, \lfloor (C^2 - 1) \, s^2 / \sigma^2(x) \rfloor)

    After b evaluations of x, the variance of any point has shrunk at most by the factor
    1 + b sigma^2(x) / s^2, which is at most C^2 for b <= B. For a batch the sum of the variances at
    its points takes the place of sigma^2(x), by the same argument.

    Args:
        batch_size: the number m of actions per round.
        ratio: C^2, at least 1.
    Attributes:
        actions: the actions of the last step as points of the data, a list of m.
        left: the number of rounds in which they are still to be played.
        decisions: the number of steps so far.
    """

    REMEMBERS = ("actions", "left", "decisions")

    def __init__(self, batch_size: int, *, ratio: float) -> None:
        if positive(ratio, "ratio") < 1.0:
            raise InvalidInput(f"ratio must be at least 1, got {ratio}")
        self._excess, self._size = ratio - 1.0, batch_size
        self.begin()

    def begin(self) -> None:
        self.actions: list[Any] = []
        self.left = self.decisions = 0

    def planned(self, posterior: Any, m: int) -> Points | None:
        return np.array(self.actions) if self.left else None

    def observe(self, seen: Observed, before: Any) -> None:
        played = seen.points.tolist()
        if seen.source != "round" or not played:
            return
        if self.left and played == self.actions:
            self.left -= 1
            return
        self.actions, self.left, self.decisions = played, 0, self.decisions + 1
        if len(played) == self._size:
            var = before.posterior.moments(seen.points)[1]
            self.left = repetitions(self._excess, before.posterior.noise_var, var) - 1


def repetitions(excess: float, noise_var: float, var: Array) -> int:
    """max(1, floor((C^2 - 1) s^2 / sum of sigma^2)), for C^2 - 1 and the variances (m,)."""
    total = max(float(np.sum(var)), 0.0)
    if excess * noise_var >= MOST * total:
        return MOST if excess * noise_var > 0.0 else 1
    return max(1, int(excess * noise_var / total * (1.0 + 1e-12)))  # rounding does not decide


class MiniGPUCB(GPAgent):
    """GP-UCB that repeats each choice, more often where the posterior variance is small.

    Args:
        ratio: C^2 >= 1, by how much a variance may shrink between two choices; see `Repeats`.
        beta: see `GPUCB`; by default the theorem over 5, also where the model is learned.
    """

    uses_contexts = False
    PARTS = Parts(
        acquisition=partial(ConfidenceBound, beta=THEOREM_OVER_5),
        repeats=partial(Repeats, ratio=2.0),
    )


class MiniEI(GPAgent):
    """EI that repeats each choice, more often where the posterior variance is small.

    Args:
        ratio: see `MiniGPUCB`.
        incumbent: see `EI`.
        margin: see `EI`.
    """

    uses_contexts = False
    PARTS = Parts(acquisition=POSTERIOR_EI, repeats=partial(Repeats, ratio=2.0))
