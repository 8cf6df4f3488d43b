"""Tables that are written into pages between comments, for readers of the checkout."""

from collections.abc import Mapping


def filled(page: str, tables: Mapping[str, str]) -> str:
    """The page with each table between `<!-- NAME -->` and the next `<!-- end -->`."""
    for name, table in tables.items():
        before, start, rest = page.partition(f"<!-- {name} -->")
        _, end, after = rest.partition("<!-- end -->")
        assert end, f"the page has a place for {name}"
        page = f"{before}{start}\n\n{table}\n\n{end}{after}"
    return page
