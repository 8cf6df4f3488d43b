"""Plots: what they show where the optimum moves, bands on logarithmic axes, agents' colours."""

from dataclasses import replace

import numpy as np
import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios import AgentEntry, Panel
from gpbandits_env.scenarios.reporting.plots import declared, figure, heading, telling
from gpbandits_env.scenarios.reporting.style import colour_of
from gpbandits_env.scenarios.results.curves import along, optimum_moves
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.suite import card_figure
from gpbandits_env.scenarios.suite.comparison import compare
from gpbandits_env.scenarios.suite.rows import Row


@pytest.fixture
def moving(tiny):
    """Drifting environments."""
    return replace(tiny, env="gpbandits/MarkovGP-v0", grid={"epsilon": (0.01, 0.1)})


def test_the_simple_regret_is_shown_only_where_it_means_something(run, tiny, moving):
    with Store.open(run("static.sqlite", tiny).path) as store:
        assert not optimum_moves(store)
        assert [p.y for p in declared(store)] == [
            "average_regret",
            "cumulative_regret",
            "simple_regret",
        ]
        assert "simple regret" in str(report(store))
    with Store.open(run("moving.sqlite", moving).path) as store:
        assert optimum_moves(store)
        assert [p.y for p in declared(store)] == ["average_regret", "cumulative_regret"]
        found = report(store)
        assert "simple regret" not in str(found)
        assert "simple_regret" in found.to_dict()["cells"][0]["agents"][0]["mean"]
        assert "simple regret" in str(report(store, "simple_regret"))


def test_an_optimum_that_moves_and_keeps_its_value(run, tiny):
    orbit = replace(
        tiny,
        env="gpbandits/Drifting-v0",
        env_kwargs={"grid": [12, 12], "function": "ackley", "motion": {"type": "orbit"}},
        agents=(AgentEntry("random", "random"),),
        alternatives=(),
        grid=(),
    )
    with Store.open(run(scenario=orbit).path) as store:
        assert optimum_moves(store)


def test_bands_on_a_logarithmic_axis_reach_as_far_down_as_up(run, tiny):
    """Half a band may be larger than the mean; it must not reach down to the axis' end."""
    panel = Panel("simple_regret", band="deviation", log=True)
    with Store.open(run(scenario=tiny).path) as store:
        axes = figure(store, panels=[panel]).axes[0]
        for label, shade in zip(store.labels(0), axes.collections, strict=True):
            curves = along(store, 0, label, "simple_regret")
            mean, half = curves.mean(axis=0), panel.band_of(curves)
            points = shade.get_paths()[0].vertices
            for t, (m, h) in enumerate(zip(mean, half, strict=True), 1):
                at = points[points[:, 0] == t, 1]
                assert at.max() == pytest.approx(m + h)
                assert at.min() == pytest.approx(m * m / (m + h) if m else 0.0)
        assert axes.get_ylim()[0] > 0.0


def test_dots_are_where_an_agent_has_forgotten_everything(run, tiny):
    """Not where it knows nothing yet, because no reward has arrived."""
    every = AgentEntry("every", "gp-ucb", {"reset_every": 5})
    late = replace(tiny, grid=({"delay": 0}, {"delay": 3}), agents=(every,), trials=1)
    with Store.open(run(scenario=late).path) as store:
        cells = figure(store, panels=[Panel("average_regret")]).axes
        dots = [axes.lines[0].get_xdata().tolist() for axes in cells]
    assert dots == [[5, 10], [5, 6, 7, 8, 10, 11, 12]]


def test_lines_have_their_agents_colours_whichever_are_drawn(run, tiny):
    with Store.open(run(scenario=tiny).path) as store:
        store.restrict(["ei"])
        assert store.labels(0) == ["ei"]
        axes = figure(store, panels=[Panel("average_regret")]).axes[0]
        (line,) = [line for line in axes.get_lines() if line.get_label() == "ei"]
        assert line.get_color() == colour_of("ei")


LABELS = {"$x_{$", "_hidden", r"$\beta$", "random"}


def in_legend(figure):
    figure.canvas.draw()  # as a notebook does
    return {
        text.get_text().replace(r"\$", "$").strip("\u200b")
        for text in figure.legends[0].get_texts()
    }


def test_plots_show_labels_whatever_matplotlib_reads_in_them(run, tiny):
    agents = tuple(AgentEntry(label, "random") for label in sorted(LABELS))
    odd = replace(tiny, title="$x_{$", agents=agents, alternatives=())
    with Store.open(run(scenario=odd).path) as store:
        assert in_legend(figure(store)) == LABELS


def test_comparisons_show_labels_whatever_matplotlib_reads_in_them():
    one = np.array([1])
    rows = {
        (label, "w"): Row(label, "w", one, np.array([[i], [i + 0.5]]), np.nan, "")
        for i, label in enumerate(sorted(LABELS))
    }
    assert in_legend(card_figure.figure(compare(rows, resamples=10))) == LABELS


@pytest.mark.parametrize("words", ["ucb-with-a-window-of-", "x"])
def test_pictures_have_room_for_long_labels(run, tiny, words):
    long = {f"{words * (99 // len(words))}{i}" for i in (7, 8)}
    rows = {
        (label, world): Row(label, world, np.array([1]), np.array([[i], [i + 0.5]]), 1.0, "")
        for i, label in enumerate(sorted({*long, "random"}))
        for world in "abcde"
    }
    compared = card_figure.figure(compare(rows, resamples=10))
    agents = tuple(AgentEntry(label, "random") for label in sorted(long))
    with Store.open(run(scenario=replace(tiny, agents=agents, alternatives=())).path) as store:
        plotted = figure(store)
    for picture in (compared, plotted):
        assert long <= {found.replace("\n", "") for found in in_legend(picture)}
        assert min(axes.get_window_extent().width for axes in picture.axes) > 160
        for artist in (picture._suptitle, picture.legends[0], *picture.axes):
            box = artist.get_tightbbox()
            assert box.x0 > -1
            assert box.x1 < picture.bbox.width + 1


@pytest.mark.parametrize(
    "panels", [["average_regret"], "average_regret", [{"y": "rate"}], Panel("average_regret")]
)
def test_panels_of_another_type_are_refused(run, tiny, panels):
    with Store.open(run(scenario=tiny).path) as store:
        with pytest.raises(InvalidInput, match="panels must be a list"):
            figure(store, panels=panels)
        with pytest.raises(InvalidInput, match=r"open results file: Store.open\("):
            figure(str(store.path))


def test_titles_have_the_first_parameters_that_tell_the_cells_apart():
    points = [
        {"same": 1, "function": f, "grid": [len(f)], "clock": {"evaluation": e}}
        for f in ("ackley", "powell", "shekel-7")
        for e in (0.0, 10.0)
    ]
    assert telling(points) == ["function", "clock"]
    assert telling([{"epsilon": 0.1}, {"epsilon": 0.2}]) == ["epsilon"]
    assert telling([{}]) == []
    others = [{"epsilon": 0.1}, {"noise_var": 0.2}]
    assert [heading(others, cell) for cell in (0, 1)] == [["epsilon = 0.1"], ["noise_var = 0.2"]]
    assert heading(points, 1) == ["function = ackley, clock =", "(evaluation=10.0)"]
    kernels = [{"kernel": {"type": kind, "lengthscale": 0.2}} for kind in ("se", "matern32")]
    assert heading(kernels, 0) == ["kernel = se"]


def test_a_long_title_of_a_panel_is_broken(run, tiny):
    panels = (Panel("average_regret"), Panel("log10_regret", band="deviation"))
    with Store.open(run("x.sqlite", tiny).path) as store:
        _, other = figure(store, panels=panels).axes[:2]
    assert other.get_title(loc="left").split("\n") == [
        "log10 regret of the latest action (± 1",
        "s.d.)",
    ]
