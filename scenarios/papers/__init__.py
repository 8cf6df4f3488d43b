"""The papers' scenarios: one module a paper, declarations only."""
