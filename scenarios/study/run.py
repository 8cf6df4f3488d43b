"""Runs a study: plans the missing trials, runs them, and stores their results."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpbandits_env.arrays import Plain, Settings, whole
from gpbandits_env.display import Displayed, progress_bar
from gpbandits_env.errors import ClusterLost, InvalidInput, StoreError, shown
from gpbandits_env.gp.threads import blas_threads, one_blas_thread
from gpbandits_env.problem import Problem
from gpbandits_env.scenarios.bounds import BOUNDS
from gpbandits_env.scenarios.declare import first_difference
from gpbandits_env.scenarios.results.export import to_dataframe
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey
from gpbandits_env.scenarios.results.references import machine, versions
from gpbandits_env.scenarios.results.report import Report
from gpbandits_env.scenarios.results.report import report as summarize
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import IDENTITY, Cell, Scenario
from gpbandits_env.scenarios.study import engines, runner
from gpbandits_env.scenarios.study.pool import Pool, results
from gpbandits_env.scenarios.study.rehearsal import changed, rehearse, resolved


@dataclass(frozen=True, repr=False)
class Outcome(Displayed):
    """The outcome of a run: how many of the requested trials are stored, and the failures.

    A trial is one agent in one environment instance. ``interrupted``: whether Ctrl-C ended the run.
    """

    path: Path
    done: int
    total: int
    failures: tuple[TrialFailure, ...]
    interrupted: bool

    def _facts(self) -> Plain:
        return {
            "path": self.path,
            "trials": f"{self.done} of {self.total}",
            "failures": "; ".join(f"{f.key}: {f.error}" for f in self.failures[:3]) or None,
            "interrupted": self.interrupted or None,
        }

    def __str__(self) -> str:
        """The facts, and the tables of the report if there are trials."""
        return f"{self!r}\n{self.report()}" if self.done else repr(self)

    def report(self, metric: str | None = None) -> Report:
        """The report of the study; see `results.report.report`."""
        with Store.open(self.path) as store:
            return summarize(store, metric)

    def to_dataframe(self) -> Any:
        """All rounds as a pandas `DataFrame`; see `results.export.to_dataframe`."""
        with Store.open(self.path) as store:
            return to_dataframe(store)


def run_study(
    scenario: Scenario,
    path: str | Path,
    *,
    jobs: int | None = None,
    engine: engines.Engine = engines.LOCAL,
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
    pool: Pool | None = None,
) -> Outcome:
    """Run the trials that a results file does not contain yet, and store them there.

    More trials and more agents can be added to an existing file. Unless a clock measures
    the agents' thinking, the results do not depend on ``jobs``, the engine, or how often the run
    was interrupted.

    Args:
        scenario: the scenario to run.
        path: the results file, which is resumed if it exists.
        jobs: the number of worker processes; None for one per processor.
        engine: where trials run: this machine, or a Dask or Ray cluster.
        seed: the base seed of all streams.
        fresh: whether to start again, and delete an existing results file.
        progress: whether to show a progress bar on stderr.
        pool: open workers (`engines.opened`), which several studies share.
    Raises:
        StoreError: the file contains another study, or cannot be read or written.
        ClusterLost: the connection to the cluster is lost; finished trials are kept.
        InvalidInput, UnknownName, MissingData: the scenario cannot be run; no trial was run.
    """
    if not isinstance(scenario, Scenario):
        raise InvalidInput(
            f"a study runs a Scenario, such as get('srinivas2010/se-1d'), got {shown(scenario)}"
        )
    jobs = engines.workers(jobs)
    whole(seed, "seed", 0, None)
    cells = scenario.cells()
    runner.forget_environments()
    rehearsed = (rehearse(cell, scenario.bounds) for cell in cells)
    problems, described = map(list, zip(*rehearsed, strict=True))
    if jobs > 1 or engine != engines.LOCAL:
        runner.check_sendable(cells)
    meta = {
        "scenario": resolved(scenario, seed),
        "versions": versions(),
        "machine": machine(),
        "problems": described,
        "kernels": [str(problem.kernel) for problem in problems],
    }
    with (  # a cluster that does not answer leaves the file as it is
        nullcontext(pool) if pool else engines.opened(jobs, engine) as workers,
        _open(Path(path), meta, fresh) as store,
    ):
        with store.transaction():  # so that of two runs that add agents none loses its own
            _merge(store, meta)
        _keep_bounds(store, scenario, cells, problems)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        session = {"jobs": jobs, "blas_threads": blas_threads()}
        store.add_session(now, session | {"versions": versions(), "machine": machine()})
        tasks = plan(cells, scenario.trials, seed)
        wanted, present = {task.key for task in tasks}, store.done()
        left = [task for task in tasks if task.key not in present]
        try:
            interrupted = _run(store, left, len(wanted), progress, workers)
        except ClusterLost as error:
            kept = f"{len(store.done() & wanted)} of {len(wanted)} trials are kept in {store.path}"
            raise ClusterLost(f"{error}. {kept}; the same command resumes from there") from error
        done = len(store.done() & wanted)
        return Outcome(store.path, done, len(wanted), tuple(store.failures()), interrupted)


def plan(cells: Sequence[Cell], trials: int, seed: int) -> list[runner.PlannedTrial]:
    """Every trial, in declared order: cells, then environment instances, then agents."""
    tasks = []
    for cell in cells:
        sent = runner.of_main(cell)
        for trial in range(trials):
            keys = [TrialKey(cell.index, entry.label, trial) for entry in cell.scenario.agents]
            tasks += [
                runner.PlannedTrial(cell, key, seed, tuple(runner.FOLDERS), sent) for key in keys
            ]
    return tasks


def _open(path: Path, meta: Settings, fresh: bool) -> Store:
    if fresh and not _absent(path):
        Store.remove(path)
    if _absent(path):
        try:
            Store.create(path, meta).close()
        except StoreError:  # another run may have created it in the meantime
            if _absent(path):
                raise
    return Store.open(path, write=True)


def _absent(path: Path) -> bool:
    # Not `Path.exists`, which raises for a name that is too long.
    return not os.path.exists(path) or Store.is_empty(path)


def _merge(store: Store, meta: Settings) -> None:
    """Check that the file contains the same study, and extend it to what is requested now."""
    for difference in _differences(store, meta):
        raise StoreError(
            f"{store.path} contains another study: {difference}; use another --out to keep it, "
            "or --fresh to replace it (in Python: another path, or fresh=True)"
        )
    old, new = store.scenario, meta["scenario"]
    wider = {"agents": old["agents"] | new["agents"], "trials": max(old["trials"], new["trials"])}
    merged = new | wider
    if merged != old:
        store.set_meta({"scenario": merged})


def _differences(store: Store, meta: Settings) -> Iterator[str]:
    """How the study of a file differs from a new one, in words."""
    old, new = store.scenario, meta["scenario"]
    for key in IDENTITY:
        if old.get(key) != new.get(key):
            name = "grid" if key == "points" else key
            yield "its {} is {}, requested is {}".format(
                *first_difference(name, old.get(key), new.get(key))
            )
    for label in old["agents"].keys() & new["agents"].keys():
        a, b = ({**s["agents"][label], "note": ""} for s in (old, new))
        if a != b:
            where, kept, asked = first_difference(f"agents.{label}", a, b)
            yield f"its {where} is {kept}, requested is {asked}, which needs another label"
    name = "gpbandits-env"
    before, now = store.meta("versions").get(name), meta["versions"][name]
    if before != now:
        yield f"it has version {before} of {name}, and this run has {now}"
    if changed(store.meta("problems"), meta["problems"]):
        yield "its environment's data or defaults were different"


@one_blas_thread()
def _keep_bounds(
    store: Store, scenario: Scenario, cells: Sequence[Cell], problems: Sequence[Problem]
) -> None:
    for cell, problem in zip(cells, problems, strict=True):
        known = store.bounds(cell.index)
        missing = [b for b in map(BOUNDS.from_dict, scenario.bounds) if b.title not in known]
        horizon = cell.scenario.horizon
        curves = {b.title: (b.metric, b.curve(problem, horizon)) for b in missing}
        store.add_bounds(cell.index, curves)


def _run(
    store: Store, tasks: Sequence[runner.PlannedTrial], total: int, progress: bool, pool: Pool
) -> bool:
    """Run the tasks and store each; return True if Ctrl-C ended the run."""
    title = tasks[0].cell.scenario.id if tasks else "all done"
    done = total - len(tasks)
    bar = progress_bar(total=total, initial=done, unit="trial", desc=title, disable=not progress)
    try:
        with bar, closing(results(tasks, pool)) as stream:
            for records in stream:
                store.add(records)
                bar.update(len(records))
    except KeyboardInterrupt:
        return True
    return False
