"""ET-GP-UCB: GP-UCB that discards its data when a reward shows that the function has changed.

Paper: Brunzema, von Rohr, Solowjow and Trimpe (2022), "Event-Triggered Time-Varying Bayesian
Optimization", Algorithm 1 and its event trigger; rebuilt from memory, without the paper at hand.
Assumes: what GP-UCB assumes, between two events. It is told nothing about the drift.
Departures: 1. beta_t is that of bogunovic2016, and its t counts all rounds; 2. after an event, the
data of the round that caused it are kept; 3. in a batch, one surprising reward is enough; 4. ties
(see `leader`) go to the lowest index; 5. rewards that arrive late trigger no event.
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
from gpbandits_env.arrays import Array, Points, State
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.gp.theory.arguments import probability
from gpbandits_env.problem import Problem


class ETGPUCB(GPAgent):
    r"""GP-UCB on the data since the last event, which a surprising reward triggers.

    .. math::
        |y_t - \mu_{t-1}(x_t)| > \sqrt{\rho_t} \, \sigma_{t-1}(x_t) + \bar w_t, \quad
        \rho_t = 2 \log \frac{2 \pi_t}{\delta}, \quad \bar w_t = s \sqrt{\rho_t}, \quad
        \pi_t = \frac{\pi^2 t^2}{6}

    Here t counts the rounds since the last event. As long as the function does not change, an
    event happens with a probability of at most delta.

    Args:
        delta: the probability of a false event, in (0, 1).
        beta: see `GPUCB`; 0.8 log(4 t) by default.
    Raises:
        InvalidInput: delta is not in (0, 1).
    Source: Brunzema et al. (2022), Algorithm 1.
    """

    forgetting: "EventTrigger"

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        delta: float = 0.1,
        beta: Beta = LOG_TIME,
        **parts: Any,
    ) -> None:
        super().__init__(problem, rng, ConfidenceBound(beta), None, EventTrigger(delta), **parts)

    def _received(self, *given: Any, **named: Any) -> tuple[Points, Array]:
        points, values = super()._received(*given, **named)
        rewards = self._drawn_in(values)
        self.forgetting.look(self.round + 1, self.posterior, self.log, points, rewards)
        return points, values

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self.forgetting.events

    def reset(self) -> None:
        self.forgetting.events = 0
        super().reset()

    def snapshot(self) -> State:
        return super().snapshot() | {"events": self.events}

    def _restore(self, state: State) -> None:
        self.forgetting.events = int(state["events"])
        super()._restore(state)


class EventTrigger(Forgetting):
    """All data but those of the last round are discarded when a reward is surprising.

    Args:
        delta: the probability of a false event, in (0, 1).
    Attributes:
        events: the number of events so far.
    """

    rounds = rounds_late = None

    def __init__(self, delta: float) -> None:
        self.delta = probability(delta)
        self.events, self._fired = 0, False

    def look(
        self,
        round_: int,
        posterior: Posterior,
        log: ObservationLog,
        points: Points,
        rewards: Array,
    ) -> None:
        """Compare rewards of a round with their predictions, before they are observed."""
        if not len(rewards):
            self._fired = False
            return
        since = round_ - max(1.0, min(log.first_round, round_)) + 1.0  # counts this round
        rho = 2.0 * math.log(2.0 * (math.pi * since) ** 2 / (6.0 * self.delta))
        mean, var = posterior.moments(points)
        bound = math.sqrt(rho) * (np.sqrt(var) + math.sqrt(posterior.noise_var))
        self._fired = bool(np.any(np.abs(rewards - mean) > bound))

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if not self._fired:
            return
        self._fired, self.events = False, self.events + 1
        log.keep_last(1)
        posterior.forget()
        log.replay(posterior)
