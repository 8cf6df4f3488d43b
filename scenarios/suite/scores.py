"""Scores of agents on problems of different scales, from the rows of a field.

The regret after the last round becomes a score that problems share: 0 is the mean of the oracle, or
of the best agent where there is no oracle, and 1 that of random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.scenarios.results.statistics import (
    ORACLE,
    RANDOM,
    RESAMPLES,
    Interval,
    Scale,
    interquartile_mean,
    interval,
    runtime_profile,
)
from gpbandits_env.scenarios.suite.rows import Field, Row

# The score of an agent without one.
UNKNOWN = Interval(np.nan, np.nan, np.nan)


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


def standings(
    field: Field,
    tags: Mapping[str, Sequence[str]] | None = None,
    *,
    scales: Mapping[str, Scale] | None = None,
    resamples: int = RESAMPLES,
) -> tuple[Standing, ...]:
    """Every agent of a field with its score, the best first; by default on its `scales_of`."""
    scales, found = scales_of(field) if scales is None else scales, []
    for label, rows in by_agent(field).items():
        own = scores_of(rows, scales)
        # Each agent has its own stream, so that a new one changes no other interval.
        rng = np.random.default_rng(0)
        score = interval(interquartile_mean, [*own.values()], rng, resamples) if own else UNKNOWN
        seconds = np.exp(np.mean([np.log(max(row.seconds, 1e-9)) for row in rows.values()]))
        means = {
            tag: float(interquartile_mean([s[None] for s in of])[0])
            for tag, of in by_tag(own, tags).items()
        }
        found.append(Standing(label, len(rows), score, float(seconds), means))
    return tuple(sorted(found, key=lambda s: (np.isnan(s.score.value), s.score.value, s.label)))


def by_agent(field: Field) -> dict[str, dict[str, Row]]:
    """Agent -> problem -> its row."""
    found: dict[str, dict[str, Row]] = {}
    for (agent, problem), row in field.items():
        found.setdefault(agent, {})[problem] = row
    return found


def means_of(field: Field) -> dict[str, dict[str, float]]:
    """Problem -> agent -> its mean regret after the last round."""
    found: dict[str, dict[str, float]] = {}
    for (agent, problem), row in field.items():
        found.setdefault(problem, {})[agent] = float(row.regret[:, -1].mean())
    return found


def scales_of(field: Field, newcomer: str | None = None) -> dict[str, Scale]:
    """The scale of each problem on which random's regret is above the best agent's.

    The newcomer does not count, so that it changes no score of another agent.
    """
    counting = {k: v for k, v in field.items() if k[0] != newcomer or k[0] in (RANDOM, ORACLE)}
    found = {id: Scale.of(means) for id, means in means_of(counting).items()}
    return {id: scale for id, scale in found.items() if scale.usable}


def scores_of(rows: Mapping[str, Row], scales: Mapping[str, Scale]) -> dict[str, Array]:
    """The scores of every trial of an agent, by problem."""
    return {id: scales[id].scores(row.regret[:, -1]) for id, row in rows.items() if id in scales}


def by_tag(
    scores: Mapping[str, Array], tags: Mapping[str, Sequence[str]] | None
) -> dict[str, list[Array]]:
    """The scores on the problems of each tag."""
    found: dict[str, list[Array]] = {}
    for id, of in (tags or {}).items():
        for tag in of:
            found.setdefault(tag, []).extend([scores[id]] if id in scores else [])
    return {tag: of for tag, of in found.items() if of}


def differences(own: Mapping[str, Row], other: Mapping[str, Row]) -> dict[str, Array]:
    """The other's regret minus one's own in the trials of each problem that both have run."""
    shared = {id: min(own[id].trials, other[id].trials) for id in own if id in other}
    return {id: other[id].regret[:n, -1] - own[id].regret[:n, -1] for id, n in shared.items()}


def runtime(rows: Mapping[str, Row], scales: Mapping[str, Scale], rounds: Array) -> Array:
    """The share of problem x trial x target that an agent has reached after each of some rounds.

    Problems have equal weights.

    Source: Hansen et al. (2022), "Anytime performance assessment in blackbox optimization
    benchmarking", with targets relative to the agents of the field.
    """
    shares = [
        runtime_profile(row.rounds, row.regret, scales[id].one, scales[id].best, rounds)
        for id, row in rows.items()
        if id in scales and scales[id].usable
    ]
    return np.asarray(np.mean(shares, axis=0)) if shares else np.zeros(len(rounds))
