"""The generated half of the site: pages from registries and reference files, and the navigation.

Whatever is registered (an agent, an environment, a scenario with its reference file) and every page
in docs/ appears in the next build; no list has to be extended here.
"""

import re
import tempfile
from pathlib import Path

import agent_pages
import api_pages
import environment_pages
import formulas
import illustrations
import kept_numbers
import leaderboard_page
import marked
import notebook_pages
import page_pictures
import paper_pages
import result_pictures
import scenario_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from gpbandits_env.scenarios import registry

ROOT = Path(__file__).parents[2]
PAPERS = {f"papers/{group}.md": group for group in registry.GROUPS}
# The order of what stands in docs/; a page that is named nowhere here goes to the last section.
SECTIONS = {
    "Environments": (
        *("environments.md", "drift.md", "time.md", "contexts.md", "delayed-rewards.md", "rl.md"),
        *("own-environment.md", "own-kernel.md"),
    ),
    "Agents": ("agents.md", "mixing.md", "adding-an-agent.md"),
    "Studies": (
        *("studies.md", "scenarios.md", "suite.md", "card.md", "leaderboard.md"),
        *("defaults.md", "benchmarks.md"),
    ),
    "Papers": ("claims.md", *PAPERS),
}
FRONT = ("index.md", "getting-started.md", "optimize.md", "coming-from.md")
LAST = ("errors.md", "limits.md", "bibliography.md", "architecture.md")
API = "api/index.md"
# Pages whose marker is replaced by a list that is written now.
MARKED = {
    "card.md": leaderboard_page.example,
    "leaderboard.md": leaderboard_page.leaderboard,
    "scenarios.md": scenario_pages.overview,
    "claims.md": paper_pages.overview,
    API: api_pages.overview,
}
# Longer tables are folded, except on pages that are such a table.
MOST_ROWS = 24
OPEN = ("agents.md", "scenarios.md", "api/", "papers/")
# Each picture is a link to itself, because a phone shows it smaller than it is.
PICTURE = re.compile(r'<img [^>]*src="([^"]+)"[^>]*>')
TABLE = re.compile(r"<details.*?</details>|<table>.*?</table>", re.DOTALL)


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Show mkdocstrings the package as it is installed, with agents and scenarios inside."""
    folder = tempfile.TemporaryDirectory(prefix="gpbandits-docs-")
    api_pages.assemble(Path(folder.name))
    handlers = config.plugins["mkdocstrings"].config.handlers
    handlers.setdefault("python", {})["paths"] = [folder.name]
    config.extra["assembled"] = folder
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Write the generated pages, and the navigation over all pages."""
    sources = {file.src_uri for file in files.documentation_pages()}
    agents, environments, api = agent_pages.pages(), environment_pages.pages(), api_pages.pages()
    scenarios, results = scenario_pages.pages(), scenario_pages.results()
    parts = paper_pages.parts()
    notebooks = notebook_pages.pages()
    changes = {"changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")}
    text = agents | environments | scenarios | results | parts | api | notebooks | changes
    pictures = environment_pages.pictures() | agent_pages.pictures() | page_pictures.pictures()
    pictures |= result_pictures.pictures() | leaderboard_page.pictures() | illustrations.pictures()
    for uri, content in (text | pictures).items():
        if (stored := files.get_file_from_path(uri)) is not None:
            files.remove(stored)  # a notebook without its outputs
        files.append(File.generated(config, uri, content=content))
    own = {title: [p for p in names if p in sources] for title, names in SECTIONS.items()}
    own["Environments"].append({"One by one": list(environments)})
    own["Agents"].append({"One by one": list(agents)})
    own["Studies"].insert(2, {"One by one": scenario_pages.by_paper()})
    own["Papers"] += [{"Claims in detail": list(parts)}, {"Tables of all means": list(results)}]
    placed = {p for names in (*SECTIONS.values(), FRONT, LAST, (API,)) for p in names}
    config.nav = [
        {"Home": FRONT[0]},
        FRONT[1],
        {"Notebooks": [uri for uri in notebooks if uri.endswith(".md")]},
        {"Optimize": FRONT[2]},
        {"Coming from another library": FRONT[3]},
        *({title: entries} for title, entries in own.items()),
        {"Reference": [{"API": [API, *api]}, *sorted(sources - placed), *LAST, "changelog.md"]},
    ]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the generated lists and kept numbers; link each name of an agent to its page."""
    uri = page.file.src_uri
    markdown = kept_numbers.filled(notebook_pages.linked(markdown))
    markdown = page_pictures.with_pictures(markdown)
    page.meta.setdefault("search", {"boost": _weight(uri)})
    if uri in MARKED or uri in PAPERS:
        assert paper_pages.MARKER in markdown, f"{uri} has no place for its list"
        if uri in PAPERS:
            return paper_pages.page(PAPERS[uri], markdown)
        return markdown.replace(paper_pages.MARKER, MARKED[uri]())
    table = {"agents": agent_pages.table(linked=True)} if uri == "agents.md" else {}
    return marked.filled(markdown, table)


def _weight(uri: str) -> float:
    """The weight of a page in the search: guides first, then single pages, then the reference."""
    if "/" not in uri and uri != "changelog.md":
        return 4.0
    last = uri.startswith(("api/", "results/")) or uri.endswith(("changelog.md", "-parts.md"))
    return 0.5 if last else 1.0


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Convert formulas to MathML, keep numbers with their "±", fold long tables, link pictures."""
    html = PICTURE.sub(r'<a href="\1">\g<0></a>', html)
    if not page.file.src_uri.startswith(OPEN):
        html = TABLE.sub(_folded, html)
    return formulas.as_mathml(html).replace(" ± ", "&nbsp;±&nbsp;")


def _folded(table: re.Match[str]) -> str:
    """A table, which is folded if it has many rows; what is folded already stays as it is."""
    rows = table[0].count("<tr>") - 1
    if rows <= MOST_ROWS or table[0].startswith("<details"):
        return table[0]
    return f"<details><summary>Table of {rows} rows</summary>{table[0]}</details>"


def on_post_build(config: MkDocsConfig) -> None:
    """Remove what was assembled for mkdocstrings."""
    config.extra["assembled"].cleanup()
