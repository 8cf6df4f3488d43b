"""newer: what was published since 2020 and is not in the five papers, at sizes for two cores."""

from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

OTHER = ("the paper has other functions",)
SQUARE: Plain = {"grid": [20, 20], "kernel": {"type": "se", "lengthscale": 0.2}}
LONG: Plain = {"type": "se", "lengthscale": 0.4}
IGP: Plain = {"type": "igp", "delta": 0.005}
SAME_BOUND = "believes 0.4, with the confidence bound of lb-gp-ucb"
ROUGH: Plain = {"type": "se", "lengthscale": 0.5}
BUDGET, SHARE = 50.0, 0.1  # C, and its factor in the experiments
ATTACKS: tuple[Plain, ...] = (
    {"type": "clipping", "budget": BUDGET},
    {"type": "subtraction", "budget": BUDGET},
    {"type": "flipping", "budget": BUDGET},
    {"type": "top-k", "budget": BUDGET, "k": 5},
    {"type": "top-k", "budget": BUDGET, "k": 3},
)

RANDOM_WIDTH: Plain = {"type": "randomised"}
LEARN: Plain = {"every": 5, "growth": 0.1}
# Linear on a sphere, for the box of `newer/high-dim`.
SPHERE: Plain = {"type": "spherical-linear", "low": -1.0, "high": 1.0}
FIRST: Plain = {"rounds": 30, "first": "uniform", "then": {"type": "hallucinate"}}


def _learns(label: str, words: str, learn: Plain, **more: Any) -> AgentEntry:
    """EI after 30 uniform points, with learned hyperparameters."""
    batch = {"type": "initialised", **FIRST}
    settings = {"learn": LEARN | learn, "standardize": True, "batch": batch} | more
    return AgentEntry(label, "ei", settings, words)


def _pair(suffix: str, c1: float, words: str) -> tuple[AgentEntry, AgentEntry]:
    """GP-UCB with the coefficient sqrt(c1 log t) of the standard deviation, and RGP-UCB on it."""
    base = {"type": "log", "c1": c1, "c2": 1.0}
    robust = {"type": "robust", "base": base, "corruption": SHARE * BUDGET}
    known = {"noise_var": 1.0}  # the regularizer
    return (
        AgentEntry("gp-ucb" + suffix, "gp-ucb", {"beta": base, **known}, words),
        AgentEntry("rgp-ucb" + suffix, "gp-ucb", {"beta": robust, **known}, words + " + 0.1 C"),
    )


def _static(name: str, **declared: Any) -> Scenario:
    """Declare an experiment on draws of a kernel."""
    usual: Plain = {"env_kwargs": {**SQUARE, "noise_var": 0.1}, "trials": 50, "departures": OTHER}
    return Scenario(id=f"newer/{name}", env="gpbandits/StaticGP-v0", **usual | declared)


SCENARIOS = (
    _static(
        "corruption",
        source="Bogunovic, Li, Krause and Scarlett (2022), RGP-UCB: experiments",
        title="GP-UCB and RGP-UCB under five attacks of budget 50",
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
    _static(
        "repeats",
        source="Calandriello, Carratino, Lazaric, Valko and Rosasco (2022), mini-GP-Opt",
        title="GP-UCB and EI, and the same with each choice evaluated several times",
        agents=(
            AgentEntry("gp-ucb", "gp-ucb", {}, "chooses in every round"),
            AgentEntry("mini-gp-ucb", "mini-gp-ucb", {"ratio": 2.0}, "C^2 = 2"),
            AgentEntry("ei", "ei", {}, "chooses in every round"),
            AgentEntry("mini-ei", "mini-ei", {"ratio": 2.0}, "C^2 = 2"),
        ),
        horizon=200,
        departures=(*OTHER, "beta_t is that of GP-UCB over 5"),
    ),
    _static(
        "lengthscale",
        source="Ziomek, Adachi and Osborne (2024), LB-GP-UCB",
        title="A lengthscale believed four times too long",
        env_kwargs={**SQUARE, "kernel": {"type": "se", "lengthscale": 0.1}, "noise_var": 0.01},
        agents=(
            AgentEntry("gp-ucb", "gp-ucb", {"kernel": LONG}, "believes 0.4"),
            AgentEntry("gp-ucb/same-bound", "gp-ucb", {"kernel": LONG, "beta": IGP}, SAME_BOUND),
            AgentEntry("lb-gp-ucb", "lb-gp-ucb", {"kernel": LONG}, "knows that it is at most 0.4"),
            AgentEntry("right", "gp-ucb", {}, "knows that it is 0.1"),
        ),
        horizon=250,
        trials=300,
        departures=(*OTHER, "the longest lengthscale is given, not fitted"),
    ),
    _static(
        "random-width",
        source="Takeno, Inatsu and Karasuyama (2023), IRGP-UCB",
        title="GP-UCB with the width of a theorem, and with a random width that does not grow",
        agents=(
            AgentEntry("gp-ucb", "gp-ucb", {"beta": {"type": "finite", "scale": 1.0}}, "Theorem 1"),
            AgentEntry("irgp-ucb", "gp-ucb", {"beta": RANDOM_WIDTH}, "2 log(n / 2) + Exp"),
            AgentEntry("gp-ucb-over-5", "gp-ucb", {}, "Theorem 1, beta over 5"),
        ),
        horizon=300,
    ),
    _static(
        "believers",
        source="Sugiura, Takeuchi and Takeno (2026), randomised kriging believer",
        title="Batches of five by kriging believers, hallucinated rewards and chance",
        env_kwargs={**SQUARE, "noise_var": 0.1, "batch_size": 5},
        agents=(
            AgentEntry("randomised", "ei", {"batch": "randomised-believer"}, "EI, drawn rewards"),
            AgentEntry("believer", "ei", {"batch": "believer"}, "EI, mean rewards"),
            AgentEntry("gp-ucb-randomised", "gp-ucb", {"batch": "randomised-believer"}, "GP-UCB"),
            AgentEntry("bucb", "bucb", {}, "GP-BUCB"),
            AgentEntry("random", "random", {}, "uniform"),
        ),
        horizon=40,
    ),
    Scenario(
        id="newer/high-dim",
        source="Papenmeier et al. (2025), MSR; Doumont et al. (2025), spherical linear kernel",
        title="Priors and kernels of expected improvement in 100 dimensions",
        env="gpbandits/HighDim-v0",
        env_kwargs={"dim": 100, "shift": True, "noise_var": 0.0, "model_noise_var": 1e-6},
        grid={"function": ("hartmann-6", "griewank")},
        agents=(
            _learns("scaled", "the scaled prior", {"prior": "dimension-scaled", "ard": True}),
            _learns("msr", "no prior, from sqrt(D) / 10", {"prior": "flat", "ard": True}),
            _learns("spherical", "one lengthscale", {}, kernel=SPHERE),
            AgentEntry("random", "random", {}, "uniform"),
        ),
        horizon=200,
        trials=10,
        metric="simple_regret",
        departures=("200 evaluations and 10 repeats of other functions than the papers have",),
    ),
)
