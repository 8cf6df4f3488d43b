"""Every work that pages and docstrings cite by name and year stands in the bibliography."""

import re

CITED = re.compile(
    r"([A-Z][a-z]+(?:-[A-Z][a-z]+)?)(?: et al\.| (?:and|&) [A-Z][a-z]+(?:-[A-Z][a-z]+)?),? "
    r"\(?((?:19|20)\d\d)\)"
)
SHORT = ("srinivas2010", "bogunovic2016", "bedi2022", "tranthe2020", "ren2024")


def test_every_cited_work_is_listed(root):
    listed = (root / "docs" / "bibliography.md").read_text("utf-8")
    works = re.split(r"\n(?=- |\| `)", listed)
    files = [root / "README.md", *(root / "docs").rglob("*.md")]
    for folder in ("agents", "gpbandits_env", "scenarios"):
        files += (root / folder).rglob("*.py")
    cited = {found for file in files for found in CITED.findall(file.read_text("utf-8"))}
    assert len(cited) > 20
    missing = {c for c in cited if not any(c[0] in w and f"({c[1]})" in w for w in works)}
    assert not missing


def test_short_names_are_explained_in_the_readme_and_listed(root):
    for page in (root / "README.md", root / "docs" / "bibliography.md"):
        text = page.read_text("utf-8")
        assert all(f"`{name}`" in text for name in SHORT), page
