"""Frozen problems, the archive of every agent's trials on them, and the card of a new agent."""
