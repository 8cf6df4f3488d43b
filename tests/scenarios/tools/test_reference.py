from tools.site.scenario_pages import results


def test_a_page_begins_with_its_paper():
    page = results()["results/ren2024.md"]
    assert page.index("# Results: ren2024") < page.index("## ren2024/rbf-2d")
