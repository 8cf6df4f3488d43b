"""Numbers in the documentation are those of the reference files."""

import json
import re

import numpy as np
import pytest

from gpbandits_env.scenarios.papers.published import REN2024
from gpbandits_env.scenarios.registry import GROUPS
from gpbandits_env.scenarios.results import references
from tools.site.scenario_pages import MARKS, results


@pytest.fixture(scope="module")
def mean(root):
    def of(id, agent, metric="average_regret"):
        return references.load(id, root / "scenarios")["cells"][0]["agents"][agent][metric][0]

    return of


@pytest.fixture(scope="module")
def numbers(root):
    """The numbers of the finding whose statement begins so, in a cell of a scenario."""

    def of(id, start, cell=0):
        checks = references.load(id, root / "scenarios")["cells"][cell]["findings"]
        (found,) = (c for c in checks if c["statement"].startswith(start))
        return found["numbers"]

    return of


def words(path):
    return " ".join(path.read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def pages():
    return results()


@pytest.mark.parametrize("group", GROUPS)
def test_a_page_of_results_says_what_the_reference_files_say(group, pages, root):
    """Each scenario that has a file, with each number of each agent and each outcome."""
    page, said = pages[f"results/{group}.md"], "|".join(map(re.escape, MARKS.values()))
    _, *sections = re.split(rf"^## (?={group}/)", page, flags=re.M)
    found = {section.partition("\n")[0]: section for section in sections}
    folder = root / "scenarios" / "reference"
    files = {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in (folder / group).glob("*.json")
    }
    assert files.keys() == found.keys()
    for id, file in files.items():
        kept = json.loads(file.read_text("utf-8"))
        rows = re.findall(r"^\| (\S+) \| (.*± .*) \| .*\|$", found[id], re.M)
        agents = [of for cell in kept["cells"] for of in cell["agents"].items()]
        assert [label for label, _ in rows] == [label for label, _ in agents], id
        for (label, row), (_, of) in zip(rows, agents, strict=True):
            numbers = {f"{mean:.4g} ± {error:.2g}" for mean, error in of.values()}
            assert set(row.split(" | ")) <= numbers, (id, label)
        checks = [check for cell in kept["cells"] for check in cell["findings"]]
        outcomes = re.findall(rf"^\| .* \| ({said}) \|", found[id], re.M)
        assert outcomes == [MARKS[check["holds"]] for check in checks], id
        numbers = [f"{name} {value:.4g}" for c in checks for name, value in c["numbers"].items()]
        assert all(number in found[id] for number in numbers), id


def test_pages_of_results_show_each_picture_that_is_kept_and_no_other(pages, root):
    shown = [name for page in pages.values() for name in re.findall(r"!\[.*?\]\((.*?)\)", page)]
    assert set(shown) == {path.name for path in (root / "docs" / "results").iterdir()}


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


def test_the_statistical_power_on_real_data(root):
    def gap(name, a, b):
        file = root / "scenarios" / "reference" / "bogunovic2016" / "computed" / f"{name}.json"
        values = json.loads(file.read_text("utf-8"))["values"]
        a, b = np.array(values[a]), np.array(values[b])
        return a.mean(), b.mean(), (b - a).mean(), (b - a).std(ddof=1) / np.sqrt(len(a))

    page = words(root / "docs" / "differences.md")
    tv, r, more, error = gap("temperature", "tv-gp-ucb by 36", "r-gp-ucb by 36")
    assert (
        f"TV-GP-UCB has a mean regret of {tv:.2f} and R-GP-UCB one of {r:.2f}, a difference of "
        f"{more:.2f} with a standard error of {error:.2f}."
    ) in page
    *_, more, error = gap("traffic-draws", "tv-gp-ucb", "gp-ucb")
    assert f"{more:.2f} more regret than TV-GP-UCB, with a standard error of {error:.2f}" in page


def test_the_results_on_the_readme(root, mean, numbers):
    page = words(root / "README.md")
    drifting = references.load("bogunovic2016/se", root / "scenarios")["cells"][1]  # epsilon = 0.01
    se = {name: found["average_regret"][0] for name, found in drifting["agents"].items()}
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


@pytest.fixture(scope="module")
def times(root):
    """How many times the paper's is the mean simple regret of an agent, by default TS-RSR's."""

    def of(id, problem, agent="ts-rsr"):
        cell = references.load(f"ren2024/{id}", root / "scenarios")["cells"][0]
        published = REN2024[problem].means[agent.partition("/")[0]]
        return cell["agents"][agent]["simple_regret"][0] / published

    return of


def test_what_is_said_of_the_readings_of_ren2024(root, mean, times):
    page = words(root / "docs" / "differences.md")
    for text in (
        f"simple regret of TS-RSR is {times('rosenbrock-2d', 'rosenbrock-2d'):.1f} times",
        f"its mean is {times('rosenbrock-2d-code', 'rosenbrock-2d'):.1f} times the paper's",
        f"a mean of {times('hartmann-6d', 'hartmann-6d'):.1f} times the paper's",
        f"50 rounds the mean is {times('hartmann-6d-50', 'hartmann-6d'):.1f} times the paper's, "
        f"and {times('hartmann-6d-50', 'hartmann-6d', 'ts-rsr/code'):.1f} times with",
    ):
        assert text in page
    assert times("push-3d", "push-3d", "qei") < 0.11
    push = {n: mean("ren2024/push-3d", n, "simple_regret") for n in REN2024["push-3d"].means}
    assert sorted(push, key=push.get)[:2] == ["qei", "ts-rsr"]
    assert push["ts-rsr"] / push["qei"] == pytest.approx(3.0, abs=0.5)
    farther = {n: times("bird-2d-code", "bird-2d", n) > 1.0 for n in REN2024["bird-2d"].means}
    assert [n for n, is_farther in farther.items() if not is_farther] == ["ucbpe"]


def test_the_rows_as_the_code_has_them(root):
    summary = (root / "scenarios" / "reference" / "ren2024" / "summary.md").read_text("utf-8")
    for id, end in (
        ("rosenbrock-2d-code", ""),
        ("bird-2d-code", ""),
        ("hartmann-6d-50", ""),
        ("hartmann-6d-50", "/code"),
    ):
        kept = references.load(f"ren2024/{id}", root / "scenarios")
        agents = kept["cells"][0]["agents"]
        cells = []
        for name in REN2024["rosenbrock-2d"].means:
            middle, error = agents[name + end]["simple_regret"]
            cells.append(f"{middle:.2g} ({error * kept['trials'] ** 0.5:.2g})")
        assert f"| {' | '.join(cells)} |" in summary, (id, end)
    started = references.load("ren2024/initialised", root / "scenarios")["cells"][0]["agents"]
    ts, ts_after, bucb, bucb_after = (
        started[name + end]["average_regret"][0]
        for name in ("ts-rsr", "bucb")
        for end in ("", "/initialised")
    )
    assert f"{ts_after:.2f} with them and of {ts:.2f} without them" in summary
    assert f"BUCB of {bucb_after:.2f} and {bucb:.2f}" in summary


def test_what_is_said_of_first_points_inside_embeddings(root, mean):
    summary = words(root / "scenarios" / "reference" / "tranthe2020" / "summary.md")
    names = ("ackley", "levy", "hyper-ellipsoid")

    def ends(agent, end=""):
        return [mean(f"tranthe2020/{n}-20{end}", agent, "log10_simple_regret") for n in names]

    first, second, third = ends("hesbo", "-inside")
    assert f"HeSBO ends at {first:.2f}, {second:.2f} and {third:.2f} on Ackley, Levy" in summary
    assert ends("ms-ucb", "-inside") == pytest.approx(ends("ms-ucb"), abs=0.05)


def test_what_is_said_of_literal_readings(root):
    files = (root / "scenarios" / "reference" / "tranthe2020").glob("*-literal.json")
    held = {
        file.stem.removesuffix("-literal"): [
            check["holds"] for check in json.loads(file.read_text("utf-8"))["cells"][0]["findings"]
        ]
        for file in files
    }
    free, best, _, free_latest, best_latest, below_latest = np.sum(list(held.values()), axis=0)
    summary = words(root / "scenarios" / "reference" / "tranthe2020" / "summary.md")
    assert (
        f"on {free} of {len(held)} problems by the simple regret, and on {free_latest} by the "
        f"regret of the latest action. Among all seven it is so on {best} and {best_latest}. By "
        "the regret of the latest action it is below GP-UCB, by two standard errors, on "
        f"{below_latest}."
    ) in summary
    page = words(root / "docs" / "differences.md")
    assert "two of six problems: Ackley on [-15, 30] and the sum of i x_i^2" in page
    small = {name for name, checks in held.items() if "-20" in name and checks[0]}
    assert small == {"ackley-15-30-20", "sum-squares-20"}
    assert "on the sum of i x_i^2, and in 20, 50 and 100 dimensions on Levy and the hyper" in page
    below = {name for name, checks in held.items() if checks[5]}
    both = {f"{name}-{dim}" for name in ("levy", "hyper-ellipsoid") for dim in (20, 50, 100)}
    assert below == {"sum-squares-20", *both}
    assert (
        "In 50 dimensions MS-UCB is within one standard error of SRE, the best of the seven" in page
    )
    assert {name for name, checks in held.items() if checks[1]} == {"camelback-50"}


def test_the_table_of_drift_of_unknown_rate(root):
    page = (root / "docs" / "time.md").read_text("utf-8")
    names = ("change", "slow", "fast", "season", "static")
    kept = (references.load(f"time/unknown-{n}", root / "scenarios") for n in names)
    cells = [found["cells"][0] for found in kept]
    for label in cells[0]["agents"]:
        means = (cell["agents"][label]["average_regret"][0] for cell in cells)
        assert f"| {' | '.join(f'{mean:.3f}' for mean in means)} |" in page, label
