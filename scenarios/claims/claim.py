"""The claims of a paper as data: what it says, where, and the checks that decide it.

`PAPER.toml` has a table for each claim and for each other reading; `judge` gives the verdicts.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from gpbandits_env.arrays import all_of, positive, share
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.scenarios.claims import yardsticks
from gpbandits_env.scenarios.declare import read

Rule = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Check(yardsticks.Limits):
    """One check of a claim: a table [[claims.check]].

    Args:
        yardstick: one of `yardsticks.YARDSTICKS`.
        scenario: ids of the scenarios whose kept values it compares.
        computed: or "PAPER/NAME", a computation.
        cells: the parameters of the cells that count; all cells if empty.
        a: labels of agents, or patterns of names of computed arrays.
        b: those with which each of them is compared.
        metric: a kept quantity, a metric made of one, or a measure.
        at: fractions of the horizon; the last one decides.
        since: for "slope", the fraction of the horizon from which rounds count.
        x: for "slope" of computed arrays, the array that has the horizontal axis.
        value: for "published", the number, or one for each agent.
        parts: "each" if every part counts, "one" if they are combined by ``rule``.
        rule: the shares of parts that decide, "holds" and "fails".
        together: in a cell, the checks with the same name make one part, the worst of theirs.
        only_limits: whether failing turns "holds" into "in part" and decides nothing else.
        reported: whether it is shown and does not count.
        what: what is compared, in words, where the labels do not say it.
        trials: how many trials count; None for all.
        one_sided: "level" counts the upper end of the interval only.
        clearly: "better" asks in addition that the two are not level.
        strict: for "better", whatever is not better fails.
        factor: another factor than the common one.
        above, below: limits of "slope" and "mean".
        at_least, at_most: limits of "share" and "limit".
    """

    yardstick: str
    scenario: tuple[str, ...] = ()
    computed: str = ""
    cells: tuple[Mapping[str, Any], ...] = ()
    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()
    metric: str = "average_regret"
    at: tuple[float, ...] = (1.0,)
    since: float = 0.5
    x: str = ""
    value: Any = None
    parts: str = "each"
    rule: Rule = field(default_factory=lambda: {"holds": 1.0, "fails": 0.5})
    together: str = ""
    only_limits: bool = False
    reported: bool = False
    what: str = ""
    trials: int | None = None

    def __post_init__(self) -> None:
        one_of(self.yardstick, yardsticks.YARDSTICKS, "yardstick")
        object.__setattr__(self, "logarithmic", self.metric.startswith("log10"))
        if bool(self.scenario) == bool(self.computed):
            raise InvalidInput("a check needs a scenario or a computation")
        if self.yardstick in (*yardsticks.PAIRS, "best") and not self.b:
            raise InvalidInput(f"b is missing: {self.yardstick} compares a with it")
        all_of(str, self.a, "a", "labels")
        one_of(self.parts, ("each", "one"), "way to count parts")
        for fraction in all_of(float, self.at, "at", "fractions of the horizon"):
            share(fraction, "at")
        given = self.value if isinstance(self.value, Mapping) else {"": self.value}
        for value in given.values() if self.yardstick == "published" else ():
            positive(value, "value")


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper's results; see the fields of a table [[claims]].

    ``not_run`` is how many parts have no check because they were not run: they are undecided.
    """

    id: str
    where: str
    says: str
    judged: str
    yardstick: str
    scenarios: tuple[str, ...]
    needs: str = ""
    departs: str = ""
    rule: Rule | None = None
    not_run: int = 0
    check: tuple[Check, ...] = ()


@dataclass(frozen=True)
class Reading:
    """Another reading: labels, scenarios and computations it replaces, or how many trials count.

    ``trials`` concerns all scenarios, or only ``scenarios`` if some are named.
    """

    name: str
    says: str
    agents: Mapping[str, str] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)
    computed: Mapping[str, str] = field(default_factory=dict)
    trials: int | None = None

    def applied(self, check: Check) -> Check:
        """The check under this reading; an equal one if the reading does not concern it."""
        if check.computed:
            return replace(check, computed=self.computed.get(check.computed, check.computed))
        swap, value = self.agents.get, check.value
        if isinstance(value, dict):
            value = {swap(label, label): number for label, number in value.items()}
        of_these = self.trials and (not self.scenarios or {*check.scenario} & {*self.scenarios})
        return replace(
            check,
            a=tuple(swap(label, label) for label in check.a),
            b=tuple(swap(label, label) for label in check.b),
            scenario=tuple(self.scenarios.get(id, id) for id in check.scenario),
            value=value,
            trials=self.trials if of_these else check.trials,
        )


@dataclass(frozen=True)
class Erratum:
    """Where the text of a paper is in error, what it says, and what it should say."""

    where: str
    says: str
    should: str


@dataclass(frozen=True)
class Paper:
    """The file of a paper: its main reading, the other ones, the claims and the errata.

    ``without_data`` are further readings of which there are no data.
    """

    paper: str
    main: str
    without_data: tuple[str, ...]
    claims: tuple[Claim, ...]
    readings: tuple[Reading, ...] = ()
    errata: tuple[Erratum, ...] = ()


@cache
def paper(name: str) -> Paper:
    """The claims of a paper."""
    text = files("gpbandits_env.scenarios").joinpath(f"claims/{name}.toml").read_text("utf-8")
    return read(Paper, tomllib.loads(text))
