"""Gaussian processes: what an agent may know and compute."""
