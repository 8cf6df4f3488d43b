r"""A comparison of agents over a suite of scenarios, from few runs of each.

The regret of every run becomes a score that scenarios share: 1 for the mean of the best agent and 0
for that of the worst, or, with a reference agent, :math:`1 - r / \bar r_{ref}`. The scores of all
scenarios give the interquartile mean, which does not depend on a few failures or lucky runs;
performance profiles, the share of runs above each score; and the probability that one agent beats
another on a random scenario. Intervals come from a bootstrap that resamples trials within each
scenario.

Source: Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
Precipice"; the probability of improvement is their eq. in Section 4.3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from scipy import stats

from gpbandits_env.arrays import Array, Plain, Settings, listed
from gpbandits_env.errors import InvalidInput, StoreError, one_of
from gpbandits_env.scenarios.metrics import metric_named
from gpbandits_env.scenarios.results.report import final, mean_ranks
from gpbandits_env.scenarios.results.store import Store

# Scenario -> agent -> (trials,) regret at the last round.
Regrets = Mapping[str, Mapping[str, Array]]

LEVEL = 0.95
RESAMPLES = 2000
PROFILE = np.linspace(-0.5, 1.25, 141)


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class AgentScores:
    """The results of one agent over all scenarios.

    They are its mean rank by mean regret (1 for the least), the interquartile mean of its scores,
    the number of scenarios in which no agent had a smaller mean, and the share of its runs above
    each score of `PROFILE`.
    """

    label: str
    rank: float
    score: Interval
    wins: int
    profile: tuple[float, ...]


@dataclass(frozen=True)
class Suite:
    """A comparison of agents over scenarios.

    Args:
        scenarios: scenario -> agent -> (mean regret, trials).
        agents: one per agent, the best interquartile mean first.
        improvement: (a, b) -> the probability that a's regret is below b's, ties counting half.
        reference: the agent whose mean regret has score 0; None for the worst of each scenario.
    """

    scenarios: dict[str, dict[str, tuple[float, int]]]
    agents: tuple[AgentScores, ...]
    improvement: dict[tuple[str, str], Interval]
    reference: str | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the numbers of trials that matter for reading the intervals."""
        counts = [trials for found in self.scenarios.values() for _, trials in found.values()]
        notes = []
        if min(counts) < max(counts):
            notes.append(
                f"there are {min(counts)} to {max(counts)} trials of an agent on a scenario: the "
                "interquartile mean gives more weight to scenarios with more trials"
            )
        if min(counts) == 1:
            notes.append("one trial has no spread: its uncertainty is missing from the intervals")
        return tuple(notes)

    def to_dict(self) -> Plain:
        """A plain JSON dict."""
        plain = asdict(self)
        plain["improvement"] = [
            {"a": a, "b": b, **asdict(found)} for (a, b), found in self.improvement.items()
        ]
        return plain | {"profile_scores": PROFILE.tolist(), "notes": list(self.notes)}


def gather(
    paths: Sequence[str | Path], metric: str, agents: Sequence[str] | None = None
) -> Regrets:
    """The regret at the last round of every finished trial of several results files.

    Each cell of a grid counts as a scenario. Without ``agents``, those that all files have are
    compared.
    """
    metric_named(metric)
    files = [Path(path).resolve() for path in listed(paths, "paths")]
    for what, given in (("file", files), ("agent", agents or [])):
        twice = [item for i, item in enumerate(given) if item in given[:i]]
        if twice:
            raise InvalidInput(f"the {what} {twice[0]} is given twice")
    found: dict[str, dict[str, Array]] = {}
    for path in paths:
        with Store.open(path) as store:
            for cell, params in enumerate(store.scenario["points"]):
                name = " ".join([store.scenario["id"], *(f"{k}={v}" for k, v in params.items())])
                if runs := final(store, cell, metric):
                    found[_fresh(name, found)] = {
                        label: np.array(list(values.values())) for label, values in runs.items()
                    }
    if not found:
        raise StoreError("the files contain no finished trial yet; 'gpbandits run' resumes them")
    return _in_common(found, agents)


def agents_of(paths: Sequence[str | Path]) -> dict[str, str]:
    """Label -> agent of several results files; the first file with a label decides."""
    found: dict[str, str] = {}
    for path in paths:
        with Store.open(path) as store:
            found = {k: entry["agent"] for k, entry in store.scenario["agents"].items()} | found
    return found


def _fresh(name: str, taken: Settings) -> str:
    count = sum(other == name or other.startswith(f"{name} (") for other in taken)
    return f"{name} ({count + 1})" if count else name


def _in_common(found: dict[str, dict[str, Array]], agents: Sequence[str] | None) -> Regrets:
    every = dict.fromkeys(label for runs in found.values() for label in runs)
    for label in agents or ():
        one_of(label, every, "agent in these files")
    common = [k for k in agents or every if all(k in runs for runs in found.values())]
    if len(common) < 2:
        raise InvalidInput(
            f"a comparison needs at least two agents that all files have, got {common or 'none'}; "
            f"the files have {', '.join(every)}"
        )
    return {name: {label: runs[label] for label in common} for name, runs in found.items()}


def compare(
    regrets: Regrets,
    reference: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Suite:
    """Compare agents over scenarios.

    Cost: O(resamples x runs) per agent.

    Args:
        regrets: the regrets from `gather`, with the same agents in each scenario.
        reference: the agent whose mean regret has score 0, e.g. "random"; None for the worst.
        resamples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
    Raises:
        UnknownName: the reference is not among the agents.
        InvalidInput: the reference has no regret in one of the scenarios.
    """
    labels = list(next(iter(regrets.values())))
    if reference is not None:
        one_of(reference, labels, "agent in these files")
    for name, runs in regrets.items():
        if reference is not None and not runs[reference].any():
            raise InvalidInput(
                f"the regret of {reference} in {name} is 0, so it cannot define a score: choose "
                "another reference, or leave the scenario out"
            )
    scores = {name: _scores(runs, reference) for name, runs in regrets.items()}
    rng = np.random.default_rng(seed)
    means = {n: {k: float(r.mean()) for k, r in runs.items()} for n, runs in regrets.items()}
    ranks = mean_ranks(np.array([[m[label] for m in means.values()] for label in labels]))
    agents = []
    for label, rank in zip(labels, ranks.tolist(), strict=True):
        own = [s[label] for s in scores.values()]
        wins = sum(m[label] <= min(m.values()) for m in means.values())
        # All scenarios have equal weights.
        profile = np.mean([(s[:, None] > PROFILE).mean(axis=0) for s in own], axis=0)
        score = _interval(_interquartile_mean, own, rng, resamples)
        agents.append(AgentScores(label, rank, score, wins, tuple(profile.tolist())))
    better = {
        (a, b): _interval(
            _improvement, [r[k] for r in regrets.values() for k in (a, b)], rng, resamples
        )
        for a, b in permutations(labels, 2)
    }
    counted = {n: {k: (means[n][k], len(r)) for k, r in s.items()} for n, s in regrets.items()}
    order = tuple(sorted(agents, key=lambda s: -s.score.value))
    return Suite(counted, order, better, reference)


def _scores(runs: Mapping[str, Array], reference: str | None) -> dict[str, Array]:
    """Scores of the runs of a scenario; 1 is regret 0 or the best mean (see the module)."""
    means = [float(r.mean()) for r in runs.values()]
    best, worst = min(means), max(means)
    if reference is not None:
        best, worst = 0.0, float(runs[reference].mean())
    width = worst - best
    return {k: (worst - r) / width if width > 0 else np.ones(len(r)) for k, r in runs.items()}


def _interquartile_mean(scores: Sequence[Array]) -> Array:
    return np.asarray(stats.trim_mean(np.concatenate(scores, axis=1), 0.25, axis=1))


def _improvement(runs: Sequence[Array]) -> Array:
    """P(a < b), the mean over scenarios of the Mann-Whitney statistic: a's, b's, a's, b's, ..."""
    return np.mean([_below(a, b) for a, b in zip(runs[::2], runs[1::2], strict=True)], axis=0)


def _below(a: Array, b: Array) -> Array:
    """The share of pairs with a < b, ties counting half: (S, n) and (S, k) -> (S,)."""
    ranks = stats.rankdata(np.concatenate([b, a], axis=1), axis=1)
    k, n = b.shape[1], a.shape[1]
    return (ranks[:, :k].sum(axis=1) - k * (k + 1) / 2) / (n * k)


def _interval(
    statistic: Callable[[Sequence[Array]], Array],
    samples: Sequence[Array],
    rng: np.random.Generator,
    resamples: int,
) -> Interval:
    """A statistic of samples, each of which the bootstrap resamples."""
    (value,) = statistic([sample[None] for sample in samples])
    found = statistic([s[rng.integers(len(s), size=(resamples, len(s)))] for s in samples])
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(value), float(low), float(high))
