"""Whether an agent is as good on new instances as on those of the archive, which anyone can see."""

from dataclasses import dataclass

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.display import Displayed, aligned
from gpbandits_env.scenarios.results.statistics import ORACLE, RANDOM
from gpbandits_env.scenarios.scenario import AgentEntry
from gpbandits_env.scenarios.suite.archive import archived, entries
from gpbandits_env.scenarios.suite.rows import Field
from gpbandits_env.scenarios.suite.run import SuiteOutcome
from gpbandits_env.scenarios.suite.scores import by_agent, differences, standings

BEST = 5
LEVEL, SHUFFLES, ROUNDING = 0.01, 10_000, 1e-9


@dataclass(frozen=True, repr=False)
class Exposure(Displayed):
    """How often an agent has less regret than some others, on public and on new instances.

    Attributes:
        label: the agent.
        shares: rival -> the shares of trials with less regret, on public and on new instances: the
            mean over problems, where an equal regret counts as a half.
        public: the mean of the first over the rivals.
        new: the mean of the second.
        p: how often shuffled instances have so large a fall (a permutation test, stratified by
            problem).
    """

    label: str
    shares: dict[str, tuple[float, float]]
    public: float
    new: float
    p: float

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        fitted = (
            "that is worse than chance explains: it fits the public instances"
            if self.p < LEVEL
            else "there is no sign that it fits the public instances"
        )
        return (
            f"{self.label} has less regret in {self.public:.0%} of the trials on the public "
            f"instances and in {self.new:.0%} on new ones (p = {self.p:.2g}); {fitted}."
        )

    def __str__(self) -> str:
        """A table, and the sentence."""
        rows = [["rival", "public instances", "new instances"]]
        rows += [[rival, f"{a:.0%}", f"{b:.0%}"] for rival, (a, b) in self.shares.items()]
        return "\n".join([*aligned(rows), self.sentence])


def opponents(outcome: SuiteOutcome) -> list[AgentEntry]:
    """The five best agents of the archive, by their scores on the problems of a run, and random.

    An agent counts that plays at least half of these problems; an oracle does not.
    """
    among = {id for _, id in outcome.rows}
    field = {key: row for key, row in archived(outcome.suite).items() if key[1] in among}
    found = [s.label for s in standings(field) if 2 * s.problems >= len(among)]
    best = [label for label in found if label not in (ORACLE, RANDOM)][:BEST]
    return [entries()[label] for label in (*best, RANDOM)]


def exposed(public: SuiteOutcome, fresh: SuiteOutcome) -> Exposure:
    """Compare an agent's lead over the rivals of ``fresh`` there and in ``public``.

    Args:
        public: a run on the instances of the archive.
        fresh: a run of the same agent, and of the rivals, on new instances.
    """
    rivals = dict.fromkeys(agent for agent, _ in fresh.rows if agent != fresh.label)
    old = {rival: _wins(public.field, public.label, rival) for rival in rivals}
    new = {rival: _wins(fresh.rows, fresh.label, rival) for rival in rivals}
    shares = {rival: (_mean(old[rival]), _mean(new[rival])) for rival in rivals}
    before, after = _leads(old), _leads(new)
    p = _chance({id: (before[id], after[id]) for id in before if id in after})
    return Exposure(public.label, shares, _mean(before), _mean(after), p)


def _wins(field: Field, label: str, rival: str) -> dict[str, Array]:
    """Problem -> (trials,) 1 where the agent has less regret than a rival, 1/2 where as much."""
    by = by_agent(field)
    apart = differences(by[label], by[rival])
    return {id: np.where(d == 0.0, 0.5, d > 0.0) for id, d in apart.items()}


def _mean(wins: dict[str, Array]) -> float:
    return float(np.mean([w.mean() for w in wins.values()]))


def _leads(side: dict[str, dict[str, Array]]) -> dict[str, Array]:
    """Problem -> (trials,) the mean share of rivals that have more regret."""
    ids = dict.fromkeys(id for wins in side.values() for id in wins)
    return {id: np.mean([wins[id] for wins in side.values() if id in wins], axis=0) for id in ids}


def _chance(leads: dict[str, tuple[Array, Array]]) -> float:
    """How often instances that are shuffled within each problem have so large a fall, or larger."""
    rng, fall = np.random.default_rng(0), np.zeros(SHUFFLES + 1)
    for old, new in leads.values():
        both = np.tile(np.concatenate([old, new]), (SHUFFLES + 1, 1))
        both[1:] = rng.permuted(both[1:], axis=1)
        fall += both[:, : len(old)].mean(axis=1) - both[:, len(old) :].mean(axis=1)
    return float(np.mean(fall >= fall[0] - ROUNDING))
