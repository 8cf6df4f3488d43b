"""What is shown of an environment instance, and its line of text."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.arrays import Array, IntArray, Points
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.errors import InvalidInput
from gpbandits_env.rewards.functions import Function


@dataclass(frozen=True)
class ObservedRound:
    """The observations of a round: actions, noisy rewards (k,), regret of each action (k,).

    ``context`` is the context of the round, (1,) or (1, q), or None.
    """

    actions: Points
    rewards: Array
    regret: Array
    context: Points | None = None


@dataclass(frozen=True)
class Scene:
    """What is shown of an instance after some rounds: its current function and its regrets.

    ``history`` contains the rounds that are shown, in order. ``agent`` is the attached agent, whose
    belief is shown, or None.
    """

    bandit: Bandit
    function: Function
    round: int
    cumulative: float
    simple: float
    history: list[ObservedRound]
    agent: Any = None

    def all(self, name: str) -> Points:
        """The actions, the rewards or the regret of all rounds that are shown, by that name."""
        return np.concatenate([getattr(each, name) for each in self.history])

    @property
    def rounds(self) -> IntArray:
        """The round of each action that is shown."""
        rounds = np.arange(self.round - len(self.history), self.round) + 1
        return np.repeat(rounds, [len(each.actions) for each in self.history])

    @property
    def context(self) -> Points | None:
        """The context of the last round; None without contexts."""
        return self.history[-1].context if self.history else None

    @property
    def elsewhere(self) -> NDArray[np.bool_]:
        """Whether each action that is shown was played in another context than the last."""
        here = np.zeros(0) if self.context is None else self.context
        other = [
            each.context is not None and not np.array_equal(each.context, here)
            for each in self.history
        ]
        return np.repeat(other, [len(each.actions) for each in self.history])

    @property
    def best(self) -> Points:
        """The best action, as a batch of one."""
        return np.asarray(self.function.best_action)[None]

    def at(self, actions: Points) -> Array:
        """The positions at which actions are drawn: on the map if there is one."""
        if self.bandit.locations is not None:
            return self.bandit.locations[actions]
        return self.bandit.problem.domain.points(actions)

    def belief(self, points: Points | None = None) -> tuple[Array, Array] | None:
        """The agent's mean and standard deviation at the arms, or at points (n, d) of a box.

        It is None without an agent, or if the agent has no belief there (with candidates, the
        belief in a box exists only at these).

        Raises:
            InvalidInput: it is that of another number of arms or points.
        """
        if self.agent is None:
            return None
        try:
            found = self.agent.belief() if points is None else self.agent.belief(points)
        except InvalidInput:
            return None
        if found is None:
            return None
        mean, sd = map(np.asarray, found)
        n = len(self.bandit.problem.domain.span if points is None else points)
        if not mean.shape == sd.shape == (n,):
            raise InvalidInput(
                f"the belief of the attached agent has the shapes {mean.shape} and {sd.shape}, not "
                f"{(n,)}: attach an agent that is made for this environment"
            )
        return mean, sd


def text(scene: Scene) -> str:
    """One line: the round, its actions and rewards, and the regret so far."""
    best = f"best {_action(scene.function.best_action)} worth {scene.function.optimum:.4g}"
    if not scene.history:
        return f"round 0 | no action yet | {best}"
    last = scene.history[-1]
    happened = [
        "actions " + " ".join(_action(action) for action in last.actions),
        "rewards " + " ".join(f"{r:.4g}" for r in last.rewards),
        "regret " + " ".join(f"{r:.4g}" for r in last.regret),
    ]
    return " | ".join(
        [
            f"round {scene.round}" + in_context(scene),
            *(happened if len(last.actions) else ["nothing observed"]),
            f"cumulative {scene.cumulative:.4g}",
            f"simple {scene.simple:.4g}",
            best,
        ]
    )


def in_context(scene: Scene) -> str:
    """The context of the last round in words; empty without contexts."""
    return "" if scene.context is None else f" in context {_action(scene.context[0])}"


def _action(action: ArrayLike) -> str:
    if np.ndim(action) == 0:
        return str(np.asarray(action).item())
    return "(" + ", ".join(f"{x:.3g}" for x in np.asarray(action)) + ")"
