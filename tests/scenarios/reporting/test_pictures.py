"""The plots of bounds and orders are drawn, and show what the theory says."""

import pytest

from gpbandits_env.scenarios import Picture, get
from gpbandits_env.scenarios.reporting import pictures

IDS = (
    *("srinivas2010/fig-1", "srinivas2010/fig-3", "srinivas2010/fig-4"),
    *("bogunovic2016/lower-bound", "tranthe2020/theory"),
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The file of each picture, and the curves in each of its panels by their labels."""
    folder, found = tmp_path_factory.mktemp("pictures"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "RUNS", 2)
        patch.setattr(pictures, "PAIRS", 40)
        write = pictures.write

        def kept(figure, path, suffixes):
            panels = [{c.get_label(): c.get_ydata() for c in p.get_lines()} for p in figure.axes]
            found[path.name] = *write(figure, path, suffixes), panels

        patch.setattr(pictures, "write", kept)
        for id in IDS:
            picture = get(id)
            assert isinstance(picture, Picture)
            pictures.save(picture, folder / id, suffixes=(".png",))
    return found


def test_each_is_drawn(drawn):
    assert len(drawn) == len(IDS)
    for file, _ in drawn.values():
        assert file.stat().st_size > 10_000


def test_the_run_lies_below_the_bounds(drawn):
    lines, name = drawn["fig-1"][1][1], "GP-UCB, beta of Theorem 1"
    bounds = [values for label, values in lines.items() if label != name]
    assert len(bounds) == 3
    assert all((lines[name] < bound).all() for bound in bounds)


def test_nobody_does_better_on_many_arms_than_on_two(drawn):
    lines = drawn["lower-bound"][1][0]
    many = [values for label, values in lines.items() if label.startswith("50 x 50")]
    two = [values for label, values in lines.items() if label.startswith("two arms")]
    assert len(many) == len(two) == 2
    assert all((above > below).all() for above in many for below in two)
