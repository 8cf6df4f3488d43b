"""The pictures of results, which the site draws from the kept values."""

from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpbandits_env.scenarios import get
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.reporting.plots import figure
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.store import Store


@pytest.fixture(scope="module")
def pictures():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[3] / "tools" / "site"))
        yield import_module("result_pictures")


def kept(pictures, id):
    return pictures.Kept(get(id), evidence.load(id))


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.lines if len(line.get_xdata())}


def test_the_plot_has_the_points_of_that_of_a_results_file(run, tmp_path, pictures):
    grid = {"epsilon": (0.001, 0.03)}
    scenario = replace(get("bogunovic2016/se"), grid=grid, alternatives=(), horizon=30, trials=3)
    panels, file = [Panel("average_regret")], tmp_path / "reference" / "made.npz"
    file.parent.mkdir()
    with Store.open(run(scenario=scenario).path) as store:
        evidence.save(evidence.gather(store), file)
        whole = figure(store, bounds=True, panels=panels)
        found = pictures.Kept(scenario, evidence.load("made", tmp_path))
        assert [found.bounds(cell).keys() for cell in (0, 1)] == [store.bounds(0).keys()] * 2
    rounds = found.found.rounds
    assert 4 < len(rounds) < 30
    for axes, shown in zip(whole.axes, figure(found, bounds=True, panels=panels).axes, strict=True):
        every, few = lines(axes), lines(shown)
        assert axes.get_title("left") == shown.get_title("left")
        for label in (*store_labels(scenario), *found.bounds(0)):
            at = rounds - 1 if label in store_labels(scenario) else slice(None)
            np.testing.assert_allclose(few[label], every[label][at], rtol=1e-4)


def store_labels(scenario):
    return [entry.label for entry in scenario.agents]


def test_a_panel_against_time_ends_with_the_duration(pictures):
    found = kept(pictures, "clock/temperature")
    (end,) = {float(points[-1, 0]) for points in lines(figure(found).axes[0]).values()}
    assert end == found.declared.env_kwargs["clock"]["duration"] == 280.0


def test_of_clock_times_the_last_point_is_drawn(pictures):
    id = "ren2024/rbf-2d@code"
    axes = figure(kept(pictures, id)).axes[1]
    values = evidence.load(id)
    assert "against clock time" in axes.get_title("left")
    for line in axes.lines[1::2]:  # the others are the marks of an agent that forgets
        at = line.get_xydata()[-1]
        seconds = values.curve(0, line.get_label(), "seconds").mean()
        regret, _ = values.summary(0, line.get_label(), "simple_regret")
        np.testing.assert_allclose(at, [seconds, regret])
        assert line.get_marker() == "o"


def test_a_sweep_has_a_point_for_each_setting(pictures):
    id = "bogunovic2016/mismatch-eps"
    scenario, values = get(id), evidence.load(id)
    axes = pictures._sweep(scenario, values).axes[0]
    settings = {e.settings["epsilon"]: e.label for e in scenario.agents if "epsilon" in e.settings}
    means = [[x, values.summary(0, settings[x], scenario.metric)[0]] for x in sorted(settings)]
    np.testing.assert_allclose(axes.lines[0].get_xydata(), means)
    assert lines(axes)["gp-ucb"][0, 1] == values.summary(0, "gp-ucb", scenario.metric)[0]


@pytest.mark.parametrize("id", ["bogunovic2016/mismatch-n", "bogunovic2016/mismatch-eps"])
def test_the_values_of_a_sweep_do_not_cover_each_other(id, pictures):
    drawn = pictures._sweep(get(id), evidence.load(id))
    drawn.draw_without_rendering()
    boxes = [tick.label1.get_window_extent() for tick in drawn.axes[0].xaxis.get_major_ticks()]
    lows = np.array([box.y0 for box in boxes])
    for one, low in zip(boxes, lows, strict=True):
        same_row = [other for other, at in zip(boxes, lows, strict=True) if abs(at - low) < 1.0]
        assert sum(one.overlaps(other) for other in same_row) == 1  # itself


@pytest.mark.parametrize("id", ["bogunovic2016/mismatch-n", "tranthe2020/ackley-20"])
def test_a_picture_is_not_too_wide_for_a_phone(id, pictures):
    """At 390 pixels the letters of a wider one, which have 14, would be smaller than 7.6."""
    assert pictures.ends(id) == ("",)
    with Image.open(BytesIO(pictures.plot(id, ""))) as picture:
        assert picture.width <= 710
        assert len(picture.getcolors(1 << 20)) > 20  # lines, bands and letters


def test_a_bound_has_a_picture_of_its_own(pictures):
    assert pictures.ends("bogunovic2016/se") == ("", "-bounds")
    assert pictures.ends("bogunovic2016/traffic-i880") == ()  # was not run
    with Image.open(BytesIO(pictures.plot("bogunovic2016/se", "-bounds"))) as picture:
        assert picture.width == 700
