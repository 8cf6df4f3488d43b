"""Functions that change in time in other ways than a Markov drift, and data with a season.

These experiments are this library's own. They ask what a model of time is worth: the right temporal
kernel beside Markov models, resets and windows on draws of each kernel, and a season learned on
training days beside the models of bogunovic2016 on its own data. They also ask what it costs not to
know how the function changes.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.papers import bogunovic2016
from gpbandits_env.scenarios.papers.bogunovic2016 import BETA, ucb
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

# -- Draws of each temporal kernel ----------------------------------------------------------------


def markov(epsilon: float) -> Plain:
    """The kernel of a Markov drift."""
    return {"type": "markov", "epsilon": epsilon}


def weighted(first: Plain, second: Plain, weight: float) -> Plain:
    """A sum of two kernels in time, whose weights add to 1."""
    return {"type": "sum", "kernels": [first, second], "weights": [weight, round(1.0 - weight, 3)]}


def season(period: float, epsilon: float) -> Plain:
    """A season whose shape changes at this rate."""
    return {"type": "quasi-periodic", "period": period, "harmonics": 6, "epsilon": epsilon}


DAY = {"type": "quasi-periodic", "period": 24.0, "lengthscale": 1.0, "harmonics": 3}
WANDERING: tuple[Plain, ...] = (
    markov(0.03),
    {"type": "matern32", "lengthscale": 30.0},
    {"type": "matern52", "lengthscale": 30.0},
    {"type": "wiener", "rate": 0.02},
)
SEASONAL = (DAY | {"epsilon": 0.002}, weighted(DAY | {"epsilon": 0.002}, WANDERING[0], 0.7))
EPSILONS = (0.003, 0.01, 0.03, 0.1, 0.3)
MARKOV = tuple(f"markov/{epsilon:g}".replace(".", "-") for epsilon in EPSILONS)


def _rates(note: str) -> list[AgentEntry]:
    """An agent for each Markov rate."""
    pairs = zip(MARKOV, EPSILONS, strict=True)
    return [ucb(k, "gp-ucb", f"{note}, epsilon = {e:g}", epsilon=e) for k, e in pairs]


GENIE = AgentEntry("genie", "genie", {}, "knows f_{t-1}")
FORGETS_NOTHING = ucb("gp-ucb", "gp-ucb", "nothing is ever forgotten")
ET = AgentEntry("et", "et-gp-ucb", {}, "resets where a reward surprises; told nothing")
TOLD_LITTLE = (
    AgentEntry("wgp", "wgp-ucb", {}, "weights that decay, gamma = 0.98"),
    AgentEntry("ui", "ui-tvbo", {}, "a random walk in time, rate 0.03"),
)
DRAWN_AGENTS = (
    AgentEntry("right", "tv-gp-ucb", {"beta": BETA}, "knows the temporal kernel"),
    *_rates("assumes a Markov drift"),
    ucb("resets", "gp-ucb", "forgets all data every 25 rounds", reset_every=25),
    ucb("window", "gp-ucb", "the last 50 rounds", window=50),
    FORGETS_NOTHING,
    AgentEntry("bma", "bma-gp-ucb", {}, "averages six Markov rates; told nothing"),
    ET,
    *TOLD_LITTLE,
    GENIE,
)

# -- Real data ------------------------------------------------------------------------------------

# By `tools/tuning.py` on the training days alone, with periods of a day and of a morning.
WARM_SEASON = weighted(season(144.0, 0.002), markov(0.03), 0.9)
FAST_SEASON = season(60.0, 0.0)
TOLD = "observes the training days first"
CHOSEN = (
    "the season's share, its rate and the rate of the rest are those with the least regret on the "
    "training days, where each day is replayed with the other days as known data "
    "(`tools/tuning.py`); the period is a day of the data",
)


OWN = "this is an experiment of this library, not of a paper"


def _real(name: str, data: Plain, beta: Plain, season: Plain, rows: int, **more: Any) -> Scenario:
    """Declare a run on recorded data, of which the first ``rows`` are the training days."""
    told = partial(replace, history=rows)
    return Scenario(
        id=f"time/{name}",
        env="gpbandits/Replay-v0",
        env_kwargs=data,
        agents=(
            ucb("tv-gp-ucb", "tv-gp-ucb", f"the paper's epsilon, {data['epsilon']:g}", beta),
            told(ucb("tv/told", "tv-gp-ucb", f"the same; {TOLD}", beta)),
            ucb("season", "gp-ucb", "a season, without the training days", beta, temporal=season),
            told(ucb("season/told", "gp-ucb", f"a season; {TOLD}", beta, temporal=season)),
            ucb("gp-ucb", "gp-ucb", "nothing is ever forgotten", beta),
        ),
        choices=(*bogunovic2016.REAL_DATA, *CHOSEN),
        departures=(bogunovic2016.REPLAYED, OWN),
        **more,
    )


def _own(name: str, title: str, env_kwargs: Plain, agents: Any, **declared: Any) -> Scenario:
    """Declare an experiment on a function that drifts."""
    usual: Plain = {"horizon": 300, "trials": 20, "departures": (OWN,)}
    return Scenario(
        id=f"time/{name}",
        title=title,
        env="gpbandits/Drifting-v0",
        env_kwargs=env_kwargs,
        agents=tuple(agents),
        **usual | declared,
    )


def _drifting(side: int, drift: Plain) -> Plain:
    kernel = {"type": "se", "lengthscale": 0.2}
    return {"grid": [side, side], "kernel": kernel, "noise_var": 0.01, "drift": drift}


def _moved(kernel: Plain) -> Plain:
    return {"noise_var": 0.01, "drift": {"type": "temporal", "kernel": kernel}}


def _drawn(name: str, what: str, kernels: tuple[Plain, ...]) -> Scenario:
    return _own(
        name,
        f"{what}: the right temporal kernel, Markov models, resets and windows",
        _drifting(10, {"type": "temporal", "kernel": kernels[0]}),
        DRAWN_AGENTS,
        source="Hartikainen and Sarkka (2010); Solin and Sarkka (2014)",
        grid={"drift.kernel": kernels},
    )


# -- A shift that all arms share, and a day and a night in a box -----------------------------------

RATES = {"type": "terms", "kernels": [markov(0.003), markov(0.3)]}
TERMS = [{"type": "se", "lengthscale": 0.2}, {"type": "constant", "variance": 1.0}]
SHIFT = _own(
    "common-shift",
    "a slow function and a fast shift that all arms of a round share: a sum and products",
    {"grid": [50], "batch_size": 3, "kernel": {"type": "sum", "terms": TERMS}, **_moved(RATES)},
    (
        AgentEntry("sum", "tv-gp-ucb", {"beta": BETA}, "knows both kernels in time"),
        *_rates("one Markov drift of everything"),
        FORGETS_NOTHING,
        GENIE,
    ),
    source="issue 274 of Ax",
    horizon=200,
)
DAY_AND_NIGHT = weighted(
    {"type": "periodic", "period": 12.0, "harmonics": 2}, {"type": "static"}, 0.7
)
SMOOTH = {"type": "se", "lengthscale": 0.8}
DAY_NIGHT = _own(
    "day-night-box",
    "a day and a night in a box of 4 dimensions, one evaluation every two hours",
    {"box": [[0.0] * 4, [1.0] * 4], "kernel": SMOOTH, **_moved(DAY_AND_NIGHT)},
    (
        ucb("right", "tv-gp-ucb", "knows the temporal kernel; searches the box", 2.0),
        ucb("candidates", "tv-gp-ucb", "the same, among 1024 points", 2.0, candidates=1024),
        ucb("gp-ucb", "gp-ucb", "ignores the time", 2.0),
        ucb("markov/0-03", "gp-ucb", "assumes a Markov drift, epsilon = 0.03", 2.0, epsilon=0.03),
        ucb("markov/0-3", "gp-ucb", "assumes a Markov drift, epsilon = 0.3", 2.0, epsilon=0.3),
    ),
    source="issue 2435 of Ax",
    horizon=120,
    trials=10,
)

# -- Drift of unknown rate -------------------------------------------------------------------------


CHANGES: Plain = {"type": "change-points", "rate": 0.01}
FIFTY: Plain = {"type": "seasonal", "period": 50.0, "weights": [1.0, 0.5]}
UNTOLD = "Brunzema et al. (2022); Deng et al. (2022)"
# The last word of a name -> the drift in words, the drift, which the agents are not told, the
# Markov rate with the same correlation from one round to the next.
UNKNOWN: dict[str, tuple[str, Plain, float]] = {
    "change": ("change points, one in 100 rounds on average", CHANGES, 1.0 - 0.99**2),
    "slow": ("a slow Markov drift", markov(0.003), 0.003),
    "fast": ("a fast Markov drift", markov(0.03), 0.03),
    "season": ("a season of 50 rounds", FIFTY, 0.025),
    "static": ("a function that does not change", markov(0.0), 0.0),
}
MATCHED = (
    "the epsilon of `true` has the same correlation from one round to the next as the environment: "
    "that of the Markov drift, 1 - (1 - rate)^2 of change points, 0.025 of the season"
)


def _unknown(name: str, what: str, drift: Plain, epsilon: float) -> Scenario:
    known, explores = {"epsilon": epsilon}, "knows epsilon, and explores as bma does"
    return _own(
        f"unknown-{name}",
        f"{what}: agents that are told nothing, and TV-GP-UCB with the true epsilon",
        _drifting(50, drift),
        (
            AgentEntry("true", "tv-gp-ucb", known, "knows epsilon"),
            AgentEntry("bma", "bma-gp-ucb", {}, "averages six rates; told nothing"),
            ET,
            ucb("resets", "gp-ucb", "forgets all data every 50 rounds", reset_every=50),
            FORGETS_NOTHING,
            AgentEntry("true/beta-4", "tv-gp-ucb", {**known, "beta": 4.0}, explores),
            GENIE,
        ),
        source=UNTOLD,
        horizon=500,
        trials=50,
        choices=(MATCHED,),
    )


# Several of these agents are slow.
RIVALS_TRIALS = 5
LEARNS = {"epsilon": 0.01, "learn": {"what": ["epsilon"], "every": 10}}

SCENARIOS = (
    *(_unknown(name, *case) for name, case in UNKNOWN.items()),
    _own(
        "unknown-rivals",
        "the environments of time/unknown-*: further agents that are told nothing",
        _drifting(50, CHANGES),
        (
            AgentEntry("true", "tv-gp-ucb", {"epsilon": 0.0}, "knows epsilon"),
            AgentEntry("bma", "bma-gp-ucb", {}, "averages six rates"),
            AgentEntry("learns", "tv-gp-ucb", LEARNS, "learns epsilon every 10 rounds"),
            *TOLD_LITTLE,
            ucb("window", "gp-ucb", "the last 50 rounds", window=50),
        ),
        source=UNTOLD,
        grid=tuple({"drift": d, "agents.true.epsilon": e} for _, d, e in UNKNOWN.values()),
        horizon=500,
        trials=RIVALS_TRIALS,
        choices=(MATCHED,),
        departures=(OWN, f"{RIVALS_TRIALS} trials, because several of these agents are slow"),
    ),
    SHIFT,
    DAY_NIGHT,
    _drawn("kernels", "draws that wander", WANDERING),
    _drawn("seasons", "draws with a season of 24 rounds", SEASONAL),
    _real(
        "temperature",
        bogunovic2016.TEMPERATURE,
        bogunovic2016.WARM,
        WARM_SEASON,
        432,
        source="the data of bogunovic2016, Section 5.2, Fig. 3(a)",
        title="the warmest of 46 sensors over two days, with a season learned on three days before",
        horizon=288,
        trials=2,
    ),
    _real(
        "traffic",
        bogunovic2016.TRAFFIC,
        bogunovic2016.FAST,
        FAST_SEASON,
        180,
        source="METR-LA, as in bogunovic2016/traffic",
        title="the fastest of 50 highway sensors, with a season learned on three mornings before",
        grid={"starts": ((0,), (60,))},
        horizon=60,
        trials=20,
        openings=bogunovic2016.FIRST_SENSORS,
    ),
)
