"""The comparison of agents over the scenarios of results files, each point of a grid a problem.

It has the scores of a card (`suite.card`), and for every pair of agents a test over paired trials
and the probability that one has less regret than the other on a random problem.

Source: Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
Precipice"; the probability of improvement is their eq. in Section 4.3.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

import gpbandits_env
from gpbandits_env.arrays import Array, IntArray, Plain, Settings, listed
from gpbandits_env.errors import InvalidInput, StoreError, one_of
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import first_difference
from gpbandits_env.scenarios.metrics import metric_named
from gpbandits_env.scenarios.results import evidence, statistics
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.evidence import by_unit, rounds_kept
from gpbandits_env.scenarios.results.statistics import ORACLE, RANDOM
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import IDENTITY
from gpbandits_env.scenarios.suite import suites
from gpbandits_env.scenarios.suite.card import SHARES, Card, card
from gpbandits_env.scenarios.suite.rows import Field, Row
from gpbandits_env.scenarios.suite.scores import by_agent, means_of

# Before the id of a scenario: the kept values of its reference results, instead of a results file.
REFERENCE = "reference:"


@dataclass(frozen=True)
class Source:
    """What one file has of a problem.

    Args:
        rounds: (k,) some rounds.
        runs: agent -> trial -> (k,) regret after these.
        study: all that the results depend on; None for kept values.
        units: the independent unit of each trial of kept values; None if each is one.
    """

    rounds: IntArray
    runs: dict[str, dict[int, Array]]
    study: Plain | None = None
    units: IntArray | None = None


def gather(paths: Sequence[str | Path], metric: str, agents: Sequence[str] | None = None) -> Field:
    """The regret at some rounds of every finished trial of several results files.

    Each cell of a grid is a problem, in which the trials count that all compared agents have run.
    Files of one study with other agents are joined. Without ``agents``, those that all files have
    are compared. A path "reference:SCENARIO" stands for the kept values of a scenario's reference
    results: their agents join those of a results file of the same scenario, so that rivals need not
    be run again. Where its trials fall into independent units, such as days, the means of units
    count, not trials.
    """
    metric_named(metric)
    files = [Path(path).resolve() for path in listed(paths, "paths")]
    for what, given in (("file", files), ("agent", agents or [])):
        twice = [item for i, item in enumerate(given) if item in given[:i]]
        if twice:
            raise InvalidInput(f"the {what} {twice[0]} is given twice")
    found: dict[str, list[Source]] = {}
    # Results files first, so that the agents of a reference join theirs.
    for path in sorted(map(str, paths), key=lambda path: path.startswith(REFERENCE)):
        kept = path.startswith(REFERENCE)
        parts = (
            _kept(path.removeprefix(REFERENCE), metric) if kept else _stored(path, metric, paths)
        )
        for name, part in parts:
            found.setdefault(name if kept else _joined(name, part, found), []).append(part)
    if not found:
        raise StoreError("the files contain no finished trial yet; 'gpbandits run' resumes them")
    return _in_common(found, agents)


def _name(id: str, params: Settings) -> str:
    return " ".join([id, *(f"{k}={v}" for k, v in params.items())])


def _stored(path: str, metric: str, paths: Sequence[str | Path]) -> Iterator[tuple[str, Source]]:
    """The values of each cell of a results file that has any."""
    with Store.open(path) as store:
        _check_joins(path, store.scenario, map(str, paths))
        study = {key: store.scenario.get(key) for key in IDENTITY}
        for cell, params in enumerate(store.scenario["points"]):
            runs, rounds = {}, rounds_kept(params.get("horizon", store.scenario["horizon"]), 0)
            for label in store.labels(cell):
                curves = curves_of(store, cell, label, metric)[:, rounds - 1]
                runs[label] = dict(zip(store.trials(cell, label), curves, strict=True))
            if runs:
                yield _name(store.scenario["id"], params), Source(rounds, runs, study)


def _kept(id: str, metric: str) -> Iterator[tuple[str, Source]]:
    """The kept values of each cell of a scenario."""
    kept = evidence.load(id)
    if kept is None:
        if id.partition("/")[0] not in suites.SUITES:
            registry.get(id)  # an unknown name is refused with the nearest
        raise InvalidInput(
            f"no values of the trials of {id!r} are kept: run the scenario, or for a problem of a "
            "suite 'gpbandits suite run', whose card compares an agent with the archive"
        )
    if metric == "simple_regret" and kept.study["optimum_moves"]:
        raise InvalidInput(
            f"the optimum of {id} moves, so that no simple regret of its trials is kept: compare "
            "by average_regret"
        )
    for cell, params in enumerate(kept.points):
        runs = {k: dict(enumerate(kept.curve(cell, k, metric))) for k in kept.labels(cell)}
        yield _name(id, params), Source(kept.rounds, runs, units=kept.units.get(cell))


def _check_joins(path: str, scenario: Plain, paths: Iterable[str]) -> None:
    """Refuse results that would stand beside a reference of other functions or rounds."""
    id = scenario["id"]
    if REFERENCE + id in paths and (kept := evidence.load(id)):
        declared = registry.scenarios()[id].to_dict() if id in registry.scenarios() else {}
        # Another grid has other cells, which do not join those of the reference.
        same = {k: declared[k] for k in IDENTITY if k in declared and k != "points"}
        same |= {"seed": kept.study["seed"], "horizon": kept.horizon}
        for what, value in same.items():
            if scenario.get(what) != value:
                name, own, other = first_difference(what, scenario.get(what), value)
                raise InvalidInput(
                    f"{path} has {name} {own}, and the reference results of {id} have {other}: "
                    "run it with the same"
                )


def _joined(name: str, part: Source, found: Mapping[str, list[Source]]) -> str:
    """The name of the problem whose other agents a part has, or a new one."""
    same = [other for other in found if other == name or other.startswith(f"{name} (")]
    for other in same:
        if all(o.study == part.study and not o.runs.keys() & part.runs for o in found[other]):
            return other
    return f"{name} ({len(same) + 1})" if same else name


def _in_common(found: Mapping[str, list[Source]], agents: Sequence[str] | None) -> Field:
    """The rows of the agents that all have, in the trials that all have run, or their units."""
    labels = [dict.fromkeys(k for part in parts for k in part.runs) for parts in found.values()]
    every = dict.fromkeys(label for of in labels for label in of)
    for label in agents or ():
        one_of(label, every, "agent in these files")
    common = [k for k in agents or every if all(k in of for of in labels)]
    if len(common) < 2:
        raise InvalidInput(
            f"a comparison needs at least two agents that all files have, got {common or 'none'}; "
            f"the files have {', '.join(every)}"
        )
    rows = {}
    for name, parts in found.items():
        rounds = reduce(np.intersect1d, (part.rounds for part in parts))
        # Own runs, which come first, replace kept ones of their labels.
        of = {label: next(p for p in parts if label in p.runs) for label in common}
        shared = sorted(set.intersection(*(set(part.runs[k]) for k, part in of.items())))
        if (units := parts[-1].units) is not None:  # other trials are of days that are not known
            shared = [trial for trial in shared if trial < len(units)]
        if not shared:
            raise StoreError(f"no trial of {name} was run by all of {', '.join(common)}")
        if len(shared) < (most := max(len(part.runs[label]) for label, part in of.items())):
            count = f"{len(shared)} of {most} trials of {name}"
            warnings.warn(f"only {count} count: not all agents have run the others", stacklevel=2)
        for label, part in of.items():
            curves = np.array([part.runs[label][trial] for trial in shared])
            curves = curves[:, np.isin(part.rounds, rounds)]
            if len(parts) > 1 and parts[-1].study is None:
                # Kept values are rounded: an agent must be level with itself.
                curves = evidence.rounded(curves)
            if units is not None:
                curves = by_unit(curves, units[shared])
            rows[label, name] = Row(label, name, rounds, curves, np.nan, "")
    return rows


def compare(
    field: Field,
    baseline: str | None = None,
    *,
    title: str = "regret",
    resamples: int = statistics.RESAMPLES,
) -> Card:
    """Compare agents over problems.

    Score 1 is random if it was run, or else the worst agent of each problem, as where random is no
    worse than the best agent. Score 0 is the best agent where the oracle is no better than score 1.

    Cost: O(resamples x runs) per pair of agents.

    Args:
        field: rows from `gather`, with the same agents on each problem.
        baseline: an agent that is tested against each other one; None tests every pair, which
            needs smaller p-values.
        title: what the regret is.
        resamples: the number of bootstrap samples.
    Raises:
        UnknownName: the baseline is not among the agents.
    """
    by, means, rng = by_agent(field), means_of(field), np.random.default_rng(0)
    if baseline is not None:
        one_of(baseline, by, "agent in these files")
    one = RANDOM if RANDOM in by else ""
    scales = {id: _scale(of) for id, of in means.items()}
    made = card(field, baseline or "", scales=scales, resamples=resamples)
    improvement: dict[str, dict[str, statistics.Interval]] = {label: {} for label in by}
    for a, b in combinations(by, 2):
        both = [rows[id].regret[:, -1] for id in means for rows in (by[a], by[b])]
        found = improvement[a][b] = statistics.interval(_improvement, both, rng, resamples)
        improvement[b][a] = statistics.Interval(1 - found.value, 1 - found.high, 1 - found.low)
    notes = [*statistics.too_few(made.tests)]
    if any(row.trials == 1 for row in field.values()):
        notes.append("one trial has no spread: its uncertainty is missing from the intervals")
    if not one and not any(test.better for test in made.tests):
        low = "scores are on a scale from the best to the worst agent"
        notes.append(f"{low}, and no agent differs from another: they say little")
    if one and (worst := [id for id, scale in scales.items() if not scale.random]):
        no = f"score 1 is the worst agent where {one} is no worse than the best one"
        notes.append(f"{no}: {', '.join(worst)}")
    if poor := [id for id, of in means.items() if ORACLE in of and not scales[id].oracle]:
        no = f"score 0 is the best agent where {ORACLE} is no better than score 1"
        notes.append(f"{no}: {', '.join(poor)}")
    return replace(
        made,
        suite=title,
        version=gpbandits_env.__version__,
        notes=tuple(notes),
        one=one,
        improvement=improvement,
        anytime={label: _anytime(rows, scales) for label, rows in by.items()},
    )


def _anytime(rows: Mapping[str, Row], scales: Mapping[str, statistics.Scale]) -> Array:
    """The interquartile mean of an agent's scores after each share of the horizon."""
    found = []
    for id, row in rows.items():
        at = np.searchsorted(row.rounds, SHARES * row.rounds[-1] + 1e-9, side="right") - 1
        # (shares, trials), as many samples as there are shares.
        found.append(scales[id].scores(row.regret[:, np.maximum(at, 0)].T))
    return statistics.interquartile_mean(found)


def _scale(means: Mapping[str, float]) -> statistics.Scale:
    """The scale of a problem, without the oracle, random or both where they have no place on it."""
    agents = {label: mean for label, mean in means.items() if label != ORACLE}
    tried = [statistics.Scale.of(of, one) for one in (RANDOM, "") for of in (means, agents)]
    return next((scale for scale in tried if scale.usable), tried[2])


def _improvement(runs: Sequence[Array]) -> Array:
    """P(a < b), the mean over problems of the Mann-Whitney statistic: a's, b's, a's, b's, ...

    It is the share of pairs with a < b, ties counting half: (S, n) and (S, k) -> (S,).
    """
    shares = []
    for a, b in zip(runs[::2], runs[1::2], strict=True):
        k, n = b.shape[1], a.shape[1]
        ranks = stats.rankdata(np.concatenate([b, a], axis=1), axis=1)
        shares.append((ranks[:, :k].sum(axis=1) - k * (k + 1) / 2) / (n * k))
    return np.asarray(np.mean(shares, axis=0))
