"""What happens to an agent's old observations between rounds.

They are kept or dropped, or the correlation with them changes. Every agent with a posterior has the
settings `epsilon`, `temporal`, `reset_every` and `window` for this.
"""

import math
from abc import ABC, abstractmethod

from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.arrays import Settings, share, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.gp.temporal import MarkovTime, TemporalKernel, epsilon_per, temporal_from_dict

# Data whose correlation with the present is below this have no effect.
GONE = 1e-9


class Forgetting(ABC):
    """What happens to the data after each round.

    Attributes:
        rounds: the number of entries of the log that it needs; None for all since the last reset.
        rounds_late: the number that it needs if rewards arrive late; None for all.
        ages: whether data age with time; otherwise only with rounds.
    """

    rounds: int | None = 0
    rounds_late: int | None = None
    ages: bool = False

    @abstractmethod
    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        """Prepare the posterior and the log, after the rewards of a round, for the next round.

        Args:
            round_: the round, counted from 1.
            posterior: the posterior.
            log: the log. A rule that discards all data calls ``log.forget()``. The agent then
                empties the posterior: at once, or if rewards are pending, when the first reward of
                a later round arrives.
        """

    def wait(self, dt: float, posterior: Posterior, log: ObservationLog) -> None:
        """Let time pass without a round, dt > 0 in rounds; it has no effect unless data age."""
        return


class Fade(Forgetting):
    r"""The correlation with past data decays.

    .. math:: k((x, t), (z, t - j)) = k(x, z) (1 - \epsilon)^{j/2}

    Args:
        epsilon: the rate in [0, 1]; 0 keeps all data, 1 discards all data.
    Source: bogunovic2016, eqs. (7)-(8).
    """

    ages = True

    def __init__(self, epsilon: float) -> None:
        self.epsilon = share(epsilon, "epsilon")
        # Older entries have decayed below `GONE`.
        kept = 1.0 - self.epsilon
        self.rounds_late = None if kept == 1.0 else 1
        if 0.0 < kept < 1.0:
            self.rounds_late = max(1, math.ceil(2.0 * math.log(GONE) / math.log(kept)))

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if self.epsilon:
            posterior.drift(self.epsilon, 1.0)
        log.fade(self.epsilon)

    def wait(self, dt: float, posterior: Posterior, log: ObservationLog) -> None:
        epsilon = epsilon_per(dt, self.epsilon)
        posterior.advance(epsilon)
        log.fade(epsilon, dt)


class Elapse(Forgetting):
    """Time passes as the posterior's temporal kernel says; a round takes one unit."""

    ages = True

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        self.wait(1.0, posterior, log)

    def wait(self, dt: float, posterior: Posterior, log: ObservationLog) -> None:
        posterior.advance(0.0, dt)
        log.elapse(dt)


class Restart(Forgetting):
    """All data are discarded after each block of rounds.

    Args:
        every: the block length N >= 1.
    Source: bogunovic2016, Algorithm 1: reset at every t with t mod N = 1.
    """

    def __init__(self, every: int) -> None:
        self.every = self.rounds_late = whole(every, "reset_every")

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if round_ % self.every == 0:
            log.forget()


class Window(Forgetting):
    """Only the last rounds are used. Once the window is full, each round rebuilds the posterior.

    Args:
        rounds: the length W >= 1 of the window.
    Source: sliding windows as in Zhou and Shroff (2021), SW-GP-UCB.
    """

    def __init__(self, rounds: int) -> None:
        self.window = whole(rounds, "window")
        # One more, to detect that an entry drops out.
        self.rounds = self.rounds_late = self.window + 1

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if log.keep_last(self.window):
            posterior.forget()
            for entry in log.data:
                posterior.condition(entry.points, entry.rewards)


def drift_of(
    epsilon: float | None, temporal: TemporalKernel | Settings | None
) -> tuple[float | None, TemporalKernel | None]:
    """The settings ``epsilon`` and ``temporal``, of which a Markov kernel is the former.

    Raises:
        InvalidInput: both are given, or the kernel is invalid.
    """
    moving = None if temporal is None else temporal_from_dict(temporal)
    if epsilon is not None and moving is not None:
        raise InvalidInput("give epsilon or temporal, not both: epsilon is a Markov drift")
    if isinstance(moving, MarkovTime):
        return moving.epsilon, None
    return epsilon, moving


def forgetting_for(
    epsilon: float | None,
    reset_every: int | None,
    window: int | None,
    temporal: TemporalKernel | None = None,
    own: Forgetting | None = None,
) -> Forgetting | None:
    """The rule for these settings, of which at most one may be given; None keeps all data.

    An algorithm with a rule of its own accepts none of them.

    Raises:
        InvalidInput: two of them are given, or a number is out of range.
    """
    given = {"epsilon": epsilon, "reset_every": reset_every, "window": window, "temporal": temporal}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InvalidInput(f"give at most one of {', '.join(given)}, got {' and '.join(named)}")
    if own is not None:
        if named:
            raise InvalidInput(
                f"this agent forgets by a rule of its own: leave out {', '.join(given)}, and do "
                "not learn epsilon"
            )
        return own
    if temporal is not None:
        return Elapse()
    if epsilon is not None:
        return Fade(epsilon)
    if reset_every is not None:
        return Restart(reset_every)
    return None if window is None else Window(window)
