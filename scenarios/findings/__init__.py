"""What papers found, as checks on results: all that a scenario may declare."""

from gpbandits_env.scenarios.findings.final import (
    AtMost,
    Below,
    Level,
    NearlyBest,
    SlowerRise,
    Wider,
    WithinPublished,
)
from gpbandits_env.scenarios.findings.finding import FINDINGS, CellResults, Check, Finding
from gpbandits_env.scenarios.findings.rounds import (
    BelowAt,
    LessTime,
    ModelOrder,
    NeverBelow,
    Oscillates,
    ShareOf,
)

__all__ = [
    "FINDINGS",
    "AtMost",
    "Below",
    "BelowAt",
    "CellResults",
    "Check",
    "Finding",
    "LessTime",
    "Level",
    "ModelOrder",
    "NearlyBest",
    "NeverBelow",
    "Oscillates",
    "ShareOf",
    "SlowerRise",
    "Wider",
    "WithinPublished",
]
