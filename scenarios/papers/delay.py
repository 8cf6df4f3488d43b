"""delay: rewards that arrive some rounds late, on our own settings.

No paper: agents treat what was played and not yet observed as pending (GP-BUCB, Desautels, Krause
and Burdick 2014; asynchronous Thompson sampling, Kandasamy et al. 2018).
"""

from typing import Any

from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

AGENTS = (
    AgentEntry("gp-ucb", "gp-ucb", {}, "pending actions count in the variance"),
    AgentEntry("ei", "ei", {}, "likewise"),
    AgentEntry("ts", "ts", {}, "explores by its randomness alone"),
    AgentEntry("ts-rsr", "ts-rsr", {}, "pending actions count in the variance"),
    AgentEntry("random", "random", {}, "uniform"),
)


def _late(name: str, title: str, delay: Any, **more: Any) -> Scenario:
    return Scenario(
        id=f"delay/{name}",
        source="Desautels et al. (2014), Section 4, delayed feedback; Kandasamy et al. (2018)",
        title=title,
        env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [20, 20], **delay},
        agents=AGENTS,
        horizon=200,
        trials=40,
        metric="cumulative_regret",
        departures=("the scenario is ours",),
        **more,
    )


SCENARIOS = (
    _late("fixed", "rewards that arrive 0, 10 or 30 rounds late", {}, grid={"delay": (0, 10, 30)}),
    _late(
        "lost",
        "rewards that arrive 2 to 20 rounds late, and one in five never",
        {"delay": {"least": 2, "most": 20, "lost": 0.2}},
    ),
)
