"""LB-GP-UCB: GP-UCB that balances several lengthscales, of which the longest may be too long.

Paper: Ziomek, Adachi and Osborne (2024), "Bayesian Optimisation with Unknown Hyperparameters:
Regret Bounds Logarithmically Closer to Optimal", with constants of the authors' code.
Assumes: the lengthscale is at most that of the problem; Gaussian noise of known variance.
Departures: 1. the longest lengthscale is the problem's, not fitted; 2. the supposed regret is in
units of it, always of a squared exponential; 3. m actions are m plays; 4. those of `GPAgent`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import Improved
from gpbandits_env.agents.data.conditioned import Conditioned
from gpbandits_env.agents.data.part import Observed, Part
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Array, State
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem

TOLERANCE, B, FIRST = 0.01, 1.0, 5
NEW = np.array([[1.0], [0.0], [0.0], [0.0]])  # live and not played


class Balance(Part):
    """Per candidate: whether it is live, and the sums of plays, rewards and widths, (4, k)."""

    REMEMBERS = ("sums", "choices")
    rule: Any  # the `ConfidenceBound` of the agent

    def __init__(self, problem: Problem, believe: Callable[[float], Conditioned]) -> None:
        self._noise_var, self._dim, self._believe = problem.noise_var, problem.domain.dim, believe
        nu = problem.kernel.smoothness or np.inf
        self._pace = self._dim + (2.0 * nu if nu < np.inf else 0.0)

    def begin(self) -> None:
        self.sums, self.choices = np.repeat(NEW, FIRST, axis=1), list[int]()  # one for each round
        self.beliefs = [*map(self._believe, self.shares)]

    @property
    def shares(self) -> Array:
        """The lengthscales q_i / theta_0, (k,)."""
        return np.exp(-np.arange(self.sums.shape[1]) / self._pace)

    @property
    def chosen(self) -> int:
        """The live one of least sqrt(m A) (sqrt(A) + B): m = n_i + 1, A = q^-d log(m)^(d + 1)."""
        m = self.sums[1] + 1.0
        a: Array = self.shares**-self._dim * np.log(m) ** (self._dim + 1)
        return int(np.where(self.sums[0], np.sqrt(m * a) * (np.sqrt(a) + B), np.inf).argmin())

    def observe(self, seen: Observed, before: Any) -> None:
        if seen.source == "round":
            self.choices.append(self.chosen)
        if seen.source == "prior" or not len(seen.rewards):
            return
        t, of = seen.round, seen.each_round
        for played in np.unique(of).tolist():
            points, rewards = seen.points[of == played], seen.rewards[of == played]
            own = self.beliefs[i := self.choices[int(played) - 1]].posterior
            width = np.sqrt(self.rule.beta(t, own.information_gain) * own.moments(points)[1])
            self.sums[1:, i] += len(width), rewards.sum(), width.sum()
        n, rewards, widths = self.sums[1:, (live := self.sums[0] > 0.0)]
        if n.all():
            xi = np.log(len(n) * (np.pi * t) ** 2 / (6.0 * TOLERANCE))
            low = rewards / n - np.sqrt(2.0 * self._noise_var * xi / n)
            self.sums[0, live] = low + 2.0 * widths / n >= low.max()
        if len(live) < self._pace * 0.5 * np.log(t + 1.0):  # q(i) > 1 / sqrt(t)
            self.sums = np.hstack([self.sums, NEW])
            self.beliefs.append(self._believe(self.shares[-1]))

    def state(self) -> State:
        return super().state() | {"beliefs": [belief.state() for belief in self.beliefs]}

    def restore(self, state: State) -> None:
        super().restore(state)
        self.beliefs = [*map(self._believe, self.shares)]
        for belief, saved in zip(self.beliefs, state["beliefs"], strict=True):
            belief.restore(saved)


class LBGPUCB(GPAgent):
    r"""GP-UCB under the lengthscale that promises the least regret, until rewards contradict it.

    .. math:: q_i = \theta_0 e^{-i / D}, \quad i_t = \arg\min_i Reg_i(n_i + 1), \quad
        \text{drop } j: \; Low_j + \frac{2}{n_j} \sum c \, \sigma^j < \max_i Low_i

    Five candidates, later a few more, learn all data, at the cost of as many GP-UCBs. n_i counts
    plays, Low_i is a lower bound of the mean reward, and D = d, or d + 2 nu for a Matern kernel.

    Args:
        beta: see `GPUCB`; by default "igp" with B = 1 and delta = 0.005.
    Raises:
        InvalidInput: the model is to be learned or standardized.
    """

    PARTS = Parts(acquisition=partial(ConfidenceBound, beta=Improved(0.5 * TOLERANCE, B)))

    def __init__(self, problem: Problem, rng: np.random.Generator, **settings: Any) -> None:
        self.balance = Balance(problem, self._believe)
        super().__init__(problem, rng, **settings)
        self.balance.rule = self.rule
        if self.refit is not None:
            raise InvalidInput("its lengthscales are its own: give learn=None, standardize=False")

    def _believe(self, share: float) -> Conditioned:
        inner = self.action_map.inner
        kernel = inner.kernel.with_lengthscale(lambda ell: np.multiply(share, ell).tolist())
        model = self.composed.model(inner.replaced(kernel=kernel))
        return Conditioned(self.data, self.keep, self.action_map, self._prior, model)

    @property
    def parts(self) -> tuple[Part, ...]:
        return *super().parts, self.balance

    def _reach(self, t: int, time: float, new: Observed | None = None) -> None:
        for belief in self.balance.beliefs:
            belief.at(t, time, new)
        self.conditioned = self.balance.beliefs[self.balance.chosen]
        super()._reach(t, time)
