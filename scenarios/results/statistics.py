r"""Statistics over the trials of several problems of different scales, for comparisons and cards.

Every problem has the same weight, however many trials it has. Trials are independent and are the
units that a bootstrap draws, within each problem; all agents of a trial face the same environment
instance, so that two agents are tested trial by trial.

Source: Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
Precipice", for interquartile means, stratified bootstraps and performance profiles.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from scipy import stats

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.display import counted
from gpbandits_env.scenarios.results.report import mean_ranks

LEVEL = 0.95
# The number of targets of a problem, and the smallest one relative to the first.
TARGETS, SMALLEST = 20, 1e-3
RESAMPLES = 2000
# Up to this many differences every change of signs is counted.
EXACT = 12
# The scores at which performance profiles are computed.
LIMITS = np.linspace(-0.25, 1.5, 141)
RANDOM, ORACLE = "random", "genie"


@dataclass(frozen=True)
class Scale:
    """The regret on a problem of score 0, of score 1, and of the best agent.

    ``oracle`` says whether score 0 is the oracle, and ``random`` whether score 1 is random; else
    they are the best and the worst agent.
    """

    zero: float
    one: float
    best: float
    oracle: bool
    random: bool

    @classmethod
    def of(cls, means: Mapping[str, float], one: str = RANDOM) -> Self:
        """The scale of a problem, from the mean regret of its agents.

        Args:
            means: the mean regret of each agent.
            one: the agent of score 1, which does not count as the best.
        """
        worst = max(means.values(), default=0.0)
        others = [mean for agent, mean in means.items() if agent not in (one, ORACLE)]
        best = min(others or means.values(), default=0.0)
        ends = means.get(ORACLE, best), means.get(one, worst)
        return cls(*ends, best, ORACLE in means, one in means)

    @property
    def usable(self) -> bool:
        """Whether the regret of score 1 is above that of score 0 and of the best agent."""
        return self.one > max(self.zero, self.best)

    def scores(self, regret: Array) -> Array:
        """The scores of some regret; lower is better. All are 0 where all agents are level."""
        spread = self.one - self.zero
        return (regret - self.zero) / spread if spread else np.zeros_like(regret)


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% bootstrap interval; NaN where there is none."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "-"
        value, low, high = (round(x, 3) + 0.0 for x in (self.value, self.low, self.high))
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"  # without a minus before zero


def interval(
    statistic: Callable[[Sequence[Array]], Array],
    samples: Sequence[Array],
    rng: np.random.Generator,
    resamples: int,
) -> Interval:
    """A statistic of samples, each of which the bootstrap resamples.

    Args:
        statistic: takes (S, n) values of each sample, and returns S numbers.
        samples: (n,) values each.
        rng: the generator of the bootstrap.
        resamples: the number of its samples.
    """
    (value,) = statistic([sample[None] for sample in samples])
    found = statistic([s[rng.integers(len(s), size=(resamples, len(s)))] for s in samples])
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(value), float(low), float(high))


def interquartile_mean(samples: Sequence[Array]) -> Array:
    """The mean of the middle half of all values: (S, n) of each sample -> (S,).

    Samples have equal weights, and a value at a quartile counts in part.
    """
    values = np.concatenate(samples, axis=1)
    weights = np.concatenate([np.full(s.shape[1], 1 / s.shape[1] / len(samples)) for s in samples])
    order = np.argsort(values, axis=1)
    above = np.cumsum(weights[order], axis=1)
    kept = np.clip(above, 0.25, 0.75) - np.clip(above - weights[order], 0.25, 0.75)
    return (np.take_along_axis(values, order, axis=1) * kept).sum(axis=1) / kept.sum(axis=1)


def signed_rank(differences: Sequence[Array]) -> tuple[float, float]:
    r"""Wilcoxon's signed-rank test with the trials of each problem ranked among themselves.

    The effect is the mean over the problems of the rank correlation
    :math:`\sum_i \mathrm{sign}(d_i) R_i / \sum_i R_i`, from -1 to 1, with :math:`R_i` the rank of
    :math:`|d_i|` in its problem. It does not depend on the scales of the problems, and each of them
    counts the same. Under the hypothesis that in each trial both signs are as likely, its
    distribution is that of random signs: all of them are counted for few trials; for more the
    distribution is nearly normal.

    Args:
        differences: (trials,) paired differences in each problem.
    Returns:
        The effect and its two-sided p-value.
    Source: Wilcoxon (1945); strata as in van Elteren (1960); differences of 0 as in Pratt (1959).
    """
    parts = [np.sign(d) * stats.rankdata(np.abs(d)) for d in differences]
    signed = np.concatenate([2 * s / (len(s) * (len(s) + 1) * len(parts)) for s in parts])
    effect, sizes = float(signed.sum()), np.abs(signed[signed != 0.0])
    if not len(sizes):
        return 0.0, 1.0
    if len(sizes) > EXACT:
        return effect, float(2.0 * stats.norm.sf(abs(effect) / np.sqrt((sizes**2).sum())))
    signs = 1.0 - 2.0 * (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1)
    return effect, float((np.abs(signs @ sizes) >= abs(effect) - 1e-12).mean())


def holm(p: Sequence[float]) -> list[float]:
    """p-values adjusted for their number; source: Holm (1979), Section 3."""
    order, count = np.argsort(p, kind="stable"), len(p)
    raised = np.maximum.accumulate((count - np.arange(count)) * np.asarray(p)[order])
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted.tolist()


@dataclass(frozen=True)
class Tested:
    """Agents a and b over the trials that both have run.

    It has the effect (see `signed_rank`; above 0 if a has the lower regret), the p-value adjusted
    for the number of tests, and the number of paired trials.
    """

    a: str
    b: str
    effect: float
    p: float
    trials: int

    @property
    def better(self) -> str:
        """The label of the agent with the lower regret at the level of 5%; "" if neither."""
        if self.p > 1.0 - LEVEL or not self.effect:
            return ""
        return self.a if self.effect > 0.0 else self.b


def tested(pairs: Sequence[tuple[str, str, Sequence[Array]]]) -> tuple[Tested, ...]:
    """Tests of pairs (a, b, regret of b minus that of a in each problem), adjusted by Holm."""
    found = [signed_rank(differences) for *_, differences in pairs]
    adjusted = holm([p for _, p in found])
    return tuple(
        Tested(a, b, effect, p, sum(map(len, differences)))
        for (a, b, differences), (effect, _), p in zip(pairs, found, adjusted, strict=True)
    )


def too_few(tests: Sequence[Tested]) -> Iterator[str]:
    """A note if the smallest possible p-value, 2^(1 - trials), exceeds 5% once it is adjusted."""
    most = max((test.trials for test in tests), default=0)
    needed = 1 + int(np.ceil(np.log2(max(1, len(tests)) / (1.0 - LEVEL))))
    if 0 < most < needed:
        yield (
            f"{counted(most, 'paired trial')} cannot show a difference at 5%, however large, in "
            f"{counted(len(tests), 'test')}: that needs at least {needed}"
        )


def record(label: str, tests: Sequence[Tested]) -> tuple[list[Tested], int, int]:
    """The tests of an agent, and in how many of them it has the lower and the higher regret."""
    own = [test for test in tests if label in (test.a, test.b)]
    wins = sum(test.better == label for test in own)
    return own, wins, sum(bool(test.better) for test in own) - wins


def sentence(label: str, tests: Sequence[Tested], on: str) -> str:
    """How an agent compares with the others on some problems, as it can stand in a paper."""
    own, wins, losses = record(label, tests)
    if not own:
        return f"There is no agent to compare {label} with"
    fewest, most = min(test.trials for test in own), max(test.trials for test in own)
    over = f"paired over {f'{fewest} to ' if fewest < most else ''}{counted(most, 'trial')}"
    said = (
        f"{label} has lower regret than {wins or 'none'} of {counted(len(own), 'agent')}, higher "
        f"regret than {losses or 'none'}, and no clear difference from "
        f"{len(own) - wins - losses or 'none'}"
    )
    if len(own) == 1:
        rival = own[0].b if label == own[0].a else own[0].a
        than = f"{'lower' if wins else 'higher'} regret than {rival}"
        said = f"{label} has {than if own[0].better else f'no clear difference from {rival}'}"
    return f"On {on}, {said}, {over} (Holm, {1.0 - LEVEL:.0%})"


def share_below(
    samples: Sequence[Array], limits: Array, rng: np.random.Generator, resamples: int
) -> Array:
    """A performance profile: the share of values at or below each limit, with its 95% band.

    The band is that of a bootstrap within each sample, whose shares are binomial.

    Returns:
        (3, limits): the share and its band, low and high.
    """
    shares = [(sample[:, None] <= limits).mean(axis=0) for sample in samples]
    sizes = [len(sample) for sample in samples]
    drawn = [
        rng.binomial(size, share, (resamples, len(limits))) / size
        for size, share in zip(sizes, shares, strict=True)
    ]
    ends = np.quantile(np.mean(drawn, axis=0), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.stack([np.mean(shares, axis=0), *ends])


def runtime_profile(
    rounds: IntArray, curves: Array, first: float, last: float, at: Array | IntArray
) -> Array:
    """The share of trial x target that is reached after each of some rounds: (at,).

    The targets, evenly spaced in their logarithms, go from below the regret ``first`` > 0 to
    ``last``, or to `SMALLEST` times the first. One is reached when the regret stays at or below it.
    """
    targets = np.geomspace(first, max(last, SMALLEST * first), TARGETS + 1)[1:]
    return (reached(rounds, curves, targets).ravel()[:, None] <= at).mean(axis=0)


def reached(rounds: IntArray, curves: Array, targets: Array) -> Array:
    """The first round from which on a curve stays at or below each target; infinity if none.

    Args:
        rounds: (k,) the rounds of the curves.
        curves: (trials, k) regret.
        targets: (m,) targets.
    Returns:
        (trials, m).
    """
    worst = np.maximum.accumulate(curves[:, ::-1], axis=1)[:, ::-1]
    below = worst[:, :, None] <= targets
    return np.where(below.any(axis=1), rounds[below.argmax(axis=1)].astype(np.float64), np.inf)


@dataclass(frozen=True)
class Ranking:
    """Agents by their mean rank over problems, and which of them differ.

    Args:
        agents: the best mean rank first.
        ranks: their mean ranks, 1 for the least regret in every problem.
        problems: the problems over which they are ranked.
        friedman: the p-value of Friedman's test that no agent differs.
        p: (a, b) -> the p-value of Wilcoxon's signed-rank test over the problems, adjusted by Holm,
            with a before b in ``agents``; all 1 if Friedman's test does not reject at 5%.
        groups: the longest runs of agents of which no two differ at 5%.
    Source: Demsar (2006), Section 3.2; Benavoli, Corani and Mangili (2016) for the pairs.
    """

    agents: tuple[str, ...]
    ranks: tuple[float, ...]
    problems: tuple[str, ...]
    friedman: float
    p: dict[tuple[str, str], float]
    groups: tuple[tuple[str, ...], ...]


def ranking(agents: Sequence[str], problems: Sequence[str], table: Array) -> Ranking | None:
    """Rank agents by their (agents, problems) regret on a common scale.

    None for fewer than three agents or two problems, for which Friedman's test is not defined.
    """
    if len(agents) < 3 or len(problems) < 2:
        return None
    order = np.argsort(mean_ranks(table), kind="stable")
    names, table = tuple(agents[i] for i in order), table[order]
    same = not np.ptp(table, axis=0).any()
    friedman = 1.0 if same else float(stats.friedmanchisquare(*table).pvalue)
    pairs = list(combinations(range(len(names)), 2))
    p = [1.0] * len(pairs)
    if friedman <= 1.0 - LEVEL:
        gaps = [table[i] - table[j] for i, j in pairs]
        p = holm([float(stats.wilcoxon(d).pvalue) if d.any() else 1.0 for d in gaps])
    apart = [pair for pair, value in zip(pairs, p, strict=True) if value <= 1.0 - LEVEL]
    # The last agent of the run that begins with each one: no two of a run differ.
    ends = [min((b for a, b in apart if a >= i), default=len(names)) - 1 for i in range(len(names))]
    groups = [
        names[i : e + 1] for i, e in enumerate(ends) if e > i and (not i or e > max(ends[:i]))
    ]
    named = dict(zip(combinations(names, 2), p, strict=True))
    ranks = tuple(mean_ranks(table).tolist())
    return Ranking(names, ranks, tuple(problems), friedman, named, tuple(groups))
