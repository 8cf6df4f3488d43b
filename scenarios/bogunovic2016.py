"""bogunovic2016: Time-Varying Gaussian Process Bandit Optimization (AISTATS 2016), Section 5.

A function that drifts from round to round: TV-GP-UCB lets old data fade, R-GP-UCB forgets all of
it at times.
"""

from typing import Any

from gpbandits_env.scenarios.findings import below
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

BETA = {"type": "log", "c1": 0.8, "c2": 4.0}
EPSILONS = (0.001, 0.01, 0.03)


def _grid(kernel: str) -> dict[str, Any]:
    return {
        "grid": [50, 50],
        "kernel": {"type": kernel, "lengthscale": 0.2},
        "noise_var": 0.01,
    }


MATCHED = (
    AgentEntry("tv-gp-ucb", "tv-gp-ucb", {"beta": BETA}, "told the true epsilon"),
    AgentEntry("r-gp-ucb", "r-gp-ucb", {"beta": BETA}, "N by Corollary 4.1 and Section 5.1"),
    AgentEntry("gp-ucb", "gp-ucb", {"beta": BETA}, "the same beta, nothing is ever forgotten"),
    AgentEntry("random", "random", {}, "uniform"),
    AgentEntry("genie", "genie", {}, "knows f_{t-1}: no algorithm can do better (Appendix F)"),
)
HORIZON = "the horizon is not stated: 500"
BESIDE = "GP-UCB, random and the genie are not in the paper's figure; they run beside it"


def _matched(name: str, kernel: str, figure: str, title: str) -> Scenario:
    return Scenario(
        id=f"bogunovic2016/{name}",
        source=f"bogunovic2016, Section 5.1, {figure}",
        title=title,
        env="gpbandits/MarkovGP-v0",
        env_kwargs=_grid(kernel),
        grid={"epsilon": EPSILONS},
        agents=MATCHED,
        horizon=500,
        trials=200,
        findings=(below("tv-gp-ucb", "r-gp-ucb"),),
        choices=(HORIZON,),
        departures=(BESIDE,),
    )


SCENARIOS = (
    _matched("se", "se", "Fig. 2(a)", "drifting draws of a squared exponential kernel"),
    _matched("matern52", "matern52", "Fig. 2(b)", "drifting draws of a Matern 5/2 kernel"),
)
