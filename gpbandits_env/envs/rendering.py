"""`render`: the observations of an episode are recorded, and shown as text or drawn."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Plain, Points, Settings, State
from gpbandits_env.envs.bandit import Bandit
from gpbandits_env.envs.scene import ObservedRound, Scene, text
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.rewards.functions import Function

# A picture of a moving function shows the readings of so many rounds.
RECENT = 15
SIDE_BY_SIDE: Plain = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
METADATA: Plain = {**SIDE_BY_SIDE, "render_modes": ["human", "ansi", "rgb_array"]}

NO_MODE = "render() draws nothing: make the environment with a render_mode"


def check_render_mode(mode: str | None, metadata: Settings = METADATA) -> str | None:
    """The render mode, checked.

    Raises:
        UnknownName: there is no such mode.
    """
    return None if mode is None else one_of(mode, metadata["render_modes"], "render mode")


def check_believes(agent: object) -> None:
    """Raise InvalidInput unless an agent has a ``belief`` that can be shown; None shows none."""
    if agent is not None and not callable(getattr(agent, "belief", None)):
        raise InvalidInput(f"an attached agent needs belief() -> (mean, sd), got {agent!r}")


@dataclass
class Viewer:
    """Records the readings of one episode, and draws them with the belief of an attached agent.

    The window of "human" is one of matplotlib's current backend, opened when it first shows
    something. If the user closes it, the next round opens it again. Without a display nothing is
    shown.
    """

    bandit: Bandit
    mode: str
    history: list[ObservedRound] = field(default_factory=list)
    agent: Any = None
    figure: Any = None

    def __getstate__(self) -> State:
        return {**vars(self), "figure": None}  # a copied environment opens its own window

    def begin(self, bandit: Bandit) -> None:
        """Begin an episode of a bandit."""
        self.bandit, self.history = bandit, []

    def record(
        self,
        actions: Points,
        rewards: Array,
        regret: Array,
        observed: NDArray[np.bool_] | None = None,
        context: Points | None = None,
    ) -> None:
        """Record the observations of a round; the arrays are copied."""
        kept = np.ones(len(actions), dtype=np.bool_) if observed is None else observed
        self.history.append(ObservedRound(actions[kept], rewards[kept], regret[kept], context))
        if self.bandit.process.moves:
            # Readings of functions of much earlier rounds would be misleading.
            del self.history[:-RECENT]

    def draw(
        self, function: Function, round_: int, cumulative: float, simple: float
    ) -> str | NDArray[np.uint8] | None:
        """The scene as text ("ansi") or pixels (height, width, 3) ("rgb_array"), or in a window."""
        scene = Scene(self.bandit, function, round_, cumulative, simple, self.history, self.agent)
        if self.mode == "ansi":
            return text(scene)
        if self.mode == "human":
            self._show(scene)
            return None
        from gpbandits_env.envs.drawing import picture

        return picture(scene)

    def _show(self, scene: Scene) -> None:
        """Draw a scene in the window, and process its events for the time of a frame."""
        from matplotlib import pyplot as plt

        from gpbandits_env.envs.drawing import FIGURE, draw

        if self.figure is None or not plt.fignum_exists(self.figure.number):
            self.figure = plt.figure(**FIGURE)
            plt.show(block=False)
        self.figure.clear()
        draw(self.figure, scene)
        self.figure.canvas.draw()
        self.figure.canvas.start_event_loop(1.0 / METADATA["render_fps"])

    def close(self) -> None:
        """Close the window, if it is open."""
        if self.figure is not None:
            from matplotlib import pyplot as plt

            plt.close(self.figure)
            self.figure = None
