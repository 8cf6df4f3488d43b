"""The plots of the kept values of scenarios.

If the agents of a scenario differ in one setting, regret is drawn against that setting. Otherwise
there is one panel per cell with the metric of the scenario, or the scenario's own panels. Lines
join the rounds whose values are kept; of clock times there is the last one only.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from gpbandits_env.arrays import Array, Plain
from gpbandits_env.figure import NotebookFigure
from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.bounds import BOUNDS
from gpbandits_env.scenarios.metrics import KNOWN, Panel, reported_metrics
from gpbandits_env.scenarios.reporting import style
from gpbandits_env.scenarios.reporting.plots import WIDTH, figure
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.curves import along
from gpbandits_env.scenarios.results.report import mean_and_error
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import Scenario, clocked
from gpbandits_env.scenarios.study.runner import make_env

# The spread over the instances that a sweep shows: from the 10th percentile to the 90th.
SPREAD = (0.1, 0.9)
# No values of it are kept.
LATEST = "log10_regret"


class Kept(Store):
    """The kept values of a scenario, as far as a plot reads those of a results file."""

    def __init__(self, scenario: Scenario, found: evidence.Evidence) -> None:
        self.declared = replace(scenario, trials=found.trials, horizon=found.horizon)
        self.found = found

    @property
    def scenario(self) -> Plain:
        """The scenario, without other readings of the paper, which stand in the table."""
        return self.declared.to_dict()

    def labels(self, cell: int) -> list[str]:
        """The agents of a cell."""
        return [e.label for e in self.declared.agents if e.label in self.found.labels(cell)]

    def trials(self, cell: int, agent: str) -> list[int]:
        """The trials of an agent."""
        return list(range(self.found.trials))

    def arrays(self, cell: int, agent: str, name: str) -> Array:
        """Nothing: rounds at which an agent forgot everything are not kept."""
        return np.zeros((1, 1))

    def bounds(self, cell: int) -> dict[str, tuple[str, Array]]:
        """The theory curves of a cell."""
        scenario, here = self.declared, self.declared.cells()[cell]
        env: Any = make_env(scenario.env, here.made_with, scenario.horizon).unwrapped
        bounds = map(BOUNDS.from_dict, scenario.bounds)
        return {b.title: (b.metric, b.curve(env.problem, scenario.horizon)) for b in bounds}


@along.register
def _(store: Kept, cell: int, label: str, name: str) -> Array:
    if name == "rate":
        return along(store, cell, label, "evaluations") / along(store, cell, label, "time")
    if name in ("rounds", "time"):
        last = clocked(store.declared.cells()[cell].made_with) if name == "time" else None
        return store.found.rounds[None] * ((last or store.found.horizon) / store.found.horizon)
    values = store.found.curve(cell, label, name)
    if name == "seconds":  # at the last round only
        return np.where(store.found.rounds == store.found.horizon, values[:, None], np.nan)
    return values


def pictures() -> dict[str, bytes]:
    """The PNG pictures of all scenarios, by address."""
    return {address(id, end): plot(id, end) for id in registry.scenarios() for end in ends(id)}


def address(id: str, end: str) -> str:
    """The address of a picture of a scenario."""
    return f"results/{id.replace('/', '-')}{end}.png"


@cache
def ends(id: str) -> tuple[str, ...]:
    """The pictures of a scenario, as the ends of their names; none if no values are kept."""
    scenario = registry.scenarios()[id]
    if evidence.load(id) is None:
        return ()
    bounds = (scenario.panels or scenario.grid) and scenario.bounds
    return ("", "-bounds") if bounds else ("",)


def plot(id: str, end: str) -> bytes:
    """The PNG picture of a scenario, or the one with the theoretical bounds."""
    scenario, found = registry.scenarios()[id], evidence.load(id)
    assert found is not None
    if scenario.sweep:
        return _sweep(scenario, found)._repr_png_()
    own, bounds = scenario.panels, end == "-bounds"
    moves, swept = found.study["optimum_moves"], len(found.points) > 1
    names = [scenario.metric] if swept else reported_metrics(scenario.metric, moves)
    panels = [panel for panel in own or map(Panel, names) if panel.y != LATEST]
    drawn = figure(Kept(scenario, found), log=bounds and not own, bounds=bounds, panels=panels)
    return bytes(drawn._repr_png_())  # type: ignore[attr-defined]


def _sweep(scenario: Scenario, found: evidence.Evidence) -> NotebookFigure:
    """Draw the metric at the last round against the swept setting; other agents are level lines."""
    name, metric = scenario.sweep, scenario.metric
    finals = {e.label: found.curve(0, e.label, metric)[:, -1] for e in scenario.agents}
    swept = sorted((e.settings[name], e.label) for e in scenario.agents if name in e.settings)
    x, values = np.array([v for v, _ in swept], float), np.stack([finals[k] for _, k in swept])
    colours = {e.label: style.colour_of(e.agent) for e in scenario.agents}
    own = colours[swept[0][1]]
    with style.new_figure(WIDTH, 3.8) as figure:
        axes = figure.subplots()
        mean, error = mean_and_error(values, axis=1)
        low, high = np.quantile(values, SPREAD, axis=1)
        style.band(axes, x, low, high, own, label="10% to 90% of the trials", alpha=0.13)
        looks: dict[str, Any] = {"marker": "o", "capsize": 3, "color": own}
        axes.errorbar(x, mean, error, label="mean ± standard error", **looks)
        for label in [k for k in finals if k not in dict(swept).values()]:
            level = float(finals[label].mean())
            axes.axhline(level, color=colours[label], linestyle="--", label=label)
        _scale(axes, x)
        axes.set(xlabel=f"{name}, as the agent assumes", ylim=(0, None))
        axes.set_ylabel(f"{KNOWN[metric].title} at round {found.horizon}")
        style.entitle(figure, f"{scenario.id}: {scenario.title} ({found.trials} trials)")
        style.share_legend(figure, 4, [axes])
    return figure


def _scale(axes: Axes, x: Array) -> None:
    """Set a logarithmic scale, or one of square roots if 0 occurs; every swept value has a tick."""
    if min(x) > 0:
        axes.set_xscale("log")
        axes.set_xlim(min(x) / 1.15, 1.15 * max(x))
    else:
        axes.set_xscale("function", functions=(np.sqrt, np.square))
        axes.set_xlim(0.0, 1.08 * max(x))
    # In two rows, because neighbours may be too close for one.
    axes.set_xticks(x, ["\n" * (i % 2) + f"{value:g}" for i, value in enumerate(x)])
    axes.set_xticks([], minor=True)
