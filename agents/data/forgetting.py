"""Forgetting: what happens to old data between rounds; they are kept, fade, or are dropped.

Time belongs to the posterior, so every agent with a posterior takes these as settings: `epsilon`,
`reset_every` and `window`.
"""

from abc import ABC, abstractmethod

from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.posterior import Posterior


class Forgetting(ABC):
    """What happens to the data after each round.

    Attributes:
        rounds: how many entries of the log it needs.
    """

    rounds: int = 0

    @abstractmethod
    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        """Prepare posterior and log, which hold the rewards of this round, for the next one."""


class Fade(Forgetting):
    """Correlation with a round j rounds ago is multiplied by (1 - epsilon)^(j/2).

    Args:
        epsilon: in [0, 1]; 0 keeps everything, 1 forgets everything.
    Source: bogunovic2016, eqs. (7)-(8).
    """

    def __init__(self, epsilon: float) -> None:
        if positive(epsilon, "epsilon", zero=True) > 1:
            raise InvalidInput(f"epsilon must lie in [0, 1], got {epsilon!r}")
        self.epsilon = float(epsilon)

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        posterior.advance(self.epsilon)
        log.fade(self.epsilon)


class Restart(Forgetting):
    """Everything is forgotten after each block of rounds.

    Args:
        every: the block length N >= 1.
    Source: bogunovic2016, Algorithm 1: reset at every t with t mod N = 1.
    """

    def __init__(self, every: int) -> None:
        self.every = whole(every, "reset_every")

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if round_ % self.every == 0:
            posterior.forget()
            log.forget()


class Window(Forgetting):
    """Only the last rounds count; once the window is full, the posterior is built anew each round.

    Args:
        rounds: the window's length W >= 1.
    Source: sliding windows as in Zhou and Shroff (2021), SW-GP-UCB.
    """

    def __init__(self, rounds: int) -> None:
        self.window = whole(rounds, "window")
        self.rounds = self.window + 1  # one more, to see that it drops out

    def advance(self, round_: int, posterior: Posterior, log: ObservationLog) -> None:
        if log.keep_last(self.window):
            posterior.forget()
            for entry in log.data:
                posterior.condition(entry.points, entry.rewards)


def forgetting_for(
    epsilon: float | None, reset_every: int | None, window: int | None
) -> Forgetting | None:
    """The rule of the settings of these names, of which at most one is given; None to keep all.

    Raises:
        InvalidInput: two of them, or a number out of range.
    """
    given = {"epsilon": epsilon, "reset_every": reset_every, "window": window}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InvalidInput(f"give at most one of {', '.join(given)}, got {' and '.join(named)}")
    if epsilon is not None:
        return Fade(epsilon)
    if reset_every is not None:
        return Restart(reset_every)
    return None if window is None else Window(window)
