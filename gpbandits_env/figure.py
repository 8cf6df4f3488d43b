"""A figure of matplotlib that notebooks show, whether or not pyplot is imported."""

from io import BytesIO
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure without global state or a window, which a notebook shows as a picture."""

    def __init__(self, **looks: Any) -> None:
        super().__init__(layout="constrained", **looks)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
