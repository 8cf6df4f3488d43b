"""The built site: strict, complete, and without anything from the network."""

import html
import json
import re
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from urllib.parse import unquote

import gymnasium as gym
import numpy as np
import pytest

import gpbandits_env  # noqa: F401 (registers the environments)
from gpbandits_env import agents
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims.claim import Check, paper
from gpbandits_env.scenarios.claims.judge import CheckPart, Judged, Verdict
from gpbandits_env.scenarios.claims.yardsticks import FAILS, HOLDS
from gpbandits_env.scenarios.results import evidence

for package in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
    if find_spec(package) is None:
        pytest.skip("the extra 'docs' is not installed", allow_module_level=True)

ENVIRONMENTS = sorted(name for name in gym.registry if name.startswith("gpbandits/"))


# The site as `mkdocs build --strict` makes it, but in less time. The garbage collector takes a
# tenth of the time and finds little. The picture of an environment shows three rounds. Signatures
# are not wrapped, because the formatter is a process for each. Plots of results are empty.
# (`--quiet` on the command line would hide warnings from `--strict`.)
BUILD = """
import gc, sys
from mkdocs.commands.build import build
from mkdocs.config import load_config

gc.disable()
config = load_config({config!r}, site_dir={site!r}, strict=True)
shown = sys.modules["environment_pages"].SHOWN
shown |= {{name: (*given, 3) for name, (*given, _) in shown.items()}}
sys.modules["agent_pages"].ROUNDS.update(agents=3, repeats=5)
sys.modules["page_pictures"].CALLS.update(optimize=8, seconds=6)
sys.modules["result_pictures"].plot = lambda id, end: b""
sys.modules["illustrations"].picture = lambda name: b""
sys.modules["notebook_pages"].RUN["notebooks"] = False
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


def test_a_scenario_shows_its_plot_first_then_its_table_then_its_claims(site):
    page = read(site, "scenarios/srinivas2010/se-1d.html")
    order = (
        "srinivas2010-se-1d.png",
        "<th>agent</th>",
        "<th>claim that is judged by this scenario</th>",
        "papers/srinivas2010.html#scaled-beta-better",
    )
    assert sorted(order, key=page.index) == list(order)


def test_the_headings_of_a_scenario_have_the_settings_of_their_cells(site):
    page = html.unescape(read(site, "scenarios/time/kernels.html"))
    assert "drift.kernel = wiener(rate=0.02)<" in page


def test_every_scenario_has_its_command_and_what_is_kept_of_it(site, root):
    for scenario in registry.scenarios().values():
        page = unquote(read(site, f"scenarios/{scenario.id}.html"))
        assert f"scenarios/{scenario.id}.html" in unquote(read(site, "scenarios.html"))
        kept = evidence.load(scenario.id, root / "scenarios")
        text = html.unescape(re.sub(r"<[^>]+>", "", page))
        plot = f"{scenario.id.replace('/', '-')}."
        verb = "reference" if kept else "run"
        assert f"gpbandits {verb} {scenario.id}" in text
        labels = (
            [label for cell in range(len(kept.points)) for label in kept.labels(cell)]
            if kept
            else []
        )
        assert bool(labels) == (plot in page), scenario.id
        assert all(label in text for label in labels)
        assert all(line.partition("`")[0] in text for line in scenario.departures)


def test_every_page_of_the_manual_is_in_the_site(site, root):
    for page in (root / "docs").rglob("*.md"):
        assert (site / page.relative_to(root / "docs").with_suffix(".html")).is_file()
    for group in registry.GROUPS:
        assert f'href="papers/{group}.html"' in read(site, "scenarios.html")
        assert f'href="results/{group}.html"' in read(site, "scenarios.html")
        kept = any((root / "scenarios" / "reference" / group).glob("*.npz"))
        assert (f'<h2 id="{group}' in read(site, f"results/{group}.html")) == kept


def test_each_claim_is_a_row_and_unfolds_to_all_its_parts(site, papers):
    everything = read(site, "claims.html")
    for group in registry.GROUPS:
        page, parts = (read(site, f"papers/{group}{end}.html") for end in ("", "-parts"))
        assert "<summary>Table of" not in page  # no table is folded
        for claim, main, others in papers.verdicts(group):
            short = claim.id.partition("/")[2]
            assert f'href="papers/{group}.html#{short}"' in everything
            row = page.partition(f'href="{group}-parts.html#{short}" id="{short}"')[2]
            assert f"<td>{main.verdict}</td>" in re.sub(
                r"</?strong>", "", row.partition("</tr>")[0]
            )
            folded = parts.partition(f"<summary>{short}: {main.verdict}</summary>")[2]
            folded = folded.partition("</details>")[0]
            assert f'id="{short}"' in folded
            assert f"gpbandits claims {claim.id}" in re.sub(r"<[^>]+>", "", folded)
            assert all(f"{name}: {other.verdict}" in folded for name, other in others.items())
            outcomes = re.findall(r"<td>(holds|in part|fails|undecided)</td>", folded)
            assert outcomes == [part.outcome for check in main.checks for part in check.parts]


def test_a_paper_has_its_figures_and_folds_its_readings_and_errata(site, root):
    for group in registry.PAPERS:
        page, of = read(site, f"papers/{group}.html"), paper(group)
        kept = any((root / "scenarios" / "reference" / group).glob("*.npz"))
        figures = ['id="figures"'] if kept else []  # of scenarios that were run
        order = ['id="claims"', *figures, 'id="what-the-paper-leaves-open"', 'id="errata"']
        assert sorted(order, key=page.index) == order
        assert 'id="why-results-may-differ"' not in page
        assert 'id="why-results-may-differ"' in read(site, f"papers/{group}-parts.html")
        text = html.unescape(re.sub(r"<[^>]+>", "", page))
        assert all(reading.name in text for reading in of.readings)
        assert all(e.should.split("`")[0][:40] in text for e in of.errata)
        assert page.count(f"{group}-") >= 3 or not kept  # figures


def test_the_leaderboard_and_the_card_are_made_from_the_archive(site):
    page = read(site, "leaderboard.html")
    assert 'id="leaderboard"' in page
    assert 'href="agents/gp-ucb.html"' in page.partition('id="leaderboard"')[2]
    assert "has lower regret than" in read(site, "card.html")
    assert (site / "pictures/performance-profiles.png").stat().st_size > 50_000


def test_each_picture_is_shown(site):
    made = {path.name for path in (site / "results").glob("*.png")}
    assert len(made) > 100
    pages = [unquote(page.read_text("utf-8")) for page in site.rglob("*.html")]
    assert made <= {name for page in pages for name in PICTURE.findall(page)}


def test_a_picture_opens_itself(site):
    for page in ("index.html", "mixing.html", "papers/ren2024.html", "notebooks/first_steps.html"):
        text = read(site, page).partition("<article")[2]
        assert text.count("<img ") == len(re.findall(r'<a href="([^"]+)"><img [^>]*src="\1"', text))
        assert "<img " in text or page.startswith("notebooks")  # which are not run here


def first_page(papers, root, group):
    frame = root / "docs" / "papers" / f"{group}.md"
    return papers.page(group, frame.read_text("utf-8"))


@pytest.mark.parametrize("group", registry.GROUPS)
def test_the_first_page_of_a_paper_has_at_most_300_lines_of_markdown(group, papers, root):
    text = first_page(papers, root, group)
    assert len(text.splitlines()) <= 300
    rows = [line for line in text.splitlines() if f"({group}-parts.md#" in line and line[0] == "|"]
    assert len(rows) == len(paper(group).claims)  # one line for each claim


def test_the_first_page_of_a_paper_is_short_until_it_is_unfolded(papers, root):
    """Lines of 100 characters; a row of a table has as many as its longest cell of 40."""
    for group in registry.GROUPS:
        text = first_page(papers, root, group)
        text = re.sub(r"<details.*?</details>", "folded", text, flags=re.DOTALL)
        text = re.sub(r"\]\(\S*\)", "]", text)
        lines = [
            max(-(-len(cell) // 40) for cell in line.split(" | ")) if line[:1] == "|" else
            -(-len(line) // 100)
            for line in text.splitlines()
        ]  # fmt: skip
        assert sum(lines) <= 300, group


PICTURE = re.compile(r"([^/\"]+\.(?:png|webp))")


@pytest.fixture(scope="module")
def papers(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "tools" / "site"))
        yield import_module("paper_pages")


MADE = {"computed": "made/made", "a": ("a",), "b": ("b",)}


def made(yardstick, numbers, **settings):
    """A check and a part of it."""
    check = Check(**({"yardstick": yardstick, "value": 1.0} | MADE | settings))
    return check, CheckPart("a against b", "holds", numbers, 4)


def test_claims_are_judged_by_the_rule_of_every_paper(papers, monkeypatch):
    """One part that holds and one that fails: "in part" by three rules, and not by two."""
    check, claim = (
        Check(yardstick="level", **MADE),
        SimpleNamespace(rule=None, not_run=0),
    )
    main = Verdict("in part", (Judged(check, (), (HOLDS, FAILS)),))
    monkeypatch.setattr(papers, "verdicts", lambda group: [(claim, main, {})])
    assert papers.other_rules() == [
        ["that of each paper", 0, 5, 0, 0, 0],
        ["that of srinivas2010 and bogunovic2016 and bedi2022", 0, 5, 0, 0, 0],
        ["that of tranthe2020 and ren2024", 0, 0, 5, 0, 5],
    ]


def test_a_small_plot_shows_the_interval_and_the_limits_of_its_check(papers):
    check, part = made("level", {"ratio": 1.2, "low": 0.9, "high": 1.6})
    assert papers.span(check, part) == (0.9, 1.2, 1.6)
    assert check.ends("level") == (1 / 1.5, 1.5)
    assert str(part) == "ratio 1.2 (0.9 to 1.6); 4 units"
    check, part = made("better", {"a": 1.0, "b": 2.0, "difference": -1.0, "SE": 0.25})
    assert papers.span(check, part) == (0.25, 0.5, 0.75)
    assert str(part) == "means 1 and 2, difference -1, SE 0.25; 4 units"
    drawn = papers.drawn((0.25, 0.5, 0.75), [0.25, 0.75, 1.0], [1.0])
    left, middle, right, limit = (
        float(re.search(rf'{key}="([\d.]+)"', drawn.partition(start)[2])[1])
        for start, key in (
            ("dasharray", "x1"),
            ("<circle", "cx"),
            ("dasharray", "x2"),
            ("<svg", "x1"),
        )
    )
    assert left < middle < right < limit
    assert str(CheckPart("a", "undecided", {}, 0)) == ""
    assert str(CheckPart("a", "undecided", {}, 5)).endswith("; 5 units")
    check, part = made("mean", {"mean": 1.0, "low": float("nan"), "high": float("nan")}, above=0.0)
    assert papers.span(check, part) is None
    assert check.ends("mean") == (0.0, None)


def test_the_limit_of_a_small_plot_is_the_one_by_which_its_check_judges(papers):
    """The interval reaches from 1 to 2; the best has a factor of its own in logarithms."""
    for metric, limit in (("simple_regret", 1.25), ("log10_level", 1.5)):
        numbers = {"ratio": 1.5, "low": 1.0, "high": 2.0}
        check, part = made("best", numbers, metric=metric)
        ((_, plot),) = papers.plotted(Judged(check, (part,), ()))
        (at,) = re.findall(r'x1="([\d.]+)"[^>]*dasharray', plot)
        assert float(at) == pytest.approx(4 + 112 * np.log2(limit), abs=0.05)


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
