"""The plots of bounds and orders are drawn, and show what the theory says."""

import pytest

from gpbandits_env.scenarios import Picture, get
from gpbandits_env.scenarios.reporting.pictures import lower_bound, regret_bounds, save
from gpbandits_env.scenarios.reporting.style import new_figure

IDS = (
    *("srinivas2010/fig-1", "srinivas2010/fig-3", "srinivas2010/fig-4"),
    *("bogunovic2016/lower-bound", "tranthe2020/theory"),
)


@pytest.mark.parametrize("id", IDS)
def test_each_is_drawn(id, tmp_path):
    picture = get(id)
    assert isinstance(picture, Picture)
    (file,) = save(picture, tmp_path / "picture", suffixes=(".png",))
    assert file.stat().st_size > 10_000


def curves(draw, panel):
    with new_figure(11.0, 3.6) as figure:
        draw(figure, 0)
        return {line.get_label(): line.get_ydata() for line in figure.axes[panel].get_lines()}


def test_the_run_lies_below_the_bounds():
    lines = curves(regret_bounds, 1)
    run = lines.pop("GP-UCB, beta of Theorem 1")
    assert len(lines) == 3
    assert all((run < bound).all() for bound in lines.values())


def test_nobody_does_better_on_many_arms_than_on_two():
    lines = curves(lower_bound, 0)
    many = [values for label, values in lines.items() if label.startswith("50 x 50")]
    two = [values for label, values in lines.items() if label.startswith("two arms")]
    assert len(many) == len(two) == 2
    assert all((above > below).all() for above in many for below in two)
