"""`render`: the observations of an episode are recorded and drawn."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.scene import Scene, Seen, text
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.functions import Function

# A picture of a moving function shows the readings of so many rounds.
RECENT = 15
SIDE_BY_SIDE: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
METADATA: dict[str, Any] = {**SIDE_BY_SIDE, "render_modes": ["human", "ansi", "rgb_array"]}


def check_render_mode(mode: str | None, metadata: dict[str, Any] = METADATA) -> str | None:
    """The render mode, checked.

    Raises:
        UnknownName: there is no such mode.
    """
    return None if mode is None else one_of(mode, metadata["render_modes"], "render mode")


@dataclass
class Viewer:
    """Records the readings of one episode, and draws them."""

    bandit: Bandit
    mode: str
    seen: list[Seen] = field(default_factory=list)
    agent: Any = None
    window: Any = None

    def record(
        self,
        actions: NDArray[Any],
        rewards: Array,
        regret: Array,
        observed: NDArray[np.bool_] | None = None,
    ) -> None:
        """Record the observations of a round; the arrays are copied."""
        kept = np.ones(len(actions), dtype=np.bool_) if observed is None else observed
        self.seen.append(Seen(actions[kept], rewards[kept], regret[kept]))
        if self.bandit.process.moves:
            # Readings of functions of much earlier rounds would be misleading.
            del self.seen[:-RECENT]

    def attach(self, agent: Any) -> None:
        """Show this agent's belief; None shows none.

        Raises:
            InvalidInput: the agent has no ``belief``.
        """
        if agent is not None and not callable(getattr(agent, "belief", None)):
            raise InvalidInput(f"an attached agent needs belief() -> (mean, sd), got {agent!r}")
        self.agent = agent

    def draw(
        self, function: Function, round_: int, cumulative: float, simple: float
    ) -> str | NDArray[np.uint8] | None:
        """The scene as text ("ansi") or pixels (height, width, 3) ("rgb_array"), or in a window."""
        scene = Scene(self.bandit, function, round_, cumulative, simple, self.seen, self.agent)
        if self.mode == "ansi":
            return text(scene)
        if self.mode == "human":
            self._show(scene)
            return None
        from gpbandits_env.envs.pictures import picture

        return picture(scene)

    def _show(self, scene: Scene) -> None:
        from gpbandits_env.envs.display import Display

        self.window = self.window or Display()
        self.window.show(scene, 1.0 / METADATA["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        if self.window is not None:
            self.window.close()

    def snapshot(self) -> list[Seen]:
        """The readings so far, which are immutable."""
        return list(self.seen)

    def restore(self, state: list[Seen]) -> None:
        """Continue from a snapshot; an empty one starts an episode."""
        self.seen = list(state)
