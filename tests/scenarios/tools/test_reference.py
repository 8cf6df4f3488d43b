from click.testing import CliRunner

from tools.reference import reference
from tools.site.scenario_pages import write_page


def test_a_picture_is_drawn_into_the_documentation(tmp_path):
    made = CliRunner().invoke(reference, ["srinivas2010/fig-4", "--root", str(tmp_path)])
    assert made.exit_code == 0, made.output
    page = (tmp_path / "docs" / "results" / "srinivas2010.md").read_text()
    assert "](srinivas2010-fig-4.png)" in page
    assert "fig-2" not in page
    assert (tmp_path / "docs" / "results" / "srinivas2010-fig-4.png").stat().st_size > 10_000


def test_a_page_begins_with_what_is_said_by_hand(tmp_path):
    summary = tmp_path / "scenarios" / "reference" / "ren2024" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("## In short\n\nAll is well.\n", encoding="utf-8")
    page = write_page(tmp_path, "ren2024").read_text(encoding="utf-8")
    assert page.index("# Results: ren2024") < page.index("## In short") < page.index("All is well.")
