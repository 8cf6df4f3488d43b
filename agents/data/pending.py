"""Actions that were played and whose rewards have not arrived."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Points, numbers
from gpbandits_env.errors import InvalidInput


class Played(NamedTuple):
    """An action whose reward has not arrived.

    Args:
        round: the round in which it was played, counted from 1.
        action: an arm () or a point (d,), as an array.
        point: what the agent needs to learn from the reward later, as an array; None for nothing.
        time: the time of the round.
    """

    round: int
    action: Points
    point: Points | None
    time: float = 0.0


def matched(pending: Sequence[Played], actions: Points, rounds: ArrayLike | None) -> list[int]:
    """The index of each of the actions, (k, ...), among the pending ones: the oldest that fits.

    Args:
        pending: in the order in which they were played.
        actions: checked actions.
        rounds: (k,) the rounds in which they were played; None if that is unknown.
    Raises:
        InvalidInput: an action is not pending, or there is not one round per action.
    """
    wanted = None if rounds is None else numbers(rounds, "rounds")
    if wanted is not None and wanted.shape != (len(actions),):
        raise InvalidInput(
            f"rounds must have shape ({len(actions)},), one per action, got {wanted.shape}"
        )
    found: list[int] = []
    for i, action in enumerate(actions):
        for j, played in enumerate(pending):
            of_round = wanted is None or played.round == wanted[i]
            if of_round and j not in found and np.array_equal(played.action, action):
                found.append(j)
                break
        else:
            when = "" if wanted is None else f" of round {wanted[i]:g}"
            raise InvalidInput(
                f"no reward of the action {action.tolist()}{when} is pending: announce actions by "
                "expect(actions) in the round in which they are played; their rewards are dropped "
                "after max_delay rounds"
            )
    return found
