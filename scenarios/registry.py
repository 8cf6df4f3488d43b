"""Scenarios by id.

A paper, or a topic of this library, is one module with a tuple `SCENARIOS`. To add a scenario, add
a declaration to it. Another reading of the experiment "paper/name" has the id "paper/name@reading".
"""

from functools import cache
from importlib import import_module

from gpbandits_env.errors import one_of
from gpbandits_env.scenarios.scenario import Scenario

# The short name of a paper -> its authors and year.
PAPERS = {
    "srinivas2010": "Srinivas, Krause, Kakade and Seeger, ICML 2010",
    "bogunovic2016": "Bogunovic, Scarlett and Cevher, AISTATS 2016",
    "bedi2022": "Bedi, Peddireddy, Aggarwal, Sadler and Koppel, 2022",
    "tranthe2020": "Tran-The, Gupta, Rana and Venkatesh, AAAI 2020",
    "ren2024": "Ren and Li, 2024",
}
# Groups of scenarios of this library.
TOPICS = {
    "clock": "functions that move while the agent thinks, by this library",
    "context": "observed contexts, with CGP-UCB of Krause and Ong, NIPS 2011",
    "delay": "delayed rewards, with GP-BUCB of Desautels, Krause and Burdick, ICML 2012",
    "newer": "what was published since 2020, at sizes for two cores",
    "time": "other models of time than bogunovic2016's, by this library",
}
GROUPS = PAPERS | TOPICS
LISTED = "'gpbandits list' lists them; the name of a file ends in .toml"


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios, in the order of the papers and topics."""
    modules = (import_module(f"gpbandits_env.scenarios.papers.{group}") for group in GROUPS)
    return {scenario.id: scenario for module in modules for scenario in module.SCENARIOS}


def base_of(id: str) -> str:
    """The scenario of which an id names a reading; the id itself if it names none."""
    return id.partition("@")[0]


def readings(id: str) -> list[str]:
    """The ids of the other readings of a scenario."""
    return [other for other in scenarios() if other != id and base_of(other) == id]


def get(id: str) -> Scenario:
    """The scenario with an id; UnknownName, with the nearest ids, if there is none."""
    return scenarios()[one_of(id, scenarios(), "scenario", LISTED)]
