import threading
from pathlib import Path

import matplotlib as mpl
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.reporting.style import (
    entitle,
    files_of,
    legible,
    new_figure,
    share_legend,
    write,
)


@pytest.mark.parametrize("width", [6.0, 8.0, 13.0])
@pytest.mark.parametrize("words", ["a few words", "every WORD of a WIDE TITLE " * 8])
def test_a_title_stays_on_its_figure(width, words):
    with new_figure(width, 4.0) as figure:
        figure.subplots()
        entitle(figure, words)
        figure.canvas.draw()
        box = figure._suptitle.get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= width * figure.dpi
    lines = 1 if len(words) < 20 else 2
    assert box.height >= 0.9 * lines * 12 / 72 * figure.dpi


@pytest.mark.parametrize(
    ("entries", "columns", "want", "words"),
    [(7, 6, 4, ""), (6, 6, 6, ""), (3, 6, 3, ""), (9, 4, 3, ""), (6, 6, 2, 20 * "m")],
)
def test_rows_of_a_legend_are_of_about_equal_length_and_fit(entries, columns, want, words):
    with new_figure(8.0, 4.0) as figure:
        panels = figure.subplots(1, 2)
        for i in range(entries):  # the last one is in the second panel only
            panels[int(i == entries - 1)].plot([0, 1], [0, i], label=f"{i}{words}")
        share_legend(figure, columns)
        assert len(figure.legends[0].get_texts()) == entries
        assert [legend._ncols for legend in figure.legends] == [want]


def test_a_formula_that_cannot_be_read_is_drawn_as_text(tmp_path):
    words = legible(r"$\frac{$ costs $5$")
    with new_figure(3.0, 3.0) as figure:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], label=words)
        axes.set_yticks([0, 1], [words, r"$\alpha$"])
        axes.set(title=words, xlabel=words)
        entitle(figure, r"bad $\frac{ $ " * 9)
        figure.legend()
    files = write(figure, tmp_path / "a")
    assert all(file.stat().st_size > 0 for file in files)
    drawn = files[1].read_text(encoding="utf-8")
    assert drawn.count("<!-- $\\frac{$ costs $5$ -->") >= 3
    assert "alpha" in drawn


@pytest.mark.parametrize("name", ["a", "a.png", "a.svg"])
def test_a_suffix_of_pictures_is_not_doubled(name):
    assert files_of(Path("to") / name) == [Path("to/a.png"), Path("to/a.svg")]
    names = [file.name for file in files_of(Path("epsilon=0.05"))]
    assert names == ["epsilon=0.05.png", "epsilon=0.05.svg"]


@pytest.mark.parametrize("folder", [".", "..", "a/..", "/"])
def test_a_folder_is_no_name_of_a_picture(folder):
    with pytest.raises(InvalidInput, match="is a folder; give the name of a picture"):
        files_of(Path(folder))


@pytest.mark.parametrize("name", ["a.pdf", "a.JPG"])
def test_a_picture_of_another_kind_is_refused(name):
    with pytest.raises(InvalidInput, match="leave out the suffix"):
        files_of(Path(name))


def test_figures_of_several_threads_leave_the_style_as_it_was():
    """Two styles that end in the order in which they began would leave the second one's."""
    before = dict(mpl.rcParams)
    inside = threading.Event()
    drawn = []

    def draw():
        inside.set()
        with new_figure(4.0, 3.0) as figure:
            drawn.append(figure)

    other = threading.Thread(target=draw)
    with new_figure(4.0, 3.0):
        other.start()
        inside.wait(10.0)
        other.join(0.2)
        assert not drawn  # it waits for this figure
    other.join(10.0)
    assert len(drawn) == 1
    assert dict(mpl.rcParams) == before
