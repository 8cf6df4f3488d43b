"""The independent units of the scenario of contexts on recorded days."""

from tools.claims import one_unit

UNITS = {"context/temperature": one_unit}
