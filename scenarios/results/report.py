"""The report of a study: means, standard errors and comparisons."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.display import Displayed, aligned, counted, html_table
from gpbandits_env.errors import optional
from gpbandits_env.scenarios.declare import finite
from gpbandits_env.scenarios.metrics import KNOWN, metric_named, reported_metrics
from gpbandits_env.scenarios.results import curves
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import words


@dataclass(frozen=True)
class AgentResult:
    """One agent in one cell, at the horizon.

    Args:
        label: the agent.
        trials: the number of its trials; all figures except the rank are means over these.
        mean: metric -> mean.
        se: metric -> standard error of that mean.
        rank: mean rank by the scenario's metric, over the trials that all agents have run.
        microseconds: wall-clock time of ``ask`` and ``tell`` per round; NaN if the number of rounds
            is unknown (see `curves.rounds_played`).
        model_order: data points in its posterior after the last round.
        evaluations: evaluations spent, including initial points.
        evaluating: wall-clock time of the observed evaluations, in microseconds per round.
    """

    label: str
    trials: int
    mean: dict[str, float]
    se: dict[str, float]
    rank: float
    microseconds: float
    model_order: float
    evaluations: float
    evaluating: float

    def words(self, metric: str) -> str:
        """The mean of a metric, with its standard error unless that is unknown (one trial)."""
        error = "" if np.isnan(self.se[metric]) else f" ± {self.se[metric]:.2g}"
        return f"{self.mean[metric]:.4g}{error}"


@dataclass(frozen=True)
class AgentPair:
    """Two agents of a cell compared by the report's metric, over the trials that both have run.

    It has the mean of a - b, its standard error, and the p-value of Student's t test: see
    `paired_test`.
    """

    a: str
    b: str
    trials: int
    difference: float
    se: float
    p: float


@dataclass(frozen=True)
class CellReport:
    """The results of one cell of the grid."""

    index: int
    params: Plain
    agents: tuple[AgentResult, ...]
    comparisons: tuple[AgentPair, ...]

    def table(self, metrics: Sequence[str]) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of its table, without columns that would say nothing."""
        agents = self.agents
        columns = {"agent": [a.label for a in agents]}
        if len({a.trials for a in agents}) > 1:
            columns["trials"] = [str(a.trials) for a in agents]
        columns |= {KNOWN[n].title: [a.words(n) for a in agents] for n in metrics}
        if len(agents) > 1:
            columns["mean rank"] = [f"{a.rank:.2f}".replace("nan", "-") for a in agents]
        if not all(a.model_order in (0.0, a.evaluations) for a in agents):
            columns["model order"] = [f"{a.model_order:.4g}" for a in agents]
        if len({a.evaluations for a in agents}) > 1:
            columns["evaluations"] = [f"{a.evaluations:.6g}" for a in agents]
        if not all(np.isnan(a.microseconds) for a in agents):
            columns["us/round"] = [f"{a.microseconds:.0f}".replace("nan", "-") for a in agents]
        if max(a.evaluating for a in agents) > 0.1 * max(a.microseconds for a in agents):
            columns["evaluating us/round"] = [f"{a.evaluating:.0f}" for a in agents]
        return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]

    def best(self, metric: str) -> list[AgentResult]:
        """The agents by a metric, the least first."""
        return sorted(self.agents, key=lambda a: np.nan_to_num(a.mean[metric], nan=np.inf))

    def pairs(self) -> list[list[str]]:
        """Its paired comparisons: the difference, its standard error, and p of a t test."""
        return [
            [
                f"{c.a} - {c.b}",
                f"{c.difference:+.4g}",
                f"{c.se:.2g}",
                f"{c.p:.2g}" if c.se else "identical trials",
            ]
            for c in self.comparisons
        ]


@dataclass(frozen=True, repr=False)
class Report(Displayed):
    """The results of a study: its resolved scenario, its cells, and the trials that raised.

    Ranks and comparisons use ``metric``. ``optimum_moves`` says whether the functions change from
    round to round. ``digest`` is that of `Store.digest`.
    """

    scenario: Plain
    metric: str
    optimum_moves: bool
    cells: tuple[CellReport, ...]
    failures: tuple[str, ...]
    digest: str

    @property
    def metrics(self) -> list[str]:
        """The metrics in tables, with that of the report first: see `metrics.reported_metrics`."""
        return reported_metrics(self.metric, self.optimum_moves or curves.in_parts(self.scenario))

    @property
    def rounds(self) -> str:
        """The number of rounds or parts in words, or its range if a grid sweeps the horizon."""
        usual: int = self.scenario["horizon"]
        found = {cell.params.get("horizon", usual) for cell in self.cells}
        unit = "part" if curves.in_parts(self.scenario) else "round"
        return f"{min(found)} to " * (len(found) > 1) + counted(max(found), unit)

    def _facts(self) -> Plain:
        agents = dict.fromkeys(a.label for cell in self.cells for a in cell.agents)
        return {
            "scenario": self.scenario["id"],
            "agents": ", ".join(agents),
            "trials": max(a.trials for cell in self.cells for a in cell.agents),
            "horizon": self.rounds,
            "cells": len(self.cells),
            "failures": len(self.failures) or None,
            "digest": self.digest[:16],
        }

    def text(self, pairs: bool = True) -> str:
        """The report for a terminal, with the paired comparisons if ``pairs``."""
        s = self.scenario
        counts = sorted({a.trials for cell in self.cells for a in cell.agents})
        fewer = f"{counts[0]} to " if len(counts) > 1 else ""
        size = f"{fewer}{counted(counts[-1], 'trial')} of {self.rounds}"
        lines = [f"{s['id']}: {s['title']}", f"{s['source']}; {size}, seed {s['seed']}"]
        for cell in self.cells:
            head, rows = cell.table(self.metrics)
            lines += ["", *([words(cell.params)] if cell.params else []), *aligned([head, *rows])]
            if pairs and cell.comparisons:
                what = f"paired differences of the {KNOWN[self.metric].title}"
                lines += ["", f"{what} (mean, standard error, p of a t test)"]
                lines += aligned(cell.pairs())
        if failed := self.failures:
            lines += ["", f"{len(failed)} failed:", *(f"  {f}" for f in failed[:5])]
        return "\n".join([*lines, "", f"digest   {self.digest[:16]}"])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        titles = [f"{self.scenario['id']} {words(cell.params)}".strip() for cell in self.cells]
        tables = [cell.table(self.metrics) for cell in self.cells]
        return "".join(html_table(*t, title) for t, title in zip(tables, titles, strict=True))

    def to_dataframe(self) -> Any:
        """A pandas `DataFrame` with a row for each agent of each cell.

        The columns are the parameters of the grid, "agent", "trials", the mean of each metric under
        its name and its standard error under "NAME_se", and the other figures of `AgentResult`.
        """
        rows = []
        for cell in self.cells:
            for a in cell.agents:
                plain = asdict(a)
                mean, se = plain.pop("mean"), plain.pop("se")
                errors = {f"{name}_se": value for name, value in se.items()}
                label = {"agent": plain.pop("label"), "trials": plain.pop("trials")}
                rows.append({**cell.params, **label, **mean, **errors, **plain})
        return optional("pandas", "tables").DataFrame(rows)

    def to_dict(self) -> Plain:
        """A plain JSON dict; numbers that are not finite become None."""
        return finite(asdict(self))


def report(store: Store, metric: str | None = None) -> Report:
    """The report of an open results file, by a metric or by that of its scenario."""
    scenario = store.scenario
    name = metric or scenario["metric"]
    metric_named(name)
    cells = [_cell(store, index, scenario["points"][index], name) for index in store.cells()]
    failures = tuple(f"{f.key}: {f.error}" for f in store.failures())
    moves = curves.optimum_moves(store)
    return Report(scenario, name, moves, tuple(cells), failures, store.digest())


def mean_and_error(values: Array, axis: int = 0) -> tuple[Array, Array]:
    """The mean over the trials along ``axis``, and its standard error (NaN for one trial)."""
    count = values.shape[axis]
    mean: Array = values.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan)
    error: Array = values.std(axis=axis, ddof=1) / np.sqrt(count)
    # Identical trials have no spread, but rounding of the mean would show one.
    return mean, np.where(np.ptp(values, axis=axis) == 0.0, 0.0, error)


def paired_test(a: Array, b: Array) -> tuple[float, float, float]:
    """The mean difference of two agents over the same trials, its standard error, and its p-value.

    The p-value is the two-sided one of Student's t test. For one trial it and the standard error
    are NaN; p is NaN too where all trials repeat the same environment instance, so that differences
    have no spread.
    """
    difference, se = (float(value) for value in mean_and_error(a - b))
    return difference, se, float(2.0 * stdtr(len(a) - 1, -abs(difference / (se or np.nan))))


def mean_ranks(table: Array) -> Array:
    """Mean rank of each agent, 1 for the smallest, averaged over ties: (n, trials) -> (n,).

    Unknown values (NaN) are last. Without trials the ranks are NaN.
    """
    if not table.shape[1]:
        return np.full(len(table), np.nan)
    table = np.where(np.isnan(table), np.inf, table)
    below = (table[None] < table[:, None]).sum(axis=1)
    ties = (table[None] == table[:, None]).sum(axis=1)
    return (below + 0.5 * (ties + 1)).mean(axis=1)


def _cell(store: Store, index: int, params: Plain, metric: str) -> CellReport:
    labels = store.labels(index)
    names = reported_metrics(metric)
    last = {
        k: {name: curves.curves_of(store, index, k, name)[:, -1] for name in names} for k in labels
    }
    finals = {k: dict(zip(store.trials(index, k), last[k][metric], strict=True)) for k in labels}

    def of(*labels: str) -> list[Array]:
        """The metric of agents, in the trials that all of them have run."""
        shared = sorted(set.intersection(*(set(finals[label]) for label in labels)))
        return [np.array([finals[label][i] for i in shared]) for label in labels]

    results = tuple(
        _agent(store, index, label, last[label], rank)
        for label, rank in zip(labels, mean_ranks(np.array(of(*labels))).tolist(), strict=True)
    )
    comparisons = tuple(
        AgentPair(*pair, len(values[0]), *paired_test(*values))
        for pair in itertools.combinations(labels, 2)
        if len((values := of(*pair))[0]) > 1
    )
    return CellReport(index, params, results, comparisons)


def _agent(
    store: Store, cell: int, label: str, values: dict[str, Array], rank: float
) -> AgentResult:
    found = {name: mean_and_error(each) for name, each in values.items()}
    rounds = np.maximum(curves.rounds_played(store, cell, label), 1.0)
    ask, tell, evaluate = (
        float((store.seconds(cell, label, n).sum(axis=1) / rounds).mean()) * 1e6
        for n in ("ask", "tell", "evaluate")
    )
    order, spent = (store.arrays(cell, label, n)[:, -1] for n in ("model_order", "evaluations"))
    return AgentResult(
        label=label,
        trials=len(next(iter(values.values()))),
        mean={name: float(mean) for name, (mean, _) in found.items()},
        se={name: float(se) for name, (_, se) in found.items()},
        rank=rank,
        microseconds=ask + tell,
        model_order=float(order.mean()),
        evaluations=float(spent.mean()),
        evaluating=evaluate,
    )
