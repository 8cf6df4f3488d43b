"""tranthe2020: MS-UCB, Gaussian-process bandits in many random subspaces, Section 5.

The scenarios are the scalability figure (four functions in 20, 50 and 100 dimensions; in addition
Schwefel 1.2, and all of them shifted), Figs. 2 and 3 (more subspaces, larger ones), the output
weights of a network, and a classifier with the ramp loss in 5,001 dimensions.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.findings import Below, Finding, NearlyBest
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

METRIC = "log10_simple_regret"
INITIAL, HORIZON = 20, 200
DIMENSIONS = (20, 50, 100)
FUNCTIONS = ("ackley", "levy", "hyper-ellipsoid", "camelback")
BESIDE = "schwefel-1.2"
PANELS = (Panel(METRIC, band="deviation"), Panel(METRIC, "seconds", band="deviation"))

# The model of all agents, and where they learn it.
MODEL: Plain = {"learn": {"every": 20}, "standardize": True}
# Evaluations of the acquisition per round, at most 1010 for each agent: 400 candidates, 110 at and
# near the best observed points, 500 in climbs from the 10 best. LineBO's search adds 10 of those.
BOX = {"search": {"starts": 10, "candidates": 400, "evaluations": 500}}
LINE = {"search": {"starts": 10, "candidates": 500, "evaluations": 500}}
# MS-UCB looks at its candidates up to twice, and at two points in each subspace: 750 evaluations on
# average over 200 rounds with 256 candidates, and 260 in climbs.
STAGES = {"stages": 5, "rounds": HORIZON // 5}
MANY = {"candidates": 256, "refine": 10, "evaluations": 260}


# Searches that begin at random points only, as the paper's L-BFGS-B does.
RANDOM_STARTS = {"search": {**BOX["search"], "near_best": False}}
RANDOM_ON_LINE = {"search": {**LINE["search"], "near_best": False}}


def ms_ucb(label: str = "ms-ucb", note: str = "", **settings: Any) -> AgentEntry:
    """Make MS-UCB with the common model and budget."""
    return AgentEntry(label, "ms-ucb", {**MODEL, **MANY, **settings}, note)


def rivals(d: int) -> tuple[AgentEntry, ...]:
    """Make LineBO and the embeddings, with which all experiments compare."""
    common = {**MODEL, **BOX, "d": d}
    return (
        AgentEntry("line-bo", "line-bo", {**MODEL, **LINE}, "d = 1"),
        AgentEntry("sre", "sre", {**common, **STAGES}, f"d = {d}, m = 5"),
        AgentEntry("rembo", "rembo", common, f"d = {d}"),
        AgentEntry("hesbo", "hesbo", common, f"d = {d}"),
    )


# The beta of GP-UCB; those of the others are their defaults.
OVER_5 = {"beta": {"type": "srinivas2010", "scale": 0.2}}
# Rivals of later years, which the paper does not compare with.
SMOOTH = AgentEntry(
    "ei/dimension-scaled",
    "ei",
    {**MODEL, **BOX, "learn": {**MODEL["learn"], "ard": True, "prior": "dimension-scaled"}},
    "all of the box, the prior of Hvarfner et al. (2024)",
)
TURBO = AgentEntry(
    "turbo",
    "turbo",
    {**MODEL, "learn": {**MODEL["learn"], "ard": True}, "n_initial": INITIAL, "candidates": 1010},
    "one region, 1010 candidates",
)
SEVEN = (
    ms_ucb(d=5, n0=1, alpha=0.0, note="d = 5, N0 = 1, alpha = 0"),
    AgentEntry("gp-ucb", "gp-ucb", {**MODEL, **BOX, **OVER_5}, "all of the box"),
    AgentEntry("dropout-ucb", "dropout-ucb", {**MODEL, **BOX, "d": 5}, "d = 5, mix 0.1"),
    *rivals(5),
)


def _literal() -> tuple[AgentEntry, ...]:
    """Make the seven with the theorem's full beta, random starts and no use of the best point."""

    def beta(dim: int, side: float = 2.0) -> Plain:
        return {"beta": {"type": "continuous", "scale": 1.0, "dim": dim, "r": side}}

    full = {"type": "subspaces", "subspace_dim": 5, "scale": 1.0}
    common = {**MODEL, **RANDOM_STARTS, "d": 5}
    whole_box = {"beta": {"type": "srinivas2010", "scale": 1.0}}
    return (
        ms_ucb(d=5, n0=1, alpha=0.0, beta=full, note="d = 5, N0 = 1, alpha = 0"),
        AgentEntry("gp-ucb", "gp-ucb", {**MODEL, **RANDOM_STARTS, **whole_box}, "all of the box"),
        AgentEntry(
            "dropout-ucb", "dropout-ucb", {**common, "fill": "random", **beta(5)}, "random fill"
        ),
        AgentEntry(
            "line-bo",
            "line-bo",
            {**MODEL, **RANDOM_ON_LINE, "anchor": "random", **beta(1)},
            "lines through random points",
        ),
        AgentEntry("sre", "sre", {**common, **STAGES, **beta(6)}, "d = 5, m = 5"),
        AgentEntry("rembo", "rembo", {**common, **beta(5, 2.0 * 5.0**0.5)}, "d = 5"),
        AgentEntry("hesbo", "hesbo", {**common, **beta(5)}, "d = 5"),
    )


OTHERS = tuple(e.label for e in SEVEN[1:])

CHOICES = (
    "beta_t is the theorem's of each agent, with delta = 0.1 and a = b = 1, over 5 for all alike",
    "'the same budget' is read as at most about 1010 evaluations of the acquisition per round",
    "Matern 5/2 with one lengthscale; lengthscale, variance, noise variance and prior mean are "
    "learned by maximum a posteriori every 20 rounds; the agents observe 20 uniform points before "
    "round 1, which count in the best so far; the noise has variance 1e-6",
)
PAPERS_REPEATS = 30
REPEATS = 10
FLOOR = "distances below 1e-12 count as 1e-12 in log10 of the distance"
# The mean log10 of the distance that `benchmarks/confined.py` finds in 20, 50, 100 dimensions.
CONFINED = {
    "ackley": "1.28, 1.31, 1.32",
    "levy": "1.78, 2.51, 2.92",
    "hyper-ellipsoid": "5.05, 6.05, 6.72",
}
# Headings of docs/differences.md.
SUBSPACES, UNKNOWN = "Subspaces that confine", "Reasons that are not known"


def _repeats(count: int) -> str:
    return f"{count} repeats, where the paper has {PAPERS_REPEATS}"


def _confined(function: str) -> tuple[str, ...]:
    """Say why MS-UCB cannot be best where all coordinates matter."""
    if function not in CONFINED:
        return ()
    return (
        "MS-UCB with N0 = 1, alpha = 0 chooses in 200 subspaces, whose D - 5 fixed coordinates are "
        "those of 200 random points. An agent that knew the function and chose the best point of "
        f"them would end at {CONFINED[function]} in 20, 50 and 100 dimensions (before the shift). "
        "MS-UCB ends there, and no model, confidence width or search would bring it further, while "
        "the other agents move all coordinates",
    )


def _scenario(name: str, agents: tuple[AgentEntry, ...], trials: int, **declared: Any) -> Scenario:
    """Declare a scenario with what all experiments share; ``declared`` adds the rest."""
    common: Plain = {
        "source": "tranthe2020, Section 5",
        "metric": METRIC,
        "panels": PANELS,
        "departures": (_repeats(trials),),
        "horizon": HORIZON,
        "initial": INITIAL,
        "initial_counts": True,
    }
    return Scenario(
        id=f"tranthe2020/{name}",
        agents=agents,
        trials=trials,
        store_actions=False,
        **(common | declared),
    )


# Functions that are not in the figure -> the one of which they are another reading.
OTHER_FORMS = {"ackley-15-30": "ackley", "sum-squares": "hyper-ellipsoid"}
READ_AS = {**OTHER_FORMS, BESIDE: "hyper-ellipsoid"}
LATEST = "log10_regret"
FREE = ("gp-ucb", "dropout-ucb", "line-bo")
# Repeats of the literal reading in 50 and 100 dimensions.
LARGE_REPEATS = {"ackley": 5, "levy": 10, "hyper-ellipsoid": 5, "camelback": 3}
ADDED = {
    "camelback": ("camelback's two coordinates are at places drawn anew in every trial",),
    BESIDE: ("Schwefel 1.2 is added because the hyper-ellipsoid is separable",),
}
LITERALLY_ADDED = {
    "camelback": ("camelback's two coordinates are the last, which every subspace contains",),
}
# The first rounds of a trial in which every agent chooses uniform points where it searches.
OWN_START = {"type": "initialised", "rounds": INITIAL, "first": "uniform"}


def _started(entry: AgentEntry) -> AgentEntry:
    """Let an agent draw its first points itself; the stages of SRE become longer by their share."""
    more: Plain = {"batch": {**OWN_START, "then": {"type": "hallucinate"}}}
    if entry.agent == "sre":
        more["rounds"] = (HORIZON + INITIAL) // STAGES["stages"]
    return replace(entry, settings={**entry.settings, **more})


# The end of an id -> the agents, the repeats, the end of the title, the metrics and the rivals of
# the findings, the choices (those before the ones of the function, these, those after), and more.
OURS: Plain = {
    "agents": SEVEN,
    "trials": REPEATS,
    "title": "",
    "judged": ((METRIC,), (OTHERS,)),
    "choices": (CHOICES, ADDED, ()),
}
READINGS: dict[str, Plain] = {
    "": OURS,
    "-shifted": {
        **OURS,
        "title": ", shifted",
        "choices": (
            CHOICES,
            ADDED,
            (
                "the maximum is at a point drawn anew in every trial: Ackley's is the center of "
                "the box, which every linear embedding contains",
            ),
        ),
    },
    "-literal": {
        "agents": _literal(),
        "trials": 5,
        "title": ", with nothing that the text does not state",
        "judged": ((METRIC, LATEST), (FREE, OTHERS)),
        "choices": (
            (
                "beta_t is the theorem's of each agent, with delta = 0.1 and a = b = 1, in full",
                "climbs begin at random points only: no candidates are near the best observed "
                "points",
                "LineBO's lines go through random points, and DropoutUCB fills the other "
                "coordinates at random",
                *CHOICES[1:],
                "MS-UCB's rivals without assumptions on the function's structure are GP-UCB, "
                "DropoutUCB and LineBO. Both the simple regret and the regret of the latest action "
                "are judged, because the text defines one and the figure is labeled with the other",
            ),
            LITERALLY_ADDED,
            (),
        ),
        "panels": (*PANELS, Panel(LATEST, band="deviation")),
    },
    "-inside": {
        **OURS,
        "agents": tuple(_started(entry) for entry in SEVEN),
        "trials": 3,
        "title": ", first points inside the embeddings",
        "choices": (
            CHOICES[:2],
            ADDED,
            (
                CHOICES[2].partition("; the agents observe")[0],
                f"each agent draws its first {INITIAL} points uniformly where it searches, so that "
                "the embeddings begin inside their images; they are rounds of the trial",
            ),
        ),
        "alternatives": (TURBO, _started(SMOOTH)),
        "horizon": HORIZON + INITIAL,
        "initial": 0,
        "initial_counts": False,
    },
}


def _panel(function: str, dim: int, end: str = "", **changed: Any) -> Scenario:
    """Declare one panel of the figure under a reading, with what is ``changed`` in it."""
    reading = {**READINGS[end], **changed}
    agents, trials, title = (reading.pop(key) for key in ("agents", "trials", "title"))
    before, added, after = reading.pop("choices")
    metrics, rivals = reading.pop("judged")
    name, read_as = function.partition("-1.")[0], READ_AS.get(function, function)
    camelback = function == "camelback"
    reason = UNKNOWN if camelback else SUBSPACES
    findings: list[Finding] = []
    for metric in metrics:
        findings += (NearlyBest("ms-ucb", r, metric=metric, reason=reason) for r in rivals)
        findings.append(Below("ms-ucb", "gp-ucb", metric, reason=reason))
    env_kwargs: Plain = {"function": function, "dim": dim}
    if end == "-shifted":
        env_kwargs["shift"] = True
    if camelback and end == "-literal":
        env_kwargs["active"] = [dim - 2, dim - 1]
    padded = ", inert dimensions padded" if camelback and end in ("", "-shifted") else ""
    return _scenario(
        f"{name}-{dim}{end}",
        agents,
        trials,
        source="tranthe2020, Section 5, scalability",
        title=f"{name} in {dim} dimensions{padded}{title}",
        env="gpbandits/HighDim-v0",
        env_kwargs=env_kwargs,
        findings=tuple(findings),
        choices=(*before, *added.get(function, ()), *after),
        departures=(_repeats(trials), FLOOR, *_confined(function)),
        reading_of=f"tranthe2020/{read_as}-{dim}" if end or read_as != function else "",
        **reading,
    )


MOST_SUBSPACES = 20_100
GROWTH = {
    "1-0": {"n0": 1, "alpha": 0.0},
    "10-0": {"n0": 10, "alpha": 0.0},
    "1-1": {"n0": 1, "alpha": 1.0},
    "1-2": {"n0": 1, "alpha": 2.0, "cap": MOST_SUBSPACES},
}
SIZES = (1, 2, 5, 10)


def _compared(name: str, fig: str, title: str, agents: Any, **more: Any) -> Scenario:
    """Declare a comparison of MS-UCB with itself in 100 dimensions."""
    return _scenario(
        name,
        agents,
        5,
        source=f"tranthe2020, Section 5, {fig}",
        title=title,
        env="gpbandits/HighDim-v0",
        env_kwargs={"dim": 100},
        grid={"function": ("ackley", "hyper-ellipsoid")},
        **more,
    )


FIGURES = (
    _compared(
        "subspaces",
        "Fig. 2",
        "more subspaces, D = 100, d = 5",
        tuple(
            ms_ucb(f"ms-ucb/{name}", f"(N0, alpha) = ({s['n0']}, {s['alpha']:g})", d=5, **s)
            for name, s in GROWTH.items()
        ),
        findings=tuple(
            Below(f"ms-ucb/{more}", "ms-ucb/1-0", METRIC, reason=SUBSPACES)
            for more in GROWTH
            if more != "1-0"
        ),
        choices=(
            *CHOICES[::2],
            f"(1, 2) draws no subspaces beyond {MOST_SUBSPACES:,}, as many as (1, 1) has after 200 "
            "rounds (there would be 2.7 million); all subspaces are screened at two points twice a "
            "round, so that screening grows with their number, and the climbs do not",
        ),
    ),
    _compared(
        "dimension",
        "Fig. 3",
        "larger subspaces, D = 100, N0 = 1, alpha = 0",
        tuple(ms_ucb(f"ms-ucb/d{d}", f"d = {d}", d=d) for d in SIZES),
        findings=tuple(
            Below(f"ms-ucb/d{b}", f"ms-ucb/d{a}", METRIC, reason=SUBSPACES)
            for a, b in pairwise(SIZES)
        ),
        choices=(
            *CHOICES,
            "the last coordinates, those of the subspaces, weigh least in the hyper-ellipsoid: ten "
            "of 100 move log10 of the distance by less than 0.01 "
            "(`benchmarks/confined.py --low-dim`)",
        ),
    ),
)

FIVE = (ms_ucb(d=10, n0=1, alpha=1.0, note="d = 10, N0 = 1, alpha = 1"), *rivals(10))


def _tuned(name: str, title: str, trials: int, env_kwargs: Plain, **more: Any) -> Scenario:
    """Declare a real task, with the five agents that the paper compares there."""
    return _scenario(
        name,
        FIVE,
        trials,
        title=title,
        env="gpbandits/Task-v0",
        env_kwargs=env_kwargs,
        findings=(
            NearlyBest(
                "ms-ucb",
                tuple(e.label for e in FIVE[1:]),
                metric="simple_regret",
                reason=UNKNOWN,
            ),
        ),
        metric="simple_regret",
        panels=(Panel("simple_regret", band="deviation", log=True),),
        **more,
    )


NO_LOSS = "the regret is the validation loss: its optimum is taken to be 0"
REAL = (
    _tuned(
        "network-100",
        "10 x 10 output weights of a network, the rest by Adam",
        3,
        {"task": "network-100", "kernel": {"type": "matern52", "lengthscale": 5.0}},
        choices=(*CHOICES, NO_LOSS),
    ),
    _tuned(
        "network-500",
        "50 x 10 output weights of a network, the rest by Adam",
        2,
        {"task": "network-500", "kernel": {"type": "matern52", "lengthscale": 11.0}},
        choices=(*CHOICES, NO_LOSS),
    ),
    _tuned(
        "ramp-loss",
        "a classifier with the ramp loss, 5,001 weights",
        2,
        {
            "task": "ramp-loss",
            "task_options": {"cost": 1.0, "bound": 1.0},
            "kernel": {"type": "matern52", "lengthscale": 35.0},
        },
        grid={"task_options.cost": (1.0, 2.0, 5.0, 10.0)},
        choices=(
            *CHOICES,
            "weights and bias lie in [-1, 1]; the patterns are made from digits 4 and 9 as those "
            "of Gisette are, 1,000 of them; 'data' of the task names Gisette itself",
        ),
    ),
)

SCENARIOS = (
    *(_panel(f, d) for d in DIMENSIONS for f in FUNCTIONS),
    *(_panel(BESIDE, d) for d in DIMENSIONS),
    *(_panel(f, d, "-shifted") for d in DIMENSIONS for f in (*FUNCTIONS, BESIDE)),
    *(_panel(f, 20, "-literal") for f in (*FUNCTIONS, *OTHER_FORMS)),
    *(_panel(f, d, "-literal", trials=n) for d in DIMENSIONS[1:] for f, n in LARGE_REPEATS.items()),
    *(_panel(f, 20, "-inside") for f in FUNCTIONS),
    *FIGURES,
    *REAL,
)
