"""The built site: strict, complete, and without anything from the network."""

import html
import json
import re
from importlib.util import find_spec

import gymnasium as gym
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.results import references

for package in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
    if find_spec(package) is None:
        pytest.skip("the extra 'docs' is not installed", allow_module_level=True)

# Their readings have to be asked for: what they would show cannot be kept here.
WITHOUT_PUBLIC_DATA = {"srinivas2010/traffic-i880", "bogunovic2016/traffic-i880"}
ENVIRONMENTS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))


# The site as `mkdocs build --strict` makes it, but in less time. The garbage collector takes a
# tenth of the time and finds little. The picture of an environment shows three rounds. Signatures
# are not wrapped, because the formatter is a process for each. (`--quiet` on the command line would
# hide warnings from `--strict`.)
BUILD = """
import gc, sys
from mkdocs.commands.build import build
from mkdocs.config import load_config

gc.disable()
config = load_config({config!r}, site_dir={site!r}, strict=True)
shown = sys.modules["environment_pages"].SHOWN
shown |= {{name: (*given, 3) for name, (*given, _) in shown.items()}}
config.plugins["mkdocstrings"].config.handlers["python"]["options"]["line_length"] = 10_000
config.plugins.on_startup(command="build", dirty=False)
build(config)
"""


@pytest.fixture(scope="module")
def site(root, reader_of, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    made = folder / "built"
    (folder / "build.py").write_text(BUILD.format(config=str(root / "mkdocs.yml"), site=str(made)))
    reader_of(folder).scripts("build.py")
    return made


def read(site, page):
    return (site / page).read_text(encoding="utf-8")


def test_every_agent_has_its_paper_and_departures(site):
    for name in agents.names():
        page = read(site, f"agents/{name}.html")
        assert "<strong>Paper:</strong>" in page, name
        assert "<strong>Departures" in page, name
        assert f'href="agents/{name}.html"' in read(site, "agents.html")


def test_every_environment_has_action_observation_reward_and_info(site):
    for name in ENVIRONMENTS:
        page = read(site, f"environments/{name.partition('/')[2]}.html")
        for part in ("Action", "Observation", "Reward", "Info", "End"):
            assert f"<strong>{part}</strong>" in page, (name, part)
        assert "cumulative_regret" in page
        assert (site / f"environments/{name.partition('/')[2]}.png").stat().st_size > 10_000
        assert re.search(r"<th>argument</th>\s*<th>type</th>\s*<th>default</th>", page)


def test_formulas_of_guides_are_mathml(site):
    page = read(site, "own-kernel.html")
    assert page.count("<math") >= 4
    assert "arithmatex" not in page


def test_no_formula_has_a_word_that_the_converter_does_not_know(site):
    shown = [page for page in site.rglob("*.html") if "<math" in page.read_text("utf-8")]
    assert len(shown) > 30
    for page in shown:
        assert not re.search(r"<m[a-z]+>\\[a-zA-Z]", page.read_text("utf-8")), page


def test_a_scenario_shows_its_plot_first_then_its_table_then_its_findings(site):
    page = read(site, "scenarios/srinivas2010/se-1d.html")
    order = (
        "srinivas2010-se-1d.png",
        "<th>agent</th>",
        "<th>finding</th>",
        "<summary>",
    )
    assert sorted(order, key=page.index) == list(order)


def test_the_headings_of_a_scenario_have_the_settings_of_their_cells(site):
    page = html.unescape(read(site, "scenarios/time/kernels.html"))
    assert "drift.kernel = {'type': 'wiener', 'rate': 0.02}<" in page


def test_every_scenario_has_its_command_and_what_is_kept_of_it(site, root):
    for scenario in registry.scenarios().values():
        page = read(site, f"scenarios/{scenario.id}.html")
        assert f"scenarios/{scenario.id}.html" in read(site, "scenarios.html")
        kept = references.load(scenario.id, root / "scenarios")
        text = html.unescape(re.sub(r"<[^>]+>", "", page))
        plot = f"{scenario.id.replace('/', '-')}.png"
        assert (plot in page) == (scenario.id not in WITHOUT_PUBLIC_DATA), scenario.id
        verb = "reference" if kept else "run"
        assert f"gpbandits {verb} {scenario.id}" in text
        labels = [label for cell in kept["cells"] for label in cell["agents"]] if kept else []
        assert bool(labels) == (plot in page), scenario.id
        assert all(label in text for label in labels)
        assert all(line.partition("`")[0] in text for line in scenario.departures)


def test_every_page_of_the_manual_is_in_the_site(site, root):
    for page in (root / "docs").rglob("*.md"):
        assert (site / page.relative_to(root / "docs").with_suffix(".html")).is_file()
    for group in registry.GROUPS:
        assert f'href="results/{group}.html"' in read(site, "scenarios.html")
        assert f'<h2 id="{group}' in read(site, f"results/{group}.html")


def test_differences_have_failed_findings_departures_and_misprints(site, root):
    page = re.sub(r"<[^>]+>", "", read(site, "differences.html"))
    kept = [references.load(id, root / "scenarios") for id in registry.scenarios()]
    cells = [cell for results in kept if results for cell in results["cells"]]
    failed = [c for cell in cells for c in cell["findings"] if c["holds"] is False]
    assert f"these {len(failed)} do not" in page
    assert page.count("Departures:") > 5
    assert "xi = argmax mu in MPI but means the maximum" in page


def test_every_difference_has_its_reason_or_says_that_none_is_known(site):
    page = read(site, "differences.html")
    headings = set(re.findall(r'<h3 id="[^"]*">([^<]*)<', page))
    declared = registry.scenarios().values()
    assert {f.reason for s in declared for f in s.findings} - {""} <= headings
    rows = re.findall(r"<tr>\s*((?:<td[^\n]*</td>\s*){5})</tr>", page)
    assert len(rows) > 50
    whys = [re.findall(r"<td[^>]*>(.*?)</td>", row)[-1] for row in rows]
    assert all(why == "not known" or 'href="#' in why for why in whys)
    unknown = sum("not known" in why for why in whys)
    assert 0 < unknown < 0.5 * len(whys)


def test_the_reference_has_signatures_and_formulas(site):
    assert 'id="gpbandits_env.agents.make"' in read(site, "api/gpbandits_env.agents.html")
    assert 'id="gpbandits_env.scenarios.study.run.run_study"' in read(
        site, "api/gpbandits_env.scenarios.html"
    )
    assert read(site, "api/gpbandits_env.gp.kernels.html").count("<math") >= 5
    assert "<math" in read(site, "api/gpbandits_env.gp.posterior.html")
    for page in (site / "api").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert ".. math::" not in text, page
        assert ":math:" not in text, page
        assert "<details" not in text, page


def test_the_search_puts_guides_first(site):
    found = json.loads(read(site, "search/search_index.json"))["docs"]
    boosts = {entry["location"]: entry.get("boost", 1.0) for entry in found}
    assert boosts["drift.html"] > boosts["agents/ei.html"] > boosts["api/index.html"]


def test_no_table_is_left_as_text(site):
    for page in site.rglob("*.html"):
        assert not re.search(r"<p>\| ", page.read_text("utf-8")), page


def test_nothing_is_fetched_from_the_network(site):
    fetched = re.compile(
        r"<(?:script|link|img|iframe|source)[^>]+(?:src|href)=\"?(?:https?:)?//[^>]*"
    )
    for page in site.rglob("*.html"):
        found = [f for f in fetched.findall(page.read_text("utf-8")) if 'rel="canonical"' not in f]
        assert not found, (page, found)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", style.read_text("utf-8")), style


def test_every_finding_of_the_papers_has_its_row_and_its_outcome(site, root):
    page, wanted = read(site, "findings.html"), 0
    for scenario in registry.scenarios().values():
        own = scenario.id.partition("/")[0] in registry.TOPICS
        if own or scenario.reading_of:
            continue
        kept = references.load(scenario.id, root / "scenarios")
        checks = [c for cell in (kept["cells"] if kept else ()) for c in cell["findings"]]
        wanted += len(checks)
        if any(c["holds"] is False for c in checks):
            assert f"scenarios/{scenario.id}.html" in page
    rows = re.findall(r"<tr>(.*?)</tr>", page.partition('id="finding-by-finding"')[2], re.DOTALL)
    assert len(rows) == wanted + 1


def test_a_reading_is_of_a_scenario_that_exists_and_makes_its_claims():
    declared = {s.id: s for s in registry.scenarios().values()}
    readings = [s for s in declared.values() if s.reading_of]
    assert readings
    for s in readings:
        main = declared[s.reading_of]
        assert not main.reading_of
        assert {f.statement for f in s.findings} & {f.statement for f in main.findings}, s.id
