"""clock: functions that move while the agent thinks, on our own settings.

What is a fast decision worth? The same agent decides at declared speeds, from 20 microseconds to a
second, where an evaluation is free, takes a tenth of a second, or ten seconds. And on the ten
functions of W-DBO, agents decide at their own speed, and W-DBO at that of its public code too.
"""

from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.papers.bogunovic2016 import TEMPERATURE, WARM
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

# A function's time passes through its range once, in 100 units, whatever the seconds.
UNITS = 100.0
SPEEDS = {"20-us": 2e-5, "1-ms": 1e-3, "30-ms": 0.03, "500-ms": 0.5, "1-s": 1.0}
# Of the Markov drift: the correlation after a quarter of the range is (1 - 0.06)^12.5 = 0.46.
TV: Plain = {"epsilon": 0.06, "beta": 4.0}
SMOOTH: Plain = {"temporal": {"type": "matern32", "lengthscale": 20.0}}
AS_SLOW = "the same, as slow as the public code, 550 ms"
# Of the order that `benchmarks/wdbo.py` measures: tv-gp-ucb, w-dbo, and W-DBO's public code.
QUICK, OURS, PUBLIC = (1e-4,), (0.012,), (0.55,)
PANELS = (Panel("average_regret", "time"), Panel("rate", "time"))

# The functions with their side and the points per axis of a grid.
FUNCTIONS: dict[str, tuple[float, list[int]]] = {
    "rastrigin": (10.24, [3, 3, 3, 3]),
    "schwefel": (1000.0, [4, 4, 4]),
    "styblinski-tang": (10.0, [4, 4, 4]),
    "eggholder": (1024.0, [64]),
    "ackley": (65.536, [4, 4, 4]),
    "rosenbrock": (2.5, [9, 9]),
    "shekel": (10.0, [4, 4, 4]),
    "hartmann-3": (1.0, [9, 9]),
    "hartmann-6": (1.0, [3, 3, 3, 2, 2]),
    "powell": (9.0, [4, 4, 4]),
}


def _function(name: str) -> Plain:
    side, grid = FUNCTIONS[name]
    kernel = {"type": "matern52", "lengthscale": 0.3 * side}
    return {"function": name, "grid": grid, "kernel": kernel}


ACKLEY = _function("ackley")


def _at(evaluation: float, duration: float) -> Plain:
    return {"evaluation": evaluation, "unit": duration / UNITS, "duration": duration}


def _clocked(name: str, **more: Any) -> Scenario:
    given: Plain = {
        "env": "gpbandits/Drifting-v0",
        "env_kwargs": {"sweep": UNITS, "noise_var": 0.05, **ACKLEY},
        "horizon": 100,
        "trials": 4,
        "panels": PANELS,
    }
    return Scenario(id=f"clock/{name}", store_actions=False, **given | more)


def _speeds(settings: Plain) -> tuple[AgentEntry, ...]:
    """TV-GP-UCB at each speed, and random actions at the highest."""
    return (
        *(
            AgentEntry(label, "tv-gp-ucb", settings, f"decides in {seconds:g} s", (seconds,))
            for label, seconds in SPEEDS.items()
        ),
        AgentEntry("random", "random", {}, "decides in 20 microseconds", (2e-5,)),
    )


OWN = "this is an experiment of this library, not of a paper"
DECLARED = "thinking is declared, so that trials repeat bit for bit"

SCENARIOS = (
    _clocked(
        "speeds",
        source="Bardou et al. (2024), Section 5",
        title="TV-GP-UCB at five speeds on two functions; an evaluation takes 0, 0.1 or 10 seconds",
        grid=tuple(
            _function(name) | {"clock": _at(evaluation, duration)}
            for name in ("ackley", "hartmann-3")
            for evaluation, duration in ((0.0, 2.0), (0.1, 60.0), (10.0, 600.0))
        ),
        agents=_speeds(TV),
        trials=3,
        choices=(
            DECLARED,
            "the function moves through its range in 2 seconds where an evaluation is free, and in "
            "60 and 600 seconds where it takes 0.1 and 10, so that the fastest agent evaluates at "
            "most 100,000 times",
        ),
        departures=(OWN, "points are on a grid"),
    ),
    _clocked(
        "functions",
        source="Bardou et al. (2024), Section 5",
        title="W-DBO's ten functions in 30 seconds; an evaluation takes 0.1 seconds",
        grid=tuple(_function(name) for name in FUNCTIONS),
        env_kwargs={"sweep": UNITS, "noise_var": 0.05, "clock": _at(0.1, 30.0), **ACKLEY},
        agents=(
            AgentEntry("tv-gp-ucb", "tv-gp-ucb", TV, "a Markov drift, in 0.1 ms", QUICK),
            AgentEntry("w-dbo", "w-dbo", SMOOTH, "ours, in 12 ms", OURS),
            AgentEntry("w-dbo/public-speed", "w-dbo", SMOOTH, AS_SLOW, PUBLIC),
            AgentEntry("gp-ucb", "gp-ucb", {"beta": 4.0}, "nothing is forgotten, 0.1 ms", QUICK),
            AgentEntry("random", "random", {}, "uniform", QUICK),
        ),
        choices=(
            DECLARED,
            "the model is given and the same for all functions: Matern 5/2 of 0.3 of a side",
        ),
        departures=(
            OWN,
            "points are on a grid",
            "30 seconds instead of 600, and 4 trials",
            "evaluations of 0 and 10 seconds are in clock/speeds, on two of the functions",
        ),
    ),
    _clocked(
        "temperature",
        source="the data of bogunovic2016, Section 5.2, Fig. 3(a)",
        title="the warmest of 46 sensors, with ten minutes of the data in one second",
        env="gpbandits/Replay-v0",
        env_kwargs=TEMPERATURE | {"clock": {"evaluation": 0.1, "duration": 280.0}},
        grid={"clock.evaluation": (0.1, 1.0, 10.0)},
        agents=_speeds({"beta": WARM})[1:],
        trials=2,
        choices=(DECLARED, "without the speed of 20 microseconds, which changes nothing here"),
        departures=(OWN, "both trials replay the same days"),
    ),
)
