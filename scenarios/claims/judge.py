"""The verdicts on the claims of a paper, in its main reading and in every other one.

A check compares the kept values of trials (`results.evidence`) or of a computation by a yardstick.
It falls into parts: one for each scenario, cell and agent, or pair of agents. The rule of the paper
combines the parts into a verdict. docs/claims.md states all rules.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.display import counted
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.claims import yardsticks
from gpbandits_env.scenarios.claims.claim import Check, Claim, Reading, Rule
from gpbandits_env.scenarios.claims.yardsticks import FAILS, HOLDS, OUTCOMES, PART, UNDECIDED
from gpbandits_env.scenarios.results.evidence import Evidence, by_unit, load, reading
from gpbandits_env.scenarios.scenario import words

VERDICTS = ("holds", "in part", "does not hold", "cannot be judged")


@dataclass(frozen=True)
class CheckPart:
    """One part of a check: what was compared, the outcome, the numbers, and the number of units.

    ``cell`` is the scenario and the cell of its grid; a computation has none.
    """

    what: str
    outcome: str = UNDECIDED
    numbers: dict[str, float] = field(default_factory=dict)
    units: int = 0
    cell: str = ""

    def __str__(self) -> str:
        """The numbers, an interval in brackets, and the number of units; empty if not run."""
        of = {name: f"{value:.3g}" for name, value in self.numbers.items()}
        ends = [of.pop(name) for name in ("low", "high") if name in of]
        if "b" in of:
            of = {"means": f"{of.pop('a')} and {of.pop('b')}"} | of
        words = [f"{'mean' if name == 'a' else name} {value}" for name, value in of.items()]
        interval = f" ({' to '.join(ends)})" if ends else ""
        said = ", ".join(words) or ("one value" if self.units == 1 else "not in every unit a value")
        return f"{said}{interval}; {counted(self.units, 'unit')}" if self.units else ""


@dataclass(frozen=True)
class Judged:
    """A check with its parts, and the outcomes that count: one, or one for each part."""

    check: Check
    parts: tuple[CheckPart, ...]
    outcomes: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """How its parts count towards the verdict, where they do not count one by one."""
        said = {
            "reported, not counted": self.check.reported,
            "a failure limits the verdict to in part": self.check.only_limits,
            f"all parts make one: {self.outcomes[0]}": self.check.parts == "one",
            f"makes one part of each cell with the others on {self.check.together!r}": bool(
                self.check.together
            ),
        }
        return tuple(note for note, is_so in said.items() if is_so)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim in one reading."""

    verdict: str
    checks: tuple[Judged, ...]


Loader = Callable[[str], Evidence | None]


def judge(claim: Claim, reading: Reading | None = None, evidence: Loader = load) -> Verdict | None:
    """The verdict on a claim; None if the reading does not concern it or was not run for it."""
    checks = claim.check
    if reading is not None:
        checks = tuple(reading.applied(check) for check in checks)
        if checks == claim.check or not_run(reading, claim, evidence):
            return None
    judged = tuple(_judged(check, evidence) for check in checks)
    new = [j for j, old in zip(judged, claim.check, strict=True) if j.check != old]
    if reading is not None and not any(part.units for j in new for part in j.parts):
        return None
    return Verdict(combined(claim, judged, claim.id.partition("/")[0]), judged)


def not_run(reading: Reading, claim: Claim, evidence: Loader = load) -> list[str]:
    """Scenarios and computations without values by which a reading replaces those of a claim."""
    own = {id for check in claim.check for id in check.scenario}
    new = {reading.scenarios[id] for id in own if id in reading.scenarios}
    computed = {reading.computed.get(check.computed, "") for check in claim.check} - {""}
    absent = [id for id in computed if not _kept(id).is_file()]
    return sorted([*absent, *(id for id in new if evidence(id) is None)])


def robust(main: Verdict, others: Mapping[str, Verdict]) -> str:
    """Whether all readings give the same verdict, or the readings on which it depends.

    A reading in which a claim cannot be judged says nothing. A claim that cannot be judged in the
    main reading is not robust: what the others say is told.
    """
    said = {name: o.verdict for name, o in others.items() if o.verdict != VERDICTS[3]}
    if main.verdict == VERDICTS[3]:
        return ", ".join(f"{verdict} under {name}" for name, verdict in said.items()) or "-"
    if not said:
        return "one reading"
    differ = [name for name, verdict in said.items() if verdict != main.verdict]
    return f"depends on: {', '.join(differ)}" if differ else "robust"


def counts(found: Sequence[tuple[Verdict, Mapping[str, Verdict]]]) -> list[int]:
    """How many claims there are, how many have each verdict, and how many are robust.

    ``found`` has the verdicts on each claim, in the main reading and in the others.
    """
    of = Counter(main.verdict for main, _ in found)
    steady = sum(robust(*each) == "robust" for each in found)
    return [len(found), *(of[verdict] for verdict in VERDICTS), steady]


def _judged(check: Check, evidence: Loader) -> Judged:
    parts = tuple(_parts(check, evidence)) or (CheckPart("not run"),)
    outcomes = tuple(part.outcome for part in parts)
    if check.parts == "one":
        outcomes = (_one(Counter(outcomes), check.rule),)
    return Judged(check, parts, outcomes)


def _parts(check: Check, evidence: Loader) -> Iterator[CheckPart]:
    if check.computed:
        yield from _computed(check)
        return
    for id in check.scenario:
        found = evidence(id)
        # A scenario that was not run has as many undecided parts as a run would have.
        points = found.points if found else registry.get(id).points()
        for cell, point in enumerate(points):
            if check.cells and not any(wanted.items() <= point.items() for wanted in check.cells):
                continue
            where = ", ".join(filter(None, (id, words(point))))
            for a, others in _compared(check.yardstick, check.a, check.b):
                what = f"{' against '.join(filter(None, (a, ', '.join(others))))} ({where})"
                part = CheckPart(f"{what}: not run")
                part = _part(check, found, cell, a, others, what) if found else part
                yield replace(part, cell=where)


def _compared(
    yardstick: str, these: Sequence[str], those: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each agent or array with those that one part compares it with."""
    if yardstick == "best":
        yield from ((a, tuple(b for b in those if b != a)) for a in these)
    elif those:
        # A reading may replace an agent by the one with which it is compared.
        yield from ((a, (b,)) for a, b in itertools.product(these, those) if a != b)
    else:
        yield from ((a, ()) for a in these)


def _part(
    check: Check, found: Evidence, cell: int, a: str, others: tuple[str, ...], what: str
) -> CheckPart:
    try:
        values = {k: found.curve(cell, k, check.metric)[: check.trials] for k in (a, *others)}
    except KeyError as missing:  # an agent, or what a claim measures of it
        _, label, quantity = missing.args[0]
        return CheckPart(f"{what}: not run: {label}, {quantity}")
    shared = min(map(len, values.values()))  # own results may have more trials of some agents
    of: IntArray = found.units.get(cell, np.arange(shared))[:shared]
    curves = {k: by_unit(v[:shared], of) for k, v in values.items()}
    units = len(curves[a])
    if check.yardstick == "slope":
        kept = found.rounds >= check.since * found.rounds[-1]
        rounds = found.rounds[kept].astype(np.float64)
        outcome, numbers = yardsticks.slope(curves[a][:, kept], rounds, check)
        return CheckPart(what, outcome, numbers, units)
    outcomes, numbers = [], {}
    for fraction in check.at if curves[a].ndim == 2 else (1.0,):
        at = {k: v[:, _index(found, fraction)] if v.ndim == 2 else v for k, v in curves.items()}
        outcome, numbers = _by(check, at.pop(a), at, a)
        outcomes.append(outcome)
    *before, last = outcomes
    if last == HOLDS and before and HOLDS not in before:  # a claim about several rounds
        last = PART
    return CheckPart(what, last, numbers, units)


def _index(found: Evidence, fraction: float) -> int:
    wanted = math.ceil(fraction * int(found.rounds[-1]))
    index = int(np.searchsorted(found.rounds, wanted))
    if found.rounds[index] != wanted:
        raise InvalidInput(f"round {wanted} is not kept; kept are {found.rounds.tolist()}")
    return index


def _by(check: Check, a: Array, others: Mapping[str, Array], label: str) -> yardsticks.Judged:
    """Apply a yardstick to values by unit, (units,) for each agent."""
    name, (b, *_) = check.yardstick, (*others.values(), None)
    if name != "limit" and (len(a) < 2 or any(np.isnan(v).any() for v in (a, *others.values()))):
        return UNDECIDED, {}
    if name == "best":
        return yardsticks.best(a, others, check)
    if name == "published":
        value = check.value
        if isinstance(value, dict):
            value = value[one_of(label, value, "published value of an agent")]
        return yardsticks.published(a, value, check)
    if name in yardsticks.PAIRS and b is not None:
        return yardsticks.PAIRS[name](a, b, check)
    return yardsticks.SINGLE[name](a if b is None else a - b, check)


def _kept(computed: str) -> Traversable:
    """The file of a computation, "PAPER/NAME"."""
    group, _, short = computed.partition("/")
    return files("gpbandits_env.scenarios").joinpath(f"reference/{group}/computed/{short}.npz")


def _computed(check: Check) -> Iterator[CheckPart]:
    file = _kept(check.computed)
    if not file.is_file():
        # What a pattern matches is not known.
        for a, rivals in _compared(check.yardstick, check.a, check.b):
            what = " against ".join((a, *rivals))
            yield CheckPart(f"{what} ({check.computed}): not run, and counts as one part")
        return
    cure = f"'python -m tools.claims {check.computed}' makes it anew"
    with reading(file, "a computation", cure) as (found, _):
        values = found["values"].items()
        arrays = {name: np.atleast_1d(np.asarray(value, float)) for name, value in values}

    def matching(patterns: Sequence[str]) -> list[str]:
        return [n for p in patterns for n in arrays if fnmatchcase(n, p)]

    for a, rivals in _compared(check.yardstick, matching(check.a), matching(check.b)):
        values = arrays[a]
        if check.yardstick == "slope":
            judged = yardsticks.slope(np.atleast_2d(values), arrays[check.x], check)
        else:
            judged = _by(check, values, {b: arrays[b] for b in rivals}, a)
        what = a if check.yardstick == "best" else " against ".join((a, *rivals))
        yield CheckPart(what, *judged, len(values))


# -- How parts combine ----------------------------------------------------------------------------


def combined(claim: Claim, judged: Sequence[Judged], paper: str) -> str:
    """The verdict on a claim from its checks, by its own rule or else by that of a paper."""
    counting = [j for j in judged if not j.check.reported and not j.check.only_limits]
    outcomes, outcome = counted_outcomes(claim, counting), UNDECIDED
    if outcomes.total():
        outcome = _one(outcomes, claim.rule) if claim.rule else by_paper(paper, outcomes)
    limited = any(FAILS in j.outcomes for j in judged if j.check.only_limits)
    return VERDICTS[OUTCOMES.index(PART if limited and outcome == HOLDS else outcome)]


def counted_outcomes(claim: Claim, judged: Sequence[Judged]) -> Counter[str]:
    """How many outcomes of each kind checks have; those that count together have one a cell."""
    found, joint = Counter({UNDECIDED: claim.not_run}), dict[tuple[str, str], set[str]]()
    for j in judged:
        if not j.check.together:
            found.update(j.outcomes)
            continue
        cells = [part.cell for part in j.parts] if j.check.parts == "each" else [""]
        for cell, outcome in zip(cells, j.outcomes, strict=True):
            joint.setdefault((j.check.together, cell), set()).add(outcome)
    worst = (FAILS, UNDECIDED, PART, HOLDS)
    found.update(next(o for o in worst if o in outcomes) for outcomes in joint.values())
    return found


def _one(found: Counter[str], rule: Rule) -> str:
    total = found.total()
    if found[HOLDS] >= rule["holds"] * total:
        return HOLDS
    if found[FAILS] >= rule["fails"] * total:
        return FAILS
    return UNDECIDED if found[UNDECIDED] > total / 2 else PART


def by_paper(paper: str, found: Counter[str]) -> str:
    """The outcome of a claim: the first that is so by the rule of its paper's main reading."""
    n, (holds, part, fails, undecided) = found.total(), (found[each] for each in OUTCOMES)
    rules = {
        "bedi2022": ((HOLDS, holds == n), (PART, 2 * holds >= n), (FAILS, 2 * fails > n)),
        "tranthe2020": (
            *((HOLDS, holds >= 0.9 * n and not fails), (FAILS, 2 * fails >= n)),
            *((UNDECIDED, 2 * undecided > n), (PART, True)),
        ),
        "ren2024": (
            *((UNDECIDED, 2 * undecided > n), (FAILS, fails >= max(holds, 1))),
            *((HOLDS, holds == n), (PART, True)),
        ),
    }
    failed = bool(fails) and not holds and not part
    usual = ((UNDECIDED, undecided == n), (HOLDS, holds == n), (FAILS, failed), (PART, True))
    return next((outcome for outcome, is_so in rules.get(paper, usual) if is_so), UNDECIDED)
