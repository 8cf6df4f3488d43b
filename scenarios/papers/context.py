"""context: what is observed before acting (Krause and Ong 2011, CGP-UCB), on our own settings.

CGP-UCB is GP-UCB with a posterior on pairs of an action and a context. Its rivals are the same
agent with another kernel: one that ignores the context, and one under which contexts have nothing
in common, as with one agent per context. The oracle that knows f has no regret.
"""

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.papers.bogunovic2016 import TEMPERATURE, WARM
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario


def _on(coordinates: list[int], lengthscale: float) -> Plain:
    kernel = {"type": "se", "lengthscale": lengthscale}
    return {"type": "on", "coordinates": coordinates, "kernel": kernel}


def _product(context: float) -> Plain:
    return {"type": "product", "factors": [_on([0], 0.2), _on([1], context)]}


# The prior covariance of different contexts is 0 in floating point.
APART = 1e-3
AGENTS = (
    AgentEntry("cgp-ucb", "gp-ucb", {}, "knows the kernel of actions and contexts"),
    AgentEntry("blind", "gp-ucb", {"kernel": _on([0], 0.2)}, "ignores the context"),
    AgentEntry("apart", "gp-ucb", {"kernel": _product(APART)}, "one GP-UCB per context"),
    AgentEntry("ei", "ei", {}, "the incumbent is that of the present context"),
    AgentEntry("ts", "ts", {}, "a joint sample of all pairs"),
    AgentEntry("random", "random", {}, "uniform"),
)
OWN = "the setting is ours: the paper's data (vaccine design, light sensors) are not used"

COMMON: Plain = {
    "env": "gpbandits/Contextual-v0",
    "horizon": 300,
    "trials": 40,
    "metric": "cumulative_regret",
    "departures": (OWN,),
}

SCENARIOS = (
    Scenario(
        id="context/product",
        source="Krause and Ong (2011), Sections 2-3: CGP-UCB with a product kernel",
        title="10 contexts, drawn at random, with similar functions of 50 arms",
        env_kwargs={"grid": [50], "contexts": 10, "kernel": _product(0.3)},
        agents=AGENTS,
        **COMMON,
    ),
    Scenario(
        id="context/irrelevant",
        source="Krause and Ong (2011), Sections 2-3: a context without effect",
        title="10 contexts that do not matter",
        env_kwargs={"grid": [50], "contexts": 10, "kernel": _on([0], 0.2)},
        agents=(
            AgentEntry("cgp-ucb", "gp-ucb", {"kernel": _product(1e3)}, "the kernel of pairs"),
            *AGENTS[1:3],
            AGENTS[-1],
        ),
        **COMMON,
    ),
    Scenario(
        id="context/temperature",
        source="the hour of the day and the temperatures of bogunovic2016, Section 5.2",
        title="the warmest of 46 sensors of the Intel Berkeley lab, when the hour is known",
        env="gpbandits/Replay-v0",
        env_kwargs=TEMPERATURE | {"contexts": {"clock": 144, "parts": 24}},
        agents=(
            AgentEntry("cgp-ucb", "gp-ucb", {"beta": WARM}, "the hour is a point of the circle"),
            AgentEntry("tv/hour", "tv-gp-ucb", {"beta": WARM}, "the hour, and epsilon 0.03"),
            AgentEntry("random", "random", {}, "uniform"),
        ),
        horizon=288,
        trials=20,
        departures=(
            "the scenario is ours; without the hour, GP-UCB and TV-GP-UCB are those of "
            "bogunovic2016/temperature",
        ),
    ),
)
