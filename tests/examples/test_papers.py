"""The plots of bounds and orders are drawn, and show what the theory says."""

import importlib.util
from pathlib import Path

import pytest

PAPERS = Path(__file__).parents[2] / "examples" / "figures" / "papers.py"
NAMES = (
    *("srinivas2010-fig-1", "srinivas2010-fig-3", "srinivas2010-fig-4"),
    *("bogunovic2016-lower-bound", "bogunovic2016-fig-1", "tranthe2020-theory"),
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The file of each figure, and the curves in each of its panels by their labels."""
    spec = importlib.util.spec_from_file_location("papers", PAPERS)
    papers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(papers)
    papers.RUNS, papers.PAIRS = 2, 40
    folder, found, write = tmp_path_factory.mktemp("figures"), {}, papers.write

    def kept(figure, path, suffixes):
        found[path.name] = [{c.get_label(): c.get_ydata() for c in p.lines} for p in figure.axes]
        return write(figure, path, suffixes)

    papers.write = kept
    files = {name: papers.save(name, folder) for name in NAMES}
    return {name: (file, found[name]) for name, file in files.items()}


def test_each_is_drawn(drawn):
    assert len(drawn) == len(NAMES)
    for file, _ in drawn.values():
        assert file.stat().st_size > 10_000


def test_the_regret_lies_below_the_bound(drawn):
    lines = drawn["srinivas2010-fig-1"][1][1]
    (regret,) = (values for label, values in lines.items() if label.startswith("GP-UCB"))
    assert (regret < lines["bound of Theorem 1"]).all()


def test_nobody_does_better_on_many_arms_than_on_two(drawn):
    lines = drawn["bogunovic2016-lower-bound"][1][0]
    many = [values for label, values in lines.items() if label.startswith("50 x 50")]
    two = [values for label, values in lines.items() if label.startswith("two arms")]
    assert len(many) == len(two) == 2
    assert all((above > below).all() for above in many for below in two)
