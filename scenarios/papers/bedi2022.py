"""bedi2022: compressed Gaussian-process bandits (JMLR 2022), Section 4.

Three acquisitions with three posteriors: dense, compressed, and Nystrom (BKB). Figs. 1 to 3 and
Tables 2 to 4, each in three settings: at two budgets that compress early; at the paper's literal
budget, which leaves out hardly any observation before round 5000; and at the literal budget with a
posterior that is fitted with a small regularizer, under which the paper's model orders appear.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.findings import AtMost, Finding, LessTime, ModelOrder
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

DELTA = 0.1
SE = {"type": "se", "lengthscale": 1.0}
LITERAL = {"": 1e-4}
# Labels have no dots: hundredths are written as 1e-2.
WORKING = {"/1e-2": 0.01, "/5e-2": 0.05}
SETTLED = 0.01  # points per round
NOISE_VAR = 0.001  # s^2
REGULARIZER = 1e-6  # the noise variance of the posterior in the regularized setting

MATCHED: dict[str, float] = {}
REGULARIZED = {"noise_var": REGULARIZER}
DENSE: dict[str, tuple[str, Plain]] = {
    "ucb": ("gp-ucb", {"beta": {"type": "finite", "delta": DELTA, "scale": 1.0}}),
    "ei": ("ei", {"incumbent": "observed"}),
    "mpi": ("mpi", {"variant": "improvement", "incumbent": "max-mean", "margin": 0.0}),
}
COMPRESSED = {"ucb": "cub", "ei": "cei", "mpi": "cmpi"}
# Tables 2 to 4: seconds (hours for MNIST) of dense, compressed, BKB.
CLOCK = {
    "example": {"ucb": (6.756, 5.335, 9.56), "ei": (7.594, 4.133, 10.578),
                "mpi": (5.199, 3.864, 9.429)},
    "rosenbrock": {"ucb": (2.412, 1.905, 3.143), "ei": (2.604, 2.246, 3.801),
                   "mpi": (2.533, 2.186, 3.237)},
    "mnist-logistic": {"ucb": (0.994, 0.282, 1.817), "ei": (0.992, 0.266, 2.072),
                       "mpi": (0.993, 0.227, 1.840)},
}  # fmt: skip


def dense(
    representation: str = "rows", suffix: str = "", fitted: Mapping[str, float] = MATCHED
) -> tuple[AgentEntry, ...]:
    """Make the three agents without compression; ``fitted`` has settings of their models."""
    where, note = {"posterior": representation, **fitted}, f"dense, {representation}"
    return tuple(AgentEntry(n + suffix, n, {**s, **where}, note) for n, s in DENSE.values())


def compressed(
    budgets: dict[str, float],
    representation: str = "rows",
    suffix: str = "",
    fitted: Mapping[str, float] = MATCHED,
) -> tuple[AgentEntry, ...]:
    """Make the three compressed agents for each budget; their test always uses the paper's s^2."""

    def compress(epsilon: float) -> Any:
        if not fitted:
            return epsilon
        return {"type": "constant", "epsilon": epsilon, "noise_var": NOISE_VAR}

    return tuple(
        AgentEntry(
            name + end + suffix,
            name,
            {"compress": compress(epsilon), "posterior": representation, **fitted},
            f"compressed, epsilon = {epsilon:g}, {representation}",
        )
        for end, epsilon in budgets.items()
        for name in COMPRESSED.values()
    )


class _Setting(NamedTuple):
    """One of the three settings in which every figure is run.

    ``fitted`` holds the settings of all agents' models, and ``settles`` is the reason why a model
    order does not settle, a heading of docs/differences.md.
    """

    end: str
    title: str
    budgets: dict[str, float]
    horizon: int
    fitted: Mapping[str, float]
    settles: str
    choices: tuple[str, ...] = ()


_SETTINGS = (
    _Setting("", "", WORKING, 2000, MATCHED, "Compression arm by arm"),
    _Setting(
        "-literal",
        ", at the paper's epsilon",
        LITERAL,
        10_000,
        MATCHED,
        "Compression that cannot begin",
    ),
    _Setting(
        "-regularized",
        ", at the paper's epsilon, with a small regularizer",
        LITERAL,
        2000,
        REGULARIZED,
        "Compression with a small regularizer",
        (
            "the noise variance of the posterior is not stated apart from that of the test: all "
            "posteriors here are fitted with 1e-6, as a numerical regularizer, while the test of "
            "eq. (2.12) and the rewards have s^2 = 0.001",
        ),
    ),
)


# The rows of Figs. 1 to 3.
FIGURE = (
    Panel("average_regret", log=True),
    Panel("average_regret", "seconds", log=True),
    Panel("model_order", log=True),
)
BOUNDS = ("bedi3.2", "bedi-model-order")
# Where nearly all of the clock time is that of evaluations.
COSTLY = (FIGURE[0], Panel("average_regret", "evaluations", log=True), FIGURE[2])


# The factor of BKB's dictionaries in its theory, for this many rounds: `theory.bkb_qbar`.
QBAR = {2000: 813.0, 10_000: 929.0}


def nystrom(
    fitted: Mapping[str, float] = MATCHED,
    qbar: float | None = None,
    names: Iterable[str] = DENSE,
) -> tuple[AgentEntry, ...]:
    """Make the agents of BKB; by default qbar is their small constant 5."""
    settings: Plain = dict(fitted)
    if qbar is not None:
        settings["posterior"] = {"type": "nystrom", "qbar": qbar}
    note = f"BKB, qbar = {5 if qbar is None else qbar:g}"
    return tuple(AgentEntry(f"bkb-{a}", f"bkb-{a}", settings, note) for a in names)


def _dictionary_grows(acquisition: str) -> Finding:
    return ModelOrder(f"bkb-{acquisition}", above=SETTLED, reason="BKB's dictionaries")


def findings(table: str, setting: _Setting, evaluation: float) -> tuple[Finding, ...]:
    """List what the paper's Section 4 found for each acquisition at each budget.

    A reason is a heading of docs/differences.md.
    """
    found: list[Finding] = []
    cost = "What compression costs" if table == "rosenbrock" else ""
    cost = setting.settles if setting.fitted else cost
    faster: Plain = {"evaluation": evaluation, "reason": "Faster linear algebra"}
    for a, (full, _) in DENSE.items():
        thin = [COMPRESSED[a] + end for end in setting.budgets]
        seconds = CLOCK[table][a]
        found += [AtMost(label, full, reason=cost) for label in thin]
        found += [ModelOrder(label, at_most=SETTLED, reason=setting.settles) for label in thin]
        found.append(ModelOrder(full, above=SETTLED))
        found.append(_dictionary_grows(a))
        found += [LessTime(g, full, seconds[1] / seconds[0], **faster) for g in thin]
        found.append(LessTime(full, f"bkb-{a}", seconds[0] / seconds[2], **faster))
    return tuple(found)


CHOICES = (
    "the horizon is not stated: the literal epsilon = 1e-4 runs to T = 10,000, because its test "
    "leaves out no observation before some arm has 1/(exp(2 epsilon) - 1) = 5000 pulls; 0.01 and "
    "0.05 run to 2000",
    "'comparable' regret is read as: at most 1.25 times the dense agent's; a model order 'settles' "
    "when it grows by at most 0.01 points per round in the second half of the rounds",
    "qbar of BKB is not stated: 5",
    "beta is that of Theorem 3.2 with delta = 0.1: the paper's delta = 0.9 is the probability that "
    "the bounds hold",
)
# Where the results differ from the paper's, and why.
HARDLY_GROWS = (
    "BKB's model order hardly grows with t except under EI, whereas the paper's grows: the "
    "dictionary has about qbar times the effective dimension of the observed points, and UCB and "
    "MPI stay in one region"
)
FASTER = (
    "compared with BKB, the dense agents are faster than the paper's: their posterior gains one "
    "row per round, whereas BKB computes its posterior from the whole history in each round"
)
ON_ROWS = (
    "all three posteriors are compared in the dense-row representation, whose cost grows with the "
    "model order as the paper's does; the agents '/coef' use coefficients of the kernel's few "
    "eigenfunctions, whose cost does not grow with the model order"
)


def _figure(
    name: str,
    trials: tuple[int, int, int],
    env_kwargs: Plain,
    *,
    title: str,
    choices: tuple[str, ...],
    departures: tuple[str, ...],
    evaluation: float = 0.0,
    grid: tuple[Plain, ...] = (),
    **declared: Any,
) -> tuple[Scenario, ...]:
    """Declare a figure in the three settings; the third leaves out the scaled problems of ``grid``.

    ``evaluation``: see `LessTime`.
    """
    return tuple(
        Scenario(
            id=f"bedi2022/{name}{s.end}",
            title=title + s.title,
            env="gpbandits/Task-v0",
            env_kwargs={"noise_var": NOISE_VAR, "kernel": SE, **env_kwargs},
            agents=(
                *dense(fitted=s.fitted),
                *compressed(s.budgets, fitted=s.fitted),
                *nystrom(s.fitted),
            ),
            # Coefficients need a noise variance of 1e-4 or more to be exact.
            alternatives=()
            if s.fitted
            else (
                *dense("coefficients", "/coef"),
                *compressed(s.budgets, "coefficients", "/coef"),
            ),
            horizon=s.horizon,
            trials=count,
            findings=findings(name, s, evaluation),
            choices=(*CHOICES, *s.choices, *choices),
            departures=(ON_ROWS, FASTER, *departures),
            panels=COSTLY if evaluation else FIGURE,
            bounds=tuple({"type": k, "epsilon": e} for e in s.budgets.values() for k in BOUNDS),
            grid=() if s.fitted else grid,
            reading_of=f"bedi2022/{name}-literal" if s.fitted else "",
            **declared,
        )
        for s, count in zip(_SETTINGS, trials, strict=True)
    )


_FIGURES = (
    *_figure(
        "example",
        (10, 5, 10),
        {"task": "example", "grid": 1000},
        source="bedi2022, Section 4.1, Fig. 1 and Table 2",
        title="the function sin x + cos x + 0.1 x",
        initial=2,
        choices=("the domain is not stated: 1000 points of [-10, 10]",),
        departures=(
            HARDLY_GROWS,
            "dense EI follows the noise of its best observed reward, and so does BKB's; once "
            "compression leaves out all observations, that reward is fixed, and compressed EI has "
            "a fraction of their regret, where the paper has about as much",
        ),
    ),
    *_figure(
        "rosenbrock",
        (5, 3, 5),
        {"task": "rosenbrock-10", "grid": [33, 33]},
        source="bedi2022, Section 4.2, Fig. 2 and Table 3",
        title="Rosenbrock's function, a = 1, b = 10",
        initial=4,
        choices=(
            "the domain is not stated: 33 x 33 points of [-2, 2] x [-1, 3], which include the "
            "maximizer",
            "scaling is not mentioned, so the function is not scaled: it reaches -259, whereas the "
            "prior has variance 1. With kernel.variance = 1840, the function's own variance over "
            "the grid, and noise in the same proportion, it is as if the function were scaled to "
            "variance 1",
        ),
        departures=(
            HARDLY_GROWS,
            "without scaling, a posterior with prior variance 1 has almost no variance left after "
            "a few pulls of arms worth -10 or less: in some environment instances UCB and MPI end "
            "at an arm that is not the best, whether dense, compressed or BKB. With scaling, "
            "compression costs MPI more than the paper shows",
        ),
        grid=({}, {"kernel.variance": 1840.0, "noise_var": 1.84}),
    ),
    *_figure(
        "mnist-logistic",
        (3, 2, 3),
        {
            "task": "mnist-logistic",
            "grid": [4, 4, 3, 4],
            "scaled": True,
            "noise_var": 0.0,
            "model_noise_var": 0.001,
        },
        source="bedi2022, Section 4.3, Fig. 3 and Table 4",
        title="learning rate, batch size, dropout and l2 of a logistic regression",
        initial=16,
        evaluation=0.045,
        selective=True,
        choices=(
            "the ranges are not stated: learning rate 1e-3..1, batch size 8..512, dropout 0..0.8, "
            "l2 1e-6..1, logarithmic but for dropout, in [-1, 1]^4; 4 x 4 x 3 x 4 points",
            "the training is not stated: two epochs on 4,000 digits, accuracy on 1,000. No noise "
            "is added to an evaluation: the accuracy depends on the settings alone",
            "the arms' accuracies are read from a table: the clock counts 45 ms, measured once on "
            "one core, for each evaluation that was made",
        ),
        departures=(
            "compressed agents have less regret than dense ones, whereas the paper has about as "
            "much: compression ends their exploration sooner",
        ),
    ),
)


# The figures that are run with large dictionaries, and the acquisitions; over 10,000 rounds only
# those whose dictionaries do not grow with the small constant.
LARGE_DICTIONARIES: dict[str, tuple[str, ...]] = {
    "bedi2022/example": tuple(DENSE),
    "bedi2022/rosenbrock": tuple(DENSE),
    "bedi2022/example-literal": ("ucb", "mpi"),
    "bedi2022/rosenbrock-literal": ("ucb", "mpi"),
    "bedi2022/mnist-logistic-literal": ("ei",),
}


def _dictionaries(figure: Scenario) -> Scenario:
    """Declare a figure with BKB alone, whose dictionaries are as large as its theory requires."""
    qbar, names = QBAR[figure.horizon], LARGE_DICTIONARIES[figure.id]
    return replace(
        figure,
        id=f"{figure.id}-qbar",
        title=f"{figure.title}, with BKB's dictionaries as in its theory",
        agents=nystrom(qbar=qbar, names=names),
        alternatives=(),
        bounds=(),
        findings=tuple(_dictionary_grows(a) for a in names),
        choices=(
            f"qbar is that of Calandriello et al. (2019), Theorem 1, for {figure.horizon:,} "
            f"rounds, delta = 0.1 and accuracy 1/2: {qbar:g}",
            *(c for c in figure.choices if not c.startswith("qbar")),
        ),
        departures=(),
        reading_of=figure.id,
    )


SCENARIOS = (
    *_FIGURES,
    *(_dictionaries(s) for s in _FIGURES if s.id in LARGE_DICTIONARIES),
)
