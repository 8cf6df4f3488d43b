"""BOB-GP-UCB: a bandit over bandits, which learns the length of GP-UCB's sliding window.

Paper: Cheung, Simchi-Levi and Zhu (2019), "Learning to Optimize under Non-Stationarity", Algorithm
2 (BOB), with GP-UCB instead of a linear bandit, as in Hong, Li and Tewari (2023), whose experiments
compare with it; rebuilt from memory, without the papers at hand.
Assumes: rewards within known limits, and a function of limited total variation.
Departures: 1. the means of rewards are taken to lie within two prior standard deviations of the
prior mean; 2. d of the block length is the dimension of the domain; 3. beta_t is that of
bogunovic2016; 4. rewards that arrive late do not count in the reward of their block, and if the
problem states `max_delay`, a window is longer by it.
"""

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME, Beta
from gpbandits_env.agents.data.forgetting import Forgetting
from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import Array, State, whole
from gpbandits_env.posterior import Posterior
from gpbandits_env.problem import Problem

USUAL_HORIZON = 1000


class BOBGPUCB(GPAgent):
    r"""GP-UCB on a sliding window, whose length an Exp3 bandit chooses for each block of H rounds.

    .. math::
        H = \lfloor d \sqrt T \rfloor, \quad \Delta = \lceil \log H \rceil, \quad
        w_j = \lfloor H^{j / \Delta} \rfloor, \; j = 0, \dots, \Delta

    All data are discarded at the start of a block, and in it only the last w_j rounds are used.

    Cost: in each round, the posterior is computed again from the observations of the window.

    Args:
        block: H, the number of rounds per block; by default that of the formula, with T = 1000 if
            the horizon is unknown.
        beta: see `GPUCB`; 0.8 log(4 t) by default.
    Source: Cheung, Simchi-Levi and Zhu (2019), Algorithm 2.
    """

    forgetting: "WindowBandit"

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        block: int | None = None,
        beta: Beta = LOG_TIME,
        **parts: Any,
    ) -> None:
        horizon = problem.horizon or USUAL_HORIZON
        usual = math.floor(problem.domain.dim * math.sqrt(horizon))
        length = usual if block is None else whole(block, "block")
        rule = WindowBandit(problem.joint, horizon, length, rng)
        super().__init__(problem, rng, ConfidenceBound(beta), None, rule, **parts)

    @property
    def window(self) -> int:
        """The length of the window in the present block, once its first rewards are known."""
        return self.forgetting.lengths[self.forgetting.chosen]

    def reset(self) -> None:
        self.forgetting.begin()
        super().reset()

    def snapshot(self) -> State:
        return super().snapshot() | {"bandit": self.forgetting.snapshot()}

    def _restore(self, state: State) -> None:
        self.forgetting.restore(state["bandit"])
        super()._restore(state)


class WindowBandit(Forgetting):
    """Exp3 over the lengths of sliding windows; a block of rounds is one of its rounds.

    Args:
        problem: the problem, whose prior limits the rewards; a window is longer by its `max_delay`.
        horizon: T.
        length: H, the rounds per block.
        rng: the generator.
    Attributes:
        lengths: the lengths w_j of the windows.
        chosen: the j of the present block.
    Source: Cheung, Simchi-Levi and Zhu (2019), Algorithm 2.
    """

    rounds_late = None

    def __init__(self, problem: Problem, horizon: int, length: int, rng: Generator) -> None:
        steps = max(1, math.ceil(math.log(length)))
        self._late = problem.max_delay or 0
        self.length, self._rng, self.rounds = length, rng, length + 1
        self.lengths = [math.floor(length ** (j / steps) + 1e-9) for j in range(steps + 1)]
        effort, blocks = (steps + 1) * math.log(steps + 1), math.ceil(horizon / length)
        self._exploration = min(1.0, math.sqrt(effort / ((math.e - 1.0) * blocks)))
        self._mean = float(np.mean(problem.prior_mean))
        first = problem.domain.points(problem.domain.sample(np.random.default_rng(0), 1))
        top = 2.0 * math.sqrt(float(problem.kernel.diagonal(first)[0]))
        rest, m = math.log(horizon / math.sqrt(length)), problem.batch_size
        noise = math.sqrt(problem.noise_var * m * length * max(0.0, rest))
        # The largest sum of rewards in a block that is to be expected.
        self._scale = 2.0 * top * length * m + 4.0 * noise
        self.begin()

    @property
    def probabilities(self) -> Array:
        """The probability of each length, (Delta + 1,)."""
        weights = np.exp(self._log_weights - self._log_weights.max())
        weights *= (1.0 - self._exploration) / weights.sum()
        return np.asarray(weights + self._exploration / len(weights))

    def begin(self) -> None:
        """Return to equal weights."""
        self._log_weights: Array = np.zeros(len(self.lengths))
        self.chosen, self._total = 0, 0.0

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if (round_ - 1) % self.length == 0:
            self._total = 0.0
            self.chosen = int(self._rng.choice(len(self.lengths), p=self.probabilities))
        last = log.entries[-1].rewards
        self._total += float(last.sum()) - self._mean * len(last)
        if round_ % self.length == 0:
            share = self._exploration / len(self.lengths)
            gain = 0.5 + self._total / self._scale
            self._log_weights[self.chosen] += share * gain / self.probabilities[self.chosen]
            log.forget()
        elif log.keep_last(self.lengths[self.chosen] + self._late):
            posterior.forget()
            log.replay(posterior)

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        weights = self._log_weights.copy()
        return {"log_weights": weights, "chosen": self.chosen, "total": self._total}

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        self._log_weights = np.array(state["log_weights"], dtype=np.float64)
        self.chosen, self._total = int(state["chosen"]), float(state["total"])
