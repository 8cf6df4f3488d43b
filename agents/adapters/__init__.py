"""Optimizers of other libraries with `ask` and `tell`; each needs the extra of its name."""
