"""Our results compared with a paper's table: means, deviations and ranks, problem by problem."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.papers.published import TABLES, Published
from gpbandits_env.scenarios.results.report import StoredCell
from gpbandits_env.scenarios.results.store import Store


@dataclass(frozen=True)
class Row:
    """One problem: the paper's figures, and for each agent our results (trials,) at the last round.

    The trials of all agents are in one order.
    """

    problem: str
    runs: Mapping[str, Array]
    published: Published

    @property
    def ours(self) -> Published:
        """Our figures; the deviation of one trial is 0."""
        return Published(
            {label: float(v.mean()) for label, v in self.runs.items()},
            {label: float(v.std(ddof=min(1, len(v) - 1))) for label, v in self.runs.items()},
        )


def gather(paths: Sequence[str | Path]) -> list[Row]:
    """The rows of some results files that belong to a paper's table."""
    rows = []
    for path in paths:
        with Store.open(path) as store:
            id = store.scenario["id"]
            paper, _, name = id.partition("/")
            if name not in TABLES.get(paper, {}):
                raise InvalidInput(
                    f"{path}: there is no published table for {id!r} (papers with one: "
                    f"{', '.join(TABLES)})"
                )
            published, cell = TABLES[paper][name], StoredCell(store, 0)
            agents = tuple(label for label in published.means if label in cell.labels)
            if not agents or not cell.size(agents)[0]:
                raise InvalidInput(f"{path}: no trial is finished by all of the table's agents")
            rows.append(Row(name, cell.final("simple_regret", agents), published))
    return rows


def lines(rows: Sequence[Row]) -> list[list[str]]:
    """The table as words: a head, then two lines per problem, ours and the paper's.

    Each entry is mean (standard deviation) [rank].
    """
    agents = list(dict.fromkeys(label for row in rows for label in row.runs))
    table = [["problem", "", "runs", *agents]]
    for row in rows:
        trials = len(next(iter(row.runs.values())))
        ours, theirs = ([_entry(f, a) for a in agents] for f in (row.ours, row.published))
        table += [[row.problem, "ours", str(trials), *ours], ["", "paper", "", *theirs]]
    return table


def _entry(figures: Published, agent: str) -> str:
    if agent not in figures.means:
        return ""
    return f"{figures.means[agent]:.2g} ({figures.deviations[agent]:.2g}) [{figures.rank(agent)}]"
