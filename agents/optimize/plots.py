"""Plots of a campaign: convergence, and slices and pairs of dimensions with the agent's belief.

Each function returns a figure of matplotlib, which a notebook shows and ``figure.savefig`` saves.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Choice, Dimension, Params
from gpbandits_env.agents.optimize.result import OptimizationResult
from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.figure import NotebookFigure

# What can be plotted.
Plotted: TypeAlias = OptimizationResult | Campaign

# The number of values along a dimension in a slice, and in each direction of a pair.
ALONG, ACROSS = 101, 41
# The letters of options for which there is room below a panel, unless they are turned.
MOST_LETTERS = 15
# The largest number of dimensions in a plot of pairs, unless they are named.
MOST_PAIRED = 5


def convergence(found: Plotted) -> NotebookFigure:
    """All values in the order of their evaluation, and the best so far where constraints hold.

    Args:
        found: a result or a campaign with at least one value.
    Raises:
        InvalidInput: there is no value yet.
    """
    campaign = _campaign(found)
    values = np.array([np.nan if r.value is None else r.value for r in campaign.records])
    sign = 1.0 if campaign.maximize else -1.0
    feasible = [campaign.feasible(record) for record in campaign.records]
    best = sign * np.maximum.accumulate(np.where(feasible, sign * values, -np.inf))
    best[~np.isfinite(best)] = np.nan
    figure, (axes,) = _panels(1, 1, 5.0, 3.2)
    number = np.arange(1, len(values) + 1)
    axes.plot(number, values, ".", color="0.6", label="values")
    axes.step(number, best, where="post", color="C0", label="best so far")
    failed = number[[record.status == "failed" for record in campaign.records]]
    if len(failed):
        axes.plot(failed, np.full(len(failed), np.nanmin(values)), "x", color="C3", label="failed")
    axes.set(xlabel="evaluation", ylabel="value")
    axes.legend(frameon=False)
    return figure


def slices(found: Plotted, at: object = None) -> NotebookFigure:
    """The belief along each dimension through one point, with two standard deviations.

    Points that violate a linear constraint are left out, here and in `pairs`.

    Args:
        found: a result or a campaign with at least one value.
        at: the point, a dict by name or a list of values; by default the recommended point.
    Raises:
        InvalidInput: there is no value yet, the point lies outside the space, or none is given
            while no evaluation satisfies the constraints.
    """
    campaign = _campaign(found)
    center = _center(campaign, at)
    names = list(campaign.space.dimensions)
    columns = min(len(names), 3)
    figure, panels = _panels(-(-len(names) // columns), columns, 3.2, 2.6)
    for axes, name in zip(panels, names, strict=False):
        _slice(axes, campaign, center, name)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    panels[0].set_ylabel("value")
    return figure


def pairs(found: Plotted, names: Sequence[str] | None = None, at: object = None) -> NotebookFigure:
    """The posterior mean over each pair of dimensions through one point, and the evaluations.

    Args:
        found: a result or a campaign with at least one value.
        names: the dimensions, at least two; by default those with the largest total importance, at
            most 5.
        at: the values of the other dimensions, as in `slices`.
    Raises:
        InvalidInput: as in `slices`, or there are fewer than two dimensions.
        UnknownName: there is no dimension of some name.
    """
    campaign = _campaign(found)
    center = _center(campaign, at)
    if names is None:
        shares = campaign.importance(total=True)
        chosen = sorted(shares, key=lambda name: -shares[name])[:MOST_PAIRED]
        names = [name for name in campaign.space.dimensions if name in chosen]
    for name in names:
        one_of(name, campaign.space.dimensions, "dimension")
    if len(names) < 2:
        raise InvalidInput(f"a plot of pairs needs at least two dimensions, got {shown(names)}")
    last = len(names) - 1
    figure, panels = _panels(last, last, 2.6, 2.3, shared=True)
    for axes, (i, j) in zip(panels, np.ndindex(last, last), strict=True):
        if j > i:
            axes.set_axis_off()
            continue
        _pair(axes, campaign, center, (names[j], names[i + 1]))
        axes.set(xlabel=names[j] if i == last - 1 else "", ylabel=names[i + 1] if j == 0 else "")
    return figure


def _campaign(found: Plotted) -> Campaign:
    campaign = getattr(found, "campaign", found)
    if not isinstance(campaign, Campaign):
        raise InvalidInput(f"a plot is of a result or a campaign, got {shown(found)}")
    if all(record.value is None for record in campaign.records):
        raise InvalidInput("there is nothing to plot yet: no evaluation has a value")
    return campaign


def _center(campaign: Campaign, at: object) -> Params:
    at = campaign.recommended if at is None else at
    if at is None:
        raise InvalidInput("no evaluation satisfies the constraints yet: give a point `at`")
    given = campaign.space.check_all(at)
    if len(given) != 1:
        raise InvalidInput(f"at must be one point, got {len(given)}")
    return given[0]


def _panels(
    rows: int, columns: int, width: float, height: float, *, shared: bool = False
) -> tuple[NotebookFigure, list[Axes]]:
    figure = NotebookFigure(figsize=(columns * width, rows * height))
    axes: Any = {"sharex": "col", "sharey": "row"} if shared else {}
    return figure, list(figure.subplots(rows, columns, squeeze=False, **axes).ravel())


def _values(dimension: Dimension, most: int) -> list[object]:
    """Values along a dimension: all of them if they are few or have no order."""
    if not dimension.ordered or (dimension.size is not None and dimension.size <= most):
        return dimension.values()
    spread = [dimension.decode(np.array([part])) for part in np.linspace(0.0, 1.0, most)]
    return list(dict.fromkeys(spread))


def _believed(campaign: Campaign, points: Sequence[Params]) -> tuple[Array, Array]:
    """Mean and standard deviation at points; NaN where a linear constraint is violated."""
    possible = np.array([campaign.space.satisfies(point) for point in points])
    mean, sd = np.full((2, len(points)), np.nan)
    inside = [point for point, one in zip(points, possible, strict=True) if one]
    mean[possible], sd[possible] = campaign.predict(inside)
    return mean, sd


def _positions(dimension: Dimension, values: Sequence[object]) -> Array:
    """Where values stand on an axis: options at 0, 1, 2, ..., numbers at their value."""
    if isinstance(dimension, Choice):
        values = [dimension.index(value) for value in values]
    return np.array(values, dtype=np.float64)


def _label(axes: Axes, dimension: Dimension, which: str) -> None:
    if not dimension.ordered:
        names = [str(option) for option in dimension.values()]
        turned = which == "x" and sum(map(len, names)) > MOST_LETTERS
        looks: dict[str, Any] = {"rotation": 30.0, "ha": "right"} if turned else {}
        getattr(axes, f"set_{which}ticks")(range(len(names)), names, **looks)
    elif getattr(dimension, "log", False):
        getattr(axes, f"set_{which}scale")("log")
    elif dimension.size is not None:
        getattr(axes, f"{which}axis").set_major_locator(MaxNLocator(integer=True))


def _slice(axes: Axes, campaign: Campaign, center: Params, name: str) -> None:
    dimension = campaign.space.dimensions[name]
    values = _values(dimension, ALONG)
    mean, sd = _believed(campaign, [{**center, name: value} for value in values])
    x = _positions(dimension, values)
    _label(axes, dimension, "x")
    if dimension.size is not None and len(values) < ALONG // 3:
        axes.errorbar(x, mean, 2 * sd, fmt="o", color="C0", markersize=4, capsize=3)
    else:
        axes.fill_between(x, mean - 2 * sd, mean + 2 * sd, color="C0", alpha=0.2, linewidth=0)
        axes.plot(x, mean, color="C0")
    axes.axvline(float(_positions(dimension, [center[name]])[0]), color="0.5", linestyle=":")
    axes.set_xlabel(name)


def _pair(axes: Axes, campaign: Campaign, center: Params, names: tuple[str, str]) -> None:
    x_kind, y_kind = (campaign.space.dimensions[name] for name in names)
    x, y = _values(x_kind, ACROSS), _values(y_kind, ACROSS)
    points = [{**center, names[0]: a, names[1]: b} for b in y for a in x]
    mean = _believed(campaign, points)[0].reshape(len(y), len(x))
    at = _positions(x_kind, x), _positions(y_kind, y)
    axes.pcolormesh(*at, mean, shading="nearest", cmap="viridis", rasterized=True)
    done, seen = [record.params for record in campaign.records if record.value is not None], []
    for kind, which, name in zip((x_kind, y_kind), "xy", names, strict=True):
        _label(axes, kind, which)
        seen.append(_positions(kind, [params[name] for params in done]))
    axes.plot(*seen, ".", color="white", markersize=4, markeredgecolor="black", markeredgewidth=0.4)
