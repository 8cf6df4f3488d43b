r"""A comparison of agents over scenarios, from few runs of each.

The regret of every run becomes a score that scenarios share, on the scale of a suite's card: 0 for
the mean of the oracle, or of the best agent where no oracle was run, and 1 for that of random, or
of the worst agent (`statistics.Scale`). The scores of all scenarios give the interquartile mean,
which does not depend on a few failures or lucky runs; performance profiles, the share of runs at or
below each score; and the probability that one agent beats another on a random scenario. Intervals
come from a bootstrap that resamples trials within each scenario. Two agents are tested trial by
trial (`statistics.signed_rank`), with Holm's adjustment for the number of pairs.

Source: Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
Precipice"; the probability of improvement is their eq. in Section 4.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
from scipy import stats

from gpbandits_env.arrays import Array, IntArray, Plain, Settings, listed
from gpbandits_env.errors import InvalidInput, StoreError, one_of
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.declare import first_difference
from gpbandits_env.scenarios.metrics import metric_named
from gpbandits_env.scenarios.results import evidence, references
from gpbandits_env.scenarios.results.curves import curves_of
from gpbandits_env.scenarios.results.evidence import by_unit, rounds_kept
from gpbandits_env.scenarios.results.report import mean_ranks
from gpbandits_env.scenarios.results.statistics import (
    LIMITS,
    ORACLE,
    RANDOM,
    RESAMPLES,
    Interval,
    Scale,
    Tested,
    interquartile_mean,
    interval,
    runtime_profile,
    sentence,
    share_below,
    tested,
)
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import IDENTITY

# Scenario -> agent -> (trials,) regret at the last round.
Regrets = Mapping[str, Mapping[str, Array]]
# Agent -> trial -> (k,) regret at the kept rounds.
Runs = dict[str, dict[int, Array]]

# Before the id of a scenario: the kept values of its reference results, instead of a results file.
REFERENCE = "reference:"
# The shares of the horizon at which scores are computed.
SHARES = np.arange(1, 13) / 12


@dataclass(frozen=True)
class Curves:
    """The regret of agents in a scenario at some rounds: agent -> (trials, k)."""

    rounds: IntArray
    of: dict[str, Array]


@dataclass(frozen=True)
class AgentScores:
    """The results of one agent over all scenarios.

    They are its mean rank by mean regret (1 for the least), the interquartile mean of its scores,
    the number of scenarios in which no agent had a smaller mean, and the share of its runs at
    or below each score of `LIMITS`, with a 95% band.
    """

    label: str
    rank: float
    score: Interval
    wins: int
    profile: tuple[float, ...]
    band: tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Comparison:
    """A comparison of agents over scenarios.

    Args:
        scenarios: scenario -> agent -> (mean regret, trials).
        agents: one per agent, the best interquartile mean first.
        improvement: (a, b) -> the probability that a's regret is below b's, ties counting half.
        tests: one per pair of agents, or per pair with the baseline; none where the agents have
            other trials than each other.
        reference: the agent whose mean regret has score 1; None for the worst of each scenario.
        scales: scenario -> the regret of score 0 and of score 1.
    """

    scenarios: dict[str, dict[str, tuple[float, int]]]
    agents: tuple[AgentScores, ...]
    improvement: dict[tuple[str, str], Interval]
    tests: tuple[Tested, ...]
    reference: str | None
    scales: dict[str, Scale]

    @property
    def ends(self) -> str:
        """What the scores mean."""
        oracle = any(agent.label == ORACLE for agent in self.agents)
        zero = "the oracle" if oracle else "the best agent"
        return f"score 0 is {zero}, 1 is {self.reference or 'the worst agent'}; lower is better"

    def sentence(self, label: str) -> str:
        """How one agent compares with the others, as it can stand in a paper."""
        return sentence(label, self.tests)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that matter for reading the scores and their intervals."""
        said, counts = [], [n for found in self.scenarios.values() for _, n in found.values()]
        if min(counts) == 1:
            said.append("one trial has no spread: its uncertainty is missing from the intervals")
        worst = [name for name, scale in self.scales.items() if not scale.random]
        if not self.reference and self.tests and not any(test.better for test in self.tests):
            ends = "scores are on a scale from the best to the worst agent"
            said.append(f"{ends}, and no agent differs from another: they say little")
        if self.reference and worst:
            no = f"score 1 is the worst agent where {self.reference} is no worse than the best one"
            said.append(f"{no}: {', '.join(worst)}")
        return tuple(said)

    def to_dict(self) -> Plain:
        """A plain JSON dict."""
        plain = asdict(self)
        plain["improvement"] = [
            {"a": a, "b": b, **asdict(found)} for (a, b), found in self.improvement.items()
        ]
        return plain | {"profile_scores": LIMITS.tolist(), "notes": list(self.notes)}


@dataclass(frozen=True)
class Anytime:
    """How agents stand before the last round.

    Args:
        shares: shares of the horizon.
        scores: agent -> the interquartile mean of its scores after these shares.
        rounds: numbers of rounds.
        reached: agent -> the share of scenario x trial x target that it has reached by then. The
            targets are between the mean of score 1 and that of the best agent (`runtime_profile`).
    """

    shares: tuple[float, ...]
    scores: dict[str, tuple[float, ...]]
    rounds: tuple[int, ...]
    reached: dict[str, tuple[float, ...]]


def gather(
    paths: Sequence[str | Path], metric: str, agents: Sequence[str] | None = None
) -> Regrets:
    """The regret at the last round of what `gather_curves` reads."""
    found = gather_curves(paths, metric, agents)
    return {name: {k: v[:, -1] for k, v in each.of.items()} for name, each in found.items()}


def gather_curves(
    paths: Sequence[str | Path], metric: str, agents: Sequence[str] | None = None
) -> dict[str, Curves]:
    """The regret at some rounds of every finished trial of several results files.

    Each cell of a grid counts as a scenario, in which the trials count that all compared agents
    have run. Files of one study with other agents are joined. Without ``agents``, those that all
    files have are compared. A path "reference:SCENARIO" stands for the kept values of a scenario's
    reference results: their agents join those of a results file of the same scenario, so that
    rivals need not be run again. Where its trials fall into independent units, such as days, the
    means of units count, not trials.
    """
    metric_named(metric)
    files = [Path(path).resolve() for path in listed(paths, "paths")]
    for what, given in (("file", files), ("agent", agents or [])):
        twice = [item for i, item in enumerate(given) if item in given[:i]]
        if twice:
            raise InvalidInput(f"the {what} {twice[0]} is given twice")
    found: dict[str, tuple[IntArray, Runs]] = {}
    studies: dict[str, Plain] = {}
    units: dict[str, IntArray] = {}
    # Results files first, so that the agents of a reference join theirs.
    for path in sorted(map(str, paths), key=lambda path: path.startswith(REFERENCE)):
        if path.startswith(REFERENCE):
            for name, rounds, runs, of in _kept(path.removeprefix(REFERENCE), metric):
                own = (rounds, runs)
                found[name] = _joined(found[name], own) if name in found else own
                units |= {} if of is None else {name: of}
        else:
            for name, rounds, runs, study in _stored(path, metric, paths):
                if studies.get(name) == study and not found[name][1].keys() & runs.keys():
                    found[name][1].update(runs)
                else:
                    studies[key := _fresh(name, found)] = study
                    found[key] = rounds, runs
    if not found:
        raise StoreError("the files contain no finished trial yet; 'gpbandits run' resumes them")
    return _in_common(found, units, agents)


def agents_of(paths: Sequence[str | Path]) -> dict[str, str]:
    """Label -> agent of several results files; the first file with a label decides."""
    found: dict[str, str] = {}
    for path in paths:
        if str(path).startswith(REFERENCE):
            entries = registry.get(str(path).removeprefix(REFERENCE)).select(["all"]).agents
            found = {entry.label: entry.agent for entry in entries} | found
            continue
        with Store.open(path) as store:
            found = {k: entry["agent"] for k, entry in store.scenario["agents"].items()} | found
    return found


def _name(id: str, params: Settings) -> str:
    return " ".join([id, *(f"{k}={v}" for k, v in params.items())])


def _stored(
    path: str, metric: str, paths: Sequence[str | Path]
) -> Iterator[tuple[str, IntArray, Runs, Plain]]:
    """The values of each cell of a results file that has any, their rounds, and the study."""
    with Store.open(path) as store:
        _check_joins(path, store.scenario, map(str, paths))
        rounds = rounds_kept(store.scenario["horizon"], 0)
        study = {key: store.scenario.get(key) for key in IDENTITY}
        for cell, params in enumerate(store.scenario["points"]):
            runs = {}
            for label in store.labels(cell):
                curves = curves_of(store, cell, label, metric)[:, rounds - 1]
                runs[label] = dict(zip(store.trials(cell, label), curves, strict=True))
            if runs:
                yield _name(store.scenario["id"], params), rounds, runs, study


def _kept(id: str, metric: str) -> Iterator[tuple[str, IntArray, Runs, IntArray | None]]:
    """The kept values of each cell of a scenario, their rounds, and the units of the trials."""
    kept = evidence.load(id)
    if kept is None:
        raise InvalidInput(
            f"no values of the trials of {id!r} are kept: run the scenario, or for a problem of a "
            "suite 'gpbandits suite run', whose card compares an agent with the archive"
        )
    for cell, params in enumerate(kept.points):
        of = {label: kept.curve(cell, label, metric) for label in kept.labels(cell)}
        runs = {k: dict(enumerate(v)) for k, v in of.items()}
        yield _name(id, params), kept.rounds, runs, kept.units.get(cell)


def _check_joins(path: str, scenario: Plain, paths: Iterable[str]) -> None:
    """Refuse results that would stand beside a reference of other functions or rounds."""
    id = scenario["id"]
    if REFERENCE + id in paths and (kept := references.load(id)):
        declared = registry.scenarios()[id].to_dict() if id in registry.scenarios() else {}
        # Another grid has other cells, which do not join those of the reference.
        same = {k: declared[k] for k in IDENTITY if k in declared and k != "points"}
        for what, value in (same | {k: kept[k] for k in ("seed", "horizon")}).items():
            if scenario.get(what) != value:
                name, own, other = first_difference(what, scenario.get(what), value)
                raise InvalidInput(
                    f"{path} has {name} {own}, and the reference results of {id} have {other}: "
                    "run it with the same"
                )


def _joined(own: tuple[IntArray, Runs], kept: tuple[IntArray, Runs]) -> tuple[IntArray, Runs]:
    """Own and kept runs at the rounds that both have; own runs replace those of their labels."""
    rounds = np.intersect1d(own[0], kept[0])
    cut = [
        {
            # Kept values are rounded: an agent must be level with itself.
            label: {i: evidence.rounded(v[np.isin(at, rounds)]) for i, v in of.items()}
            for label, of in runs.items()
        }
        for at, runs in (kept, own)
    ]
    return rounds, cut[0] | cut[1]


def _fresh(name: str, taken: Settings) -> str:
    count = sum(other == name or other.startswith(f"{name} (") for other in taken)
    return f"{name} ({count + 1})" if count else name


def _in_common(
    found: Mapping[str, tuple[IntArray, Runs]],
    units: Mapping[str, IntArray],
    agents: Sequence[str] | None,
) -> dict[str, Curves]:
    """The curves of the agents that all have, in the trials that all have run, or their units."""
    every = dict.fromkeys(label for _, runs in found.values() for label in runs)
    for label in agents or ():
        one_of(label, every, "agent in these files")
    common = [k for k in agents or every if all(k in runs for _, runs in found.values())]
    if len(common) < 2:
        raise InvalidInput(
            f"a comparison needs at least two agents that all files have, got {common or 'none'}; "
            f"the files have {', '.join(every)}"
        )
    curves = {}
    for name, (rounds, runs) in found.items():
        shared = sorted(set.intersection(*(set(runs[label]) for label in common)))
        if name in units:  # other trials are of days that are not known
            shared = [trial for trial in shared if trial < len(units[name])]
        if not shared:
            raise StoreError(f"no trial of {name} was run by all of {', '.join(common)}")
        of = {label: np.array([runs[label][trial] for trial in shared]) for label in common}
        if name in units:
            of = {label: by_unit(curve, units[name][shared]) for label, curve in of.items()}
        curves[name] = Curves(rounds, of)
    return curves


def compare(
    regrets: Regrets,
    reference: str | None = None,
    baseline: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare agents over scenarios.

    Cost: O(resamples x runs) per agent.

    Args:
        regrets: the regrets from `gather`, with the same agents in each scenario.
        reference: the agent whose mean regret has score 1; None for random if it was run, or else
            the worst.
        baseline: an agent that is tested against each other one; None tests every pair, which
            needs smaller p-values.
        resamples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
    Raises:
        UnknownName: the reference or the baseline is not among the agents.
        InvalidInput: the reference has no more regret than the best agent in one of the scenarios.
    """
    labels = list(next(iter(regrets.values())))
    for given in filter(None, (reference, baseline)):
        one_of(given, labels, "agent in these files")
    rng, bands = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    means = {n: {k: float(r.mean()) for k, r in runs.items()} for n, runs in regrets.items()}
    scales = {name: _scale(of, reference, name) for name, of in means.items()}
    ranks = mean_ranks(np.array([[m[label] for m in means.values()] for label in labels]))
    agents = []
    for label, rank in zip(labels, ranks.tolist(), strict=True):
        own = [scales[name].scores(runs[label]) for name, runs in regrets.items()]
        wins = sum(m[label] <= min(m.values()) for m in means.values())
        score = interval(interquartile_mean, own, rng, resamples)
        profile, low, high = map(tuple, share_below(own, LIMITS, bands, resamples).tolist())
        agents.append(AgentScores(label, rank, score, wins, profile, (low, high)))
    better = {
        (a, b): interval(
            _improvement, [r[k] for r in regrets.values() for k in (a, b)], rng, resamples
        )
        for a, b in permutations(labels, 2)
    }
    counted = {n: {k: (means[n][k], len(r)) for k, r in s.items()} for n, s in regrets.items()}
    order = tuple(sorted(agents, key=lambda s: s.score.value))
    pairs = [(baseline, other) for other in labels if other != baseline] if baseline else None
    tests = _tests(regrets, pairs or list(combinations(labels, 2)))
    named = reference or (RANDOM if RANDOM in labels else None)
    return Comparison(counted, order, better, tests, named, scales)


def _tests(regrets: Regrets, pairs: Sequence[tuple[str, str]]) -> tuple[Tested, ...]:
    """Tests of pairs of agents; none if their trials are not the same."""
    if any(len({len(r) for r in runs.values()}) > 1 for runs in regrets.values()):
        return ()
    return tested([(a, b, [r[b] - r[a] for r in regrets.values()]) for a, b in pairs])


def anytime(curves: Mapping[str, Curves], reference: str | None = None) -> Anytime:
    """How agents stand before the last round, on the scale of the scores of `compare`.

    Args:
        curves: from `gather_curves`, of a metric that falls with the rounds.
        reference: the agent whose mean regret after the last round has score 1.
    """
    labels = list(next(iter(curves.values())).of)
    last = max(int(each.rounds[-1]) for each in curves.values())
    rounds = np.unique(np.geomspace(1, last, 100).round().astype(np.int64))
    scores: dict[str, list[Array]] = {label: [] for label in labels}
    times: dict[str, list[Array]] = {label: [] for label in labels}
    for name, each in curves.items():
        means = {k: float(v[:, -1].mean()) for k, v in each.of.items()}
        scale = _scale(means, reference, name)
        at = np.searchsorted(each.rounds, SHARES * each.rounds[-1] + 1e-9, side="right") - 1
        for label, curve in each.of.items():
            # (shares, trials), as many samples as there are shares.
            scores[label].append(scale.scores(curve[:, np.maximum(at, 0)].T))
            if scale.usable:
                ends = scale.one, scale.best
                times[label].append(runtime_profile(each.rounds, curve, *ends, rounds))
    return Anytime(
        tuple(SHARES.tolist()),
        {k: tuple(interquartile_mean(of).tolist()) for k, of in scores.items()},
        tuple(rounds.tolist()),
        {k: tuple(np.mean(of, axis=0).tolist()) for k, of in times.items() if of},
    )


def _scale(means: Mapping[str, float], reference: str | None, scenario: str) -> Scale:
    """The scale of a scenario; score 1 is the worst agent if random is no worse than the best."""
    found = Scale.of(means, reference or RANDOM)
    if reference is not None and not found.usable:
        raise InvalidInput(
            f"the regret of {reference} in {scenario} is not above that of the best agent, so it "
            "cannot be score 1: choose another reference, or leave the scenario out"
        )
    return found if found.usable else Scale.of(means, "")


def _improvement(runs: Sequence[Array]) -> Array:
    """P(a < b), the mean over scenarios of the Mann-Whitney statistic: a's, b's, a's, b's, ..."""
    return np.mean([_below(a, b) for a, b in zip(runs[::2], runs[1::2], strict=True)], axis=0)


def _below(a: Array, b: Array) -> Array:
    """The share of pairs with a < b, ties counting half: (S, n) and (S, k) -> (S,)."""
    ranks = stats.rankdata(np.concatenate([b, a], axis=1), axis=1)
    k, n = b.shape[1], a.shape[1]
    return (ranks[:, :k].sum(axis=1) - k * (k + 1) / 2) / (n * k)
