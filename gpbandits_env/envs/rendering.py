"""What `render` shows: a line of text, or a picture."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.envs.world import World
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.functions import Function

# Rounds whose readings a picture of a moving world shows.
RECENT = 15
METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}


def check_render_mode(mode: str | None) -> str | None:
    """The mode, or a clear error.

    Raises:
        UnknownName: no such mode.
    """
    if mode is not None and (not isinstance(mode, str) or mode not in METADATA["render_modes"]):
        raise unknown("render mode", mode, METADATA["render_modes"])
    return mode


@dataclass(frozen=True)
class Scene:
    """The state of one world.

    Args:
        function: the current function.
        round: the number of rounds played.
        cumulative: cumulative regret.
        simple: simple regret; infinite before the first round.
    """

    function: Function
    round: int
    cumulative: float
    simple: float


@dataclass(frozen=True)
class Batch:
    """What was observed of a round: actions, noisy rewards (k,), regret of each action (k,)."""

    actions: NDArray[Any]
    rewards: Array
    regret: Array


@dataclass
class Viewer:
    """Remembers the readings of one world's episode, and draws them.

    Args:
        world: what is played.
    """

    world: World
    batches: list[Batch] = field(default_factory=list)
    agent: Any = None

    def clear(self) -> None:
        """Forget the readings: an episode begins."""
        self.batches = []

    def record(
        self,
        actions: NDArray[Any],
        rewards: Array,
        regret: Array,
        observed: NDArray[np.bool_] | None = None,
    ) -> None:
        """Remember what was observed of a round; the arrays are copied."""
        kept = np.ones(len(actions), dtype=np.bool_) if observed is None else observed
        self.batches.append(Batch(actions[kept], rewards[kept], regret[kept]))
        if self.world.source.moves:
            # Readings of functions long gone would only confuse.
            del self.batches[:-RECENT]

    def attach(self, agent: Any) -> None:
        """Show this agent's belief; None shows none.

        Raises:
            InvalidInput: it has no ``belief``.
        """
        if agent is not None and not callable(getattr(agent, "belief", None)):
            raise InvalidInput(f"an attached agent needs belief() -> (mean, sd), got {agent!r}")
        self.agent = agent

    def belief(self) -> tuple[Array, Array] | None:
        """The attached agent's mean and standard deviation at the arms, (n,) each."""
        if self.agent is None:
            return None
        mean, sd = self.agent.belief()
        return np.asarray(mean), np.asarray(sd)

    def draw(self, scene: Scene, mode: str) -> str | NDArray[np.uint8]:
        """The scene as text ("ansi") or pixels (height, width, 3) ("rgb_array")."""
        if mode == "ansi":
            return text(scene, self.batches[-1] if self.batches else None)
        from gpbandits_env.envs.pictures import picture

        return picture(self.world, scene, self.batches, self.belief())

    def snapshot(self) -> list[Batch]:
        """The readings so far; a batch never changes."""
        return list(self.batches)

    def restore(self, state: list[Batch] | None) -> None:
        """Go on from a snapshot; None is that of an environment that draws nothing."""
        self.batches = list(state or [])


def text(scene: Scene, last: Batch | None) -> str:
    """One line: the round, what was done and got in it, and the regret so far."""
    best = f"best {_action(scene.function.best_action)} worth {scene.function.optimum:.4g}"
    if last is None:
        return f"round 0 | nothing played yet | {best}"
    told = [
        "played " + " ".join(_action(action) for action in last.actions),
        "rewards " + " ".join(f"{r:.4g}" for r in last.rewards),
        "regret " + " ".join(f"{r:.4g}" for r in last.regret),
    ]
    return " | ".join(
        [
            f"round {scene.round}",
            *(told if len(last.actions) else ["nothing observed"]),
            f"cumulative {scene.cumulative:.4g}",
            f"simple {scene.simple:.4g}",
            best,
        ]
    )


def _action(action: Any) -> str:
    if np.ndim(action) == 0:
        return str(int(action))
    return "(" + ", ".join(f"{x:.3g}" for x in np.asarray(action)) + ")"
