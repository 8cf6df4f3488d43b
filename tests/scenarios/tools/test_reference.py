from tools.site.scenario_pages import write_page


def test_a_page_begins_with_what_is_said_by_hand(tmp_path):
    summary = tmp_path / "scenarios" / "reference" / "ren2024" / "summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("## In short\n\nAll is well.\n", encoding="utf-8")
    page = write_page(tmp_path, "ren2024").read_text(encoding="utf-8")
    assert page.index("# Results: ren2024") < page.index("## In short") < page.index("All is well.")
