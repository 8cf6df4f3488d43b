"""Results shown: tables, plots, pages."""
