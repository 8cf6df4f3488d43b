"""Shows results: tables, plots and pages."""
