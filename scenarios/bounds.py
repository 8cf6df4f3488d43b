"""Theory curves that a plot can draw over a result.

They are computed when a study starts and kept in its results file, so that plots need that file
only. All of them assume finitely many arms, and all but those of ren2024 one action per round.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpbandits_env.agents.algorithms.r_gp_ucb import paper_block_length
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp import theory
from gpbandits_env.gp.theory import time_varying
from gpbandits_env.problem import Problem
from gpbandits_env.specs import Family

LONGEST_BLOCK = 60


class Bound(ABC):
    """A curve over rounds, computed from the problem that the agents are given."""

    metric: str
    legend: ClassVar[str]  # with the fields of the bound in braces

    def __post_init__(self) -> None:
        one_of(self.metric, [type(self).metric], "metric of this bound")

    @property
    def title(self) -> str:
        """Its name in a legend."""
        return self.legend.format(self)

    @abstractmethod
    def curve(self, problem: Problem, horizon: int) -> Array:
        """The curve, (horizon,), in the units of ``metric``.

        Raises:
            InvalidInput: the theory does not cover this kind of problem.
        """


BOUNDS: Family[Bound] = Family("bound")


def _arms(
    problem: Problem, whose: str, *, batches: bool = False, drifts: bool = False
) -> tuple[Arms, float]:
    """The arms of a problem that a theorem covers, and the largest prior variance."""
    if not isinstance(problem.domain, Arms) or not (batches or problem.batch_size == 1):
        what = "batches" if batches else "one action per round"
        raise InvalidInput(f"{whose} about {what} on a finite set of arms")
    if problem.contexts is not None or problem.max_delay:
        raise InvalidInput(f"{whose} about rewards that are not late, without contexts")
    if not drifts and (problem.epsilon or problem.temporal is not None):
        raise InvalidInput(f"{whose} about a function that does not drift")
    return problem.domain, float(problem.kernel.diagonal(problem.domain.coordinates).max())


def _drifting(problem: Problem) -> tuple[Arms, float, float]:
    """The arms, the variance and the epsilon of a problem that the theorems on drifts cover."""
    known = _arms(problem, "Theorems 4.2 and 4.3 are", drifts=True)
    if problem.epsilon is None:
        raise InvalidInput(
            "Theorems 4.2 and 4.3 are about a function that drifts with a known epsilon"
        )
    return *known, problem.epsilon


def _side(arms: Arms) -> float:
    """The longest side r of the domain; 1 for a single arm."""
    return float(np.ptp(arms.coordinates, axis=0).max()) or 1.0


def _rounds(horizon: int) -> IntArray:
    return np.arange(1, horizon + 1)


@BOUNDS.register("theorem1")
@dataclass(frozen=True)
class Theorem1(Bound):
    """The regret bound of srinivas2010, Theorem 1, with the greedy bound on gamma_T (Eq. 5).

    It holds with probability 1 - delta for GP-UCB with the beta of the theorem, unscaled.
    """

    delta: float = 0.1
    metric: str = "average_regret"

    legend = "Theorem 1, delta = {0.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        (arms, variance), noise_var = _arms(problem, "Theorem 1 is"), problem.noise_var
        gain = theory.information_gain_bound(arms, problem.kernel, noise_var, horizon)
        bound = theory.regret_bound_theorem1(gain, arms.size, self.delta, noise_var, variance)
        return bound / _rounds(horizon)


# -- bogunovic2016: functions that drift ----------------------------------------------------------


@BOUNDS.register("theorem4.3")
@dataclass(frozen=True)
class Theorem43(Bound):
    """The bound of TV-GP-UCB, with gamma~_T at most twice the greedy gain of this problem.

    It fails with probability delta. The paper does not state a and b, the constants of the tail
    a exp(-(L/b)^2) of the derivatives; they depend on the kernel (see
    `theory.time_varying.tail_constants`). Where it exceeds the regret of random selection, as in
    the paper's own experiments, it says nothing.

    Source: bogunovic2016, eqs. (19)-(20).
    """

    a: float
    b: float
    delta: float = 0.1
    metric: str = "average_regret"

    legend = "Theorem 4.3, greedy gain, delta = {0.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        (arms, variance, _), rounds = _drifting(problem), _rounds(horizon)
        gain, tails = self._gain(problem, horizon), (self.delta, self.a, self.b)
        beta = time_varying.beta_time_varying(rounds, arms.dim, *tails, _side(arms))
        bound = time_varying.regret_bound_time_varying(
            rounds, beta, gain, problem.noise_var, variance
        )
        return bound / rounds

    def _gain(self, problem: Problem, horizon: int) -> Array:
        """A bound on gamma~_T after each round."""
        arms, _, epsilon = _drifting(problem)
        return 2.0 * time_varying.greedy_time_varying_gain(
            arms, problem.kernel, problem.noise_var, epsilon, horizon
        )


@BOUNDS.register("theorem4.3-blocks")
@dataclass(frozen=True)
class Theorem43Blocks(Theorem43):
    """The bound of TV-GP-UCB, with gamma~_T bounded by blocks (eq. 21) of the best length up to 60.

    ERRATUM: eq. (21) is wrong as printed (see `theory.time_varying.time_varying_gain_bound`);
    ``as_printed`` selects the paper's own form.
    """

    as_printed: bool = False

    @property
    def title(self) -> str:
        form = "as printed" if self.as_printed else "corrected"
        return f"Theorem 4.3, eq. (21) {form}, delta = {self.delta:g}"

    def _gain(self, problem: Problem, horizon: int) -> Array:
        (arms, variance, epsilon), noise_var = _drifting(problem), problem.noise_var
        longest = min(LONGEST_BLOCK, horizon)
        gains = theory.information_gain_bound(arms, problem.kernel, noise_var, longest)
        rounds, printed = _rounds(horizon), self.as_printed
        forms = [
            time_varying.time_varying_gain_bound(
                rounds, block, float(gain), noise_var, epsilon, variance, as_printed=printed
            )
            for block, gain in enumerate(gains, start=1)
        ]
        return np.min(forms, axis=0)


@BOUNDS.register("theorem4.2")
@dataclass(frozen=True)
class Theorem42(Bound):
    """The bound of R-GP-UCB with the paper's block length and a greedy bound on gamma_N.

    See `Theorem43`. The paper does not state a0 and b0 of the function's tail either. ERRATUM: eq.
    (18) is half of what eq. (72) of the proof gives, which is used here.

    Source: bogunovic2016, eqs. (16)-(18) and (72).
    """

    a: float
    b: float
    a0: float
    b0: float
    delta: float = 0.1
    metric: str = "average_regret"

    legend = "Theorem 4.2 (R-GP-UCB), delta = {0.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        (arms, variance, epsilon), noise_var = _drifting(problem), problem.noise_var
        block = paper_block_length(problem.replaced(horizon=horizon))
        gain = theory.information_gain_bound(arms, problem.kernel, noise_var, block)[-1]
        rounds, slopes = _rounds(horizon), (self.delta, self.a, self.b)
        beta = time_varying.beta_resetting(rounds, arms.dim, *slopes, _side(arms))
        # The theorem is for a function of variance 1. Its 2 is the error of a grid.
        sd = math.sqrt(variance)
        tails = (self.delta, self.a0, self.b0 / sd)
        bound = time_varying.regret_bound_resetting(
            rounds, beta, block, float(gain), noise_var / variance, epsilon, *tails
        )
        return (sd * (bound - 2.0) + 2.0) / rounds


# -- bedi2022: compression ------------------------------------------------------------------------


def _compressed(problem: Problem, horizon: int, epsilon: float) -> tuple[Array, Array]:
    """The largest possible model order after each round, and its gamma; (T,) each.

    Both follow from the greedy gain of this problem (srinivas2010, eq. 5).
    """
    arms, _ = _arms(problem, "the bounds of bedi2022 are")
    gain = theory.information_gain_bound(arms, problem.kernel, problem.noise_var, horizon)
    order = np.minimum(_rounds(horizon), theory.model_order_bound_by_gain(gain, epsilon))
    return order.astype(np.float64), np.append(0.0, gain)[order]


@BOUNDS.register("bedi3.2")
@dataclass(frozen=True)
class Theorem32(Bound):
    """The bound of GP-UCB compressed at epsilon nats, with the beta of srinivas2010, Theorem 1.

    It fails with probability delta.

    Source: bedi2022, Theorem 3.2, eq. (3.2).
    """

    epsilon: float
    delta: float = 0.1
    metric: str = "average_regret"

    legend = "eq. (3.2), epsilon = {0.epsilon:g}, delta = {0.delta:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        arms, variance = _arms(problem, "the bounds of bedi2022 are")
        rounds, (_, gain) = _rounds(horizon), _compressed(problem, horizon, self.epsilon)
        beta = theory.beta_finite(rounds, arms.size, self.delta)
        bound = theory.regret_bound_compressed(
            rounds, beta, gain, problem.noise_var, self.epsilon, variance
        )
        return bound / rounds


@BOUNDS.register("bedi-model-order")
@dataclass(frozen=True)
class ModelOrderBound(Bound):
    """A bound on the model order at epsilon nats: the largest M with gamma_M > M epsilon.

    Source: srinivas2010, Lemma 5.3, and bedi2022, eq. (2.12). The paper's own bound, eq. (3.1), has
        a constant that it does not specify.
    """

    epsilon: float
    metric: str = "model_order"

    legend = "model order, epsilon = {0.epsilon:g}"

    def curve(self, problem: Problem, horizon: int) -> Array:
        return _compressed(problem, horizon, self.epsilon)[0]


# -- ren2024: batches -----------------------------------------------------------------------------


@BOUNDS.register("ren-theorem1")
@dataclass(frozen=True)
class BatchTheorem1(Bound):
    """The bound on TS-RSR's expected regret per action, with the greedy bound on gamma.

    rho_m is bounded by sqrt(1 + m v / s^2), as for a start without initial observations.

    Source: ren2024, Theorem 1 with the constants of Section 5.5.
    """

    metric: str = "average_regret"

    legend = "Theorem 1"

    def curve(self, problem: Problem, horizon: int) -> Array:
        arms, variance = _arms(problem, "the bound of ren2024 is", batches=True)
        m, noise = problem.batch_size, problem.noise_var
        gain = theory.information_gain_bound(arms, problem.kernel, noise, m * horizon)
        rho = math.sqrt(1.0 + m * variance / noise)
        total = theory.regret_bound_ts_rsr(gain, m, arms.size, noise, rho, variance)
        return total / (m * np.arange(1.0, horizon + 1.0))
