"""The independent units of the scenarios of time on recorded days."""

from tools.claims import one_unit

UNITS = {"time/temperature": one_unit, "time/traffic": one_unit}
