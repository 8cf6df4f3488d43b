"""newer: what was published since 2020 and is not in the five papers, at sizes for two cores."""

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

SQUARE: Plain = {"grid": [20, 20], "kernel": {"type": "se", "lengthscale": 0.2}}
LONG: Plain = {"type": "se", "lengthscale": 0.4}
ROUGH: Plain = {"type": "se", "lengthscale": 0.5}
BUDGET, SHARE = 50.0, 0.1  # C, and its factor in the experiments
ATTACKS: tuple[Plain, ...] = (
    {"type": "clipping", "budget": BUDGET},
    {"type": "subtraction", "budget": BUDGET},
    {"type": "flipping", "budget": BUDGET},
    {"type": "top-k", "budget": BUDGET, "k": 5},
)


def _pair(suffix: str, c1: float, words: str) -> tuple[AgentEntry, AgentEntry]:
    """GP-UCB with the coefficient sqrt(c1 log t) of the standard deviation, and RGP-UCB on it."""
    base = {"type": "log", "c1": c1, "c2": 1.0}
    robust = {"type": "robust", "base": base, "corruption": SHARE * BUDGET}
    known = {"noise_var": 1.0}  # the regularizer
    return (
        AgentEntry("gp-ucb" + suffix, "gp-ucb", {"beta": base, **known}, words),
        AgentEntry("rgp-ucb" + suffix, "gp-ucb", {"beta": robust, **known}, words + " + 0.1 C"),
    )


SCENARIOS = (
    Scenario(
        id="newer/corruption",
        source="Bogunovic, Li, Krause and Scarlett (2022), RGP-UCB: experiments",
        title="GP-UCB and RGP-UCB under four attacks of budget 50",
        env="gpbandits/StaticGP-v0",
        env_kwargs={"grid": [10, 10], "low": -5.0, "high": 5.0, "kernel": ROUGH, "noise_var": 4e-4},
        grid={"corruption": ATTACKS},
        agents=(*_pair("", 0.25, "sqrt(log t) / 2"), *_pair("-wide", 4.0, "2 sqrt(log t)")),
        horizon=5000,
        trials=10,
        metric="cumulative_regret",
        departures=(
            "5000 rounds instead of 50,000",
            "the attacks have no target region",
            "functions are draws of the GP",
        ),
    ),
    Scenario(
        id="newer/repeats",
        source="Calandriello, Carratino, Lazaric, Valko and Rosasco (2022), mini-GP-Opt",
        title="GP-UCB and EI, and the same with each choice evaluated several times",
        env="gpbandits/StaticGP-v0",
        env_kwargs={**SQUARE, "noise_var": 0.1},
        agents=(
            AgentEntry("gp-ucb", "gp-ucb", {}, "chooses in every round"),
            AgentEntry("mini-gp-ucb", "mini-gp-ucb", {"ratio": 2.0}, "C^2 = 2"),
            AgentEntry("ei", "ei", {}, "chooses in every round"),
            AgentEntry("mini-ei", "mini-ei", {"ratio": 2.0}, "C^2 = 2"),
        ),
        horizon=200,
        trials=50,
        departures=("the paper's functions are others", "beta_t is that of GP-UCB over 5"),
    ),
    Scenario(
        id="newer/lengthscale",
        source="Ziomek, Adachi and Osborne (2024), LB-GP-UCB",
        title="A lengthscale believed four times too long",
        env="gpbandits/StaticGP-v0",
        env_kwargs={**SQUARE, "kernel": {"type": "se", "lengthscale": 0.1}, "noise_var": 0.01},
        agents=(
            AgentEntry("gp-ucb", "gp-ucb", {"kernel": LONG}, "believes 0.4"),
            AgentEntry(
                "gp-ucb/same-bound",
                "gp-ucb",
                {"kernel": LONG, "beta": {"type": "igp", "delta": 0.005}},
                "believes 0.4, with the confidence bound of lb-gp-ucb",
            ),
            AgentEntry("lb-gp-ucb", "lb-gp-ucb", {"kernel": LONG}, "knows that it is at most 0.4"),
            AgentEntry("right", "gp-ucb", {}, "knows that it is 0.1"),
        ),
        horizon=250,
        trials=300,
        departures=("the paper's functions are others", "the longest is given, not fitted"),
    ),
)
