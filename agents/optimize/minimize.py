"""Minimize or maximize a function of your own with one call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.constraints import split
from gpbandits_env.agents.optimize.file import CampaignFile
from gpbandits_env.agents.optimize.inputs import is_value, located, measured, rows
from gpbandits_env.agents.optimize.result import OptimizationResult
from gpbandits_env.agents.optimize.run import Callback, Context, Parallel, Run
from gpbandits_env.agents.optimize.space import Space, SpaceSpec
from gpbandits_env.agents.optimize.spread import usual_initial
from gpbandits_env.agents.optimize.usual_agent import check_settings
from gpbandits_env.arrays import Plain, Settings
from gpbandits_env.errors import InvalidInput, one_of

F = TypeVar("F", bound=Callable[..., Any])


def minimize(
    fun: Callable[[Any], float],
    bounds: SpaceSpec,
    agent: str = "ei",
    *,
    n_calls: int = 50,
    n_initial: int | None = None,
    batch: int = 1,
    parallel: Parallel = map,
    seed: int | None = None,
    callback: Callback | Sequence[Callback] | None = None,
    noise: float | str | Settings | None = None,
    constraints: object = None,
    failures: str = "auto",
    context: Context | None = None,
    time: Callable[[], float] | None = None,
    x0: object = None,
    y0: Sequence[float] | None = None,
    file: str | Path | None = None,
    on_error: str = "raise",
    timeout: float | None = None,
    verbose: bool = False,
    **settings: Any,
) -> OptimizationResult:
    """Find the minimizer of a function in few calls.

    Args:
        fun: called with a point x, an array (d,) or, unless all dimensions are real, a list of
            values. If ``bounds`` is a dict, it is called with a dict of values. A value of NaN or
            inf means that the call failed.
        bounds: a pair (low, high) or a `Dimension` for each coordinate; a dict names them. SciPy's
            `Bounds` and a `Space` are accepted too.
        agent: an agent that can run a `Campaign` in this space.
        n_calls: the number of calls of ``fun``.
        n_initial: the number of evaluations, known and failed ones included, before the agent
            chooses; calls until then are spread over the space. By default that of `Campaign`, at
            most a quarter of the calls.
        batch: the number of points passed to a ``map`` at a time. An executor receives as many at a
            time as it has workers, or ``batch`` if that is more; worker processes receive one each.
        parallel: how ``fun`` is called for several points. A number of worker processes (-1 for one
            per processor; joblib provides them, and ``fun`` may be a lambda) or an executor of
            `concurrent.futures` gives each free worker the next point at once. ``map``, or the
            ``map`` of a pool, waits for the whole batch.
        seed: the seed of all randomness. In asynchronous runs the order of the values matters too.
        callback: a function, or a list of them, called with the result so far after each batch, or
            in asynchronous runs after each call; a true return value stops the run.
        noise: the standard deviation of the noise in the units of the values; 0 without noise, None
            to learn it. "returned": ``fun`` returns a pair in place of each value: the value and
            the standard deviation of its noise, which is learned where it is NaN. {"replicates":
            n}: ``fun`` returns the mean of n replicates and its standard error, which few
            replicates tell roughly: they are shrunk towards a common one (see `Campaign`).
        constraints: a dict of upper bounds by name, a `LinearConstraint` of SciPy, or a list of
            them. Linear ones hold at every point that is called. With a dict, ``fun`` returns a
            pair: its value, and the values of the constraints as a dict or a list. See `Campaign`.
        failures: what failed calls come from: the "region" of the point, so that it fails again;
            chance, "random"; or "auto" to learn it. See `Campaign`.
        context: the values of dimensions that are observed and not chosen, by name; a function
            without arguments that returns them is called before each suggestion, or before each
            batch. The agent chooses the other dimensions. If contexts differ, ``x`` and
            ``recommended`` compare them; call ``recommend(context)`` of the result instead.
        time: a function without arguments that returns the present time, from 0 on, for an agent
            with ``epsilon`` or ``temporal``; it is called for each suggestion, or batch of them,
            and for each value (see `Campaign`). By default time counts the values.
        x0: points that are known or to be evaluated first, in the form that ``fun`` takes, or one
            such point. They are kept exactly.
        y0: the values of x0. Without them, x0 is evaluated first and counts as calls.
        file: the file in which the campaign is saved after each call. The same call with an
            existing file continues: evaluations that were interrupted are repeated first, and
            ``n_calls`` counts the calls of all runs. The default of ``n_initial`` stays that of the
            first run.
        on_error: what happens after an exception in ``fun``. "raise" ends the run with that
            exception, whose attribute ``result`` is the result so far (of its batch, up to the call
            that raised). "fail" counts it as a failed call, records the reason in the campaign and
            continues.
        timeout: the time budget in seconds; no call, or with a ``map`` no batch, begins afterwards,
            and running ones finish.
        verbose: whether to show a progress bar with the best value. In any case the logger
            "gpbandits_env.agents.optimize" has one line per call (level INFO; failures WARNING).
        settings: the settings of the agent. A ``kernel`` is not in the units of x: it acts on the
            unit cube, see `usual_agent.agent_for`.

    Returns:
        x and fun, the best evaluated point and its value; x_iters and func_vals, all points and
        values in order, including x0 and y0; nfev, success, message; campaign and its agent (see
        `OptimizationResult`). With noise, prefer ``recommended``, the point with the best posterior
        mean.
    Raises:
        InvalidInput: a point is out of bounds or a number is out of range, in which case nothing
            was called; or ``fun`` did not return a number, which ends the run whatever ``on_error``
            is.
        UnknownName: there is no such agent or setting.
    """
    return _search(False, locals())


def _with_arguments_of(model: F) -> Callable[[Any], F]:
    """Give a function the signature of another, for type checkers, editors and `help`."""

    def given(function: Any) -> F:
        function.__signature__ = signature(model)
        return function

    return given


@_with_arguments_of(minimize)
def maximize(*args: Any, **options: Any) -> OptimizationResult:
    """Find the maximizer of a function in few calls; the arguments are those of `minimize`.

    The campaign maximizes: all values have the sign of the function, and -inf is a failed call.
    """
    given = signature(minimize).bind(*args, **options)
    given.apply_defaults()
    return _search(True, given.arguments)


def _search(maximize: bool, given: Plain) -> OptimizationResult:
    """Make the campaign and all calls, given the arguments of `minimize` by name."""
    run = Run(**{f.name: given[f.name] for f in fields(Run) if f.name in given})
    if "maximize" in given["settings"]:
        raise InvalidInput("leave out maximize: call `minimize` or `maximize`")
    call = "maximize" if maximize else "minimize"
    check_settings(call, [*given][:-1], given["agent"], given["settings"])
    named, linear = split(given["constraints"])
    run.constrained = bool(named)
    noise = given["noise"]
    run.with_noise = isinstance(noise, (str, Mapping))
    if isinstance(noise, str):
        one_of(noise, ("returned",), "noise")
    options = {key: given[key] for key in ("agent", "seed", "n_initial", "failures", "constraints")}
    options |= {"noise": None if isinstance(noise, str) else noise}
    options |= {"maximize": maximize, **given["settings"]}
    space = Space(given["bounds"], linear)
    points, values = _known(space, given["x0"], given["y0"], -np.inf if maximize else np.inf)
    if values and run.constrained:
        raise InvalidInput(
            "with constraints leave out y0, and x0 is called first; to give known values, observe "
            "them in a Campaign"
        )
    campaign = _campaign(run, space, given["bounds"], given["file"], options)
    run.made = _observe(campaign, points[: len(values)], values, given["file"])
    seen = [record.params for record in campaign.records]
    return run.finish(campaign, _not_in(seen, points[len(values) :]))


def _campaign(
    run: Run, space: Space, bounds: SpaceSpec, file: str | Path | None, options: Plain
) -> Campaign:
    """A new campaign, or that of an existing file."""
    if isinstance(run.context, Mapping):  # before there is a file
        Campaign(bounds, **options).check_context(run.context)
    if file is not None and CampaignFile(file).exists:
        return Campaign.open(file, bounds, **options)
    if options["n_initial"] is None:
        options["n_initial"] = min(usual_initial(space), max(1, run.n_calls // 4))
    return Campaign(bounds, file=file, **options)


def _observe(
    campaign: Campaign, known: Sequence[Plain], values: Sequence[float], file: str | Path | None
) -> int:
    """Tell a new campaign what is known; return the number of calls of earlier runs."""
    records = campaign.records
    if known and not records:
        campaign.observe_all(known, values)
        return 0
    told = [(p, None if np.isnan(v) else v) for p, v in zip(known, values, strict=True)]
    if [(record.params, record.value) for record in records[: len(known)]] != told:
        raise InvalidInput(f"{file} holds a campaign with other known points x0 or values y0")
    return len(records) - len(known) - len(campaign.pending)


def _not_in(seen: Sequence[Plain], points: Sequence[Plain]) -> list[Plain]:
    """The points that were not seen; of a repeated point, as many as were not."""
    left, found = list(seen), []
    for point in points:
        if point in left:
            left.remove(point)
        else:
            found.append(point)
    return found


def _known(
    space: Space, x0: object, y0: Sequence[float] | None, worst: float
) -> tuple[list[Plain], list[float]]:
    """The points x0 by name, and their values y0, which are empty if x0 is to be evaluated."""
    if x0 is None and y0 is not None:
        raise InvalidInput("y0 gives the values of x0: give x0 too")
    with located("x0"):
        points = space.check_all(x0)
    if y0 is None:
        return points, []
    with located("y0"):
        told = (y0,) if len(points) == 1 and is_value(y0) else rows(y0, "y0")
        values = [measured(value, worst=worst) for value in told]
    if len(values) != len(points):
        raise InvalidInput(f"y0 has {len(values)} values for the {len(points)} points of x0")
    return points, values
