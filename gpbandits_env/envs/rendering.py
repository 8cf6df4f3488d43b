"""`render`: the observations of an episode are recorded, and shown as text or drawn."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.arrays import Array, Plain, Points, Settings
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


class Display:
    """A window of matplotlib's current backend, opened when it first shows something.

    If the user closes it, the next round opens it again. Without a display nothing is shown.
    """

    def __init__(self) -> None:
        self._figure: Any = None

    def __reduce__(self) -> tuple[object, ...]:
        return Display, ()  # a copied environment opens its own window

    def show(self, scene: Scene, seconds: float) -> None:
        """Draw a scene, and process the window's events for ``seconds``."""
        from matplotlib import pyplot as plt

        from gpbandits_env.envs.drawing import FIGURE, draw

        figure = self._figure
        if figure is None or not plt.fignum_exists(figure.number):
            figure = self._figure = plt.figure(**FIGURE)
            plt.show(block=False)
        figure.clear()
        draw(figure, scene)
        figure.canvas.draw()
        figure.canvas.start_event_loop(seconds)

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._figure is not None:
            from matplotlib import pyplot as plt

            plt.close(self._figure)
            self._figure = None


def check_believes(agent: object) -> None:
    """Raise InvalidInput unless an agent has a ``belief`` that can be shown; None shows none."""
    if agent is not None and not callable(getattr(agent, "belief", None)):
        raise InvalidInput(f"an attached agent needs belief() -> (mean, sd), got {agent!r}")


@dataclass
class Viewer:
    """Records the readings of one episode, and draws them with the belief of an attached agent."""

    bandit: Bandit
    mode: str
    history: list[ObservedRound] = field(default_factory=list)
    agent: Any = None
    window: Display = field(default_factory=Display)

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
            self.window.show(scene, 1.0 / METADATA["render_fps"])
            return None
        from gpbandits_env.envs.drawing import picture

        return picture(scene)
