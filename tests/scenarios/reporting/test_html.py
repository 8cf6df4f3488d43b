"""The page of results: whole, self-contained, and nothing in it that a name could break."""

import re
import sqlite3
from contextlib import closing
from functools import cache
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from gpbandits_env.scenarios.cli import main
from gpbandits_env.scenarios.reporting import html
from gpbandits_env.scenarios.reporting.html import page
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey
from gpbandits_env.scenarios.results.report import report
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario
from gpbandits_env.scenarios.study.run import run_study

VOID = {"meta", "link", "br", "img", "path", "use", "rect"}


class Reader(HTMLParser):
    """Collects text, and complains of tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.words, self.addresses = [], [], []

    def handle_starttag(self, tag, attributes):
        self.addresses += [v for k, v in attributes if k in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.addresses += [v for k, v in attributes if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module", autouse=True)
def each_file_is_read_and_plotted_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "_study", cache(html._study))
        yield


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    scenario = Scenario(
        id="test/page",
        source="a test <of> tags & signs",
        title="small & quick",
        env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [20]},
        grid={"noise_var": (0.01, 0.1)},
        agents=tuple(AgentEntry(n, n) for n in ("gp-ucb", "random")),
        departures=("a <script> that is none",),
        horizon=25,
        trials=3,
    )
    path = tmp_path_factory.mktemp("page") / "page.sqlite"
    run_study(scenario, path, jobs=1, progress=False)
    return path


@pytest.fixture(scope="module")
def text(file):
    """The page of one study."""
    return page([file])


@pytest.fixture(scope="module")
def text_of_two(file):
    return page([file, file])


def read(text):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_the_page_is_well_formed_and_needs_no_other_file(text_of_two):
    reader = read(text_of_two)
    assert all(a.startswith("#") for a in reader.addresses), reader.addresses
    text = " ".join(reader.words)
    for word in ("2 studies", "noise_var = 0.01", "noise_var = 0.1", "mean rank"):
        assert word in text
    assert "a <script> that is none" in text
    assert "a test <of> tags & signs" in text


def test_the_page_holds_the_tables_numbers(file, text):
    with Store.open(file) as store:
        found = report(store)
    for cell in found.cells:
        for row in cell.table(found.metrics)[1]:
            assert "".join(f"<td>{word}</td>" for word in row) in text
    assert len(re.findall("<svg", text)) == 1


def test_the_command(file, tmp_path):
    target = tmp_path / "new" / "report.html"
    run = CliRunner().invoke(main, ["report", str(file), "--html", str(target)])
    assert run.exit_code == 0, run.output
    read(target.read_text(encoding="utf-8"))


def test_a_page_that_cannot_be_written(file, tmp_path):
    (tmp_path / "taken").write_text("a file")
    target = str(tmp_path / "taken" / "report.html")
    run = CliRunner().invoke(main, ["report", str(file), "--html", target])
    assert run.exit_code == 2
    assert "cannot be written" in run.stderr


def test_the_page_says_what_was_run(file, text):
    words = " ".join(read(text).words)
    assert "gpbandits/StaticGP-v0(grid=[20])" in words
    with Store.open(file) as store:
        (kernel,) = set(store.meta("kernels"))
    assert kernel.startswith("SquaredExponential(")
    noise = "noise variance of the agents' model"
    for word in (kernel, f"{noise} 0.01", f"{noise} 0.1", "batch size 1"):
        assert word in re.sub(r"\s+", " ", words)
    assert "posterior='auto'" in words  # a setting of GP-UCB


def test_the_page_holds_the_paired_tests_of_the_text(file, text):
    with Store.open(file) as store:
        found = report(store)
    for cell in found.cells:
        assert cell.comparisons
        for row in cell.pairs():
            assert "".join(f"<td>{word}</td>" for word in row) in text


def test_several_studies_have_a_summary_first(file, text, text_of_two):
    assert "Summary" not in text
    words = re.sub(r"\s+", " ", " ".join(read(text_of_two).words))
    summary = words[words.index("Summary") : words.index("base seed")]
    with Store.open(file) as store:
        cells = report(store).cells
    for cell in cells:
        best = min(cell.agents, key=lambda agent: agent.mean["average_regret"])
        assert f"test/page, noise_var = {cell.params['noise_var']}" in summary
        assert f"{best.label}: {best.mean['average_regret']:.4g}" in summary


def test_a_file_of_an_older_release_has_a_page_too(file, tmp_path):
    old = tmp_path / "old.sqlite"
    old.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("DELETE FROM meta WHERE key = 'kernels'")
        db.execute("""DELETE FROM checksums WHERE item = '["meta","kernels"]'""")
    words = " ".join(read(page([old])).words)
    assert "noise variance" in words
    assert "SquaredExponential" not in words


def test_no_text_of_a_results_file_becomes_a_tag(tmp_path):
    evil = '--></svg></title></style>]]><b onload="x()">&amp;'
    scenario = Scenario(
        id=f"test/{evil}",
        source=evil,
        title=evil,
        env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [20]},
        agents=(AgentEntry(evil, "random", note=evil), AgentEntry("ei", "ei")),
        choices=(evil,),
        departures=(evil,),
        horizon=3,
        trials=1,
    )
    path = tmp_path / "evil.sqlite"
    run_study(scenario, path, jobs=1, progress=False)
    with Store.open(path, write=True) as store:
        store.add([TrialFailure(TrialKey(0, evil, 0), evil, evil)])
        store.set_meta({"machine": {"processor": evil}, "versions": {evil: evil}})
    text = page([path])
    assert "<b onload" not in text
    assert "--></svg></title>" not in text
    read(text)
