"""Numbers in the documentation are those of the reference files."""

import pytest

from gpbandits_env.scenarios.registry import PAPERS
from gpbandits_env.scenarios.results import references
from tools.site.scenario_pages import write_page


@pytest.fixture(scope="module")
def mean(root):
    def of(id, agent, metric="average_regret"):
        return references.load_from(root / "scenarios", id)["cells"][0]["agents"][agent][metric][0]

    return of


@pytest.fixture(scope="module")
def numbers(root):
    """The numbers of the finding whose statement begins so, in a cell of a scenario."""

    def of(id, start, cell=0):
        checks = references.load_from(root / "scenarios", id)["cells"][cell]["findings"]
        (found,) = (c for c in checks if c["statement"].startswith(start))
        return found["numbers"]

    return of


def words(path):
    return " ".join(path.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("paper", PAPERS)
def test_the_pages_of_results_are_what_the_reference_files_say(paper, root, tmp_path):
    (tmp_path / "scenarios").symlink_to(root / "scenarios")
    results = tmp_path / "docs" / "results"
    results.mkdir(parents=True)
    (tmp_path / "docs" / "bibliography.md").symlink_to(root / "docs" / "bibliography.md")
    for plot in (root / "docs" / "results").glob("*.png"):
        (results / plot.name).symlink_to(plot)
    written = write_page(tmp_path, paper).read_text(encoding="utf-8")
    assert written == (root / "docs" / "results" / f"{paper}.md").read_text(encoding="utf-8")


def test_the_reasons_for_differences(root, mean, numbers):
    se, traffic, rosenbrock = "srinivas2010/se-1d", "srinivas2010/traffic", "bedi2022/rosenbrock"
    on_traffic = mean(traffic, "mpi/margin-relative") / mean(traffic, "gp-ucb")
    regularized = numbers("bedi2022/example-regularized", "cub comes close")["ratio"]
    slow = numbers(rosenbrock, "the model order of cub/1e-2", cell=1)["slope"]
    slower = numbers("bedi2022/mnist-logistic", "the model order of cub/1e-2")["slope"]
    cei = numbers(rosenbrock, "cei/5e-2 comes close")["ratio"]
    cmpi = numbers(rosenbrock, "cmpi/5e-2 comes close", cell=1)["ratio"]
    page = words(root / "docs" / "differences.md")
    for text in (
        f"EI has an average regret of {mean(se, 'ei/observed'):.2f} where the largest posterior "
        f"mean gives {mean(se, 'ei'):.3f};",
        f"level with GP-UCB ({mean(se, 'gp-ucb'):.3f})",
        f"the ratio is {mean(se, 'mpi') / mean(se, 'gp-ucb'):.1f} with a margin of 0.01",
        f"it is {on_traffic:.1f} with a margin of 1%",
        f"at {regularized:.3f} times the dense agent's",
        f"grows by {slow:.3f} points per round with Rosenbrock scaled and by {slower:.3f} on MNIST",
        f"EI on Rosenbrock has {cei:.1f} times",
        f"MPI has {cmpi:.1f} times",
    ):
        assert text in page


def test_the_results_on_the_readme(root, mean, numbers):
    page = words(root / "README.md")
    se = numbers("bogunovic2016/se", "tv-gp-ucb below r-gp-ucb", cell=1)  # epsilon = 0.01
    faster = numbers("bedi2022/example", "cub/1e-2 takes less time")["ratio"]
    last = numbers("tranthe2020/ackley-20", "ms-ucb is the best")["rank"]
    gp_ucb, ei, variance = (
        mean("srinivas2010/se-1d", name) for name in ("gp-ucb", "ei", "max-variance")
    )
    ackley = mean("ren2024/ackley-3d", "ts-rsr", "simple_regret")
    assert last == 7
    for text in (
        f"{gp_ucb:.3f} and {ei:.3f} (maximum variance: {variance:.1f})",
        f"{se['tv-gp-ucb']:.2f} and {se['r-gp-ucb']:.2f}",
        f"| 0.79 | {faster:.2f} |",
        f"| 0.012 | {ackley:.3f} |",
    ):
        assert text in page
