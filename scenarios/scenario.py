"""A declared experiment (`Scenario`), and its cells with every parameter filled in."""

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from gpbandits_env.arrays import Plain, Settings, listed, positive, whole
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.scenarios.declare import check, check_distinct, check_names, plain, put
from gpbandits_env.scenarios.metrics import Panel, metric_named

# A larger number of environment instances is taken for a typing error.
MOST_TRIALS = 10**6


def _about(default: Any = MISSING, *, later: bool = False) -> Any:
    """A field that describes or judges results, but on which no result depends.

    Runs that share a results file may differ in it. For ``later``, see `_later`.
    """
    return field(default=default, metadata={"about": True, "later": later})


def _later(default: Any) -> Any:
    """A field that a results file has only where it is used, so that digests do not change."""
    return field(default=default, metadata={"later": True})


@dataclass(frozen=True)
class AgentEntry:
    """One agent of a scenario: a registered agent with its settings, under a label.

    Args:
        label: its name in tables and plots; no commas and no dots.
        agent: a registered name, e.g. "gp-ucb", or "module:Class", an agent of your own.
        settings: JSON-able keyword arguments.
        note: one line that says which reading of the paper this is.
        thinking: the declared time of its decisions, if the environment has a clock: a list of the
            coefficients of a cost model (see `Clock`), one for a constant time; by default that of
            the environment.
        history: the number of rounds before the first one whose rewards, of all arms, it observes
            first; see `Problem.history`.
    """

    label: str
    agent: str
    settings: Settings = field(default_factory=dict)
    note: str = ""
    thinking: tuple[float, ...] = _later(())
    history: int = _later(0)

    def __post_init__(self) -> None:
        check(self)
        if not 0 < len(self.label.strip()) <= 100 or any(c in self.label for c in ",.\n"):
            raise InvalidInput(
                "label must be one line of 1 to 100 characters without commas and dots, got "
                f"{shown(self.label)} (a class of your own is named as 'module:Class')"
            )


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A named, declared experiment.

    A field is declared only here: its check, its key in a TOML file and its entry in a results
    file follow from its type. A new field is ``name: type = _later(value)``, or `_about` if no
    result depends on it. The code that runs a trial reads it as ``cell.scenario.name``.

    Args:
        id: "paper/name", or "paper/name@reading" for the same experiment under another reading of
            the paper.
        source: paper, section and figure.
        title: one line of text.
        env: the environment's Gymnasium id.
        env_kwargs: its JSON-able keyword arguments.
        grid: a sweep: names to values (their product), or a sequence of points. A plain name is a
            keyword of the environment ("epsilon", "kernel.lengthscale", or with the number of a
            list's item "drift.drifts.0.epsilon"). "agents.NAME" is a setting of every agent,
            "agents.LABEL.NAME" a setting of one, which has no effect where that agent is left out,
            and "horizon" the horizon.
        horizon: rounds T; or, if the environment has a clock with a ``duration``, the number of
            equal parts of that time for which results are kept.
        trials: independent environment instances; all agents face the same ones.
        agents: the paper's agents.
        metric: the metric that reports rank by (see `metrics.KNOWN`).
        choices: where the paper is silent, and what was chosen.
        departures: where this scenario differs from what the paper did.
        bounds: theory curves that a plot can draw over the result, as in `bounds`:
            ``{"type": "theorem1"}``.
        openings: k arms for round 1. In trial i, every agent gets the (i mod k)-th of them instead
            of its own choice.
        sweep: the setting in which the agents differ, if a plot should show regret against it.
        selective: whether evaluations that an agent calls uninformative are skipped (see
            `Agent.informative`); they count in the regret.
        store_actions: whether actions are kept, up to a limit (`records.MOST_ACTIONS`); never if a
            clock ends the trials.
        panels: what its plot shows; by default the three metrics against rounds, or against time if
            a clock ends the trials, without simple regret where the optimum moves.
        initial: the number of uniformly random points that are evaluated and given to the agents
            as prior data before round 1; all agents of a trial get the same points.
        initial_counts: whether simple regret counts the initial points.
        alternatives: agents under other readings of the paper (its CHOICEs); ``--agents`` runs
            them by label, ``--agents all`` runs all of them.
        tags: what it asks of an agent, if it is a problem of a suite.
    """

    id: str
    source: str = _about()
    title: str = _about()
    env: str
    env_kwargs: Settings
    grid: Mapping[str, Sequence[Any]] | Sequence[Settings] = ()
    horizon: int
    trials: int = _about()
    agents: tuple[AgentEntry, ...] = _about()
    metric: str = _about("average_regret")
    choices: tuple[str, ...] = _about(())
    departures: tuple[str, ...] = _about(())
    bounds: tuple[Any, ...] = _about(())
    openings: tuple[int, ...] = _later(())
    sweep: str = _about("", later=True)
    selective: bool = _later(False)
    store_actions: bool = _later(True)
    panels: tuple[Panel, ...] = _about((), later=True)
    initial: int = _later(0)
    initial_counts: bool = _later(False)
    alternatives: tuple[AgentEntry, ...] = _about((), later=True)
    tags: tuple[str, ...] = _about((), later=True)

    def __post_init__(self) -> None:
        check(self)
        if not self.id.strip() or "\n" in self.id:
            raise InvalidInput(f"id must be one line of text, got {shown(self.id)}")
        clock = self.env_kwargs.get("clock")
        if not isinstance(clock, Mapping | None):
            # A `Clock` becomes its dict, whose entries the grid and the agents may replace.
            object.__setattr__(self, "env_kwargs", {**self.env_kwargs, "clock": plain(clock)})
        whole(self.horizon, "horizon")
        whole(self.trials, "trials", maximum=MOST_TRIALS)
        metric_named(self.metric)
        _check_grid(self.grid)
        if whole(self.initial, "initial", 0) == 0 and self.initial_counts:
            raise InvalidInput("initial_counts needs initial points")
        labels = [e.label for e in (*self.agents, *self.alternatives)]
        if not self.agents:
            raise InvalidInput("agents: give at least one")
        if len(set(labels)) != len(labels):
            raise InvalidInput(
                f"the labels of the agents must differ, got {', '.join(labels)}; "
                "give each a label of its own"
            )

    def points(self) -> tuple[Plain, ...]:
        """The points of the grid in declared order; a single empty point if there is no grid."""
        if isinstance(self.grid, Mapping):
            values = itertools.product(*self.grid.values())
            return tuple(dict(zip(self.grid, row, strict=True)) for row in values)
        return tuple(dict(point) for point in self.grid) or ({},)

    def cells(self) -> "tuple[Cell, ...]":
        """One cell per point of the grid, with every parameter filled in."""
        try:
            return tuple(self._cell(index, point) for index, point in enumerate(self.points()))
        except RecursionError:
            raise InvalidInput(f"{self.id}: a setting is nested too deeply") from None

    def _cell(self, index: int, point: Settings) -> "Cell":
        here = self.changed(point)
        # Fields that no result depends on are dropped: each trial carries its cell to a worker.
        about = (f for f in fields(self) if f.metadata.get("about") and f.default is not MISSING)
        left: Plain = {f.name: f.default for f in about}
        return Cell(index, dict(point), replace(here, **left, grid=()))

    def changed(self, settings: Settings) -> "Scenario":
        """The same scenario with other settings, named as in a grid (see ``grid`` above)."""
        env_kwargs: Any = copy.deepcopy(dict(self.env_kwargs))
        chosen: Plain = {e.label: copy.deepcopy(dict(e.settings)) for e in self.agents}
        left_out = {e.label for e in self.alternatives}
        horizon = self.horizon
        for name, value in settings.items():
            head, _, rest = name.partition(".")
            if name == "horizon":
                horizon = value
            elif head != "agents":
                env_kwargs = put(env_kwargs, name, value)
            else:
                label, _, key = rest.partition(".")
                if key and label in chosen:
                    chosen[label] = put(chosen[label], key, value)
                elif not key or label not in left_out:
                    chosen = {each: put(given, rest, value) for each, given in chosen.items()}
        agents = tuple(replace(e, settings=chosen[e.label]) for e in self.agents)
        return replace(self, env_kwargs=env_kwargs, horizon=horizon, agents=agents)

    def select(
        self,
        agents: Sequence[str] | None = None,
        trials: int | None = None,
        horizon: int | None = None,
    ) -> "Scenario":
        """The same scenario with other agents, trials or horizon.

        Agents that are left out become alternatives, so that a grid may still name them.

        Args:
            agents: labels of agents and alternatives, names of registered agents, "module:Class"
                for your own, or "all"; None keeps the paper's agents.
            trials: the number of environment instances; None keeps it.
            horizon: rounds; None keeps it.
        Raises:
            UnknownName: an agent that is none of these.
            InvalidInput: a number below 1, or a horizon although the grid sweeps it.
        """
        if horizon is not None and any("horizon" in point for point in self.points()):
            raise InvalidInput(f"the grid sweeps horizon: '--set horizon={horizon}' replaces that")
        chosen = self.agents if agents is None else self._choose(agents)
        labels = {e.label for e in chosen}
        everyone = (*self.agents, *self.alternatives)
        return replace(
            self,
            agents=chosen,
            alternatives=tuple(e for e in everyone if e.label not in labels),
            trials=self.trials if trials is None else trials,
            horizon=self.horizon if horizon is None else horizon,
        )

    def _choose(self, names: Sequence[str]) -> tuple[AgentEntry, ...]:
        # Imported here, because a list of scenarios needs no agents, which take a second to import.
        from gpbandits_env.agents.registry import ADAPTERS, AGENTS, HINT, is_own

        entries = {e.label: e for e in (*self.agents, *self.alternatives)}
        chosen: dict[str, AgentEntry] = {}
        for name in listed(names, "agents"):
            if isinstance(name, str) and name == "all":
                chosen |= entries
                continue
            if not is_own(name):
                one_of(name, {*entries, *AGENTS, *ADAPTERS}, "agent", HINT)
            entry = entries.get(name) or AgentEntry(label_of(name), name)
            chosen[entry.label] = entry
        return tuple(chosen.values())

    def to_dict(self, seed: int = 0) -> Plain:
        """The plain dict that a results file keeps, before `study.resolve` fills in defaults."""
        found: Plain = {}
        for name, value in _used(self).items():
            if name == "grid":
                found["points"] = self.points()
            elif name not in ("initial_counts", "alternatives"):
                found[name] = value
            if name == "trials":
                found["seed"] = seed
        if self.initial:
            found["initial"] = {"points": self.initial, "counts": self.initial_counts}
        entries = {e.label: _used(e) for e in self.agents}
        for entry in entries.values():
            del entry["label"]
        return plain(found | {"agents": entries})


# The entries of a results file that its results depend on. Runs that share a file agree in these.
IDENTITY = (
    *("points", "seed"),
    *(f.name for f in fields(Scenario) if not f.metadata.get("about") and f.name != "grid"),
)


@dataclass(frozen=True)
class Cell:
    """One point of a scenario's parameter grid, everything filled in.

    It has its index in the declared order, the values of the grid, and the scenario at this point:
    environment, horizon and agents, without the fields that no result depends on.
    """

    index: int
    params: Settings
    scenario: Scenario

    @property
    def made_with(self) -> Plain:
        """All keyword arguments of the environment."""
        selective = {"selective": True} if self.scenario.selective else {}
        return {**self.scenario.env_kwargs, **selective}

    def made_for(self, entry: AgentEntry) -> Plain:
        """The same for an agent, whose declared time of thinking may be its own.

        Raises:
            InvalidInput: it has one, but the environment has no clock.
        """
        made = self.made_with
        if not entry.thinking:
            return made
        if not isinstance(made.get("clock"), Mapping):
            raise InvalidInput(
                f"agent {entry.label!r}: thinking needs an environment with a clock, such as "
                '{"evaluation": 0.1}'
            )
        return {**made, "clock": {**made["clock"], "thinking": list(entry.thinking)}}

    @property
    def instance_params(self) -> Plain:
        """The part of ``params`` on which the random streams of the environment depend."""
        left = ("horizon", "batch_size", "agents")
        return {k: v for k, v in self.params.items() if k.partition(".")[0] not in left}


def _used(declared: Any) -> Plain:
    """The fields of a declaration, those of `_later` only where they are used."""
    found = {f: getattr(declared, f.name) for f in fields(declared)}
    later = [f for f, value in found.items() if f.metadata.get("later") and value == f.default]
    return {f.name: value for f, value in found.items() if f not in later}


def clocked(env_kwargs: Settings) -> float | None:
    """The time at which the clock of an environment ends an episode, in units; None if none does.

    Raises:
        InvalidInput: the duration or the unit is no positive number.
    """
    clock = env_kwargs.get("clock")
    if not isinstance(clock, Mapping) or clock.get("duration") is None:
        return None
    return positive(clock["duration"], "duration") / positive(clock.get("unit", 1.0), "unit")


def words(point: Settings) -> str:
    """A point of a grid in words; a dict with a type reads as a call: markov(epsilon=0.1)."""
    return ", ".join(f"{name} = {_as_call(value)}" for name, value in point.items())


def _as_call(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k}={_as_call(v)}" for k, v in value.items() if k != "type")
        return f"{value.get('type', '')}({inner})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_as_call, value))}]"
    return str(value)


def label_of(agent: str) -> str:
    """The default label of an agent: its name, or the class name of an agent of your own."""
    return agent.rpartition(":")[2]


def _check_grid(grid: Any) -> None:
    if not isinstance(grid, Mapping):
        for point in listed(grid, "grid"):
            check_names(point, "a point of the grid")
        check_distinct([dict(sorted(point.items())) for point in grid], "grid")
        return
    check_names(grid, "grid")
    for key, values in grid.items():
        if not listed(values, f"grid.{key}"):
            raise InvalidInput(f"grid.{key} has no values; give at least one, or leave it out")
        check_distinct(values, f"grid.{key}")
