"""bogunovic2016: Time-Varying Gaussian Process Bandit Optimization (AISTATS 2016), Section 5.

The function drifts from round to round: TV-GP-UCB lets old data decay, and R-GP-UCB discards all of
them at intervals. The scenarios are Fig. 2 on drifting draws of a kernel, Fig. 3 on temperatures
and traffic speeds.
"""

from dataclasses import replace
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

BETA = {"type": "log", "c1": 0.8, "c2": 4.0}
EPSILONS = (0.001, 0.01, 0.03)
TRUE_EPSILON = 0.01
# Labels have no dots: thousandths are written as 1e-3.
ASSUMED = ("0", "1e-3", "3e-3", "5e-3", "1e-2", "2e-2", "3e-2", "5e-2", "1e-1")
BLOCKS = (1, 2, 5, 10, 15, 20, 30, 38, 50, 75, 100, 150, 200)
# Learned from the training rows, by likelihood and by cross-validation.
TEMPERATURE_EPSILON, TEMPERATURE_BLOCK = 0.0405, 40
VALIDATED = f"N = {TEMPERATURE_BLOCK} by cross-validation on the training days"
TRAFFIC_EPSILON = 0.2925
BESIDE = "GP-UCB, random and the genie are not in the paper's figure; they are added here"


def ucb(label: str, agent: str, note: str, beta: Any = BETA, **settings: Any) -> AgentEntry:
    """Make an agent with a confidence bound."""
    return AgentEntry(label, agent, {"beta": beta, **settings}, note)


# -- Synthetic data: Section 5.1, Fig. 2 ----------------------------------------------------------


def _learned(epsilon: float, beta: dict[str, object]) -> AgentEntry:
    note = f"epsilon {epsilon} by marginal likelihood on the training days"
    return ucb("tv/learned", "tv-gp-ucb", note, beta, epsilon=epsilon)


GP_UCB = ucb("gp-ucb", "gp-ucb", "the same beta, nothing is ever forgotten")
RANDOM = AgentEntry("random", "random", {}, "uniform")
GENIE = AgentEntry("genie", "genie", {}, "knows f_{t-1}: the best that can be done (Appendix F)")
MATCHED = (
    ucb("tv-gp-ucb", "tv-gp-ucb", "knows the true epsilon"),
    ucb("r-gp-ucb", "r-gp-ucb", "N by Corollary 4.1 with the constants of Section 5.1"),
    GP_UCB,
    RANDOM,
    GENIE,
)
# A lengthscale so short that the kernel is 0 between different arms: the agent exploits temporal
# correlation alone.
APART = {"type": "se", "lengthscale": 1e-6}
TEMPORAL_ONLY = ucb(
    "tv/temporal",
    "tv-gp-ucb",
    "knows the true epsilon and takes the arms for independent",
    kernel=APART,
)
# Constants of the tails of f (a0, b0) and of its derivatives (a, b) that satisfy assumptions (9)
# and (10), rounded up: `theory.time_varying.tail_constants` of upper 95% limits of E sup |h| from
# 1000 draws on the grid, 2.454 for f and 13.33 for its derivatives, or 2.614 and 19.90.
TAILS: dict[str, Plain] = {
    "se": {"a": 70.0, "b": 10.0, "a0": 41.0, "b0": 2.0},
    "matern52": {"a": 232.0, "b": 12.91, "a0": 61.0, "b0": 2.0},
}
WIDE = {"lengthscale": 0.2**0.5}
WIDER = "the stated l = 0.2 is read as the square of the lengthscale, as in exp(-r^2 / (2 l))"


def _drawn(kernel: str, **more: Any) -> Plain:
    spec = {"type": kernel, "lengthscale": 0.2}
    return {"grid": [50, 50], "kernel": spec, "noise_var": 0.01, **more}


def _matched(kernel: str, figure: str, title: str) -> Scenario:
    """Declare Fig. 2(a) or (b)."""
    tails = TAILS[kernel]
    slopes = {name: tails[name] for name in "ab"}
    return Scenario(
        id=f"bogunovic2016/{kernel}",
        source=f"bogunovic2016, Section 5.1, {figure}",
        title=title,
        env="gpbandits/MarkovGP-v0",
        env_kwargs=_drawn(kernel),
        grid={"epsilon": EPSILONS},
        agents=MATCHED,
        alternatives=(TEMPORAL_ONLY,),
        horizon=500,
        trials=200,
        choices=(
            "the horizon is not stated: 500",
            "the bounds are for agents with the theorems' beta; the constants of their tails are "
            "not stated and are ones that hold for the kernel; delta = 0.1",
        ),
        departures=(BESIDE,),
        bounds=(
            {"type": "theorem4.3", **slopes},
            {"type": "theorem4.3-blocks", **slopes},
            {"type": "theorem4.3-blocks", "as_printed": True, **slopes},
            {"type": "theorem4.2", **tails},
        ),
    )


def _wide(scenario: Scenario) -> Scenario:
    """Declare the other reading of a lengthscale of 0.2; the constants of the bounds differ."""
    given = scenario.env_kwargs
    return replace(
        scenario,
        id=f"{scenario.id}@wide",
        title=f"{scenario.title}, for a lengthscale of sqrt(0.2)",
        env_kwargs={**given, "kernel": {**given["kernel"], **WIDE}},
        choices=(*scenario.choices, WIDER),
        bounds=(),
    )


# -- Real data: Section 5.2, Fig. 3 ---------------------------------------------------------------


def _replayed(
    readings: str, fraction: float, noise_var: float, epsilon: float, **more: Any
) -> Plain:
    model = {"train_fraction": fraction, "model_noise_var": noise_var, "epsilon": epsilon}
    return {"readings": readings, **more, **model}


TEMPERATURE = _replayed("intel-berkeley", 0.6, 0.5, 0.03, dataset_options={"every": 10})
WARM = {"type": "log", "c1": 0.8, "c2": 0.4}
FAST = {"type": "log", "c1": 0.2, "c2": 0.4}
REAL_DATA = (
    "each sensor's mean over the training part is the prior mean (not stated)",
    "no noise is added to a reading; the noise variance of the agents' model is the stated one",
    "c1 log(c2 t) is negative for small t: it is clipped at 0",
)
REPLAYED = (
    "the readings are the same in every trial: trials of an agent differ by its own randomness "
    "alone, and those of the GP-UCBs not at all, so that their standard error is 0"
)
TRAFFIC_AGENTS = (
    ucb("tv-gp-ucb", "tv-gp-ucb", "the paper's epsilon, 0.04", FAST),
    ucb("gp-ucb", "gp-ucb", "nothing is ever forgotten", FAST),
)
TRAFFIC_CHOICES = (
    *REAL_DATA,
    "the 20 first sensors are not stated: every second or third of the 50, the same for all agents",
)
# Appendix G.
PAPERS_SENSORS = (
    0, 54, 69, 77, 169, 131, 262, 216, 34, 320, 308, 177, 130, 221, 290, 348, 25, 157, 252, 83,
    163, 149, 294, 21, 246, 45, 98, 74, 274, 237, 322, 29, 120, 44, 49, 241, 286, 99, 247, 297,
    96, 234, 236, 205, 329, 214, 28, 175, 65, 220,
)  # fmt: skip
# 50 of 207, drawn once without replacement.
OUR_SENSORS = (
    0, 1, 5, 9, 19, 21, 22, 23, 24, 37, 43, 44, 48, 49, 50, 54, 68, 73, 78, 83, 88, 93, 94, 95,
    99, 102, 103, 115, 118, 125, 134, 137, 139, 140, 141, 152, 157, 168, 172, 174, 177, 181, 182,
    185, 187, 189, 190, 196, 197, 205,
)  # fmt: skip
FIRST_SENSORS = tuple(5 * i // 2 for i in range(20))
MORNINGS = {"mornings": True, "working_days": True}
TRAFFIC = _replayed("metr-la", 0.6, 5.0, 0.04, dataset_options=MORNINGS, columns=OUR_SENSORS)


def _traffic(
    end: str, figure: str, place: str, data: Plain, days: tuple[int, int], **more: Any
) -> Scenario:
    """Declare a run on fifty sensors per test day; ``days`` is the length and number of days."""
    length, count = days
    return Scenario(
        id=f"bogunovic2016/traffic{end}",
        source=f"bogunovic2016, Section 5.2, {figure}",
        title=f"the fastest of 50 highway sensors of {place}, working mornings",
        env="gpbandits/Replay-v0",
        env_kwargs=data,
        grid={"starts": tuple((length * day,) for day in range(count))},
        agents=TRAFFIC_AGENTS,
        horizon=length,
        trials=20,
        openings=FIRST_SENSORS,
        choices=TRAFFIC_CHOICES,
        **more,
    )


def _mismatch(
    end: str, panel: str, title: str, agents: Any, sweep: str, *departures: str
) -> Scenario:
    """Declare Fig. 2(c) or (d)."""
    return Scenario(
        id=f"bogunovic2016/mismatch-{end}",
        source=f"bogunovic2016, Section 5.1, Fig. 2({panel})",
        title=title,
        env="gpbandits/MarkovGP-v0",
        env_kwargs=_drawn("se", epsilon=TRUE_EPSILON),
        agents=tuple(agents),
        sweep=sweep,
        horizon=200,
        trials=200,
        departures=departures,
    )


SE = _matched("se", "Fig. 2(a)", "drifting draws of a squared exponential kernel")
MISMATCH_EPSILON = _mismatch(
    "eps",
    "c",
    "TV-GP-UCB assumes another epsilon than the true 0.01",
    [
        *(
            ucb(f"tv/{e}", "tv-gp-ucb", f"assumes epsilon = {float(e):g}", epsilon=float(e))
            for e in ASSUMED
        ),
        GP_UCB,
    ],
    "epsilon",
    "GP-UCB runs in addition: it is the same as epsilon = 0",
)
MISMATCH_BLOCK = _mismatch(
    "n",
    "d",
    "R-GP-UCB with blocks of other lengths than the paper's 38",
    [*(ucb(f"r/{n}", "r-gp-ucb", f"N = {n}", reset_every=n) for n in BLOCKS), GP_UCB, MATCHED[0]],
    "reset_every",
    "GP-UCB, which equals N = T, and TV-GP-UCB run in addition",
)
SCENARIOS = (
    SE,
    _wide(SE),
    _matched("matern52", "Fig. 2(b)", "drifting draws of a Matern 5/2 kernel"),
    MISMATCH_EPSILON,
    _wide(MISMATCH_EPSILON),
    MISMATCH_BLOCK,
    _wide(MISMATCH_BLOCK),
    Scenario(
        id="bogunovic2016/temperature",
        source="bogunovic2016, Section 5.2, Fig. 3(a)",
        title="the warmest of 46 sensors of the Intel Berkeley lab, over two days",
        env="gpbandits/Replay-v0",
        env_kwargs=TEMPERATURE,
        agents=(
            ucb("tv-gp-ucb", "tv-gp-ucb", "the paper's epsilon, 0.03", WARM),
            ucb("r-gp-ucb", "r-gp-ucb", "the paper's N, 15", WARM, reset_every=15),
            ucb("gp-ucb", "gp-ucb", "nothing is ever forgotten", WARM),
            RANDOM,
        ),
        alternatives=(
            _learned(TEMPERATURE_EPSILON, WARM),
            ucb("r/validated", "r-gp-ucb", VALIDATED, WARM, reset_every=TEMPERATURE_BLOCK),
            ucb("sw-gp-ucb", "sw-gp-ucb", "the last 15 rounds", WARM, window=15),
            AgentEntry("rexp3", "rexp3", {}, "Exp3 with restarts (footnote 3), variation 1"),
        ),
        horizon=288,
        trials=20,
        choices=(
            *REAL_DATA,
            "epsilon = 0.03 and N = 15 are the paper's; tv/learned and r/validated have those "
            "that are learned from our training days",
        ),
        departures=(REPLAYED,),
    ),
    _traffic(
        "",
        "Fig. 3(c-f), on other data",
        "Los Angeles",
        TRAFFIC,
        days=(60, 2),
        alternatives=(_learned(TRAFFIC_EPSILON, FAST), RANDOM),
        departures=(
            "METR-LA, one week, stands in for one month of I-880 South, which is not public: 50 of "
            "its 207 sensors, three working mornings to train and two to test, T = 60 readings a "
            "morning where the paper has 84",
        ),
    ),
    _traffic(
        "-i880",
        "Fig. 3(c-f) and Appendix G",
        "the I-880 South",
        _replayed("i880", 2 / 3, 5.0, 0.04, columns=PAPERS_SENSORS),
        days=(84, 10),
        departures=(
            "the paper's readings are not public: this replays 30 days of 84 readings that you "
            "have, `i880.csv` in the folder that `GPBANDITS_DATA` names (`gpbandits data`); a "
            "public week stands in for it in bogunovic2016/traffic",
        ),
    ),
)
