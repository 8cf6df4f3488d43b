from tools.site.scenario_pages import results


def test_a_page_begins_with_what_is_said_by_hand():
    page = results()["results/ren2024.md"]
    heading = "## Comparison with the published table"
    assert page.index("# Results: ren2024") < page.index(heading) < page.index("## ren2024/rbf-2d")
