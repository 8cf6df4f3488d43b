"""Optimizers of other libraries with our ask and tell; each needs its extra."""
