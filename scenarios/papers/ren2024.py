"""ren2024: TS-RSR and what it is compared with, in batches, Section 5 and Tables 1-7.

The twelve problems are draws from Gaussian processes, test functions, a network to tune on house
prices, and a robot that pushes a disc. Some of them are run again as the authors' code has them.
"""

import math
from dataclasses import replace
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.findings import Finding, NearlyBest, WithinPublished
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.papers.published import REN2024
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

METRIC = "simple_regret"
INITIAL, NOISE_VAR = 15, 1e-6
LN2 = math.log(2.0)
MATERN32 = {"type": "matern32", "lengthscale": LN2, "variance": LN2}
MATERN52 = {**MATERN32, "type": "matern52"}
NAMES = ("dpp-ts", "bucb", "ucbpe", "sp", "ts", "qei", "ts-rsr", "random")
PAPERS = NAMES[:-1]
BATCHES = (1, 2, 5, 10)
PANELS = (
    Panel(METRIC, log=True),
    Panel(METRIC, "seconds", log=True),
    Panel("average_regret", log=True),
)
# The authors' public code: what it does where the paper is silent.
CODE = "github.com/rafflesintown/TSRSR"
ROUND: Plain = {"type": "round", "candidates": 1000, "refine": 10, "rate": 0.01}
PLAIN: Plain = {**ROUND, "refine": 0}
# Those whose actions are the best of a score, refined or not.
SCORED = ("bucb", "ucbpe", "qei")
CHOICES = (
    f"the search is that of the authors' public code ({CODE}): 1000 new candidates per round, and "
    "local maxima of the posterior mean, found by ascent from the best candidate and from observed "
    "points above it; posterior samples are joint and exact on these points",
    "as in that code's last version, TS-RSR refines the best candidate, by 10 steps of Adam of "
    "length 0.01 in the units of x, and the other agents take it as it is; by the comments of its "
    "plotting scripts, BUCB and EI were refined too when the data were made. With these steps: "
    "bucb/refined, ucbpe/refined, qei/refined",
    "beta_t of BUCB and UCBPE is that of srinivas2010, Theorem 2, with delta = 0.1 and a = b = 1, "
    "over 5; the code's is 0.2 log(1000 t^2 pi^2 / 0.06) on the standard deviation",
    "SP draws with b_t = log(1 + t) over the standard deviation of EI among the candidates; the "
    "code draws by the posterior mean",
    "the chain of DPP-TS has 50 steps; the code's has 2",
    "the 15 initial points count in the best so far, not in the average regret",
)
# Every round; nothing else is learned.
SCALED: Plain = {"standardize": True, "learn": {"every": 1, "what": []}}
# The code's model of rbf-3d.
RBF_3D = {**SCALED, "kernel": {"type": "se", "lengthscale": 0.15, "variance": 10.0}}
WIDER = (
    "rewards are standardized in every round, but the agents' output scale stays 10, as in the "
    "authors' code: the variance of the prior is about ten times that of f"
)
# Headings of docs/differences.md.
BELIEVER = "Another kriging believer"
REASONS = {
    "rbf-2d": "Means that few runs decide",
    "rbf-3d": "Means that few runs decide",
    "rosenbrock-2d": "Noise and kernel of the authors' code",
    "bird-2d": "Noise and kernel of the authors' code",
    "hartmann-6d": "Reasons that are not known",
}
# Where other readings are run too.
READINGS = ("rosenbrock-2d", "ackley-3d", "hartmann-6d", "push-3d")
# Run with Matern 5/2 as well.
SMOOTHER = ("bucb", "ts", "qei", "ts-rsr")
STANDARDISED = (
    "rewards are standardized before each round, as in the authors' code; the kernel's output "
    "scale is ln 2, their library's default, the prior mean that of the rewards",
    "the kernel is Matern 3/2, as the paper says; the code's is Matern 5/2, its library's default: "
    "see ts-rsr/matern52",
)


def eight(**settings: Any) -> tuple[AgentEntry, ...]:
    """Make the paper's seven agents and one that chooses uniformly random actions."""
    return (*(_searching(n, n, **settings) for n in PAPERS), AgentEntry("random", "random"))


def refined(**settings: Any) -> tuple[AgentEntry, ...]:
    """Make the rivals that choose the best point of a score, with TS-RSR's refinement."""
    note = "ten steps of Adam for it too"
    return tuple(AgentEntry(f"{n}/refined", n, {"search": ROUND, **settings}, note) for n in SCORED)


def _searching(label: str, name: str, note: str = "", **settings: Any) -> AgentEntry:
    """Make an agent that searches as the authors' code does."""
    search = ROUND if name == "ts-rsr" else PLAIN
    return AgentEntry(label, name, {"search": search, **settings}, note)


def converged(**settings: Any) -> AgentEntry:
    """Make a TS-RSR that uses our own search of a box."""
    note = "all climbs by L-BFGS to the top, samples by random features and climbed too"
    return AgentEntry("ts-rsr/converged", "ts-rsr", settings, note)


def _scenario(name: str, env: str, env_kwargs: Plain, **declared: Any) -> Scenario:
    return Scenario(
        id=f"ren2024/{name}",
        env=env,
        env_kwargs=env_kwargs,
        initial=INITIAL,
        initial_counts=True,
        metric=METRIC,
        store_actions=False,
        **declared,
    )


def _problem(
    name: str,
    title: str,
    env: str,
    kwargs: Plain,
    batch: tuple[int, int],
    *,
    agents: tuple[AgentEntry, ...],
    trials: int = 10,
    end: str = "",
    **more: Any,
) -> Scenario:
    m, rounds = batch
    rivals = tuple(n for n in PAPERS if n != "ts-rsr")
    reason = REASONS.get(name, "")
    nearly_best = BELIEVER if name == "push-3d" else reason
    findings: list[Finding] = [NearlyBest("ts-rsr", rivals, metric=METRIC, reason=nearly_best)]
    if name in REN2024:
        mean = REN2024[name].means["ts-rsr"]
        findings.append(WithinPublished("ts-rsr", mean, reason=reason))
    return _scenario(
        name + end,
        env,
        {"noise_var": NOISE_VAR, "batch_size": m, **kwargs},
        source="ren2024, Section 5, Tables 1-7",
        title=title,
        agents=agents,
        horizon=rounds,
        trials=trials,
        findings=tuple(findings),
        panels=PANELS,
        **more,
    )


def _rbf(
    name: str,
    box: list[list[float]],
    ell: float,
    variance: float,
    batch: tuple[int, int],
    n: int,
    *more: str,
    **model: Any,
) -> Scenario:
    return _problem(
        name,
        f"draws from a squared exponential kernel, lengthscale {ell:g}, in {len(box[0])}-D",
        "gpbandits/StaticGP-v0",
        {"kernel": {"type": "se", "lengthscale": ell, "variance": variance}, "box": box},
        batch,
        agents=eight(**model),
        trials=n,
        choices=(
            f"the variance of f is {variance:.2g}, as in the authors' code",
            *more,
            *CHOICES,
        ),
        departures=(f"{n} functions, one run each, where the paper has several runs of 10",),
    )


def _task(name: str, title: str, task: Plain, batch: tuple[int, int], **more: Any) -> Scenario:
    smoother = {"kernel": {**task.get("kernel", MATERN32), "type": "matern52"}}
    others = (
        *refined(**SCALED),
        converged(**SCALED),
        AgentEntry("ts-rsr/raw", "ts-rsr", {"search": ROUND}, "rewards as they are, prior mean 0"),
        *(_searching(f"{n}/matern52", n, "Matern 5/2", **SCALED, **smoother) for n in SMOOTHER),
    )
    return _problem(
        name,
        title,
        "gpbandits/Task-v0",
        {"kernel": MATERN32, **task},
        batch,
        agents=eight(**SCALED),
        alternatives=(*(others if name in READINGS else ()), *more.pop("others", ())),
        choices=(*more.pop("choices", ()), *STANDARDISED, *CHOICES),
        **more,
    )


# -- The authors' code where the paper says otherwise, or nothing ----------------------------------

# The standard deviation of f over its box, to which the code's noise of 1e-3 is relative.
SCALES = {"rosenbrock-2d": 373.9, "bird-2d": 40.5}
CODE_BETA = {"type": "log", "c1": 0.4, "c2": math.sqrt(1000.0 / 0.06) * math.pi, "power": 2}
CODE_POLICY = {"type": "boltzmann", "scale": 3.0, "over": "range", "earlier": INITIAL - 1}


def as_code(name: str, **settings: Any) -> AgentEntry:
    """Make an agent of the paper as it is in the authors' public code, under the paper's name."""
    own: dict[str, tuple[str, Plain, str]] = {
        "dpp-ts": ("dpp-ts", {"batch": {"type": "dpp", "steps": 2}}, "2 steps of the chain"),
        "bucb": ("bucb", {"beta": CODE_BETA, "search": ROUND}, "its beta, refined"),
        "ucbpe": (
            "ucbpe",
            {"beta": CODE_BETA, "batch": {"type": "explore", "region": False}},
            "its beta, no relevant region",
        ),
        "sp": ("max-mean", {"batch": CODE_POLICY}, "drawn by the posterior mean"),
        "qei": ("qei", {"search": ROUND}, "refined; without the code's error"),
        "ts-rsr": ("ts-rsr", {"search": ROUND}, "refined"),
    }
    agent, changed, note = own.get(name, (name, {}, ""))
    return AgentEntry(name, agent, {"search": PLAIN, **SCALED, **changed, **settings}, note)


def _code(name: str, task: Plain, batch: tuple[int, int]) -> Scenario:
    """Declare a problem as it is in the authors' code; it has the same row of the table."""
    noise_var = (1e-3 * SCALES[name]) ** 2
    return _problem(
        name,
        f"{name.partition('-')[0].capitalize()}, as the authors' code has it",
        "gpbandits/Task-v0",
        {"kernel": MATERN52, **task, "noise_var": noise_var, "model_noise_var": NOISE_VAR},
        batch,
        agents=tuple(as_code(n) for n in PAPERS),
        end="-code",
        reading_of=f"ren2024/{name}",
        choices=(
            "Matern 5/2, the default of the code's library",
            "the noise has a standard deviation of 1e-3 in units of the standardized rewards, as "
            f"in the code: {1e-3 * SCALES[name]:.3g}, for f has a standard deviation of "
            f"{SCALES[name]:g} over its box. The code standardizes by the rewards so far, and "
            "draws the noise of all of them anew in every round",
            "the believer of qEI is ours: the code mixes standardized and plain rewards",
            CHOICES[0],
            CHOICES[-1],
        ),
    )


# The authors' code has another model for Hartmann, and another search for TS-RSR.
HARTMANN_ELL = {**MATERN52, "lengthscale": 0.2}
HARTMANN_AS_CODE = tuple(
    AgentEntry(
        f"{name}/code",
        name,
        {"search": {**search, "candidates": candidates}, "kernel": HARTMANN_ELL, **SCALED},
        f"as the code has it: Matern 5/2, lengthscale 0.2, {candidates} candidates",
    )
    for name, search, candidates in (
        ("ts-rsr", ROUND, 100),
        ("ts", PLAIN, 1000),
        ("qei", PLAIN, 1000),
    )
)
BOSTON_ELL = {**MATERN32, "lengthscale": [1.0, 0.005, 0.1, 0.1]}
BOSTON = {"task": "boston", "task_options": {"root": True}, "kernel": BOSTON_ELL}
PUSHED = {"noise_var": 0.0, "model_noise_var": 0.01}
TABLE = "f is smooth; the code's is a table on a grid of spacing 0.04, read at the nearest node"


def _on(low: int, high: int, dim: int, task: str) -> Plain:
    return {"task": task, "dim": dim, "box": [[float(low)] * dim, [float(high)] * dim]}


MICHALEWICZ = {"task": "michalewicz", "dim": 10}
PUSH, GRIEWANK = "a robot pushes a disc", "Griewank on [-1, 4]^8"
# Name, title, task, and the number of actions in a round and that of rounds.
TASKS: tuple[tuple[str, str, Plain, tuple[int, int]], ...] = (
    ("ackley-2d", "Ackley on [-5, 5]^2", _on(-5, 5, 2, "ackley"), (5, 50)),
    ("rosenbrock-2d", "Rosenbrock on [-2, 2] x [-1, 3]", {"task": "rosenbrock"}, (5, 50)),
    ("bird-2d", "Bird on [-2 pi, 2 pi]^2", {"task": "bird"}, (5, 50)),
    ("ackley-3d", "Ackley on [-5, 5]^3", _on(-5, 5, 3, "ackley"), (20, 15)),
    ("hartmann-6d", "Hartmann in 6 dimensions", {"task": "hartmann-6"}, (5, 30)),
    ("griewank-8d", f"{GRIEWANK}, with x_i / i", _on(-1, 4, 8, "griewank-i"), (10, 30)),
    ("michalewicz-10d", "Michalewicz in 10 dimensions", MICHALEWICZ, (5, 30)),
    ("boston", "a network tuned on house prices", BOSTON, (5, 30)),
    ("push-3d", f"{PUSH}: place and duration", {"task": "push-3d", **PUSHED}, (5, 30)),
    ("push-4d", f"{PUSH}: place, duration and angle", {"task": "push-4d", **PUSHED}, (5, 30)),
    (
        "griewank-8d-root",
        f"{GRIEWANK}, as it is usually written",
        _on(-1, 4, 8, "griewank"),
        (10, 30),
    ),
)
MORE: dict[str, Plain] = {
    "rosenbrock-2d": {"choices": ("Rosenbrock's constants are 1 and 100",)},
    "hartmann-6d": {"others": HARTMANN_AS_CODE},
    "griewank-8d": {
        "choices": (
            "the waves are cos(x_i / i), as in the authors' code, and not cos(x_i / sqrt(i)): see "
            "ren2024/griewank-8d-root",
        )
    },
    "boston": {
        "choices": (
            "the loss is the root of the mean squared error, as in the authors' code",
            "nodes are rounded; their lengthscale, 0.1 in the paper, is one node: the authors' "
            "code divides the number of nodes by 10",
        )
    },
    "griewank-8d-root": {"reading_of": "ren2024/griewank-8d"},
}
BY_NAME = {name: (task, batch) for name, _, task, batch in TASKS}


def _hartmann_50() -> Scenario:
    """Declare Hartmann over 50 rounds, under the paper's model and under that of the code."""
    task, (m, _) = BY_NAME["hartmann-6d"]
    few = {"ts-rsr": {"search": {**ROUND, "candidates": 100}}}
    return _problem(
        "hartmann-6d",
        "Hartmann in 6 dimensions over 50 rounds",
        "gpbandits/Task-v0",
        {"kernel": MATERN32, **task},
        (m, 50),
        agents=eight(**SCALED),
        alternatives=tuple(
            replace(as_code(n, kernel=HARTMANN_ELL, **few.get(n, {})), label=f"{n}/code")
            for n in PAPERS
        ),
        end="-50",
        reading_of="ren2024/hartmann-6d",
        choices=(
            "50 rounds, where the paper states 30: this is inference. The code's scripts run "
            "BUCB, UCBPE, SP and TS for 50 rounds, and its plots read data of 51 rounds for four "
            "to six of the seven agents and cut them at 31",
            "'/code' is the code's model of this problem: Matern 5/2, lengthscale 0.2, and 100 "
            "candidates for TS-RSR",
            *STANDARDISED[:1],
            *CHOICES,
        ),
    )


FIRST_ROUNDS, ON_ARMS = 5, 5  # rounds of largest variance, and actions in a round


def _started(name: str, rule: str) -> tuple[AgentEntry, AgentEntry]:
    """Make an agent without and with first rounds of largest variance; ``rule`` is its batch."""
    batch = {"type": "initialised", "rounds": FIRST_ROUNDS, "then": {"type": rule}}
    note = f"{FIRST_ROUNDS} rounds of largest variance first (Appendix B)"
    return AgentEntry(name, name), AgentEntry(f"{name}/initialised", name, {"batch": batch}, note)


def _initialised() -> Scenario:
    """Declare a comparison of Appendix B's initialization with a plain start and the orders."""
    return Scenario(
        id="ren2024/initialised",
        source="ren2024, Theorem 1, Corollary 1 and Appendix B (no experiment of the paper)",
        title="first rounds of largest variance, on draws of a kernel",
        env="gpbandits/StaticGP-v0",
        env_kwargs={
            "grid": [40, 40],
            "kernel": {"type": "se", "lengthscale": 0.15},
            "noise_var": 0.01,
            "batch_size": ON_ARMS,
        },
        agents=(
            *_started("ts-rsr", "ts-rsr"),
            *_started("bucb", "hallucinate"),
            AgentEntry("random", "random"),
        ),
        horizon=60,
        trials=30,
        metric="average_regret",
        bounds=(
            {"type": "ren-theorem1"},
            {"type": "ren-corollary1", "initial": FIRST_ROUNDS * ON_ARMS},
        ),
        panels=(Panel("average_regret", log=True), Panel(METRIC, log=True)),
        choices=(
            "the paper has no experiment with this initialization: 40 x 40 arms, a squared "
            "exponential kernel of lengthscale 0.15, noise of variance 0.01, batches of 5",
            "the orders have no constants, and that of Theorem 1 is drawn with rho_m = 1",
        ),
    )


SCENARIOS = (
    _rbf("rbf-2d", [[-5.0] * 2, [5.0] * 2], 0.25, 1 / 3, (20, 20), 30),
    _rbf("rbf-3d", [[0.0] * 3, [1.0] * 3], 0.15, 10.0, (5, 50), 30, TABLE, WIDER, **RBF_3D),
    *(_task(*row, **MORE.get(row[0], {})) for row in TASKS),
    *(_code(name, *BY_NAME[name]) for name in SCALES),
    _hartmann_50(),
    _initialised(),
    _scenario(
        "batches",
        "gpbandits/StaticGP-v0",
        {
            "kernel": {"type": "se", "lengthscale": 0.15, "variance": 10.0},
            "box": [[0.0] * 3, [1.0] * 3],
            "noise_var": NOISE_VAR,
        },
        source="ren2024, Section 5 (not in the paper: the size of the batch)",
        title="simple regret of batches of 1, 2, 5 and 10 on draws of rbf-3d",
        grid={"batch_size": BATCHES},
        agents=eight(**RBF_3D),
        horizon=20,
        trials=10,
        choices=(WIDER, *CHOICES),
        departures=("20 rounds, 10 functions",),
    ),
)
