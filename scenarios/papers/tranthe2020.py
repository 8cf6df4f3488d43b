"""tranthe2020: MS-UCB, Gaussian-process bandits in many random subspaces, section "Experiments".

The scenarios are the scalability figure (four functions in 20, 50 and 100 dimensions; in addition
Schwefel 1.2), Figs. 2 and 3 (more subspaces, larger ones), the output weights of a network, and a
classifier with the ramp loss in 5,001 dimensions. Those of the test functions are in the main
reading of `claims/tranthe2020.toml`. Uniform random search is beside the agents of the paper.
"""

from dataclasses import replace
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

METRIC, LATEST = "log10_simple_regret", "log10_regret"
INITIAL, HORIZON, STAGES = 20, 220, 5
DIMENSIONS = (20, 50, 100)
FUNCTIONS = ("ackley", "levy", "hyper-ellipsoid", "camelback")
# Schwefel 1.2 is run beside the hyper-ellipsoid, which is separable.
FIGURE = (*FUNCTIONS, "schwefel")
REPEATS = 10
# The evaluations of an ascent, on average over the ascents of a round.
ASCENT = 20
# The half side of the usual domain of a function.
HALF = {"ackley": 32.768, "levy": 10.0, "hyper-ellipsoid": 65.536}

# Each agent draws its first points where it searches, and refits its model before every round.
FIRST = {"rounds": INITIAL, "first": "uniform", "then": {"type": "hallucinate"}}
COMMON: Plain = {
    "learn": {"every": 1, "starts": 1},
    "standardize": True,
    "batch": {"type": "initialised", **FIRST},
}


def _search(starts: int, candidates: int, **more: Any) -> Plain:
    return {"search": {"starts": starts, "candidates": candidates, **more}}


# The search of the public code of REMBO and HeSBO.
CODE: Plain = {"acquisition": "ei", **_search(0, 2000, near_best=False)}


def ms_ucb(dim: int, label: str = "ms-ucb", note: str = "", **settings: Any) -> AgentEntry:
    """Make MS-UCB with 10 D random starts in total and the beta_t of the section on it, in full."""
    own: Plain = {"d": 5, "n0": 1, "alpha": 0.0, **settings}
    beta = {"type": "subspaces", "subspace_dim": own["d"], "scale": 1.0}
    starts = {"random_starts": True, "refine": 10 * dim, "evaluations": 10 * dim * ASCENT}
    return AgentEntry(label, "ms-ucb", {**COMMON, **starts, "beta": beta, **own}, note)


def _ascents(dim: int) -> Plain:
    """A search by 10 D ascents from uniform points."""
    return _search(10 * dim, 10 * dim, evaluations=ASCENT * 10 * dim, near_best=False)


def _theorem(dim: int) -> Plain:
    """The beta_t of GP-UCB's theorem for compact sets in [-1, 1]^dim, in full."""
    return {"beta": {"type": "continuous", "scale": 1.0, "dim": dim, "r": 2.0}}


def rivals(dim: int, d: int = 5) -> tuple[AgentEntry, ...]:
    """Make the six rivals of the test functions, and uniform random search."""
    common, note = {**COMMON, **_ascents(dim)}, f"d = {d}"
    stages = {"d": d, "stages": STAGES, "rounds": HORIZON // STAGES}
    return (
        AgentEntry("gp-ucb", "gp-ucb", {**common, **_theorem(dim)}, "all of the box"),
        AgentEntry("dropout-ucb", "dropout-ucb", {**common, "d": d, **_theorem(d)}, note),
        AgentEntry("line-bo", "line-bo", {**common, **_theorem(1)}, "d = 1"),
        AgentEntry("sre", "sre", {**common, **stages, **_theorem(d + 1)}, f"{note}, m = {STAGES}"),
        AgentEntry("rembo", "rembo", {**COMMON, **CODE, "d": d}, f"{note}, EI"),
        AgentEntry("hesbo", "hesbo", {**COMMON, **CODE, "d": d}, f"{note}, EI"),
        AgentEntry("random", "random", {}, "uniform points"),
    )


CHOICES = (
    "10 starts per dimension of the box are a total per round, for every agent that the authors "
    "wrote; REMBO and HeSBO maximise expected improvement over 2,000 points of their small box, as "
    "in their public code",
    "Matern 5/2 with one lengthscale; lengthscale, variance, noise variance and prior mean are "
    "learned by maximum a posteriori before every round, from one start at the last model; beta_t "
    "is the theorem's of each agent, with delta = 0.1 and a = b = 1; observations have no noise",
    f"each agent draws its first {INITIAL} points uniformly where it searches; they are rounds of "
    "the trial",
)
PAPERS_REPEATS = 30
DEPARTURES = (
    f"{REPEATS} repeats, where the paper has {PAPERS_REPEATS}",
    f"the ascents of a round have {ASCENT} evaluations each on average, and those of GP-UCB above "
    "20 dimensions are followed by one from a crossover of their ends",
    "rounds count from the first point of an agent, so that |Z_t| and beta_t are those of round "
    f"t + {INITIAL}",
    "distances below 1e-12 count as 1e-12 in log10 of the distance",
)
PANELS = (Panel(METRIC, band="deviation"), Panel(LATEST, band="deviation"))


def _scenario(name: str, agents: tuple[AgentEntry, ...], **declared: Any) -> Scenario:
    """Declare a scenario with what all experiments share; ``declared`` replaces some of it."""
    common: Plain = {
        "source": "tranthe2020, section 'On Scalability', Fig. 1",
        "env": "gpbandits/HighDim-v0",
        "metric": METRIC,
        "panels": PANELS,
        "departures": DEPARTURES,
        "choices": CHOICES,
        "horizon": HORIZON,
        "trials": REPEATS,
    }
    return Scenario(
        id=f"tranthe2020/{name}", agents=agents, store_actions=False, **(common | declared)
    )


ADDED = {
    "camelback": ("camelback's two coordinates are at places drawn anew in every trial",),
    "schwefel": ("Schwefel 1.2 is added because the hyper-ellipsoid is separable",),
}


def _agents(dim: int) -> tuple[AgentEntry, ...]:
    return (ms_ucb(dim, note="d = 5, N0 = 1, alpha = 0"), *rivals(dim))


def _panel(function: str, dim: int) -> Scenario:
    """Declare one panel of the figure; in 20 dimensions with z in the function's own [-1, 1]."""
    own_units: tuple[AgentEntry, ...] = ()
    if dim == DIMENSIONS[0] and function in HALF:
        note = "z in [-1, 1] in the units of the function"
        own_units = (ms_ucb(dim, "ms-ucb/own-units", note, z_share=1.0 / HALF[function]),)
    return _scenario(
        f"{function}-{dim}",
        _agents(dim),
        title=f"{function} in {dim} dimensions",
        env_kwargs=_function(function, dim),
        choices=(*CHOICES, *ADDED.get(function, ())),
        alternatives=own_units,
    )


EXACT = {"noise_var": 0.0, "model_noise_var": 1e-6}


def _function(name: str, dim: int, **more: Any) -> Plain:
    function = {"schwefel": "schwefel-1.2"}.get(name, name)
    return {"function": function, "dim": dim, **EXACT, **more}


def _shifted(function: str) -> Scenario:
    """Declare a panel with the maximum moved from where every linear embedding has it."""
    return _scenario(
        f"{function}-100@shifted",
        _agents(100),
        title=f"{function} in 100 dimensions, the maximum at a point drawn anew in every trial",
        env_kwargs=_function(function, 100, shift=True),
    )


# All agents with one lengthscale per dimension, and camelback's coordinates, the last two, in every
# subspace.
ARD: Plain = {"learn": {**COMMON["learn"], "ard": True}}
CAMELBACK_ARD = _scenario(
    "camelback-20@ard",
    tuple(
        e if e.agent == "random" else replace(e, settings={**e.settings, **ARD})
        for e in (ms_ucb(20), *rivals(20))
    ),
    title="camelback in 20 dimensions, one lengthscale per dimension, coordinates last",
    env_kwargs=_function("camelback", 20, active=[18, 19]),
    choices=(*CHOICES, "every subspace of MS-UCB contains camelback's coordinates"),
)


# With (1, 2) there are 2.7 million subspaces after 200 rounds, too many to store.
MOST_SUBSPACES = 100_000
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
        source=f"tranthe2020, section 'Experiments', {fig}",
        title=title,
        env_kwargs={"dim": 100, **EXACT},
        grid={"function": ("ackley", "hyper-ellipsoid")},
        **more,
    )


# -- Tasks ----------------------------------------------------------------------------------------

SOURCE = "tranthe2020, section 'Learning Parameters of Machine Learning Models'"
LOSS = (Panel("simple_regret", band="deviation", log=True),)


def _network(hidden: int, ell: float) -> Scenario:
    """Declare a network on MNIST, with the agents that the paper compares there."""
    dim = 10 * hidden
    ours = ms_ucb(dim, note="d = 10, N0 = 1, alpha = 1", d=10, alpha=1.0)
    return _scenario(
        f"network-{dim}",
        (ours, *rivals(dim, 10)[2:]),
        source=SOURCE,
        title=f"{hidden} x 10 output weights of a network on MNIST, the rest by Adam",
        env="gpbandits/Task-v0",
        env_kwargs={
            "task": f"network-{dim}",
            "task_options": {"digits": "mnist"},
            "kernel": {"type": "matern52", "lengthscale": ell},
            **EXACT,
        },
        metric="simple_regret",
        panels=LOSS,
        choices=(
            *CHOICES,
            "the regret is the validation loss: its optimum is taken to be 0",
            "the weights lie in [-1, 1]; the others are trained by Adam, in one epoch of MNIST",
        ),
        departures=(
            f"{REPEATS} repeats, and {HORIZON - INITIAL} rounds after the first points: the paper "
            "does not state the numbers",
            *DEPARTURES[1:3],
        ),
    )


# The ramp loss has 5,001 dimensions, where 10 D starts per round are out of reach. Every agent has
# at most 1,010 evaluations of the acquisition per round: 400 candidates, 110 at and near the best
# observed points, 500 in climbs from the 10 best. LineBO's search adds 10 of those. MS-UCB looks at
# its candidates up to twice, and at two points in each subspace.
TASK_ROUNDS, TASK_TRIALS = 200, 2
MODEL: Plain = {"learn": {"every": 20}, "standardize": True}
LINE: Plain = {**MODEL, **_search(10, 500, evaluations=500)}
MANY: Plain = {**MODEL, "candidates": 256, "refine": 10, "evaluations": 260}
TEN: Plain = {**MODEL, **_search(10, 400, evaluations=500), "d": 10}
STAGED = {**TEN, "stages": STAGES, "rounds": TASK_ROUNDS // STAGES}
GROWN = {**MANY, "d": 10, "n0": 1, "alpha": 1.0}
RAMP = _scenario(
    "ramp-loss",
    (
        AgentEntry("ms-ucb", "ms-ucb", GROWN, "d = 10, N0 = 1, alpha = 1"),
        AgentEntry("line-bo", "line-bo", LINE, "d = 1"),
        AgentEntry("sre", "sre", STAGED, "d = 10, m = 5"),
        AgentEntry("rembo", "rembo", TEN, "d = 10"),
        AgentEntry("hesbo", "hesbo", TEN, "d = 10"),
    ),
    source=SOURCE,
    trials=TASK_TRIALS,
    title="a classifier with the ramp loss, 5,001 weights",
    env="gpbandits/Task-v0",
    env_kwargs={
        "task": "ramp-loss",
        "task_options": {"cost": 1.0, "bound": 1.0},
        "kernel": {"type": "matern52", "lengthscale": 35.0},
    },
    grid={"task_options.cost": (1.0, 2.0, 5.0, 10.0)},
    metric="simple_regret",
    panels=LOSS,
    choices=(
        "beta_t is the theorem's of each agent, with delta = 0.1 and a = b = 1, over 5 for all "
        "alike",
        "'the same budget' is read as at most about 1010 evaluations of the acquisition per round",
        "Matern 5/2 with one lengthscale; lengthscale, variance, noise variance and prior mean are "
        "learned by maximum a posteriori every 20 rounds; the agents observe 20 uniform points "
        "before round 1, which count in the best so far; the noise has variance 1e-6",
        "weights and bias lie in [-1, 1]; the patterns are made from digits 4 and 9 as those of "
        "Gisette are, 1,000 of them; 'data' of the task names Gisette itself",
    ),
    departures=(f"{TASK_TRIALS} repeats, where the paper does not state the number",),
    horizon=TASK_ROUNDS,
    initial=INITIAL,
    initial_counts=True,
)

SCENARIOS = (
    *(_panel(f, d) for d in DIMENSIONS for f in FIGURE),
    *(_shifted(f) for f in HALF),
    CAMELBACK_ARD,
    _compared(
        "subspaces",
        "Fig. 2",
        "more subspaces, D = 100, d = 5",
        tuple(
            ms_ucb(100, f"ms-ucb/{name}", f"(N0, alpha) = ({s['n0']}, {s['alpha']:g})", **s)
            for name, s in GROWTH.items()
        ),
        choices=(*CHOICES, f"(1, 2) draws no subspaces beyond {MOST_SUBSPACES:,}"),
    ),
    _compared(
        "dimension",
        "Fig. 3",
        "larger subspaces, D = 100, N0 = 1, alpha = 0",
        tuple(ms_ucb(100, f"ms-ucb/d{d}", f"d = {d}", d=d) for d in SIZES),
    ),
    _network(10, 5.0),
    _network(50, 11.0),
    RAMP,
)
