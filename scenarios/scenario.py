"""What an experiment is: a frozen declaration, and the plain dict that it resolves to."""

import copy
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpbandits_env import agents as learners
from gpbandits_env.agents.registry import is_own
from gpbandits_env.arrays import listed, whole
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.scenarios.checks import (
    check_grid,
    check_items,
    check_names,
    check_plain_fields,
)
from gpbandits_env.scenarios.findings import FINDINGS, Finding
from gpbandits_env.scenarios.findings.bounds import BOUNDS, Bound
from gpbandits_env.scenarios.results.metrics import metric_named
from gpbandits_env.scenarios.results.panels import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class AgentEntry:
    """One learner of a scenario: a registered agent with its settings, under a label.

    Args:
        label: its name in tables and plots; no commas and no dots.
        agent: the registered name, e.g. "gp-ucb", or "module:Class", an agent of your own.
        settings: JSON-able keyword arguments of the agent.
        note: which reading of the paper this is, one line.
    """

    label: str
    agent: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        check_plain_fields(self)
        check_names(self.settings, "settings")
        if not self.label or any(c in self.label for c in ",.\n"):
            raise InvalidInput(
                "an agent's label is one line of text without comma and dot, "
                f"got {shown(self.label)}"
            )

    def to_dict(self) -> dict[str, Any]:
        """A plain dict without the label."""
        return {"agent": self.agent, "settings": dict(self.settings), "note": self.note}


# What the lists of a scenario hold.
ITEMS: dict[str, type[Any]] = {
    "agents": AgentEntry,
    "alternatives": AgentEntry,
    "findings": Finding,
    "choices": str,
    "departures": str,
    "bounds": Bound,
    "openings": int,
    "panels": Panel,
}
# So many worlds are a slip.
MOST_TRIALS = 10**6


@dataclass(frozen=True)
class Cell:
    """One point of a scenario's parameter grid, everything filled in.

    Args:
        index: its place in the declared order.
        params: the grid's values at this point; empty without a grid.
        env_kwargs: keyword arguments of the environment.
        horizon: rounds.
        agents: the learners with their settings.
        openings: the scenario's.
        selective: the scenario's, and so are the others.
        initial: random points told before round 1.
        store_actions: whether actions are kept.
    """

    index: int
    params: Mapping[str, Any]
    env_kwargs: Mapping[str, Any]
    horizon: int
    agents: tuple[AgentEntry, ...]
    openings: tuple[int, ...] = ()
    selective: bool = False
    initial: int = 0
    store_actions: bool = True

    @property
    def made_with(self) -> dict[str, Any]:
        """All keyword arguments of the environment as it is played."""
        return {**self.env_kwargs, **({"selective": True} if self.selective else {})}

    def opening(self, trial: int) -> int | None:
        """The arm that every agent plays in round 1 of a trial; None where it is free."""
        return self.openings[trial % len(self.openings)] if self.openings else None

    @property
    def world(self) -> dict[str, Any]:
        """The part of ``params`` that changes the world; it names the world's random stream."""
        kept = ("horizon", "batch_size")
        return {k: v for k, v in self.params.items() if k not in kept and k[:7] != "agents."}


@dataclass(frozen=True)
class Scenario:
    """A named, declared experiment.

    Args:
        id: "paper/name".
        source: paper, section and figure.
        title: one line.
        env: the environment's Gymnasium id.
        env_kwargs: its JSON-able keyword arguments.
        agents: the paper's learners.
        horizon: rounds T.
        trials: independent worlds; all agents face the same ones.
        alternatives: learners under other readings of the paper (its CHOICEs); run by label, or
            all with ``--agents all``.
        grid: a sweep: names to values (their product), or a sequence of points. A plain name is a
            keyword of the environment ("epsilon", "kernel.lengthscale"), "agents.NAME" a setting
            of every agent, "agents.LABEL.NAME" of one, "horizon" the horizon.
        findings: what the paper found, as checks.
        choices: where the paper is silent, and what was chosen.
        departures: where this is not what the paper did.
        metric: the figure that reports rank by (see `metrics.METRICS`).
        bounds: theory curves that a plot can lay over the result.
        openings: arms that are played in round 1 whatever an agent asks for: trial i plays the
            (i mod k)-th of these k.
        sweep: the setting in which the agents differ, if a plot should show regret against it.
        selective: whether evaluations that an agent calls uninformative are skipped (see
            `Agent.informative`); they count in the regret.
        initial: a number of uniformly random points, one draw a trial for all agents, that are
            evaluated and told as prior data before round 1.
        initial_counts: whether the best so far (simple regret) begins with them.
        store_actions: whether actions are kept; too many never are (`records.MOST_ACTIONS`).
        panels: what its plot shows; the three metrics against rounds if not given.
    """

    id: str
    source: str
    title: str
    env: str
    env_kwargs: Mapping[str, Any]
    agents: tuple[AgentEntry, ...]
    horizon: int
    trials: int
    alternatives: tuple[AgentEntry, ...] = ()
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] = ()
    findings: tuple[Finding, ...] = ()
    choices: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    metric: str = "average_regret"
    bounds: tuple[Bound, ...] = ()
    openings: tuple[int, ...] = ()
    sweep: str = ""
    selective: bool = False
    initial: int = 0
    initial_counts: bool = False
    store_actions: bool = True
    panels: tuple[Panel, ...] = ()

    def __post_init__(self) -> None:
        whole(self.horizon, "horizon")
        whole(self.trials, "trials", maximum=MOST_TRIALS)
        check_plain_fields(self)
        metric_named(self.metric)
        check_names(self.env_kwargs, "env_kwargs")
        check_grid(self.grid)
        for name, kind in ITEMS.items():
            check_items(getattr(self, name), kind, name)
        if whole(self.initial, "initial", 0) == 0 and self.initial_counts:
            raise InvalidInput(f"{self.id}: initial_counts needs initial points")
        labels = [e.label for e in (*self.agents, *self.alternatives)]
        if not self.agents or len(set(labels)) != len(labels):
            raise InvalidInput(f"{self.id}: agents need labels of their own, got {labels}")

    def points(self) -> tuple[dict[str, Any], ...]:
        """The points of the grid in declared order; one empty point without a grid."""
        if isinstance(self.grid, Mapping):
            values = itertools.product(*self.grid.values())
            return tuple(dict(zip(self.grid, row, strict=True)) for row in values)
        return tuple(dict(point) for point in self.grid) or ({},)

    def cells(self) -> tuple[Cell, ...]:
        """The grid's points with every parameter put in its place.

        Raises:
            InvalidInput: settings that are nested too deeply to be copied.
        """
        try:
            return tuple(self._cell(index, point) for index, point in enumerate(self.points()))
        except RecursionError:
            raise InvalidInput(f"{self.id}: a setting is nested too deeply") from None

    def _cell(self, index: int, point: Mapping[str, Any]) -> Cell:
        env_kwargs = copy.deepcopy(dict(self.env_kwargs))
        settings = {e.label: copy.deepcopy(dict(e.settings)) for e in self.agents}
        horizon = self.horizon
        for name, value in point.items():
            head, _, rest = name.partition(".")
            if name == "horizon":
                horizon = whole(value, "horizon")
            elif head != "agents":
                _put(env_kwargs, name, value)
            else:
                label, _, key = rest.partition(".")
                one = label in settings
                for target in [settings[label]] if one else settings.values():
                    _put(target, key if one else rest, value)
        agents = tuple(replace(e, settings=settings[e.label]) for e in self.agents)
        return Cell(
            index,
            dict(point),
            env_kwargs,
            horizon,
            agents,
            self.openings,
            self.selective,
            self.initial,
            self.store_actions,
        )

    def select(
        self,
        agents: Sequence[str] | None = None,
        trials: int | None = None,
        horizon: int | None = None,
        known: Sequence[str] = (),
    ) -> "Scenario":
        """The same scenario with other agents, trials or horizon.

        Args:
            agents: labels of agents and alternatives, names in ``known``, your own as
                "module:Class", or "all"; None keeps the paper's.
            trials: the number of worlds; None keeps it.
            horizon: rounds; None keeps it.
            known: registered agents that may be added under their own name.
        Raises:
            UnknownName: an agent that is none of these.
            InvalidInput: a number below 1.
        """
        chosen = self.agents if agents is None else self._choose(agents, known)
        return replace(
            self,
            agents=chosen,
            alternatives=tuple(e for e in self.alternatives if e not in chosen),
            trials=self.trials if trials is None else whole(trials, "trials"),
            horizon=self.horizon if horizon is None else whole(horizon, "horizon"),
        )

    def _choose(self, names: Sequence[str], known: Sequence[str]) -> tuple[AgentEntry, ...]:
        entries = {e.label: e for e in (*self.agents, *self.alternatives)}
        chosen: dict[str, AgentEntry] = {}
        for name in listed(names, "agents"):
            if not isinstance(name, str):
                raise unknown("agent", name, {*entries, *known}, "'gpbandits agents' lists them")
            if name == "all":
                chosen |= entries
            elif name in entries:
                chosen[name] = entries[name]
            elif name in known or is_own(name):
                entry = AgentEntry(label_of(name), name)
                chosen[entry.label] = entry
            else:
                raise unknown("agent", name, {*entries, *known}, "'gpbandits agents' lists them")
        if not chosen:
            raise InvalidInput("agents: name at least one")
        return tuple(chosen.values())

    def resolved(self, seed: int = 0) -> dict[str, Any]:
        """Everything that fixes the result, as a plain JSON dict.

        Args:
            seed: the base seed that all streams of the run depend on.
        Raises:
            InvalidInput: an environment's keyword or an agent's setting is not JSON-able.
        """
        plain = {
            "id": self.id,
            "source": self.source,
            "title": self.title,
            "env": self.env,
            "env_kwargs": dict(self.env_kwargs),
            "points": list(self.points()),
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": seed,
            "agents": {
                e.label: {**e.to_dict(), "defaults": _defaults(e.agent)} for e in self.agents
            },
            "metric": self.metric,
            "findings": [FINDINGS.to_dict(f) for f in self.findings],
            "choices": list(self.choices),
            "departures": list(self.departures),
            "bounds": [BOUNDS.to_dict(b) for b in self.bounds],
        }
        # Only where they are used, so that results without them keep their digests.
        plain |= {"openings": list(self.openings)} if self.openings else {}
        plain |= {"sweep": self.sweep} if self.sweep else {}
        plain |= {"selective": True} if self.selective else {}
        plain |= {} if self.store_actions else {"store_actions": False}
        plain |= {"panels": [panel.to_dict() for panel in self.panels]} if self.panels else {}
        if self.initial:
            plain["initial"] = {"points": self.initial, "counts": self.initial_counts}
        try:
            result: dict[str, Any] = json.loads(json.dumps(plain, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"{self.id}: a scenario must be JSON-able: {error}") from None
        return result


@dataclass(frozen=True)
class Picture:
    """A scenario that only draws: one of a paper's illustrations.

    Args:
        id: "paper/name".
        source: paper and figure.
        title: one line.
        draw: draws on an empty figure, from the given seed.
    """

    id: str
    source: str
    title: str
    draw: Callable[["Figure", int], None]


def label_of(agent: str) -> str:
    """The label that an agent has when none is given: its name, or its class if it is your own."""
    return agent.rpartition(":")[2]


def _defaults(agent: str) -> dict[str, Any]:
    """The settings that an agent has when none are given: they fix the result as well."""
    found = learners.settings_of(agent)
    return {k: v if _is_plain(v) else repr(v) for k, v in found.items()}


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _put(target: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for key in parents:
        inner = target.get(key)
        target[key] = dict(inner) if isinstance(inner, Mapping) else {}
        target = target[key]
    target[last] = value
