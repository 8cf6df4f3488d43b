"""What the pages that teach say, done: their scripts and files always, their commands when slow."""

import re
import shutil
from inspect import signature

import pytest

from gpbandits_env import Campaign, minimize
from gpbandits_env.agents import registry
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.failures import Failures
from gpbandits_env.errors import InvalidInput

GUIDES = ("index", "getting-started", "drift", "adding-an-agent")
PAGES = (
    *GUIDES,
    *("agents", "architecture", "card", "coming-from", "delayed-rewards", "environments", "errors"),
    *("own-environment", "own-kernel", "studies", "suite", "time"),
)
# What they show needs the extras: tests/integrations/test_pages.py runs these.
WITH_EXTRAS = ("contexts", "optimize", "rl")
SCRIPT = re.compile(r"^```python$", re.MULTILINE)
NAMED = re.compile(
    r"(?<![\w/.-])(?:benchmarks|docs|examples|tests|tools)/[\w/.@-]+\.(?!md)[a-z]+\b"
)
HEAVY = shutil.ignore_patterns(".git", "__pycache__", "*.sqlite", ".*_cache", "site")


def regrets(said):
    """What the first script of the newcomer's page printed."""
    found = re.findall(r"^(\S+) +average regret (\d\.\d+)$", said, re.MULTILINE)
    return {name: float(value) for name, value in found}


@pytest.mark.parametrize("page", PAGES)
def test_its_scripts_run_and_its_files_declare_scenarios(reader, root, page):
    file = root / "docs" / f"{page}.md"
    said = reader.skim(file)
    files = file.read_text("utf-8").count("<!-- file:")
    assert said.count(" ran\n") >= max(1, len(SCRIPT.findall(file.read_text("utf-8"))) - files)
    if page == "getting-started":
        found = regrets(said)
        assert found["tv-gp-ucb"] < found["gp-ucb"]
        assert "mine.toml 3 agents" in said
    if page == "drift":
        assert "pace.toml 2 agents" in said
    if page == "studies":
        assert said.count("{'noise_var'") == 3


def test_the_table_of_minimize_has_all_of_its_arguments(root):
    """Those that are not in the table are settings of the agent, as the page says."""
    text = (root / "docs" / "optimize.md").read_text().partition("## One call")[2]
    rows = re.findall(r"^\| (`[^|]*) \|", text.partition("\n## ")[0], re.M)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    known = {p.name for p in signature(minimize).parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert told == known | {"bounds"}


def test_the_agents_that_do_not_learn_where_calls_fail_are_those_it_names(root):
    text = " ".join((root / "docs" / "optimize.md").read_text("utf-8").split())
    said = text.partition(" and do not learn where calls fail")[0].rpartition(". ")[2]
    found = set()
    for name in registry.names():
        given = {"rounds": 5} if name == "sre" else {}
        if not issubclass(registry.agent_class(name), GPAgent):
            continue
        try:
            campaign = Campaign([(0.0, 1.0)] * 20, name, seed=0, **given)
        except InvalidInput:  # it acts on arms only
            continue
        records = campaign.observe_all([[0.2] * 20, [0.8] * 20], [1.0, float("nan")])
        model = Failures(campaign.space, campaign.agent, "auto")
        model.tell(records, records)
        if model.success is None:
            found.add(name)
    assert set(re.findall(r"`([\w-]+)`", said)) == found


def test_no_page_with_a_script_is_left_out(root):
    shown = {p.stem for p in (root / "docs").glob("*.md") if SCRIPT.search(p.read_text("utf-8"))}
    assert shown == {*PAGES, *WITH_EXTRAS}


def test_every_file_that_a_page_names_is_there(root):
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    named = {file for page in pages for file in NAMED.findall(page.read_text("utf-8"))}
    absent = {file for file in named if not (root / file).exists()}
    assert len(named) > 30
    # Of an invented paper, to show where the computations of its claims go.
    assert absent == {"tools/claims/PAPER.py"}


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_its_commands_run_as_they_stand(reader, root, page):
    reader.follow(root / "docs" / f"{page}.md")
    if page == "getting-started":
        assert (reader.folder / "report.html").read_text("utf-8").count("cautious") > 1


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_newcomer_gets_there_in_a_fresh_environment(reader, root):
    """A copy of the checkout, its own virtual environment, and the page as it stands."""
    checkout = reader.folder / "checkout"
    shutil.copytree(root, checkout, ignore=HEAVY)
    newcomer = type(reader)(checkout, checkout / ".venv" / "bin")
    said = newcomer.follow(root / "docs" / "getting-started.md", install=True)
    found = regrets(said)
    assert found["tv-gp-ucb"] < found["gp-ucb"]
    where = newcomer.run("python", "-c", "import sys; print(sys.prefix)")
    assert where.strip() == str(checkout / ".venv")
    assert (checkout / "report.html").is_file()


def test_claims_that_were_not_written_blind_are_named(root):
    """Those of which the file of a paper says that part of their outcome was known."""
    page = (root / "docs" / "claims.md").read_text("utf-8")
    told = page.partition("## What was known")[2].partition("\n## ")[0]
    texts = [p.read_text("utf-8") for p in (root / "scenarios" / "claims").glob("*.toml")]
    seen = re.findall(r'^id = "\w+/(.+)" +# partly', "\n".join(texts), re.M)
    heads = [text.partition("\npaper = ")[0] for text in texts]
    seen += [name for head in heads for name in re.findall(r'"([a-z\d]+(?:-[a-z\d]+)+)"', head)]
    assert len(seen) >= 8
    assert [name for name in seen if name != "se-1d" and f"`{name}`" not in told] == []
