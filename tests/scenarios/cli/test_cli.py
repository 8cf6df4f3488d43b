import json
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.cli import main

SMALL = ["--trials", "2", "--horizon", "8", "--jobs", "1"]


@pytest.fixture
def cli(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def go(*args):
        return CliRunner().invoke(main, [str(a) for a in args])

    return go


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The results of a run, of which each test gets a copy."""
    path = tmp_path_factory.mktemp("kept") / "a.sqlite"
    run = [*("run", "srinivas2010/se-1d"), *SMALL, "--out", str(path)]
    result = CliRunner().invoke(main, run)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def store(cli, kept, tmp_path):
    return Path(shutil.copy(kept, tmp_path / "a.sqlite"))


def test_run_shows_table_and_files(cli, tmp_path):
    result = cli("run", "srinivas2010/se-1d", *SMALL)
    assert result.exit_code == 0, result.output
    for word in ("max-variance", "average regret"):
        assert word in result.stdout
    assert "10/10" in result.stderr  # the progress bar
    for suffix in ("sqlite", "png", "svg"):
        assert (tmp_path / "results" / f"srinivas2010-se-1d.{suffix}").stat().st_size > 0
        assert f"srinivas2010-se-1d.{suffix}" in result.output
    assert "<!-- mpi -->" in (tmp_path / "results" / "srinivas2010-se-1d.svg").read_text()


def test_a_second_run_resumes(cli, store, unplotted):
    result = cli("run", "srinivas2010/se-1d", *SMALL, "--out", "a.sqlite", "--agents", "random")
    assert result.exit_code == 0
    assert "max-mean" in result.output  # what was there before is reported too


def test_report(cli, store):
    result = cli("report", store)
    assert result.exit_code == 0
    assert "paired differences" in result.output
    plain = json.loads(cli("report", store, "--json").output)
    assert plain["scenario"]["horizon"] == 8
    assert {a["label"] for a in plain["cells"][0]["agents"]} >= {"gp-ucb", "ei"}


def test_some_agents_are_drawn(cli, store, tmp_path):
    chosen = ["--agents", "gp-ucb, ei", "--log", "--bounds", "--out", "deep/x"]
    assert cli("plot", store, *chosen).exit_code == 0
    drawn = (tmp_path / "deep" / "x.svg").read_text()
    assert "<!-- gp-ucb -->" in drawn
    assert "<!-- mpi -->" not in drawn
    for words, said in (
        (("--agents", "gp-ucv"), "did you mean 'gp-ucb'"),
        (("--out", "x.pdf"), "x.pdf: pictures are written as .png and .svg"),
    ):
        wrong = cli("plot", store, *words)
        assert wrong.exit_code == 2
        assert said in wrong.output


def test_export(cli, store, tmp_path):
    result = cli("export", store)
    assert result.exit_code == 0
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + 5 * 2 * 8
    assert "80 rows" in result.output
    assert cli("export", store, "--out", "b.parquet").exit_code == 0
    assert (tmp_path / "b.parquet").read_bytes()[:4] == b"PAR1"


def test_list_agents_data(cli):
    assert "srinivas2010/temperature" in cli("list").output
    one = cli("list", "srinivas2010/traffic").output
    assert "stands in for the 357 sensors" in one
    assert "ei/observed" in one
    assert "gp-ucb" in cli("agents").output.splitlines()[0]
    assert all(len(line.split()) > 3 for line in cli("agents").output.splitlines() if line)
    assert "intel-berkeley" in cli("data").output
    tasks = cli("tasks").output
    assert "ren2024" in tasks
    assert "ackley" in tasks


def test_the_list_is_grouped_by_paper_and_aligned_with_a_line_per_scenario(cli):
    *lines, last = cli("list").output.splitlines()
    heads = [i for i, line in enumerate(lines) if line[0] != " "]
    blocks = [lines[i:j] for i, j in pairwise([*heads, None])]
    sizes, named = set(), []
    for (head, *rows), paper in zip(blocks, registry.GROUPS, strict=True):
        assert head == f"{paper}: {registry.GROUPS[paper]}"
        assert cli("list", paper).output.splitlines() == [head, *rows, last]
        for row in rows:
            id, size, about = re.fullmatch(r"  (\S+) +(\d+ x \d+)  (.*)", row).groups()
            sizes.add(row.index(f"{size}  ") + len(size))
            named.append(id)
            found = registry.get(id)
            assert size == f"{found.trials} x {found.horizon}"
            assert about.removeprefix(found.title).strip(" ()") == ", ".join(
                other.removeprefix(id) for other in registry.readings(id)
            )
            assert id.startswith(f"{paper}/")
    assert len(sizes) == 1
    assert named == [id for id in registry.scenarios() if id == registry.base_of(id)]


def test_columns_that_say_nothing_are_left_out(cli, unplotted):
    cheap = cli("run", "bogunovic2016/se", *SMALL, "--set", "grid=[6]", "--agents", "gp-ucb,random")
    head = next(line for line in cheap.output.splitlines() if line.startswith("  agent"))
    assert "us/round" in head
    assert "model order" not in head
    assert "trials" not in head
    assert "2 trials of 8 rounds" in cheap.output
    resets = cli("run", "bogunovic2016/mismatch-n", *SMALL, "--set", "grid=[6]")
    assert "model order" in resets.output
    assert cheap.output.count("\nresults ") == 1


@pytest.mark.parametrize(("args", "words"), [
    (["run", "srinivas2010/se1d"], "did you mean 'srinivas2010/se-1d'"),
    (["run", "srinivas2010/se-1d", "--agents", "gp-ubc"], "did you mean 'gp-ucb'"),
    (["run", "srinivas2010/se-1d", "--agents", ","], "no agent named ''"),
    (["run", "srinivas2010/se-1d", "--trials", "0"], "0 is not in the range"),
    (["run", "srinivas2010/se-1d", "--horizon", "ten"], "'ten' is not a valid"),
    (["run", "srinivas2010/se-1d", "--jobs", "-1"], "-1 is not in the range"),
    (["run", "srinivas2010/se-1d", "--seed", "-1"], "-1 is not in the range"),
    (["run"], "Missing argument 'SCENARIO'"),
    (["run", "srinivas2010/se-1d", "--out", "."], "is a folder"),
    (["run", "srinivas2010/se-1d", *SMALL, "--out", "x.csv"], "end the name in .sqlite"),
    (["run", "srinivas2010/se-1d", *SMALL, "--out", "junk"], "not a results file"),
    (["run", "srinivas2010/se-1d", *SMALL, "--out", "junk", "--fresh"], "not a results file"),
    (["run", "srinivas2010/se-1d", *SMALL, "--out", "junk/a.sqlite"], "junk/a.sqlite"),
    (["run", "srinivas2010/traffic-i880"], "i880.csv"),
    (["rnu"], "no command named 'rnu'; did you mean 'run'"),
    (["report"], "Missing argument 'FILES"),
    (["report", "nothing.sqlite"], "no such file"),
    (["report", "junk"], "not a results file"),
    (["report", "junk", "--metric", "regret"], "'regret' is not one of"),
    (["report", "junk", "--json", "--html", "a.html"], "--json or --html, not both"),
    (["plot", "junk"], "not a results file"),
    (["export", "junk"], "not a results file"),
    (["data", "--download", "metr"], "no data set named 'metr'"),
    (["reference", "srinivas2010/traffic-i880"], "tools.reference srinivas2010/traffic-i880"),
    (["list", "srinivas2010/se"], "did you mean"),
])  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(cli, tmp_path, args, words):
    (tmp_path / "junk").write_text("my thesis " * 1000)
    result = cli(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert (tmp_path / "junk").read_text() == "my thesis " * 1000


@pytest.mark.parametrize(("args", "words"), [
    (["run", "srinivas2010/se-1d", *SMALL, "--out", "a.png"], "end the name in .sqlite"),
    (["run", "t.toml", "--out", "junk"], "exists and is not a PNG picture"),
    (["report", "a.sqlite", "--html", "a.sqlite"], "writing a.sqlite would destroy a.sqlite"),
    (["report", "a.sqlite", "--html", "link.html"], "writing link.html would destroy a.sqlite"),
    (["report", "a.sqlite", "--html", "t.toml"], "t.toml exists and is not a web page"),
    (["export", "hard.csv"], "writing hard.csv would destroy hard.csv"),
    (["export", "a.sqlite", "--out", "hard.csv"], "would destroy a.sqlite"),
    (["export", "a.sqlite", "--out", "junk.csv"], "junk.csv exists and is not an exported table"),
    (["export", ""], "is a folder"),
    (["plot", "a.sqlite", "--out", "junk"], "junk.png exists and is not a PNG picture"),
    (["plot", "a.sqlite", "--out", "junk.svg"], "junk.png exists and is not a PNG picture"),
    (["plot", "a.sqlite", "--out", "."], ". is a folder"),
    (["plot", "hard.png", "--out", "hard.svg"], "writing hard.png would destroy hard.png"),
    (["plot", "a.sqlite", "--out", "hard.png"], "writing hard.png would destroy a.sqlite"),
    (["compare", "a.sqlite", "--out", "junk"], "junk.png exists and is not a PNG picture"),
    (["compare", "a.sqlite", "--out", "hard.png"], "writing hard.png would destroy a.sqlite"),
    (["new", "store.toml", "--force"], "store.toml exists and is not a text file"),
])  # fmt: skip
def test_no_command_writes_over_an_input_or_over_another_kind_of_file(
    cli, store, tmp_path, args, words
):
    assert cli("new", "t.toml").exit_code == 0
    (tmp_path / "hard.csv").hardlink_to(store)
    (tmp_path / "hard.png").hardlink_to(store)
    (tmp_path / "link.html").symlink_to(store)
    (tmp_path / "store.toml").write_bytes(store.read_bytes())
    for junk in ("junk.csv", "junk.png"):
        (tmp_path / junk).write_text("my thesis " * 1000)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    result = cli(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_changed_setting_is_one_line_and_exit_code_2(cli, store):
    result = cli("run", "srinivas2010/se-1d", "--trials", 2, "--horizon", 9, "--out", store)
    assert result.exit_code == 2
    assert "its horizon is 8, requested is 9; use another --out" in result.stderr


@pytest.mark.parametrize(
    "command", ["run", "report", "plot", "export", "list", "agents", "tasks", "data", "reference"]
)
def test_help_has_examples(cli, command):
    result = cli(command, "--help")
    assert result.exit_code == 0
    assert f"    gpbandits {command}" in result.output.split("Examples:")[1]


def test_as_a_program(tmp_path):
    def program(*args):
        command = [sys.executable, "-m", "gpbandits_env.scenarios.cli", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    good = program("list")
    assert good.returncode == 0, good.stderr
    assert "srinivas2010/se-1d" in good.stdout
    bad = program("report", "nothing.sqlite")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "gpbandits: nothing.sqlite: no such file; 'gpbandits run' makes one\n"
