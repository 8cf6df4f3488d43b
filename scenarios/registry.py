"""Scenarios by id.

A paper is one module with a tuple `SCENARIOS`; adding a scenario is adding one declaration to it.
"""

from functools import cache
from importlib import import_module

from gpbandits_env.errors import one_of
from gpbandits_env.scenarios.scenario import Picture, Scenario

PAPERS = ("srinivas2010", "bogunovic2016", "bedi2022", "tranthe2020", "ren2024")


@cache
def scenarios() -> dict[str, Scenario | Picture]:
    """All scenarios, in the papers' order."""
    found: dict[str, Scenario | Picture] = {}
    for paper in PAPERS:
        for scenario in import_module(f"gpbandits_env.scenarios.papers.{paper}").SCENARIOS:
            if scenario.id in found or scenario.id.partition("/")[0] != paper:
                raise ValueError(f"scenario id {scenario.id!r} is not one of its own of {paper}")
            found[scenario.id] = scenario
    return found


def get(id: str) -> Scenario | Picture:
    """The scenario of that id.

    Raises:
        UnknownName: there is none; the message has the nearest ids.
    """
    return scenarios()[one_of(id, scenarios(), "scenario", "'gpbandits list' lists them")]
