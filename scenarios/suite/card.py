r"""The card of an agent: how it compares with every other agent of a field of rows.

The regret after the last round becomes a score that problems share: 0 is the mean of the oracle, or
of the best agent where there is no oracle, and 1 that of random. Scores say how much, and tests
whether: the newcomer and each rival are tested over the trials that both have run, in which they
face the same environment instances, by signed ranks within each problem
(`statistics.signed_rank`), with Holm's adjustment for the number of rivals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.display import Displayed, counted, html_table
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.scenarios.reporting.tables import aligned
from gpbandits_env.scenarios.results.statistics import (
    LIMITS,
    ORACLE,
    RANDOM,
    RESAMPLES,
    Interval,
    Ranking,
    Scale,
    Tested,
    interquartile_mean,
    interval,
    ranking,
    runtime_profile,
    sentence,
    share_below,
    tested,
)
from gpbandits_env.scenarios.suite.rows import Field, Row

# The pictures show agents that play at least this share of the newcomer's problems.
MOST = 0.75


@dataclass(frozen=True)
class Standing:
    """An agent in a field.

    Args:
        label: its label.
        problems: the number of problems that it plays.
        score: the interquartile mean of its scores over these, with a 95% bootstrap interval.
        seconds: the time per round, the geometric mean over these.
        tags: the interquartile mean over the problems of each tag that it plays.
    """

    label: str
    problems: int
    score: Interval
    seconds: float
    tags: dict[str, float]


@dataclass(frozen=True)
class Placed:
    """The newcomer on one problem: its mean score, its place among the agents, and the best one."""

    problem: str
    score: float
    place: int
    agents: int
    best: str


@dataclass(frozen=True, eq=False, repr=False)
class Card(Displayed):
    """How an agent compares with all others.

    Args:
        suite: the suite of the problems.
        version: the versions of this library that made the rows.
        newcomer: the agent.
        agents: every agent with rows on its problems, by their scores on these, the best first.
        tests: the newcomer against each rival, on the problems that both play.
        problems: the newcomer on each of its problems.
        tags: tag -> the newcomer's score on its problems, and their number.
        ranking: critical differences over problems that all its agents play; None for too few.
        profiles: (3, LIMITS) the share of trials of each agent in ``shown`` at or below each score,
            with its band.
        rounds: the rounds of runtime profiles.
        runtimes: the share of problem x trial x target that these reach in so many rounds.
        notes: what is absent, and what scores mean where something is absent.
        failed: which trials of the newcomer raised errors; a part of its sentence.
    """

    suite: str
    version: str
    newcomer: str
    agents: tuple[Standing, ...]
    tests: tuple[Tested, ...]
    problems: tuple[Placed, ...]
    tags: dict[str, tuple[Interval, int]]
    ranking: Ranking | None
    profiles: dict[str, Array]
    rounds: Array
    runtimes: dict[str, Array]
    notes: tuple[str, ...]
    failed: str = ""

    @property
    def sentence(self) -> str:
        """The sentence that can stand in a paper."""
        return f"{sentence(self.newcomer, self.tests)}{self.failed and f'; {self.failed}'}."

    @property
    def own(self) -> Standing:
        """The newcomer's standing."""
        return next(agent for agent in self.agents if agent.label == self.newcomer)

    @property
    def shown(self) -> list[str]:
        """The agents of pictures."""
        return list(self.profiles)

    @property
    def method(self) -> str:
        """The suite, the version, the trials, and how the numbers are computed."""
        trials = f"{self.suite}, gpbandits-env {self.version}".strip()
        kept = "Archived trials keep the version that ran them until their results change. "
        return (
            f"{trials}; {counted(len(self.problems), 'problem')}. {kept * (', ' in self.version)}"
            "Score: interquartile mean of the regret after the last round, 0 for the oracle (or "
            "the best agent) and 1 for random, lower is better, with the 95% interval of a "
            "bootstrap within each problem. Lower regret: by signed ranks of the paired trials "
            "within each problem, with Holm's adjustment for the number of rivals, at 5%; they "
            "count which of two trials is lower, so that a few bad trials can give the higher mean "
            "or score."
        )

    def _facts(self) -> Mapping[str, object]:
        return {"sentence": self.sentence, "score": self.own.score, "notes": len(self.notes)}

    def _repr_html_(self) -> str:
        head, rows = self.table()
        return html_table([self.newcomer, ""], [["", self.sentence]]) + html_table(head, rows)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of the table of all agents, the best score first."""
        of = {test.b: test for test in self.tests}
        rows = []
        for agent in self.agents:
            test = of.get(agent.label)
            said = ["", "", ""]
            if test is not None:
                verdict = {self.newcomer: "higher", "": "no difference"}.get(test.better, "lower")
                p = f"{test.p:.2g}" if test.p >= 0.001 else "< 0.001"
                said = [f"{test.effect:+.2f}", p, verdict]
            rows.append(
                [agent.label, str(agent.problems), str(agent.score), *said, duration(agent.seconds)]
            )
        against = f"regret vs. {self.newcomer}"
        return ["agent", "problems", "score", "effect", "p (Holm)", against, "per round"], rows

    def __str__(self) -> str:
        """The card for a terminal."""
        head, rows = self.table()
        return "\n".join(
            [
                self.sentence,
                f"Score {self.own.score}, {duration(self.own.seconds)} per round.",
                "",
                *aligned([head, *rows]),
                "",
                *aligned([["tag", "problems", "score"], *self.tag_rows()]),
                "",
                *aligned([["problem", "mean score", "place", "best agent"], *self.problem_rows()]),
                "",
                *([critical(self.ranking), ""] if self.ranking else []),
                self.method,
                *(f"note: {note}" for note in self.notes),
            ]
        )

    def tag_rows(self) -> list[list[str]]:
        """The rows of the table of tags."""
        return [[tag, str(count), str(score)] for tag, (score, count) in self.tags.items()]

    def problem_rows(self) -> list[list[str]]:
        """The rows of the table of problems."""
        return [
            [p.problem, f"{round(p.score, 3) + 0.0:.3f}", f"{p.place} of {p.agents}", p.best]
            for p in self.problems
        ]


def card(
    field: Field,
    newcomer: str,
    tags: Mapping[str, Sequence[str]] | None = None,
    *,
    notes: Sequence[str] = (),
    failed: str = "",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Card:
    """Compare an agent with all others of a field.

    Cost: two seconds for 40 agents on 25 problems.

    Args:
        field: the rows of all agents, the newcomer's among them.
        newcomer: its label.
        tags: problem -> its tags.
        notes: what else the card has to say.
        failed: which trials of the newcomer raised errors.
        resamples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
    Raises:
        UnknownName: the field has no row of the newcomer.
        InvalidInput: rows of one problem are of different problems or horizons.
    """
    by = by_agent(field)
    one_of(newcomer, by, "agent with rows")
    own = by[newcomer]
    _check(by, own)
    shared = {key: row for key, row in field.items() if key[1] in own}
    scales, rng = scales_of(shared, newcomer), np.random.default_rng(seed)
    agents = standings(shared, tags, newcomer, resamples=resamples, seed=seed)
    rivals = [a.label for a in agents if a.label not in (newcomer, ORACLE)]
    pairs = [(newcomer, rival, [*differences(own, by[rival]).values()]) for rival in rivals]
    scored = {k: scores_of(rows, scales) for k, rows in by_agent(shared).items()}
    scored = {label: found for label, found in scored.items() if found}
    shown = _shown(agents, newcomer) if newcomer in scored else []
    last = max((row.rounds[-1] for row in own.values()), default=1)
    rounds = np.unique(np.geomspace(1, last, 120).round())
    on_tag = {
        tag: [s for id, s in scored.get(newcomer, {}).items() if tag in (tags or {}).get(id, ())]
        for tag in dict.fromkeys(tag for found in (tags or {}).values() for tag in found)
    }
    rank = _ranked(scored, newcomer)
    return Card(
        ", ".join(dict.fromkeys(id.rpartition("/")[0] for id in own)),
        ", ".join(sorted({row.version for row in field.values()} - {""})),
        newcomer,
        agents,
        tested(pairs),
        tuple(_placed(scored, newcomer)),
        {
            tag: (interval(interquartile_mean, found, rng, resamples), len(found))
            for tag, found in on_tag.items()
            if found
        },
        rank,
        {
            label: share_below(list(scored[label].values()), LIMITS, rng, resamples)
            for label in shown
        },
        rounds,
        {label: runtime(by[label], scales, rounds) for label in shown},
        (*notes, *_notes(by, newcomer, scales, rank)),
        failed,
    )


def standings(
    field: Field,
    tags: Mapping[str, Sequence[str]] | None = None,
    newcomer: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Standing, ...]:
    """Every agent of a field with its score, the best first; see `scales_of` for the newcomer."""
    scales, found = scales_of(field, newcomer), []
    known = dict.fromkeys(tag for of in (tags or {}).values() for tag in of)
    for label, rows in by_agent(field).items():
        own = scores_of(rows, scales)
        # Each agent has its own stream, so that a new one changes no other interval.
        rng = np.random.default_rng(seed)
        by_tag = {tag: [s for id, s in own.items() if tag in (tags or {})[id]] for tag in known}
        score = Interval(np.nan, np.nan, np.nan)
        if own:
            score = interval(interquartile_mean, list(own.values()), rng, resamples)
        seconds = np.exp(np.mean([np.log(max(row.seconds, 1e-9)) for row in rows.values()]))
        means = {tag: _middle(values) for tag, values in by_tag.items() if values}
        found.append(Standing(label, len(rows), score, float(seconds), means))
    return tuple(sorted(found, key=lambda s: (np.isnan(s.score.value), s.score.value, s.label)))


def _middle(samples: Sequence[Array]) -> float:
    return float(interquartile_mean([s[None] for s in samples])[0])


def scales_of(field: Field, newcomer: str | None = None) -> dict[str, Scale]:
    """The scale of each problem on which random's regret is above the best agent's.

    The newcomer does not count, so that it changes no score of another agent.
    """
    found = {}
    for id in dict.fromkeys(problem for _, problem in field):
        means = {
            agent: float(row.regret[:, -1].mean())
            for (agent, problem), row in field.items()
            if problem == id and (agent != newcomer or agent in (RANDOM, ORACLE))
        }
        if (scale := Scale.of(means)).usable:
            found[id] = scale
    return found


def scores_of(rows: Mapping[str, Row], scales: Mapping[str, Scale]) -> dict[str, Array]:
    """The scores of every trial of an agent, by problem."""
    return {id: scales[id].scores(row.regret[:, -1]) for id, row in rows.items() if id in scales}


def runtime(rows: Mapping[str, Row], scales: Mapping[str, Scale], rounds: Array) -> Array:
    """The share of problem x trial x target that an agent has reached after each of some rounds.

    Problems have equal weights.

    Source: Hansen et al. (2022), "Anytime performance assessment in blackbox optimization
    benchmarking", with targets relative to the agents of the field.
    """
    shares = [
        runtime_profile(row.rounds, row.regret, scales[id].one, scales[id].best, rounds)
        for id, row in rows.items()
        if id in scales
    ]
    return np.asarray(np.mean(shares, axis=0))


def duration(seconds: float) -> str:
    """A duration in words: "13 us", "2.1 ms", "1.5 s"."""
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if (count := seconds * factor) < 1000.0:
            return f"{count:.2g} {unit}" if count < 99.5 else f"{count:.0f} {unit}"
    return f"{seconds:.3g} s"


def critical(found: Ranking) -> str:
    """The critical differences in words."""
    listed = ", ".join(
        f"{agent} {rank:.2f}" for agent, rank in zip(found.agents, found.ranks, strict=True)
    )
    groups = "; ".join(", ".join(group) for group in found.groups) or "none"
    return (
        f"Mean ranks over {counted(len(found.problems), 'problem')}: {listed}. Friedman's test: "
        f"p = {found.friedman:.2g}. Groups without a difference (Wilcoxon, Holm): {groups}."
    )


def _shown(agents: Sequence[Standing], newcomer: str) -> list[str]:
    """The newcomer, the three best others that play most of its problems, and random."""
    problems = next(a.problems for a in agents if a.label == newcomer)
    scored = [
        a.label for a in agents if a.problems >= MOST * problems and not np.isnan(a.score.value)
    ]
    best = [label for label in scored if label not in (newcomer, ORACLE, RANDOM)]
    return list(dict.fromkeys([newcomer, *best[:3], *([RANDOM] if RANDOM in scored else [])]))


def by_agent(field: Field) -> dict[str, dict[str, Row]]:
    """Agent -> problem -> its row."""
    found: dict[str, dict[str, Row]] = {}
    for (agent, problem), row in field.items():
        found.setdefault(agent, {})[problem] = row
    return found


def _check(by: Mapping[str, Mapping[str, Row]], own: Mapping[str, Row]) -> None:
    for label, rows in by.items():
        for id in (id for id in own if id in rows):
            row, mine = rows[id], own[id]
            if row.rounds[-1] != mine.rounds[-1] or row.frozen != mine.frozen:
                raise InvalidInput(
                    f"the rows of {mine.agent} and {label} on {id} are of different problems: run "
                    "both on the same version of the suite"
                )


def differences(own: Mapping[str, Row], other: Mapping[str, Row]) -> dict[str, Array]:
    """The other's regret minus one's own in the trials of each problem that both have run."""
    found = {}
    for id in (id for id in own if id in other):
        trials = min(own[id].trials, other[id].trials)
        found[id] = other[id].regret[:trials, -1] - own[id].regret[:trials, -1]
    return found


def _placed(scored: Mapping[str, Mapping[str, Array]], newcomer: str) -> Iterable[Placed]:
    for id, own in scored.get(newcomer, {}).items():
        means = {
            label: float(found[id].mean())
            for label, found in scored.items()
            if id in found and label != ORACLE
        }
        mine = float(own.mean())
        place = 1 + sum(mean < mine for mean in means.values())
        yield Placed(id, mine, place, len(means), min(means, key=lambda k: (means[k], k)))


def _ranked(scored: Mapping[str, Mapping[str, Array]], newcomer: str) -> Ranking | None:
    """Critical differences on as many problems, among as many agents, as have all rows."""
    agents = [label for label in scored if label != ORACLE]
    players = {id: {a for a in agents if id in scored[a]} for id in scored.get(newcomer, {})}
    order = sorted(players, key=lambda id: (-len(players[id]), id))
    best: tuple[list[str], list[str]] = [], []
    for count in range(1, len(order) + 1):
        both = set.intersection(*(players[id] for id in order[:count]))
        if len(both) * count >= len(best[0]) * len(best[1]):
            best = [a for a in agents if a in both], order[:count]
    table = [[float(scored[agent][id].mean()) for id in best[1]] for agent in best[0]]
    return ranking(*best, np.array(table))


def _notes(
    by: Mapping[str, Mapping[str, Row]],
    newcomer: str,
    scales: Mapping[str, Scale],
    ranked: Ranking | None,
) -> Iterable[str]:
    own = by[newcomer]
    every = dict.fromkeys(id for rows in by.values() for id in rows)
    if absent := [id for id in every if id not in own]:
        yield f"{newcomer} has no row on {', '.join(absent)}"
    if flat := [id for id in own if id not in scales]:
        yield f"no other agent is better than random on {', '.join(flat)}, which have no scores"
    for said, attribute in (
        ("score 0 is the best agent, for want of an oracle,", "oracle"),
        ("score 1 is the worst agent, for want of random,", "random"),
    ):
        if without := [id for id in own if id in scales and not getattr(scales[id], attribute)]:
            yield f"{said} on {', '.join(without)}"
    rivals = {k: rows for k, rows in by.items() if k not in (newcomer, ORACLE)}
    if none := [label for label, rows in rivals.items() if not rows.keys() & own.keys()]:
        yield f"without a problem in common, and not compared: {', '.join(none)}"
    fewer = {k: len(rows.keys() & own.keys()) for k, rows in rivals.items()}
    if some := [f"{k} ({n})" for k, n in fewer.items() if 0 < n < len(own)]:
        yield f"compared on fewer than its {counted(len(own), 'problem')}: {', '.join(some)}"
    if ranked is None:
        yield "mean ranks need three agents and two problems"
        return
    if left := [k for k in (newcomer, *rivals) if k not in ranked.agents]:
        yield f"ranks leave out agents without rows on all their problems: {', '.join(left)}"
    if less := [id for id in own if id in scales and id not in ranked.problems]:
        yield f"ranks leave out problems that few agents play: {', '.join(less)}"
