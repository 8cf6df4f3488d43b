"""The card of an agent: how it compares with every other agent of a field of rows.

Scores (`suite.scores`) say how much, and tests whether: the newcomer and each rival are tested over
the trials that both have run, in which they face the same environment instances, by signed ranks
within each problem (`statistics.signed_rank`), with Holm's adjustment for the number of rivals.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from textwrap import fill
from typing import TypeAlias

import numpy as np

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.display import Displayed, aligned, counted, html_table
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.scenarios.declare import finite
from gpbandits_env.scenarios.results import statistics
from gpbandits_env.scenarios.results.report import mean_ranks
from gpbandits_env.scenarios.results.statistics import ORACLE, RANDOM, Interval, Ranking, Scale
from gpbandits_env.scenarios.suite import scores
from gpbandits_env.scenarios.suite.rows import Field, Row

# The pictures show agents that play at least this share of the newcomer's problems.
MOST = 0.75
# Words are not broken at the end of a line.
WHOLE: Plain = {"break_long_words": False, "break_on_hyphens": False}
# The shares of the horizon at which scores are computed.
SHARES = np.arange(1, 13) / 12
# What columns of the tables mean.
COLUMNS = {
    "effect": "Effect: +1 if the agent of the row (of a pair, the second) has the higher regret in "
    "every paired trial, and -1 if it has the lower one, by signed ranks.",
    "place": "Place: by mean regret, among the agents that play the problem.",
}
# The head of a table, and its rows.
Table: TypeAlias = tuple[list[str], list[list[str]]]


@dataclass(frozen=True, eq=False, repr=False)
class Card(Displayed):
    """How an agent compares with all others, or how all agents of some results files compare.

    Args:
        suite: the suite of the problems, or the metric of a comparison.
        version: the versions of this library that made the rows.
        newcomer: the agent; "" if no agent is compared with all others, but each with each.
        agents: every agent with rows on its problems, by their scores on these, the best first.
        tests: the newcomer against each rival, on the problems that both play; or every pair.
        tags: tag -> the newcomer's score on its problems, and their number.
        ranking: critical differences over problems that all its agents play; None for too few.
        profiles: (3, LIMITS) the share of trials of each agent of the pictures at or below each
            score, with its band.
        rounds: the rounds of runtime profiles.
        runtimes: the share of problem x trial x target that these reach in so many rounds.
        notes: what is absent, and what scores mean where something is absent.
        scales: problem -> the regret of score 0 and of score 1.
        means: problem -> agent -> its mean regret after the last round.
        failed: which trials of the newcomer raised errors; a part of its sentence.
        one: the agent of score 1; "" for the worst of each problem.
        improvement: a -> b -> the probability that a's regret is below b's, ties counting half.
        anytime: agent -> the interquartile mean of its scores after each share in `SHARES`.
    """

    suite: str
    version: str
    newcomer: str
    agents: tuple[scores.Standing, ...]
    tests: tuple[statistics.Tested, ...]
    tags: dict[str, tuple[Interval, int]]
    ranking: Ranking | None
    profiles: dict[str, Array]
    rounds: Array
    runtimes: dict[str, Array]
    notes: tuple[str, ...]
    scales: dict[str, Scale]
    means: dict[str, dict[str, float]]
    failed: str = ""
    one: str = RANDOM
    improvement: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    anytime: Mapping[str, Array] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The sentence that can stand in a paper, on the newcomer or the agent of least score."""
        # A comparison has the name of its metric instead of a suite's.
        of = "" if self.improvement or not self.suite else f" of {self.suite}"
        on = f"{counted(self.own.problems, 'problem')}{of}"
        said = statistics.sentence(self.own.label, self.tests, on)
        return f"{said}{self.failed and f'; {self.failed}'}."

    @property
    def own(self) -> scores.Standing:
        """The standing of the agent that the sentence is about."""
        if self.newcomer:
            return next(a for a in self.agents if a.label == self.newcomer)
        return next((a for a in self.agents if a.label != ORACLE), self.agents[0])

    @property
    def summary(self) -> str:
        """The score of this agent, its time, and its mean rank."""
        said, ranks = f"Score {self.own.score}", {}
        if not np.isnan(self.own.seconds):
            said += f", {duration(self.own.seconds)} per round"
        if self.ranking:
            ranks = dict(zip(self.ranking.agents, self.ranking.ranks, strict=True))
        if rank := ranks.get(self.own.label):
            place = 1 + sum(other < rank for other in ranks.values())
            said += f", mean rank {rank:.2f} (place {place} of {counted(len(ranks), 'agent')})"
        return f"{said}."

    @property
    def method(self) -> str:
        """The suite, the version, the trials, and how the numbers are computed."""
        trials = f"{self.suite}, gpbandits-env {self.version}".strip()
        kept = "Archived trials keep the version that ran them until their results change. "
        return (
            f"{trials}; {counted(len(self.scales), 'problem')}. {kept * (', ' in self.version)}"
            "Score: interquartile mean of the regret after the last round, 0 for the oracle (or "
            f"the best agent) and 1 for {self.one or 'the worst agent'}, lower is better, with the "
            "95% interval of a bootstrap within each problem. Lower regret: by signed ranks of the "
            "paired trials within each problem, with Holm's adjustment for the number of tests, at "
            "5%; they count which of two trials is lower, so that a few bad trials can give the "
            "higher mean or score."
        )

    def _facts(self) -> Mapping[str, object]:
        return {"sentence": self.sentence, "score": self.own.score, "notes": len(self.notes)}

    def _repr_html_(self) -> str:
        head = html_table([self.own.label, ""], [["", self.sentence]])
        return head + html_table(*self.standings())

    def standings(self) -> Table:
        """The table of all agents, the best score first."""
        labels, of = [a.label for a in self.agents], {test.b: test for test in self.tests}
        columns = {"agent": labels, "problems": [str(a.problems) for a in self.agents]}
        if self.improvement:  # all agents play all problems
            rivals = [k for k in labels if k != ORACLE]
            table = np.array([[of[k] for of in self.means.values()] for k in rivals])
            ranks = dict(zip(rivals, mean_ranks(table).tolist(), strict=True))
            wins = dict(zip(rivals, (table == table.min(axis=0)).sum(axis=1), strict=True))
            columns["mean rank"] = [f"{ranks[k]:.2f}" if k in ranks else "" for k in labels]
            columns["wins"] = [str(wins.get(k, "")) for k in labels]
        columns["score"] = [str(a.score) for a in self.agents]
        if self.newcomer:
            said = dict.fromkeys(labels, f"lower than {self.newcomer}")
            said |= {self.newcomer: f"higher than {self.newcomer}", "": "no clear difference"}
            names = ["effect", "p (Holm)", "regret"]
            own = [[*_said(of[k]), said[of[k].better]] if k in of else [""] * 3 for k in labels]
        else:
            names = ["beats", "loses to"]
            own = [[str(count) for count in statistics.record(k, self.tests)[1:]] for k in labels]
        columns |= zip(names, map(list, zip(*own, strict=True)), strict=True)
        if not all(np.isnan(a.seconds) for a in self.agents):
            columns["per round"] = [duration(a.seconds) for a in self.agents]
        return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]

    def tables(self) -> dict[str, Table]:
        """The tables by their titles, without those that have no rows."""
        labels = [a.label for a in self.agents]
        tags = [[tag, str(count), str(score)] for tag, (score, count) in self.tags.items()]
        found: dict[str, Table] = {
            "agents": self.standings(),
            "tags": (["tag", "problems", "score"], tags),
        }
        if self.newcomer:
            head = ["problem", "mean score", "place", "best agent"]
            found["problems"] = head, [*self._placed()]
        else:
            head = ["pair", "effect", "p (Holm)", "lower at 5%", "paired trials"]
            rows = [
                [f"{t.a} - {t.b}", *_said(t), t.better or "-", str(t.trials)] for t in self.tests
            ]
            found["lower regret by paired trials"] = head, rows
        if self.improvement:
            rows = [[id, *(f"{of[k]:.4g}" for k in labels)] for id, of in self.means.items()]
            found[f"mean {self.suite}"] = ["problem", *labels], rows
            beats = self.improvement
            rows = [
                [a, *(f"{beats[a][b].value:.2f}" if a != b else "" for b in labels)] for a in labels
            ]
            title = "probability that the agent of the row beats the agent of the column"
            found[title] = ["", *labels], rows
        return {title: table for title, table in found.items() if table[1]}

    def _placed(self) -> Iterator[list[str]]:
        """The newcomer on each of its problems: its mean score, its place, and the best agent."""
        for id, scale in self.scales.items():
            means = {k: mean for k, mean in self.means[id].items() if k != ORACLE}
            mine = self.means[id][self.newcomer]
            score = float(scale.scores(np.array(mine)))
            place = 1 + sum(mean < mine for mean in means.values())
            best = min(means, key=lambda k: (means[k], k))
            yield [id, f"{round(score, 3) + 0.0:.3f}", f"{place} of {len(means)}", best]

    def __str__(self) -> str:
        """The card for a terminal."""
        lines = [self.sentence, self.summary, ""]
        for title, (head, rows) in self.tables().items():
            about = [COLUMNS[word] for word in head if word in COLUMNS]
            lines += [title, *aligned([head, *rows]), *about, ""]
        lines += [critical(self.ranking), ""] if self.ranking else []
        lines += [self.method, *(f"note: {note}" for note in self.notes)]
        # Tables are as wide as they are.
        return "\n".join(line if line[:1] == " " else fill(line, 100, **WHOLE) for line in lines)

    def to_dict(self) -> Plain:
        """A plain JSON dict; numbers that are not finite become None."""
        plain = asdict(self) | {"sentence": self.sentence}
        plain |= {"profile_scores": statistics.LIMITS, "shares": SHARES}
        if self.ranking:
            plain["ranking"]["p"] = [[*pair, p] for pair, p in self.ranking.p.items()]
        return finite(plain)


def _said(test: statistics.Tested) -> list[str]:
    """The effect and the p-value of a test."""
    return [f"{test.effect:+.2f}", f"{test.p:.2g}" if test.p >= 0.001 else "< 0.001"]


def card(
    field: Field,
    newcomer: str = "",
    tags: Mapping[str, Sequence[str]] | None = None,
    *,
    scales: Mapping[str, Scale] | None = None,
    notes: Sequence[str] = (),
    failed: str = "",
    resamples: int = statistics.RESAMPLES,
) -> Card:
    """Compare an agent with all others of a field, or each agent with each.

    Cost: two seconds for 40 agents on 25 problems.

    Args:
        field: the rows of all agents, the newcomer's among them.
        newcomer: its label; "" to test every pair of agents.
        tags: problem -> its tags.
        scales: those of a comparison, whose pictures show all agents; by default `scales_of`.
        notes: what else the card has to say.
        failed: which trials of the newcomer raised errors.
        resamples: the number of bootstrap samples.
    Raises:
        UnknownName: the field has no row of the newcomer.
        InvalidInput: rows of one problem are of different problems or horizons.
    """
    by, rng = scores.by_agent(field), np.random.default_rng(0)
    all_shown = not newcomer or scales is not None
    if newcomer or not by:
        one_of(newcomer, by, "agent with rows")
    own = by[newcomer] if newcomer else {id: row for (_, id), row in field.items()}
    _check(field, own)
    shared = {key: row for key, row in field.items() if key[1] in own}
    scales = scores.scales_of(shared, newcomer) if scales is None else scales
    agents = scores.standings(shared, tags, scales=scales, resamples=resamples)
    rivals = [a.label for a in agents if a.label not in (newcomer, ORACLE)]
    every = [(newcomer, rival) for rival in rivals] if newcomer else combinations(rivals, 2)
    pairs = [(a, b) for a, b in every if by[a].keys() & by[b].keys()]
    scored = {k: of for k, rows in by.items() if (of := scores.scores_of(rows, scales))}
    shown = list(scored) if all_shown else _shown(agents, newcomer) if scales else []
    rounds = np.unique(np.geomspace(1, max(row.rounds[-1] for row in own.values()), 120).round())
    score, middle = statistics.interval, statistics.interquartile_mean
    tagged = scores.by_tag(scored.get(newcomer, {}), tags)
    rank = _ranked(scored, [id for id in own if id in scales])
    gaps = [(a, b, [*scores.differences(by[a], by[b]).values()]) for a, b in pairs]
    tests = statistics.tested(gaps)
    few = statistics.too_few(tests)
    return Card(
        ", ".join(dict.fromkeys(id.rpartition("/")[0] for id in own)),
        ", ".join(sorted({row.version for row in field.values()} - {""})),
        newcomer,
        agents,
        tests,
        {tag: (score(middle, of, rng, resamples), len(of)) for tag, of in tagged.items()},
        rank,
        {
            k: statistics.share_below([*scored[k].values()], statistics.LIMITS, rng, resamples)
            for k in shown
        },
        rounds,
        {k: scores.runtime(by[k], scales, rounds) for k in shown},
        (*notes, *few, *_notes(by, newcomer, scales, rank)) if newcomer else (),
        dict(scales),
        scores.means_of(shared),
        failed,
    )


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
    groups = "; ".join(f"{group[0]} to {group[-1]}" for group in found.groups) or "none"
    return (
        f"Mean ranks over {counted(len(found.problems), 'problem')}: {listed}. Friedman's test: "
        f"p = {found.friedman:.2g}. Groups without a clear difference (Wilcoxon, Holm): {groups}."
    )


def _shown(agents: Sequence[scores.Standing], newcomer: str) -> list[str]:
    """The newcomer, the three best others that play most of its problems, and random."""
    problems = next(a.problems for a in agents if a.label == newcomer)
    scored = [
        a.label for a in agents if a.problems >= MOST * problems and not np.isnan(a.score.value)
    ]
    best = [label for label in scored if label not in (newcomer, ORACLE, RANDOM)]
    return list(dict.fromkeys([newcomer, *best[:3], *([RANDOM] if RANDOM in scored else [])]))


def _check(field: Field, own: Mapping[str, Row]) -> None:
    for (label, id), row in field.items():
        mine = own.get(id, row)
        if row.rounds[-1] != mine.rounds[-1] or row.frozen != mine.frozen:
            raise InvalidInput(
                f"the rows of {mine.agent} and {label} on {id} are of different problems: run "
                "both on the same version of the suite"
            )


def _ranked(scored: Mapping[str, Mapping[str, Array]], ids: Sequence[str]) -> Ranking | None:
    """Critical differences on as many problems, among as many agents, as have all rows."""
    agents = [label for label in scored if label != ORACLE]
    players = {id: {a for a in agents if id in scored[a]} for id in ids}
    order = sorted(players, key=lambda id: (-len(players[id]), id))
    best: tuple[list[str], list[str]] = [], []
    for count in range(1, len(order) + 1):
        both = set.intersection(*(players[id] for id in order[:count]))
        if len(both) * count >= len(best[0]) * len(best[1]):
            best = [a for a in agents if a in both], order[:count]
    table = [[float(scored[agent][id].mean()) for id in best[1]] for agent in best[0]]
    return statistics.ranking(*best, np.array(table))


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
