"""The plots of bounds and orders are drawn, and show what the theory says."""

import matplotlib.figure
import pytest

from gpbandits_env.scenarios.results import evidence
from tools.site import illustrations

NAMES = (
    *("srinivas2010-fig-1", "srinivas2010-fig-3", "srinivas2010-fig-4"),
    *("bogunovic2016-lower-bound", "bogunovic2016-fig-1", "tranthe2020-theory"),
)


@pytest.fixture(scope="module")
def drawn():
    """The curves in each panel of each figure by their labels."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(illustrations, "PAIRS", 40)
        for name in NAMES:
            figure = matplotlib.figure.Figure()
            illustrations.FIGURES[name](figure)
            found[name] = [{c.get_label(): c.get_ydata() for c in p.lines} for p in figure.axes]
    return found


def test_each_has_curves_with_labels(drawn):
    assert all(any(panel for panel in panels) for panels in drawn.values())


def test_a_picture_is_a_png():
    assert illustrations.picture("tranthe2020-theory").startswith(b"\x89PNG")


def test_the_regret_lies_below_the_bound(drawn):
    lines, kept = drawn["srinivas2010-fig-1"][1], evidence.load("srinivas2010/se-1d")
    (regret,) = (values for label, values in lines.items() if label.startswith("GP-UCB"))
    assert (regret < lines["bound of Theorem 1"][kept.rounds - 1]).all()


def test_nobody_does_better_on_many_arms_than_on_two(drawn):
    lines = drawn["bogunovic2016-lower-bound"][0]
    many = [values for label, values in lines.items() if label.startswith("50 x 50")]
    two = [values for label, values in lines.items() if label.startswith("two arms")]
    assert len(many) == len(two) == 2
    assert all((above > below).all() for above in many for below in two)
