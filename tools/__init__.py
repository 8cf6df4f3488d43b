"""Tools for maintainers, which write the reference results and the pages about them."""
