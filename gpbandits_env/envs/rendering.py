"""What `render` shows: a line of text, or a picture."""

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.functions import Function

# Rounds whose readings a picture of a moving function shows.
RECENT = 15
METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}

Belief: TypeAlias = tuple[Array, Array] | None


def check_render_mode(mode: str | None) -> str | None:
    """The mode, or a clear error.

    Raises:
        UnknownName: no such mode.
    """
    if mode is not None and (not isinstance(mode, str) or mode not in METADATA["render_modes"]):
        raise unknown("render mode", mode, METADATA["render_modes"])
    return mode


@dataclass(frozen=True)
class Seen:
    """What was observed of a round: actions, noisy rewards (k,), regret of each action (k,)."""

    actions: NDArray[Any]
    rewards: Array
    regret: Array


@dataclass(frozen=True)
class Scene:
    """All that is shown of an instance.

    Args:
        bandit: what is simulated.
        function: the current function.
        round: the number of rounds so far.
        cumulative: cumulative regret.
        simple: simple regret; infinite before the first round.
        seen: the rounds that are shown, the last one at the end.
        belief: an agent's mean and standard deviation at the arms, (n,) each, if one is attached.
    """

    bandit: Bandit
    function: Function
    round: int
    cumulative: float
    simple: float
    seen: list[Seen]
    belief: Belief = None


@dataclass
class Viewer:
    """Remembers the readings of one instance's episode, and draws them."""

    bandit: Bandit
    mode: str
    seen: list[Seen] = field(default_factory=list)
    agent: Any = None

    def record(
        self,
        actions: NDArray[Any],
        rewards: Array,
        regret: Array,
        observed: NDArray[np.bool_] | None = None,
    ) -> None:
        """Remember what was observed of a round; the arrays are copied."""
        kept = np.ones(len(actions), dtype=np.bool_) if observed is None else observed
        self.seen.append(Seen(actions[kept], rewards[kept], regret[kept]))
        if self.bandit.process.moves:
            # Readings of functions long gone would only confuse.
            del self.seen[:-RECENT]

    def attach(self, agent: Any) -> None:
        """Show this agent's belief; None shows none.

        Raises:
            InvalidInput: it has no ``belief``.
        """
        if agent is not None and not callable(getattr(agent, "belief", None)):
            raise InvalidInput(f"an attached agent needs belief() -> (mean, sd), got {agent!r}")
        self.agent = agent

    def draw(
        self, function: Function, round_: int, cumulative: float, simple: float
    ) -> str | NDArray[np.uint8]:
        """The scene as text ("ansi") or pixels (height, width, 3) ("rgb_array")."""
        scene = Scene(self.bandit, function, round_, cumulative, simple, self.seen)
        if self.mode == "ansi":
            return text(scene)
        from gpbandits_env.envs.pictures import picture

        if self.agent is None:
            return picture(scene)
        mean, sd = self.agent.belief()
        return picture(replace(scene, belief=(np.asarray(mean), np.asarray(sd))))

    def snapshot(self) -> list[Seen]:
        """The readings so far, which never change."""
        return list(self.seen)

    def restore(self, state: list[Seen]) -> None:
        """Go on from a snapshot; the empty one begins an episode."""
        self.seen = list(state)


def text(scene: Scene) -> str:
    """One line: the round, what was done and got in it, and the regret so far."""
    best = f"best {_action(scene.function.best_action)} worth {scene.function.optimum:.4g}"
    if not scene.seen:
        return f"round 0 | nothing played yet | {best}"
    last = scene.seen[-1]
    happened = [
        "played " + " ".join(_action(action) for action in last.actions),
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
