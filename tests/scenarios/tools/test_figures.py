"""The figures of the documentation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor, ImageDraw

from gpbandits_env.scenarios.reporting.style import COLOURS
from gpbandits_env.scenarios.results.store import Store
from tools import figures


@pytest.fixture
def store(run, tiny):
    scenario = replace(
        tiny,
        grid={"batch_size": (4, 1, 2)},
        alternatives=(),
        agents=tiny.agents[:1],
        metric="simple_regret",
    )
    with Store.open(run("b.sqlite", scenario).path) as opened:
        yield opened


def test_all_sizes_face_the_same_functions(store):
    optima = [store.arrays(cell, "gp-ucb", "optimum") for cell in range(3)]
    np.testing.assert_array_equal(optima[0], optima[1])
    np.testing.assert_array_equal(optima[0], optima[2])


def test_the_figure(store, tmp_path):
    (file,) = figures.draw(store, tmp_path / "batches")
    with Image.open(file) as picture:
        assert 20 < len(picture.getcolors()) <= 32  # lines, bands and letters


def test_a_light_picture_has_half_the_width_and_each_line_its_colour(tmp_path):
    file = tmp_path / "a.png"
    picture = Image.new("RGB", (400, 260), "white")
    draw = ImageDraw.Draw(picture)
    tints = [(255 - i, 255 - 2 * i, 255 - 3 * i) for i in range(64)]
    for i, tint in enumerate(tints):  # bands, each of which covers more than a line
        draw.rectangle((0, 2 * i, 400, 2 * i + 1), fill=tint)
    for i, colour in enumerate(COLOURS):
        draw.rectangle((0, 132 + 12 * i, 99, 135 + 12 * i), fill=colour)
    picture.save(file)
    heavy = picture.reduce(2)
    file = figures.lighten(file)
    assert [kept.name for kept in tmp_path.iterdir()] == ["a.webp"]
    with Image.open(file) as light:
        assert light.size == (200, 130)
        assert len(light.getcolors()) <= 32
        shown = light.convert("RGB")
    for i, colour in enumerate(COLOURS):
        assert shown.getpixel((25, 67 + 6 * i)) == ImageColor.getrgb(colour)
    differences = np.abs(np.asarray(heavy, int) - np.asarray(shown, int))
    assert differences[:64].max() <= 2 * 16
    before = file.read_bytes()
    assert figures.lighten(file).read_bytes() == before
    picture.save(tmp_path / "bogunovic2016-se.png")  # is in paper.md
    with Image.open(figures.lighten(tmp_path / "bogunovic2016-se.png")) as light:
        assert (light.format, light.mode, light.size) == ("PNG", "P", (200, 130))
        np.testing.assert_array_equal(light.convert("RGB"), shown)


def test_no_kept_picture_is_too_wide_for_a_phone():
    """At 390 pixels the letters of a wider one, which have 11, would be smaller than 7.6."""
    widths = {}
    for file in (Path(__file__).parents[3] / "docs" / "results").iterdir():
        assert file.stem not in {Path(name).stem for name in widths}  # or both would be shown
        with Image.open(file) as picture:
            widths[file.name] = picture.width
    assert widths
    assert {name: width for name, width in widths.items() if width > 560} == {}
