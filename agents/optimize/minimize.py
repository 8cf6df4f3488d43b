"""A function of one's own, minimized or maximized by one call."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.run import Guarded, Map, Run, given_points, nothing_lost
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput, shown, unknown

ON_ERROR = ("raise", "fail")


def minimize(
    fun: Callable[[Any], float],
    bounds: Any,
    agent: str = "ei",
    *,
    n_calls: int = 50,
    n_initial: int | None = None,
    batch: int = 1,
    parallel: Map = map,
    seed: int | None = None,
    callback: Callable[[OptimizeResult], Any] | None = None,
    noise: float | None = None,
    x0: Sequence[Any] | None = None,
    y0: Sequence[float] | None = None,
    file: str | Path | None = None,
    on_error: str = "raise",
    **settings: Any,
) -> OptimizeResult:
    """Find where a function is smallest, in few calls.

    Args:
        fun: called with a point x, (d,) or, where dimensions are not all real, a list of values;
            with a dict of values where ``bounds`` is a dict. NaN or inf says that the call failed.
        bounds: a pair (low, high) or a `Dimension` for each coordinate; a dict names them. SciPy's
            `Bounds` and a `Space` will do too.
        agent: any agent that can run a `Campaign` there.
        n_calls: how often ``fun`` is called.
        n_initial: how many of the calls are spread over the space first; see `Campaign`.
        batch: calls at a time, handed to ``parallel`` together.
        parallel: how to call ``fun`` for several points: ``map``, or the ``map`` of a pool.
        seed: of all that is random.
        callback: called with the result so far after each batch; true stops.
        noise: the standard deviation of the noise, as a part of that of the values; 0 if there is
            none, None to learn it.
        x0: points known or wanted first, as ``fun`` takes them; kept exactly.
        y0: what they gave; without it they are evaluated first, and count as calls.
        file: where the campaign is saved at each call; `Campaign.resume` goes on from there.
        on_error: what an exception in ``fun`` does: "raise" ends the run with it; its attribute
            ``result`` is the result so far (of its batch, up to the call that raised). With "fail"
            it is a failed call, whose reason the campaign records, and the run goes on.
        settings: the agent's.

    Returns:
        x and fun, the best point called and its value; x_iters and func_vals, all points and
        values in order, given ones too; nfev, success, message; campaign and its agent. Where
        there is noise, ``campaign.recommended`` is the point of the best posterior mean.
    Raises:
        InvalidInput: points out of bounds, numbers out of range, before anything is called; or
            ``fun`` gave no number, which ends the run as an exception does.
        UnknownName: no such agent or setting.
    """
    return _search(
        fun, bounds, agent, False, n_calls=n_calls, n_initial=n_initial, batch=batch,
        parallel=parallel, seed=seed, callback=callback, noise=noise, x0=x0, y0=y0, file=file,
        on_error=on_error, settings=settings,
    )  # fmt: skip


def maximize(
    fun: Callable[[Any], float],
    bounds: Any,
    agent: str = "ei",
    *,
    n_calls: int = 50,
    n_initial: int | None = None,
    batch: int = 1,
    parallel: Map = map,
    seed: int | None = None,
    callback: Callable[[OptimizeResult], Any] | None = None,
    noise: float | None = None,
    x0: Sequence[Any] | None = None,
    y0: Sequence[float] | None = None,
    file: str | Path | None = None,
    on_error: str = "raise",
    **settings: Any,
) -> OptimizeResult:
    """Find where a function is largest; all arguments as of `minimize`.

    Its campaign maximises: all values have the function's own sign, and -inf is a failed call.
    """
    return _search(
        fun, bounds, agent, True, n_calls=n_calls, n_initial=n_initial, batch=batch,
        parallel=parallel, seed=seed, callback=callback, noise=noise, x0=x0, y0=y0, file=file,
        on_error=on_error, settings=settings,
    )  # fmt: skip


def _search(
    fun: Any,
    bounds: Any,
    agent: str,
    maximize: bool,
    *,
    n_calls: int,
    batch: int,
    parallel: Any,
    callback: Any,
    noise: float | None,
    x0: Any,
    y0: Any,
    on_error: str,
    settings: dict[str, Any],
    **options: Any,
) -> OptimizeResult:
    calls, size = whole(n_calls, "n_calls"), whole(batch, "batch")
    called = {"fun": fun, "parallel": parallel, "callback": callback}
    for name, given in called.items():
        if not callable(given) and not (given is None and name == "callback"):
            raise InvalidInput(f"{name} is called: it must be a function, got {shown(given)}")
    if not isinstance(on_error, str) or on_error not in ON_ERROR:
        raise unknown("on_error", on_error, ON_ERROR)
    if "maximize" in settings:
        raise InvalidInput("leave out maximize: there are `minimize` and `maximize`")
    if noise is not None:
        settings = {"noise_var": max(positive(noise, "noise", zero=True) ** 2, 1e-6), **settings}
    space = Space(bounds)
    known, waiting = given_points(space, x0, y0, worst=-np.inf if maximize else np.inf)
    campaign = Campaign(space, agent, maximize=maximize, **options, **settings)
    for point, value in known:
        campaign.observe(point, value)
    run = Run(campaign, named=isinstance(bounds, (Mapping, Space)))
    told = Guarded(fun) if on_error == "fail" else fun
    with nothing_lost(run):
        while run.calls < calls:
            count = min(size, calls - run.calls)
            first, waiting = waiting[:count], waiting[count:]
            points = [campaign.expect(params) for params in first]
            if count > len(points):
                points += campaign.ask(count - len(points))
            run.call(points, told, parallel)
            if callback is not None and callback(run.result("stopped by the callback")):
                return run.result("stopped by the callback")
    return run.result(f"{run.calls} calls were made")
