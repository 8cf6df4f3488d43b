"""What a learner does with old data between rounds: keep it, let it fade, drop it.

Time belongs to the posterior, so every agent with a posterior takes these as settings: `epsilon`,
`reset_every` and `window`.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput

if TYPE_CHECKING:
    from gpbandits_env.agents.gp_agent import GPAgent


class Forgetting(ABC):
    """Called after each round was learned."""

    @abstractmethod
    def after(self, agent: "GPAgent", actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Prepare the agent's posterior for the next round.

        Args:
            agent: its `round` counts the round just learned.
            actions: (k,) arms of that round, or (k, d) points.
            rewards: (k,) what they gave.
        """

    def before(self, actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Take note of what was learned before round 1.

        Args:
            actions: (k,) arms, or (k, d) points.
            rewards: (k,) what they gave.
        """
        return

    def reset(self) -> None:
        """Back to the start of an episode."""
        self.restore(())

    def snapshot(self) -> Any:
        """What changes, copied; nothing by default."""
        return ()

    def restore(self, state: Any) -> None:
        """Back to a snapshot; to the start with an empty one."""
        if state:
            raise InvalidInput(f"{type(self).__name__} keeps nothing between rounds")


class Keep(Forgetting):
    """All data count for ever."""

    def after(self, agent: "GPAgent", actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        return


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

    def after(self, agent: "GPAgent", actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        agent.fade(self.epsilon)


class Restart(Forgetting):
    """Everything is forgotten after each block of rounds.

    Args:
        every: the block length N >= 1.
    Source: bogunovic2016, Algorithm 1: reset at every t with t mod N = 1.
    """

    def __init__(self, every: int) -> None:
        self.every = whole(every, "reset_every")

    def after(self, agent: "GPAgent", actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        if agent.round % self.every == 0:
            agent.forget()


class Window(Forgetting):
    """Only the last rounds count; from the window's end on the posterior is built anew each round.

    Args:
        rounds: the window's length W >= 1.
    Source: sliding windows as in Zhou and Shroff (2021), SW-GP-UCB.
    """

    def __init__(self, rounds: int) -> None:
        self._rounds: deque[tuple[NDArray[Any], NDArray[Any]]] = deque(
            maxlen=whole(rounds, "window")
        )

    def after(self, agent: "GPAgent", actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        full = len(self._rounds) == self._rounds.maxlen
        self._rounds.append((actions, rewards))
        if full:
            agent.forget()
            for old_actions, old_rewards in self._rounds:
                agent.absorb(old_actions, old_rewards)

    def before(self, actions: NDArray[Any], rewards: NDArray[Any]) -> None:
        self._rounds.append((actions, rewards))

    def snapshot(self) -> Any:
        return [(a.copy(), r.copy()) for a, r in self._rounds]

    def restore(self, state: Any) -> None:
        self._rounds.clear()
        self._rounds.extend((a.copy(), r.copy()) for a, r in state)


def forgetting_for(settings: Mapping[str, Any]) -> Forgetting:
    """The rule of the settings epsilon, reset_every and window, of which at most one is given.

    Raises:
        InvalidInput: two of them, or a number out of range.
    """
    makers: dict[str, Callable[[Any], Forgetting]] = {
        "epsilon": Fade,
        "reset_every": Restart,
        "window": Window,
    }
    given = [name for name, value in settings.items() if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"give at most one of {', '.join(makers)}, got {' and '.join(given)}")
    return makers[given[0]](settings[given[0]]) if given else Keep()
