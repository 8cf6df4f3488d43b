"""ET-GP-UCB: GP-UCB that discards its data when a reward shows that the function has changed.

Paper: Brunzema, von Rohr, Solowjow and Trimpe (2025), "Event-Triggered Time-Varying Bayesian
Optimization", its algorithm and event trigger. The authors' code is not public; the trigger is the
union bound that `ETGPUCB` proves.
Assumes: what GP-UCB assumes, between two events. It is told nothing about the drift.
Departures: 1. beta_t is that of bogunovic2016, and its t counts all rounds; 2. after an event, the
data of the round that caused it are kept (the paper may do so too); 3. in a batch of m, one
surprising reward is enough, so that a false event is up to m times as probable; 4. ties (see
`leader`) go to the lowest index; 5. rewards that arrive after their round trigger no event; 6. by
default blocks have no maximal length, as they have in the paper's theory.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from gpbandits_env.agents.acquisitions.rules import ConfidenceBound
from gpbandits_env.agents.acquisitions.schedules import LOG_TIME
from gpbandits_env.agents.data.keep import Since
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import whole
from gpbandits_env.gp.theory.arguments import probability


class EventTrigger(Since):
    """All data but those of the last round are discarded when a reward is surprising.

    Args:
        delta: twice the largest probability of a false event (see `ETGPUCB`), in (0, 1).
        longest: if given, they are also discarded after this many rounds without an event.
    Attributes:
        events: the number of events so far.
    """

    REMEMBERS = (*Since.REMEMBERS, "events")

    def __init__(self, delta: float, longest: int | None = None) -> None:
        self.delta = probability(delta)
        self.longest = math.inf if longest is None else whole(longest, "longest")
        super().__init__()

    def begin(self) -> None:
        super().begin()
        self.events = 0

    def observe(self, seen: Observed, before: Any) -> None:
        mine, now = seen.each_round == seen.round, seen.round
        if not mine.any():
            return
        since = now - max(1.0, min(before.first_round, now)) + 1.0  # counts this round
        rho = 2.0 * math.log(2.0 * (math.pi * since) ** 2 / (6.0 * self.delta))
        mean, var = before.posterior.moments(seen.points[mine])
        bound = math.sqrt(rho) * (np.sqrt(var) + math.sqrt(before.posterior.noise_var))
        event = bool(np.any(np.abs(before.received(seen.rewards)[mine] - mean) > bound))
        if event or now - max(self.start, 0.0) >= self.longest:
            self.start, self.events = float(now), self.events + event


class ETGPUCB(GPAgent):
    r"""GP-UCB on the data since the last event, which a surprising reward triggers.

    .. math::
        |y_t - \mu_{t-1}(x_t)| > \sqrt{\rho_t} \, \sigma_{t-1}(x_t) + \bar w_t, \quad
        \rho_t = 2 \log \frac{2 \pi_t}{\delta}, \quad \bar w_t = s \sqrt{\rho_t}, \quad
        \pi_t = \frac{\pi^2 t^2}{6}

    Here t counts the rounds since the last event, whose round is the first. With one action in a
    round, and as long as the function does not change, an event ever happens with a probability of
    at most delta / 2: the difference is Gaussian with the
    variance sigma^2 + s^2 <= (sigma + s)^2, so it exceeds the bound with a probability of at most
    exp(-rho_t / 2) = delta / (2 pi_t), and the sum of 1 / pi_t over all t is 1.

    Args:
        delta: twice the largest probability of a false event, in (0, 1).
        longest: if given, a block ends after this many rounds also without an event.
        beta: see `GPUCB`; 0.8 log(4 t) by default.
    Raises:
        InvalidInput: delta is not in (0, 1), or longest is no whole number above 0.
    Source: Brunzema et al. (2025).
    """

    PARTS = Parts(
        acquisition=partial(ConfidenceBound, beta=LOG_TIME),
        keep=partial(EventTrigger, delta=0.1, longest=None),
    )
