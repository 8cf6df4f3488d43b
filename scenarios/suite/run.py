"""Runs a suite for one agent, and reruns a sample of the archive."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.registry import agent_class
from gpbandits_env.arrays import Plain, Settings, whole
from gpbandits_env.display import Displayed, counted
from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.files import writing
from gpbandits_env.scenarios.results.records import TrialFailure, TrialKey
from gpbandits_env.scenarios.results.references import machine
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario, label_of
from gpbandits_env.scenarios.study.engines import LOCAL, Engine, opened, workers
from gpbandits_env.scenarios.study.rehearsal import resolved
from gpbandits_env.scenarios.study.run import run_study
from gpbandits_env.scenarios.study.runner import PlannedTrial, run_tasks, run_trial
from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.archive import archived, current, digest, refusal, row_of
from gpbandits_env.scenarios.suite.card import Card, card
from gpbandits_env.scenarios.suite.rows import FILE, Field, Row, load, save
from gpbandits_env.scenarios.suite.suites import settings_hash

# How a rerun compares with the archive.
SAME, ROUNDED, DIFFERENT = "same bits", "same to rounding", "different"
# Kept values have 11 significant bits.
TOLERANCE = 2.0**-10


@dataclass(frozen=True, repr=False)
class SuiteOutcome(Displayed):
    """The outcome of a suite's run.

    Attributes:
        suite: the suite.
        label: the newcomer's label in the rows and on the card.
        folder: the folder of the results files, one per problem, and of the rows.
        rows: the newcomer's rows, and those of the agents that were run beside it.
        refused: the problems that it cannot play, with the reason.
        failures: the problems with trials that raised, with these.
        interrupted: whether Ctrl-C ended the run.
    """

    suite: str
    label: str
    folder: Path
    rows: Field
    refused: Mapping[str, str]
    failures: Mapping[str, tuple[TrialFailure, ...]]
    interrupted: bool

    def _facts(self) -> Plain:
        return {
            "suite": self.suite,
            "agent": self.label,
            "problems": len([agent for agent, _ in self.rows if agent == self.label]),
            "folder": self.folder,
            "refused": ", ".join(self.refused) or None,
            "failures": "; ".join(f"{k}: {f[0].error}" for k, f in self.failures.items()) or None,
            "interrupted": self.interrupted or None,
        }

    @property
    def field(self) -> Field:
        """The rows of the archive and those of the newcomer, over the same trials.

        On other instances than the archive's, these are the rows of the run alone.
        """
        problems = suites.problems(self.suite)
        own = {id: row for (_, id), row in self.rows.items()}
        if any(row.frozen != suites.frozen(problems[id]) for id, row in own.items()):
            return self.rows
        known = archived(self.suite).items()
        kept = {key: row.first(own[key[1]].trials) for key, row in known if key[1] in own}
        return kept | dict(self.rows)

    def card(self, *notes: str) -> Card:
        """How the newcomer compares with every agent of `field`, with notes of one's own.

        Raises:
            InvalidInput: it has finished no trial.
        """
        asked = {id: problem.tags for id, problem in suites.problems(self.suite).items()}
        left = [f"left out {id}: {why}" for id, why in self.refused.items()]
        own = {id for agent, id in self.rows if agent == self.label}
        if absent := asked.keys() - own - self.refused.keys() - self.failures.keys():
            left.append(f"not run: {counted(len(absent), 'problem')} of {self.suite}")
        failed = [f"{counted(len(f), 'trial')} of {id}" for id, f in self.failures.items()]
        before = "only the trials before the first failure of a problem count"
        said = f"{', '.join(failed)} failed: {before}" if failed else ""
        if not own:
            raise InvalidInput(f"no card of {self.label}: {said or 'no trial is finished'}")
        found = card(self.field, self.label, asked, notes=left, failed=said)
        return replace(found, notes=(*notes, *found.notes))


def run_suite(
    suite: str,
    agent: str | type[Agent] | AgentEntry,
    settings: Settings | None = None,
    *,
    problems: Sequence[str] | None = None,
    trials: int | None = None,
    rivals: Sequence[AgentEntry] = (),
    seed: int = 0,
    jobs: int | None = None,
    engine: Engine = LOCAL,
    folder: str | Path | None = None,
    fresh: bool = False,
) -> SuiteOutcome:
    """Run one agent on the problems of a suite; the others are in the archive.

    Problems that the agent refuses are left out. A trial that is stored is not run again, except
    for the first of each problem: if the agent does not repeat it, its code has changed.

    Args:
        suite: the name of the suite.
        agent: a registered name, "module:Class", a class, or an entry, which has a label of its
            own. The random numbers of an agent depend on its label.
        settings: its settings, the same on all problems; those of an entry are its own.
        problems: ids or names of problems; all by default.
        trials: only so many trials of each problem.
        rivals: agents that are run too.
        seed: the base seed; another one than 0 draws other instances than the archive's.
        jobs: worker processes; None for one per processor.
        engine: where trials run.
        folder: where results are kept; by default results/SUITE-LABEL, which ends in -seedN for
            another seed N, and in -part for a part of the problems or trials.
        fresh: whether to run all trials again, and replace those that are kept.
    Raises:
        InvalidInput: the agent cannot be imported, or refuses all problems; the message says why.
            Or the folder has the rows of an agent of another label.
        UnknownName: there is no such suite, problem, agent or setting.
        StoreError: the folder has the results of another agent of this label, or of other code.
    """
    entry = _entry(agent, settings)
    agent_class(entry.agent)
    end = (f"-seed{seed}" if seed else "") + ("-part" if problems or trials else "")
    where = _folder(f"{suite}-{entry.label}{end}", folder)
    rows: dict[tuple[str, str], Row] = {}
    refused: dict[str, str] = {}
    failures: dict[str, tuple[TrialFailure, ...]] = {}
    interrupted, jobs = False, workers(jobs)
    _rows_before(where, suite, entry, seed)  # which refuses those of another agent
    chosen = suites.chosen(suite, problems)
    most = max(problem.trials for problem in chosen.values())
    most = whole(most if trials is None else trials, "trials", maximum=most)
    if fresh:
        (where / FILE).unlink(missing_ok=True)
    with opened(jobs, engine) as pool:
        for id, problem in chosen.items():
            if why := refusal(problem, entry):
                refused[id] = why
                continue
            others = [r for r in rivals if r.label != entry.label and refusal(problem, r) is None]
            count = min(most, problem.trials)
            asked = replace(problem, agents=(entry, *others), trials=count)
            path = where / f"{id.partition('/')[2]}.sqlite"
            again = path.exists() and not (fresh or Store.is_empty(path)) and engine == LOCAL
            if again and (raised := _check_repeats(path, asked, entry, seed)):
                failures[id] = (raised,)
                continue
            given: Plain = {"jobs": jobs, "engine": engine, "pool": pool, "seed": seed}
            outcome = run_study(asked, path, fresh=fresh, **given)
            if outcome.failures:
                failures[id] = outcome.failures
            if outcome.done:
                kept = rows_of(path, problem, asked.agents, count, seed)
                rows |= {(row.agent, id): row for row in kept}
            if interrupted := outcome.interrupted:
                break
    if not rows and refused and not failures and not interrupted:
        raise InvalidInput(f"{entry.label} can play no problem of {suite}: {refused.popitem()[1]}")
    own = [row for (agent, _), row in rows.items() if agent == entry.label]
    now = {row.problem: row for row in own}
    with writing(where / FILE, "evidence", alone=True) as part:  # other runs may have added theirs
        before = _rows_before(where, suite, entry, seed)
        stay = {id: r for id, r in before.items() if id not in now or r.begins_with(now[id])}
        save(part, (now | stay).values())
    shown = entry.label
    if not seed and any(agent == shown for agent, _ in archived(suite)):
        shown += " (this run)"  # beside the archive's
        rows = {(shown, row.problem): replace(row, agent=shown) for row in own}
    return SuiteOutcome(suite, shown, where, rows, refused, failures, interrupted)


def _rows_before(where: Path, suite: str, entry: AgentEntry, seed: int) -> dict[str, Row]:
    """The rows of earlier runs of the same agent on the same instances in a folder, by problem."""
    kept, problems, settings = load(where / FILE), suites.problems(suite), settings_hash(entry)
    if others := {label for label, _ in kept} - {entry.label}:
        raise InvalidInput(
            f"{where} has the rows of {others.pop()!r}: give every agent a folder of its own, by "
            "another label or another --out"
        )
    now = {id: (settings, suites.frozen(problem, seed)) for id, problem in problems.items()}
    return {id: row for (_, id), row in kept.items() if (row.settings, row.frozen) == now.get(id)}


def _check_repeats(
    path: Path, asked: Scenario, entry: AgentEntry, seed: int
) -> TrialFailure | None:
    """Check that an agent repeats its first trial of a results file of this machine, or raises."""
    with Store.open(path) as store:
        before, done = store.scenario["agents"].get(entry.label), store.trials(0, entry.label)
        # `run_study` finds other settings.
        same = before == resolved(asked, seed)["agents"][entry.label]
        if not done or not same or store.meta("machine") != machine():
            return None
        kept = store.arrays(0, entry.label, "regret")[0]
    key = TrialKey(0, entry.label, done[0])
    (now,) = run_tasks([PlannedTrial(asked.cells()[0], key, seed)])
    if isinstance(now, TrialFailure):
        return now
    if not np.array_equal(now.rounds["regret"], kept):
        raise StoreError(
            f"{entry.label} does not repeat trial {done[0]} in {path}: its code has changed, or it "
            "draws random numbers that are not those of its rng; use another --out to keep the "
            "results, or --fresh to replace them"
        )
    return None


def _entry(agent: str | type[Agent] | AgentEntry, settings: Settings | None) -> AgentEntry:
    if isinstance(agent, AgentEntry):
        return agent
    name = f"{agent.__module__}:{agent.__qualname__}" if isinstance(agent, type) else agent
    return AgentEntry(label_of(str(name)), name, {} if settings is None else settings)


def _folder(name: str, folder: str | Path | None) -> Path:
    """Where results are kept, by default a folder of this name."""
    where = Path(folder or f"results/{name.replace('/', '-').replace(' ', '-')}")
    if where.is_file():
        raise InvalidInput(f"{where} is a file, and the results of a suite are kept in a folder")
    return where


def rows_of(
    path: Path, problem: Scenario, entries: Iterable[AgentEntry], trials: int, seed: int
) -> list[Row]:
    """The rows of the agents of a results file, up to the first trial that is missing."""
    found = []
    with Store.open(path) as store:
        for entry in entries:
            done = store.trials(0, entry.label)
            count = next((i for i in range(trials) if i >= len(done) or done[i] != i), trials)
            if count:
                ask, tell = (store.seconds(0, entry.label, part) for part in ("ask", "tell"))
                regret = store.arrays(0, entry.label, "regret")[:count]
                found.append(row_of(problem, entry, regret, (ask + tell)[:count], seed))
    return found


def rerun(row: Row, problem: Scenario, entry: AgentEntry, trial: int) -> str:
    """Run a trial of a row again: it is `SAME`, `ROUNDED` or `DIFFERENT`.

    Raises:
        StoreError: the row is of another problem, or of an agent with other settings.
    """
    if not current(row, problem, entry):
        raise StoreError(
            f"the row of {row.agent} on {row.problem} is of another agent, of other settings, or "
            "of another version of the problem: name the agent and the settings of the run, or "
            "make the row anew"
        )
    record = run_trial(replace(problem, agents=(entry,)), entry.label, trial)
    regret, seconds = record.rounds["regret"], record.seconds["ask"]
    if digest(regret) == int(row.digests[trial]):
        return SAME
    now = row_of(problem, entry, regret[None], seconds[None]).regret[0]
    close = np.allclose(now, row.regret[trial], rtol=TOLERANCE, atol=1e-9)
    return ROUNDED if close else DIFFERENT


def sampled(rows: Iterable[Row], count: int, seed: int | None = None) -> list[tuple[Row, int]]:
    """Trials at random, without repetition, each with its row."""
    trials = [(row, trial) for row in rows for trial in range(row.trials)]
    some = np.random.default_rng(seed).choice(len(trials), min(count, len(trials)), replace=False)
    return [trials[i] for i in some]
