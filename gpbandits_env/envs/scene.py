"""What `render` shows of an instance, and that as a line of text."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.functions import Function

Belief: TypeAlias = tuple[Array, Array] | None


@dataclass(frozen=True)
class Seen:
    """What was observed of a round: actions, noisy rewards (k,), regret of each action (k,)."""

    actions: NDArray[Any]
    rewards: Array
    regret: Array


@dataclass(frozen=True)
class Scene:
    """All that is shown of an instance after some rounds: its current function and its regrets.

    ``seen`` are the rounds that are shown, the last one at the end; ``belief`` is the mean and the
    standard deviation of an attached agent at the arms, (n,) each.
    """

    bandit: Bandit
    function: Function
    round: int
    cumulative: float
    simple: float
    seen: list[Seen]
    belief: Belief = None


def text(scene: Scene) -> str:
    """One line: the round, its actions and rewards, and the regret so far."""
    best = f"best {_action(scene.function.best_action)} worth {scene.function.optimum:.4g}"
    if not scene.seen:
        return f"round 0 | no action yet | {best}"
    last = scene.seen[-1]
    happened = [
        "actions " + " ".join(_action(action) for action in last.actions),
        "rewards " + " ".join(f"{r:.4g}" for r in last.rewards),
        "regret " + " ".join(f"{r:.4g}" for r in last.regret),
    ]
    return " | ".join(
        [
            f"round {scene.round}",
            *(happened if len(last.actions) else ["nothing observed"]),
            f"cumulative {scene.cumulative:.4g}",
            f"simple {scene.simple:.4g}",
            best,
        ]
    )


def _action(action: Any) -> str:
    if np.ndim(action) == 0:
        return str(int(action))
    return "(" + ", ".join(f"{x:.3g}" for x in np.asarray(action)) + ")"
