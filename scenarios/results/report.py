"""The report of a study: means and standard errors, comparisons, and the paper's findings."""

import itertools
import json
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.special import stdtr

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.display import Displayed, html_table
from gpbandits_env.errors import optional
from gpbandits_env.scenarios.declare import as_json
from gpbandits_env.scenarios.findings import FINDINGS, CellResults, Check
from gpbandits_env.scenarios.findings.finding import Paired, mean_and_error, paired
from gpbandits_env.scenarios.metrics import metric_named, reported_metrics
from gpbandits_env.scenarios.results.curves import curves_of, optimum_moves
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
        microseconds: wall-clock time of ``ask`` and ``tell`` per round.
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
class PairedTest(Paired):
    """Two agents compared, with the two-sided p-value of Student's t test.

    It is NaN where differences have no spread: there is one trial, or all trials repeat the same
    environment instance.
    """

    p: float


@dataclass(frozen=True)
class Comparison:
    """Two agents of a cell compared by the scenario's metric, over the trials of both."""

    a: str
    b: str
    result: PairedTest


@dataclass(frozen=True)
class CellReport:
    """The results of one cell of the grid."""

    index: int
    params: Plain
    agents: tuple[AgentResult, ...]
    comparisons: tuple[Comparison, ...]
    findings: tuple[Check, ...]


@dataclass(frozen=True, repr=False)
class Report(Displayed):
    """The results of a study: its resolved scenario, its cells, and the trials that raised.

    Ranks and comparisons use ``metric``. ``optimum_moves`` says whether the functions change from
    round to round. ``digest`` is the SHA-256 of the results without times.
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
        return reported_metrics(self.metric, self.optimum_moves)

    def _facts(self) -> Plain:
        agents = dict.fromkeys(a.label for cell in self.cells for a in cell.agents)
        return {
            "scenario": self.scenario["id"],
            "agents": ", ".join(agents),
            "trials": max(a.trials for cell in self.cells for a in cell.agents),
            "horizon": self.scenario["horizon"],
            "cells": len(self.cells),
            "failures": len(self.failures) or None,
            "digest": self.digest[:16],
        }

    def _repr_html_(self) -> str:
        head = ["agent", *(name.replace("_", " ") for name in self.metrics)]
        tables = []
        for cell in self.cells:
            rows = [[a.label, *map(a.words, self.metrics)] for a in cell.agents]
            title = f"{self.scenario['id']} {words(cell.params)}"
            tables.append(html_table(head, rows, title.strip()))
        return "".join(tables)

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
        found: Plain = json.loads(as_json(asdict(self)), parse_constant=lambda _: None)
        return found


def report(store: Store, metric: str | None = None) -> Report:
    """The report of an open results file, by a metric or by that of its scenario."""
    scenario = store.scenario
    name = metric or scenario["metric"]
    metric_named(name)
    cells = [_cell(store, index, scenario["points"][index], name) for index in store.cells()]
    failures = tuple(f"{f.key}: {f.error}" for f in store.failures())
    moves = optimum_moves(store)
    return Report(scenario, name, moves, tuple(cells), failures, store.digest())


def paired_test(a: Array, b: Array) -> PairedTest:
    """Compare two agents trial by trial; see `paired`."""
    found = paired(a, b)
    t = found.difference / (found.se or np.nan)
    return PairedTest(**asdict(found), p=float(2.0 * stdtr(found.trials - 1, -abs(t))))


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


def final(store: Store, cell: int, metric: str) -> dict[str, dict[int, float]]:
    """A metric at the last round: agent -> trial -> value."""
    found = {}
    for label in store.labels(cell):
        last = curves_of(store, cell, label, metric)[:, -1]
        found[label] = dict(zip(store.trials(cell, label), last.tolist(), strict=True))
    return found


def _cell(store: Store, index: int, params: Plain, metric: str) -> CellReport:
    cell = StoredCell(store, index)
    names = reported_metrics(metric)
    shared = cell.final(metric, cell.labels)
    ranks = mean_ranks(np.array(list(shared.values())))
    results = tuple(
        _agent(store, index, label, {name: cell.finals(name)[label] for name in names}, rank)
        for label, rank in zip(shared, ranks.tolist(), strict=True)
    )
    comparisons = tuple(
        Comparison(*pair, paired_test(*cell.final(metric, pair).values()))
        for pair in itertools.combinations(cell.labels, 2)
        if len(cell.common(pair)) > 1
    )
    checks = tuple(FINDINGS.from_dict(spec).look(cell) for spec in store.scenario["findings"])
    return CellReport(index, params, results, comparisons, checks)


class StoredCell(CellResults):
    """What findings read from one cell of a results file: `findings.CellResults`."""

    def __init__(self, store: Store, cell: int) -> None:
        self.store, self.cell = store, cell
        self.finals = cache(partial(final, store, cell))
        """A metric at the last round: agent -> trial -> value."""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.store.labels(self.cell))

    def common(self, labels: tuple[str, ...]) -> list[int]:
        """The trials that all of the agents have run."""
        run = [set(self.store.trials(self.cell, label)) for label in labels]
        return sorted(set.intersection(*run))

    def size(self, labels: tuple[str, ...]) -> tuple[int, int]:
        rounds = self.store.arrays(self.cell, labels[0], "optimum").shape[1]
        return len(self.common(labels)), rounds

    def final(self, metric: str, labels: tuple[str, ...]) -> dict[str, Array]:
        values, common = self.finals(metric), self.common(labels)
        return {label: np.array([values[label][trial] for trial in common]) for label in labels}

    def regret(self, labels: tuple[str, ...]) -> dict[str, Array]:
        common, found = self.common(labels), {}
        for label in labels:
            kept = np.isin(self.store.trials(self.cell, label), common)
            found[label] = self.store.arrays(self.cell, label, "regret").sum(axis=2)[kept]
        return found

    def model_order(self, label: str) -> Array:
        return self.store.arrays(self.cell, label, "model_order").mean(axis=0)

    def seconds(self, label: str) -> Array:
        ask, tell = (self.store.seconds(self.cell, label, name) for name in ("ask", "tell"))
        return ask + tell

    def evaluations(self, label: str) -> Array:
        return self.store.arrays(self.cell, label, "evaluations").astype(np.float64)


def _agent(
    store: Store, cell: int, label: str, values: dict[str, dict[int, float]], rank: float
) -> AgentResult:
    found = {n: mean_and_error(np.array(list(by_trial.values()))) for n, by_trial in values.items()}
    ask, tell, evaluate = (store.seconds(cell, label, n) for n in ("ask", "tell", "evaluate"))
    order, spent = (store.arrays(cell, label, n)[:, -1] for n in ("model_order", "evaluations"))
    return AgentResult(
        label=label,
        trials=len(next(iter(values.values()))),
        mean={name: float(mean) for name, (mean, _) in found.items()},
        se={name: float(se) for name, (_, se) in found.items()},
        rank=rank,
        microseconds=float((ask + tell).mean()) * 1e6,
        model_order=float(order.mean()),
        evaluations=float(spent.mean()),
        evaluating=float(evaluate.mean()) * 1e6,
    )
