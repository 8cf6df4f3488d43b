"""A window for ``render_mode="human"``; the only module that imports pyplot."""

from typing import Any

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gpbandits_env.envs.pictures import FIGURE, draw
from gpbandits_env.envs.scene import Scene


class Display:
    """A window of matplotlib's current backend, opened when it first shows something.

    If the user closes it, the next round opens it again. Without a display nothing is shown.
    """

    def __init__(self) -> None:
        self._figure: Figure | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Display, ()  # a copied environment opens its own window

    def show(self, scene: Scene, seconds: float) -> None:
        """Draw a scene, and process the window's events for ``seconds``."""
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
            plt.close(self._figure)
            self._figure = None
