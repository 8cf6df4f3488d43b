"""What maintainers run in a checkout: it writes the reference results and the pages about them."""
