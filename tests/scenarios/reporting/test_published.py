"""Our table beside a paper's."""

import numpy as np
import pytest
from click.testing import CliRunner

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.papers.published import REN2024, Published
from gpbandits_env.scenarios.registry import get
from gpbandits_env.scenarios.reporting.published import Row, gather, lines
from gpbandits_env.scenarios.study.run import run_study

PAPER = Published({"a": 2.0, "b": 1.0}, {"a": 0.5, "b": 0.1})
ROW = Row("p", {"a": np.array([1.0, 3.0, 2.0]), "b": np.array([2.0, 4.0, 4.5])}, PAPER)


def test_ranks_and_entries():
    assert [ROW.ours.rank(label) for label in "ab"] == [1, 2]
    table = lines([ROW])
    assert table[0] == ["problem", "", "runs", "a", "b"]
    assert table[1] == ["p", "ours", "3", "2 (1) [1]", "3.5 (1.3) [2]"]
    assert table[2] == ["", "paper", "", "2 (0.5) [2]", "1 (0.1) [1]"]


def test_the_paper_ranks_its_agent_first_on_eleven_of_twelve():
    first = [name for name, row in REN2024.items() if row.rank("ts-rsr") == 1]
    assert len(REN2024) == 12
    assert set(REN2024) - set(first) == {"bird-2d"}
    assert REN2024["bird-2d"].rank("ts-rsr") == 3
    assert REN2024["hartmann-6d"].means["bucb"] == pytest.approx(0.0478)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    search = {"starts": 2, "candidates": 32, "evaluations": 20}
    for name in ("ren2024/bird-2d", "srinivas2010/se-1d"):
        scenario = get(name).select(trials=2, horizon=2)
        if name.startswith("ren"):
            entries = [
                type(e)(e.label, e.agent, {**e.settings, "search": search})
                if e.agent != "random"
                else e
                for e in scenario.agents
            ]
            scenario = type(scenario)(**{**vars(scenario), "agents": tuple(entries)})
        run_study(scenario, folder / f"{name[:3]}.sqlite", jobs=1, progress=False)
    return folder


def test_the_command(files):
    run = CliRunner().invoke(main, ["published", str(files / "ren.sqlite")])
    assert run.exit_code == 0, run.output
    assert "bird-2d" in run.output
    run = CliRunner().invoke(main, ["published", str(files / "ren.sqlite"), "--markdown"])
    rows = [line for line in run.output.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert len(rows) == 4


def test_a_scenario_without_a_published_table(files):
    with pytest.raises(InvalidInput, match="no published table for 'srinivas2010/se-1d'"):
        gather([files / "sri.sqlite"])
