"""ren2024: TS-RSR and what it is compared with, in batches, Section 6 and Tables 1-7.

The twelve problems are draws from Gaussian processes, test functions, a network to tune on house
prices, and a robot that pushes a disc. Some of them are run again as the authors' code has them.
"""

import math
from dataclasses import replace
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

METRIC = "simple_regret"
INITIAL, NOISE_VAR = 15, 1e-6
LN2 = math.log(2.0)
MATERN32 = {"type": "matern32", "lengthscale": LN2, "variance": LN2}
MATERN52 = {**MATERN32, "type": "matern52"}
PAPERS = ("dpp-ts", "bucb", "ucbpe", "sp", "ts", "qei", "ts-rsr")
BATCHES = (1, 2, 5, 10)
PANELS = tuple(
    Panel(y, x, log=True)
    for y, x in ((METRIC, "rounds"), (METRIC, "seconds"), ("average_regret", "rounds"))
)
# The authors' public code: what it does where the paper is silent.
CODE = "github.com/rafflesintown/TSRSR"
ROUND: Plain = {"type": "round", "candidates": 1000, "refine": 10, "rate": 0.01}
PLAIN: Plain = {**ROUND, "refine": 0}
# Those whose actions are the best of a score, which is refined; the others draw their actions.
SCORED = ("bucb", "ucbpe", "qei", "ts-rsr")
# The probability that more redraws are needed is at most 2 to the power of minus this number.
REDRAWS = 60
# Where other readings are run too.
CHEAP = ("rbf-2d", "ackley-3d", "hartmann-6d", "push-3d")
# Of each task in the main reading; and of the stand-in for Boston, and of other readings.
RUNS, FEW = 50, 10
# Rewards are standardized in every round, and nothing else is learned.
STANDARDIZED: Plain = {"standardize": True, "learn": {"every": 1, "what": [], "known_noise": True}}
CHOICES = (
    f"the search is that of the authors' public code ({CODE}) for all agents: 1000 new candidates "
    "per round, and local maxima of the posterior mean, found by ascent from the best candidate "
    "and from observed points above it; posterior samples are joint and exact on these points",
    "agents that optimize a score (TS-RSR, BUCB, UCBPE, qEI) refine the best candidate by 10 steps "
    "of Adam of length 0.01 in the units of x; in the relevant region of UCBPE, which is known at "
    "candidates only, only the first action of a batch is refined",
    "a sampled maximum is redrawn until it is above the largest posterior mean that was found, at "
    f"most {REDRAWS} times",
    "beta_t of BUCB and UCBPE is that of srinivas2010, Theorem 2, with delta = 0.1 and a = b = 1, "
    "over 5",
    "SP draws with b_t = log(1 + t) over the standard deviation of EI among the candidates",
    "the chain of DPP-TS has 50 steps",
    "the incumbent of EI is the largest posterior mean at an observed point",
)
SCALE_CHOICES = (
    "rewards are standardized before each round; the kernel's output scale is ln 2, the prior mean "
    "that of the rewards, and the noise is known in the units of the rewards (at least 1e-6 of "
    "their variance is assumed)",
)
AS_KNOWN = (
    "agents know the prior of f, its variance included: rewards are not standardized",
    *CHOICES,
)


def _agent(label: str, name: str, note: str = "", **settings: Any) -> AgentEntry:
    """Make an agent of the paper in the main reading, with other settings if given."""
    own: Plain = {"search": ROUND if name in SCORED else PLAIN}
    if name == "ts-rsr":
        own["batch"] = {"type": "ts-rsr", "redraws": REDRAWS}
    return AgentEntry(label, name, {**own, **settings}, note)


RANDOM = AgentEntry("random", "random")


def eight(**settings: Any) -> tuple[AgentEntry, ...]:
    """Make the paper's seven agents and one that chooses uniformly random actions."""
    return (*(_agent(n, n, **settings) for n in PAPERS), RANDOM)


def others(name: str, **settings: Any) -> tuple[AgentEntry, ...]:
    """Make agents of other readings, on the problems where they are run."""
    if name not in CHEAP:
        return ()
    unrefined = "the best candidate as it is, as in the last version of the code"
    observed = "the incumbent is the best observed reward"
    literal = {"type": "ts-rsr", "redraws": 0, "replaced": False}
    return (
        _agent("bucb/unrefined", "bucb", unrefined, **settings, search=PLAIN),
        _agent("qei/unrefined", "qei", unrefined, **settings, search=PLAIN),
        _agent("qei/observed", "qei", observed, **settings, incumbent="observed"),
        _agent("ts-rsr/no-redraws", "ts-rsr", "Algorithm 1 as written", **settings, batch=literal),
    )


def _scenario(
    name: str, title: str, env: str, env_kwargs: Plain, rounds: int, **declared: Any
) -> Scenario:
    """Declare a problem; ``declared`` may replace its source and its panels."""
    usual: Plain = {"source": "ren2024, Section 6, Tables 1-7", "panels": PANELS}
    return Scenario(
        id=f"ren2024/{name}",
        title=title,
        env=env,
        env_kwargs=env_kwargs,
        horizon=rounds,
        initial=INITIAL,
        metric=METRIC,
        store_actions=False,
        **usual | declared,
    )


# -- The main reading ------------------------------------------------------------------------------


UNIT = [[0.0] * 3, [1.0] * 3]


def _se(ell: float, variance: float) -> Plain:
    return {"kernel": {"type": "se", "lengthscale": ell, "variance": variance}}


def _drawn(
    name: str, box: list[list[float]], ell: float, variance: float, batch: tuple[int, int], n: int
) -> Scenario:
    m, rounds = batch
    return _scenario(
        name,
        f"draws from a squared exponential kernel, lengthscale {ell:g}, in {len(box[0])}-D",
        "gpbandits/StaticGP-v0",
        {"noise_var": NOISE_VAR, "batch_size": m, **_se(ell, variance), "box": box},
        rounds,
        agents=eight(),
        alternatives=others(name),
        trials=n,
        choices=(f"the variance of f is {variance:.2g}, as in the authors' code", *AS_KNOWN),
        departures=(f"{n} functions, one run each, where the paper has several runs of 10",),
    )


def _task(name: str, title: str, task: Plain, batch: tuple[int, int]) -> Scenario:
    boston, (m, rounds) = name == "boston-stand-in", batch
    return _scenario(
        name,
        title,
        "gpbandits/Task-v0",
        {"noise_var": NOISE_VAR, "batch_size": m, "kernel": MATERN32, **task},
        rounds,
        agents=eight(**STANDARDIZED),
        alternatives=others(name, **STANDARDIZED),
        trials=FEW if boston else RUNS,
        choices=(*OWN_CHOICES.get(name, ()), *SCALE_CHOICES, *CHOICES),
        departures=BOSTON_DEPARTURES if boston else (f"{RUNS} runs, where the paper has 10",),
    )


def _on(low: int, high: int, dim: int, task: str) -> Plain:
    return {"task": task, "dim": dim, "box": [[float(low)] * dim, [float(high)] * dim]}


BOSTON_ELL = {**MATERN32, "lengthscale": [0.1, 0.005, 0.1, 0.1]}
BOSTON = {"task": "boston", "task_options": {"root": True}, "kernel": BOSTON_ELL}
MICHALEWICZ = {"task": "michalewicz", "dim": 10}
PUSH = "a robot pushes a disc"
# Name, title, task, and the number of actions in a round and that of rounds.
TASKS: tuple[tuple[str, str, Plain, tuple[int, int]], ...] = (
    ("ackley-2d", "Ackley on [-5, 5]^2", _on(-5, 5, 2, "ackley"), (5, 50)),
    ("rosenbrock-2d", "Rosenbrock on [-2, 2] x [-1, 3]", {"task": "rosenbrock"}, (5, 50)),
    ("bird-2d", "Bird on [-2 pi, 2 pi]^2", {"task": "bird"}, (5, 50)),
    ("ackley-3d", "Ackley on [-5, 5]^3", _on(-5, 5, 3, "ackley"), (20, 15)),
    ("hartmann-6d", "Hartmann in 6 dimensions", {"task": "hartmann-6"}, (5, 30)),
    ("griewank-8d", "Griewank on [-1, 4]^8", _on(-1, 4, 8, "griewank"), (10, 30)),
    ("michalewicz-10d", "Michalewicz in 10 dimensions", MICHALEWICZ, (5, 30)),
    ("boston-stand-in", "a network tuned on house prices", BOSTON, (5, 30)),
    ("push-3d", f"{PUSH}: place and duration", {"task": "push-3d"}, (5, 30)),
    ("push-4d", f"{PUSH}: place, duration and angle", {"task": "push-4d"}, (5, 30)),
)
OWN_CHOICES = {
    "rosenbrock-2d": ("Rosenbrock's constants are 1 and 100",),
    "boston-stand-in": (
        "the loss is the root of the mean squared error on the validation set after 50 epochs, "
        "in 1000 dollars; the split, the initial weights and the order of the batches are ours",
        "the number of nodes is rounded",
    ),
}
BOSTON_DEPARTURES = (
    "this is not the paper's task, whose network, split and epochs its text does not state: the "
    "authors' code validates a linear network after one epoch, from new weights. Its regrets "
    "cannot be compared with the printed ones",
)


# -- The authors' code where the paper says otherwise, or nothing ----------------------------------

CODE_SCALED: Plain = {"standardize": True, "learn": {"every": 1, "what": []}}
CODE_BETA = {"type": "log", "c1": 0.4, "c2": math.sqrt(1000.0 / 0.06) * math.pi, "power": 2}
CODE_POLICY = {"type": "boltzmann", "scale": 3.0, "over": "range", "earlier": INITIAL - 1}
BELIEVER = "gpbandits_env.scenarios.papers.ren2024_code:MixedScales"
CODE_PUSH = {"type": "matern52", "lengthscale": [1.0, 1.0, 0.1], "variance": 0.2}
ALONE: Plain = {"beta": CODE_BETA, "batch": {"type": "explore", "region": False}, "search": PLAIN}
# What the code changes in the environment of a problem.
CODE_ENV: dict[str, Plain] = {
    "rbf-2d": {},
    # The noise is relative to the standard deviation of f over its box, 373.9.
    "rosenbrock-2d": {"noise_var": 0.3739**2, "kernel": MATERN52},
    "ackley-3d": {"kernel": MATERN52},
    "push-3d": {"noise_var": 0.0, "kernel": CODE_PUSH},
}
# The code's output scale of the draws, for standardized rewards.
CODE_PRIOR = {"rbf-2d": _se(0.25, LN2)}
CODE_CHOICES = (
    "the kernel, its lengthscale and output scale are those of the code, and on Rosenbrock "
    "so is the noise, which is 1e-3 in units of the standardized rewards; the code draws the "
    "noise of all rewards anew in every round",
    "rewards are standardized in every round, also on the draws, and the noise variance of the "
    "model is 1e-6 in these units",
    "qEI conditions a standardized believed reward together with rewards that are not "
    "standardized, from the second action of a batch on; its incumbent is the best observed reward",
    "BUCB and UCBPE have the beta of the code, and UCBPE no relevant region; SP draws by the "
    "posterior mean; the chain of DPP-TS has 2 steps",
    "BUCB, qEI and TS-RSR refine, as the comments of the code's plotting scripts say",
    "BUCB acts in round 1 too; the code's beta is log 0 there, so that its first batch is one "
    "random point, repeated",
    CHOICES[0],
)


def as_code(name: str, **settings: Any) -> AgentEntry:
    """Make an agent of the paper as it is in the authors' public code, under the paper's name."""
    own: dict[str, tuple[str, Plain, str]] = {
        "dpp-ts": ("dpp-ts", {"batch": {"type": "dpp", "steps": 2}}, "2 steps of the chain"),
        "bucb": ("bucb", {"beta": CODE_BETA}, "its beta, refined"),
        "ucbpe": ("ucbpe", ALONE, "its beta, no relevant region"),
        "sp": ("max-mean", {"batch": CODE_POLICY}, "drawn by the posterior mean"),
        "qei": (BELIEVER, {}, "two scales of rewards in one posterior"),
        "ts-rsr": ("ts-rsr", {}, "refined"),
    }
    agent, changed, note = own.get(name, (name, {}, ""))
    search = ROUND if name in SCORED else PLAIN
    return AgentEntry(name, agent, {"search": search, **CODE_SCALED, **settings, **changed}, note)


def _code(main: Scenario) -> Scenario:
    """Declare a problem of the main reading as it is in the authors' code."""
    name = main.id.partition("/")[2]
    prior = CODE_PRIOR.get(name, {})
    model = {} if prior else {"model_noise_var": NOISE_VAR}
    return replace(
        main,
        id=f"{main.id}@code",
        title=f"{main.title}, as the authors' code has it",
        env_kwargs={**main.env_kwargs, **CODE_ENV[name], **model},
        agents=tuple(as_code(n, **prior) for n in PAPERS),
        alternatives=(),
        trials=FEW,
        choices=CODE_CHOICES,
        departures=("one run on each of 10 functions, where the paper has 10",) if prior else (),
    )


FIRST_ROUNDS = 200  # of largest variance
SHORT = {"type": "se", "lengthscale": 0.15}


def _started(name: str, rule: str) -> tuple[AgentEntry, AgentEntry]:
    """Make an agent without and with first rounds of largest variance; ``rule`` is its batch."""
    batch = {"type": "initialised", "rounds": FIRST_ROUNDS, "then": {"type": rule}}
    note = f"{FIRST_ROUNDS} rounds of largest variance first (Appendix B)"
    return AgentEntry(name, name), AgentEntry(f"{name}/initialised", name, {"batch": batch}, note)


# A comparison of Appendix B's initialization with a plain start and Theorem 1.
INITIALISED = Scenario(
    id="ren2024/initialised",
    source="ren2024, Theorem 1, Corollary 1 and Appendix B (no experiment of the paper)",
    title="first rounds of largest variance, on draws of a kernel",
    env="gpbandits/StaticGP-v0",
    env_kwargs={"grid": [40, 40], "kernel": SHORT, "noise_var": 0.01, "batch_size": 5},
    agents=(*_started("ts-rsr", "ts-rsr"), *_started("bucb", "hallucinate"), RANDOM),
    horizon=FIRST_ROUNDS + 60,
    trials=30,
    metric="average_regret",
    bounds=({"type": "ren-theorem1"},),
    panels=(Panel("average_regret", log=True), Panel(METRIC, log=True)),
    choices=(
        "the paper has no experiment with this initialization: 40 x 40 arms, a squared "
        "exponential kernel of lengthscale 0.15, noise of variance 0.01, batches of 5",
        "there are 1000 initial observations, fewer than Lemma 11 asks for; in the bound of "
        "Theorem 1, rho_m is at most sqrt(1 + m / s^2) = 22.4",
    ),
)
MAIN = (
    _drawn("rbf-2d", [[-5.0] * 2, [5.0] * 2], 0.25, 1 / 3, (20, 20), 100),
    _drawn("rbf-3d", UNIT, 0.15, 10.0, (5, 50), 50),
    *(_task(*row) for row in TASKS),
)
SCENARIOS = (
    *MAIN,
    *(_code(s) for s in MAIN if s.id.partition("/")[2] in CODE_ENV),
    INITIALISED,
    _scenario(
        "batches",
        "simple regret of batches of 1, 2, 5 and 10 on draws of rbf-3d",
        "gpbandits/StaticGP-v0",
        {**_se(0.15, 10.0), "box": UNIT, "noise_var": NOISE_VAR},
        20,
        source="ren2024, Section 6 (not in the paper: the size of the batch)",
        panels=(),
        grid={"batch_size": BATCHES},
        agents=eight(),
        trials=RUNS,
        choices=AS_KNOWN,
        departures=(f"20 rounds, {RUNS} functions",),
    ),
)
