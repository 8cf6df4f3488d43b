r"""The probability that a point is feasible, which a search multiplies with any acquisition.

Set ``search.feasibility`` to a `Feasibility` before the agent chooses, and to None afterwards if
the next choice has none. Nothing else changes: `ArmSearch`, `BoxSearch` (also through a map) and
`RoundSearch` then maximize the logarithm of the acquisition plus the log-probability, and posterior
samples are maximized where samples of all slacks are positive. A new reason why points fail is one
more slack with a posterior of its own:

    agent.search.feasibility = Feasibility([*slacks_of_constraints, slack_of_success])

Source: Gardner, Kusner, Xu, Weinberger & Cunningham (2014), "Bayesian Optimization with Inequality
Constraints", eq. (5); Eriksson & Poloczek (2021), "Scalable Constrained Bayesian Optimization",
Section 3, for samples.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions.functions import LogPI
from gpbandits_env.arrays import Array, IntArray, Points
from gpbandits_env.gp.posterior import BoxPosterior, Posterior

# The probability that a slack is positive, in logarithms.
POSITIVE = LogPI(0.0)
# How steep the step is at even odds of success and failure. Chosen on the objectives of
# `benchmarks/failures.py`.
STEEP = 20.0


class Feasibility:
    r"""The probability that the slacks g_1, ..., g_J of all constraints are positive at a point.

    .. math:: P(x) = \prod_j \Phi(\mu_j(x) / \sigma_j(x))

    The slack of a constraint c(x) <= b is b - c(x). Slacks are independent.

    A function that is positive where evaluations succeed counts as one more slack, but a large gain
    is no reason to evaluate where failure is more likely than success: P is multiplied by the
    smooth step Phi(20 mu / sigma) too, and posterior samples are maximized where its mean and its
    sample are positive. Points where an evaluation would fail again are never feasible.

    Args:
        slacks: the posteriors of the slacks, on the domain of the searched posterior.
        success: the posterior of success, if evaluations may fail.
        failed: the points where evaluations would fail again.

    Cost: that of the moments of every posterior.
    """

    def __init__(
        self,
        slacks: Sequence[Posterior],
        success: Posterior | None = None,
        failed: Points | None = None,
    ) -> None:
        self.slacks, self.success, self.failed = list(slacks), success, failed
        if success is not None:
            self.slacks.append(success)
        self._seen: tuple[Points, Array] | None = None

    def log_probability(self, points: Points) -> Array:
        """The log-probability at arms (n,) or points (n, d), a new array (n,)."""
        total = np.zeros(len(points))
        for slack in self.slacks:
            mean, var = slack.moments(points)
            total += POSITIVE.score(mean, var)
            if slack is self.success:
                total += POSITIVE.score(STEEP * mean, var)
        if self.failed is not None:
            total[coincident(points, self.failed)] = -np.inf
        return total

    def at_candidates(self, candidates: Points) -> Array:
        """The same; the result is kept while the candidates are the same array."""
        if self._seen is None or self._seen[0] is not candidates:
            self._seen = candidates, self.log_probability(candidates)
        return self._seen[1]

    def likely(self, points: Points) -> NDArray[np.bool_]:
        """Whether each constraint holds with probability at least 1/2 at points, (n,)."""
        likely = np.ones(len(points), dtype=np.bool_)
        for slack in self.slacks:
            likely &= slack.mean_at(points) >= 0.0
        return likely

    def value_and_gradient(self, points: Array) -> tuple[Array, Array]:
        """The log-probability (n,) at points (n, d) of a box, and its gradient (n, d)."""
        total, slope = np.zeros(len(points)), np.zeros(points.shape)
        for slack in self.slacks:
            assert isinstance(slack, BoxPosterior)
            mean, var, mean_slope, var_slope = slack.gradients(points)
            value, in_mean, in_var = POSITIVE.score_and_gradient(mean, var)
            if slack is self.success:
                step, of_mean, of_var = POSITIVE.score_and_gradient(STEEP * mean, var)
                value, in_mean, in_var = value + step, in_mean + STEEP * of_mean, in_var + of_var
            total += value
            slope += in_mean[:, None] * mean_slope + in_var[:, None] * var_slope
        if self.failed is not None:
            at = coincident(points, self.failed)
            total[at], slope[at] = -np.inf, 0.0
        return total, slope

    def sampled(self, rng: np.random.Generator, size: int) -> "SampledSlacks":
        """Joint samples of every slack."""
        return SampledSlacks(self, rng, size)


def coincident(points: Points, others: Points) -> NDArray[np.bool_]:
    """Which of the points (n, ...) are among k others, (n,); O(n k d)."""
    if points.ndim == 1:
        return np.isin(points, others)
    same = points[:, :1] == others[:, 0]
    for column, other in zip(points.T[1:], others.T[1:], strict=True):
        same &= column[:, None] == other
    return np.asarray(same.any(axis=1))


class SampledSlacks:
    """Samples of slacks, for ``size`` samples of the function; see `Feasibility`."""

    def __init__(self, of: Feasibility, rng: np.random.Generator, size: int) -> None:
        self._success, self._failed = of.success, of.failed
        self._samples: list[Any] = []
        for slack in of.slacks:
            sample = slack.sample if slack.domain.finite else slack.paths  # type: ignore[attr-defined]
            self._samples.append(sample(rng, size))

    def holds(self, points: Array, which: IntArray) -> NDArray[np.bool_]:
        """Whether all constraints of sample ``which`` (n,) hold at points (n, d) of a box, (n,)."""
        holds = np.ones(len(points), dtype=np.bool_)
        for sample in self._samples:
            holds &= sample.climb(points, which)[0] >= 0.0
        if self._success is not None:
            holds &= self._success.mean_at(points) >= 0.0
        if self._failed is not None:
            holds &= ~coincident(points, self._failed)
        return holds

    def ranked(self, values: Array, points: Points) -> tuple[Array, NDArray[np.bool_]]:
        """Samples of the function (size, n) such that points that violate a constraint come last.

        Among these, a smaller violation, summed over the constraints, comes first.

        Returns:
            The ranked values, a new array (size, n), and which points are feasible, (size, n).
        """
        violation = np.zeros(values.shape)
        for sample in self._samples:
            slack = sample[:, points] if points.ndim == 1 else sample(points)
            violation += np.maximum(-slack, 0.0)
        if self._success is not None:
            violation += np.maximum(-self._success.mean_at(points), 0.0)
        if self._failed is not None:
            violation[:, coincident(points, self._failed)] = np.inf
        feasible = violation == 0.0
        lowest = values.min(axis=1, keepdims=True)
        return np.where(feasible, values, lowest - violation), feasible
