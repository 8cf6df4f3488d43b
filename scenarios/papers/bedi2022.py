"""bedi2022: compressed Gaussian-process bandits (arXiv, 2022), Section 4.

Three acquisitions with three posteriors: dense, compressed, and Nystrom (BKB). Figs. 1 to 3, at the
paper's epsilon and threshold, eq. (2.12), which leaves out none of the first 5000 observations.
Other readings of a figure have its id with an end: "@entropy" has the threshold that the paper
states in words, "@epsilon" larger budgets, "@regularized" posteriors that are fitted with a small
regularizer, "@scaled" rewards of variance 1, and "@qbar" BKB's dictionaries as in its theory.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.metrics import Panel
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

DELTA = 0.1
SE = {"type": "se", "lengthscale": 1.0}
NOISE_VAR = 0.001  # s^2
EPSILON = 1e-4
# The entropy itself exceeds epsilon if sigma^2 > exp(2 epsilon)/(2 pi e) - s^2. That is eq. (2.12)
# with the entropy of the noise taken from epsilon.
ENTROPY = EPSILON - 0.5 * math.log(2.0 * math.pi * math.e * NOISE_VAR)
REGULARIZER = 1e-6  # the noise variance of the posterior in the regularized setting
# The factor of BKB's dictionaries in its theory, for 2000 rounds: `theory.bkb_qbar`.
QBAR = 813.0

MATCHED: Plain = {}
DENSE: dict[str, tuple[str, Plain]] = {
    "ucb": ("gp-ucb", {"beta": {"type": "finite", "delta": DELTA, "scale": 1.0}}),
    "ei": ("ei", {"incumbent": "observed"}),
    "mpi": ("mpi", {"variant": "improvement", "incumbent": "max-mean", "margin": 0.0}),
}
COMPRESSED = ("cub", "cei", "cmpi")


def dense(fitted: Plain = MATCHED) -> tuple[AgentEntry, ...]:
    """Make the three agents without compression; ``fitted`` has settings of their models."""
    return tuple(AgentEntry(n, n, {**s, **fitted}, "dense") for n, s in DENSE.values())


def compressed(budgets: Mapping[str, float], fitted: Plain = MATCHED) -> tuple[AgentEntry, ...]:
    """Make the three compressed agents for each budget."""
    return tuple(
        AgentEntry(name + end, name, {"compress": e, **fitted}, f"compressed, epsilon = {e:.4g}")
        for end, e in budgets.items()
        for name in COMPRESSED
    )


def nystrom(fitted: Plain = MATCHED, qbar: float | None = None) -> tuple[AgentEntry, ...]:
    """Make the agents of BKB; by default qbar is their small constant 5."""
    settings: Plain = dict(fitted)
    if qbar is not None:
        settings["posterior"] = {"type": "nystrom", "qbar": qbar}
    note = f"BKB, qbar = {5 if qbar is None else qbar:g}"
    return tuple(AgentEntry(f"bkb-{a}", f"bkb-{a}", settings, note) for a in DENSE)


# The rows of Figs. 1 to 3 without the clock times, which `tools.claims` computes for posteriors
# that are refitted in each round.
FIGURE = (Panel("average_regret", log=True), Panel("model_order", log=True))
# Where nearly all of the clock time is that of evaluations.
COSTLY = (FIGURE[0], Panel("average_regret", "evaluations", log=True), FIGURE[1])
BOUNDS = ("bedi3.2", "bedi-model-order")

CHOICES = (
    "qbar of BKB is not stated: 5. Its dictionary is drawn arm by arm, as in the public code of "
    "its authors, and its model order is the number of distinct points in it",
    "beta is that of Theorem 3.2 with delta = 0.1: the paper's delta = 0.9 is the probability that "
    "the bounds hold",
)
HORIZON = (
    "the horizon is not stated: 10,000, because the test of eq. (2.12) with epsilon = 1e-4 leaves "
    "out none of the first 1/(exp(2 epsilon) - 1) = 5000 observations"
)
SHORT = "the horizon is not stated: 2000"


def _reading(
    title: str,
    agents: tuple[AgentEntry, ...],
    budgets: tuple[float, ...] = (),
    *choices: str,
    **more: Any,
) -> Plain:
    """What one way in which every figure is run declares, of 2000 rounds; ``more`` replaces it."""
    bounds = tuple({"type": k, "epsilon": e} for e in budgets for k in BOUNDS)
    usual = {"horizon": 2000, "choices": (*choices, SHORT)}
    return {"title": title, "agents": agents, "bounds": bounds, **usual, **more}


def _regularized(noise_var: float = REGULARIZER, test: float = NOISE_VAR) -> Plain:
    # Coefficients need a noise variance of 1e-4 or more to be exact.
    fitted = {"noise_var": noise_var}
    rows = {**fitted, "posterior": "rows"}
    tested = {"compress": {"epsilon": EPSILON, "noise_var": test}, **rows}
    return _reading(
        ", with a small regularizer",
        (*dense(rows), *compressed({"": EPSILON}, tested), *nystrom(fitted)),
        (EPSILON,),
        "the noise variance of the posterior is not stated apart from that of the test: all "
        f"posteriors here are fitted with {noise_var:g}, as a numerical regularizer, while the "
        f"test of eq. (2.12) and the rewards have s^2 = {test:g}",
    )


USUAL = (*dense(), *compressed({"": EPSILON}), *nystrom())
# GP-UCB, dense and compressed, with the delta = 0.9 of Section 4 in beta_t.
PRINTED: Plain = {"beta": {"type": "finite", "delta": 0.9, "scale": 1.0}}
PRINTED_DELTA = tuple(
    AgentEntry(f"{name}/delta", name, PRINTED | more, f"{note}, delta = 0.9 in beta_t")
    for name, more, note in (("gp-ucb", {}, "dense"), ("cub", {"compress": EPSILON}, "compressed"))
)
LONG: Plain = {"horizon": 10_000, "choices": (HORIZON,)}
# The end of the id -> the reading.
_READINGS = {
    "": _reading("", USUAL, (EPSILON,), alternatives=PRINTED_DELTA, **LONG),
    "@entropy": _reading(
        ", with the threshold on the entropy itself",
        (*dense(), *compressed({"": ENTROPY}), *nystrom()),
        (),
        "the abstract, Section 1, the text around eq. (2.11) and the proofs of Lemmas 8.1 and "
        "8.3 compare the entropy itself with epsilon: an observation is informative if sigma^2 "
        "> exp(2 epsilon)/(2 pi e) - s^2, which is 0.0576",
    ),
    "@epsilon": _reading(
        ", with larger budgets",
        # Labels have no dots: hundredths are written as 1e-2.
        (*dense(), *compressed({"/1e-2": 0.01, "/5e-2": 0.05}), *nystrom()),
        (0.01, 0.05),
        "the budgets are not the paper's: 0.01 and 0.05 compress early",
    ),
    "@regularized": _regularized(),
    "@qbar": _reading(
        ", with BKB's dictionaries as in its theory",
        nystrom(qbar=QBAR),
        (),
        "qbar is that of Calandriello et al. (2019), Theorem 1, for 2000 rounds, delta = 0.1 "
        f"and accuracy 1/2: {QBAR:g}",
    ),
}


def _scenario(name: str, end: str, reading: Plain, trials: int) -> Scenario:
    """A figure under a reading."""
    figure = _FIGURES[name]
    usual = CHOICES[1:] if end == "@qbar" else CHOICES
    both: Plain = {
        "title": figure["title"] + reading["title"],
        "env_kwargs": {"noise_var": NOISE_VAR, "kernel": SE, **figure["env_kwargs"]},
        "choices": (*reading["choices"], *usual, *figure["choices"]),
        "trials": trials,
    }
    declared = {"panels": FIGURE, **figure, **reading, **both}
    return Scenario(id=f"bedi2022/{name}{end}", env="gpbandits/Task-v0", **declared)


EXACT = {"noise_var": 0.0, "model_noise_var": NOISE_VAR}
# The figures, and the trials of each reading in the order of `_READINGS`.
_FIGURES: dict[str, Plain] = {
    "example": {
        "env_kwargs": {"task": "example", "grid": 1000},
        "source": "bedi2022, Section 4.1, Fig. 1 and Table 2",
        "title": "the function sin x + cos x + 0.1 x",
        "initial": 2,
        "choices": ("the domain is not stated: 1000 points of [-10, 10]",),
        "trials": (20, 20, 5, 5, 3),
    },
    "rosenbrock": {
        "env_kwargs": {"task": "rosenbrock-10", "grid": [33, 33]},
        "source": "bedi2022, Section 4.2, Fig. 2 and Table 3",
        "title": "Rosenbrock's function, a = 1, b = 10",
        "initial": 4,
        "choices": (
            "the domain is not stated: 33 x 33 points of [-2, 2] x [-1, 3], which include the "
            "maximizer",
            "scaling is not mentioned, so the function is not scaled: it reaches -259, whereas "
            "the prior has variance 1",
        ),
        "trials": (20, 20, 5, 5, 3),
    },
    "mnist-logistic": {
        "env_kwargs": {"task": "mnist-logistic", "grid": [4, 4, 3, 4], "scaled": True, **EXACT},
        "source": "bedi2022, Section 4.3, Fig. 3 and Table 4",
        "title": "learning rate, batch size, dropout and l2 of a logistic regression",
        "initial": 16,
        "choices": (
            "the ranges are not stated: learning rate 1e-3..1, batch size 8..512, dropout "
            "0..0.8, l2 1e-6..1, logarithmic but for dropout, in [-1, 1]^4; 4 x 4 x 3 x 4 "
            "points",
            "the training is not stated: two epochs on 4,000 digits, accuracy on 1,000. No "
            "noise is added to an evaluation: the accuracy depends on the settings alone",
            "the arms' accuracies are read from a table: the clock counts 45 ms, measured once "
            "on one core, for each evaluation that was made",
        ),
        "panels": COSTLY,
        "selective": True,
        "trials": (20, 3, 2, 2, 0),
    },
}

# The variance of Rosenbrock's function over the grid: with it, and noise in the same proportion, it
# is as if the function were scaled to variance 1.
VARIANCE = 1840.0
SCALED = {"kernel": {**SE, "variance": VARIANCE}, "noise_var": VARIANCE * NOISE_VAR}


def _scaled(end: str, reading: Plain, trials: int) -> Scenario:
    """Rosenbrock's function under a reading, scaled to variance 1, without BKB."""
    made = _scenario("rosenbrock", end, reading, trials)
    return replace(
        made,
        id=f"{made.id}-scaled" if end else f"{made.id}@scaled",
        title=f"{made.title}, scaled",
        env_kwargs={**made.env_kwargs, **SCALED},
        agents=tuple(e for e in made.agents if not e.label.startswith("bkb")),
        alternatives=(),
        choices=(
            *(c for c in made.choices if not c.startswith(("scaling", "qbar"))),
            "as if the function were scaled to variance 1: the kernel has the function's own "
            f"variance over the grid, {VARIANCE:g}, and the noise is in the same proportion",
        ),
    )


SCENARIOS = (
    *(
        _scenario(name, end, reading, count)
        for name, figure in _FIGURES.items()
        for (end, reading), count in zip(_READINGS.items(), figure["trials"], strict=True)
        if count
    ),
    _scaled("", _READINGS[""], 5),
    _scaled("@regularized", _regularized(VARIANCE * REGULARIZER, VARIANCE * NOISE_VAR), 10),
)
