"""A function of one's own, minimised by one call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult

from gpbandits_env.agents.field.campaign import Campaign
from gpbandits_env.agents.field.dimensions import Real
from gpbandits_env.agents.field.space import Space
from gpbandits_env.arrays import positive, whole
from gpbandits_env.errors import InvalidInput, shown

Map: TypeAlias = Callable[[Callable[[Any], float], Iterable[Any]], Iterable[float]]


def minimize(
    fun: Callable[[Any], float],
    bounds: Mapping[str, Any] | Sequence[Any] | Space,
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
    **settings: Any,
) -> OptimizeResult:
    """Find where a function is smallest, in few calls.

    Args:
        fun: called with a point x, (d,) or, where dimensions are not all real, a list of values;
            with a dict of values where ``bounds`` is a dict. NaN says that the call failed.
        bounds: a pair (low, high) or a `Dimension` for each coordinate; a dict names them.
        agent: any agent with a Gaussian-process posterior.
        n_calls: how often ``fun`` is called.
        n_initial: how many of the calls are spread over the space first; see `Campaign`.
        batch: calls at a time, handed to ``parallel`` together.
        parallel: how to call ``fun`` for several points: ``map``, or the ``map`` of a pool.
        seed: of all that is random.
        callback: called with the result so far after each batch; true stops.
        noise: the standard deviation of the noise, as a part of that of the values; 0 if there is
            none, None to learn it.
        x0: points known or wanted first, as ``fun`` takes them.
        y0: what they gave; without it they are evaluated first, and count as calls.
        settings: the agent's.

    Returns:
        x and fun, the best point called and its value; x_iters and func_vals, all points and
        values in order, given ones too; nfev, success, message; campaign and its agent. Where
        there is noise, ``campaign.recommended`` is the point of the best posterior mean.
    Raises:
        InvalidInput: points out of bounds, numbers out of range.
        UnknownName: no such agent or setting.
    """
    calls, size = whole(n_calls, "n_calls"), whole(batch, "batch")
    if noise is not None:
        settings = {"noise_var": max(positive(noise, "noise", zero=True) ** 2, 1e-6), **settings}
    run = _Run(Campaign(bounds, agent, maximise=False, seed=seed, n_initial=n_initial, **settings))
    run.named = isinstance(bounds, (Mapping, Space))
    waiting = run.known(x0, y0)
    done = 0
    while done < calls:
        count = min(size, calls - done)
        first, waiting = waiting[:count], waiting[count:]
        points = [run.campaign.expect(params) for params in first]
        if count > len(points):
            points += run.campaign.ask(count - len(points))
        values = list(parallel(fun, [run.shaped(point.params) for point in points]))
        if len(values) != len(points):
            raise InvalidInput(f"parallel gave {len(values)} values for {len(points)} points")
        for point, value in zip(points, values, strict=True):
            run.campaign.tell(point.id, value)
        done += count
        if callback is not None and callback(run.result(done, "stopped by the callback")):
            return run.result(done, "stopped by the callback")
    return run.result(done, f"{done} calls were made")


def maximize(
    fun: Callable[[Any], float],
    bounds: Mapping[str, Any] | Sequence[Any] | Space,
    agent: str = "ei",
    *,
    y0: Sequence[float] | None = None,
    callback: Callable[[OptimizeResult], Any] | None = None,
    parallel: Map = map,
    **options: Any,
) -> OptimizeResult:
    """Find where a function is largest; all else as `minimize`, values in the function's own sign.

    Args:
        fun: as there.
        bounds: as there.
        agent: as there.
        y0: as there.
        callback: as there.
        parallel: as there.
        options: as there.
    """

    def negative(f: Callable[[Any], float], points: Iterable[Any]) -> Iterable[float]:
        return [-value for value in parallel(f, points)]

    def told(result: OptimizeResult) -> Any:
        assert callback is not None
        return callback(_turned(result))

    options = {**options, "parallel": negative, "callback": None if callback is None else told}
    down = None if y0 is None else [-y for y in y0]
    return _turned(minimize(fun, bounds, agent, y0=down, **options))


def _turned(result: OptimizeResult) -> OptimizeResult:
    fields: Any = result
    return _result(**{**fields, "fun": -fields["fun"], "func_vals": -fields["func_vals"]})


def _result(**fields: Any) -> OptimizeResult:
    made: Any = OptimizeResult  # a dict whose fields SciPy leaves open
    return made(fields)


class _Run:
    """A campaign, and the form in which the function takes its points."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign, self.named = campaign, False
        kinds = campaign.space.dimensions.values()
        self._real = all(isinstance(dimension, Real) for dimension in kinds)

    def known(self, x0: Sequence[Any] | None, y0: Sequence[float] | None) -> list[dict[str, Any]]:
        """Learn the points whose values are given; return the others."""
        if x0 is None:
            if y0 is not None:
                raise InvalidInput("y0 are the values of x0: give x0 too")
            return []
        points = [self._named(x) for x in x0]
        for point in points:
            self.campaign.space.encode(point)
        if y0 is None:
            return [dict(point) for point in points]
        if len(y0) != len(points):
            raise InvalidInput(f"y0 has {len(y0)} values for the {len(points)} points of x0")
        for point, value in zip(points, y0, strict=True):
            self.campaign.observe(point, value)
        return []

    def _named(self, x: Any) -> Mapping[str, Any]:
        names = list(self.campaign.space.dimensions)
        if isinstance(x, Mapping):
            return x
        listed = isinstance(x, Sequence) or (isinstance(x, np.ndarray) and x.ndim == 1)
        if not listed or isinstance(x, str) or len(x) != len(names):
            raise InvalidInput(
                f"x0 is a list of points, each of {len(names)} values (or a dict by name), got "
                f"{shown(x)} among them"
            )
        return dict(zip(names, x, strict=True))

    def shaped(self, params: Mapping[str, Any]) -> Any:
        """A point as the function takes it."""
        if self.named:
            return dict(params)
        values = list(params.values())
        return np.array(values) if self._real else values

    def result(self, calls: int, message: str) -> OptimizeResult:
        campaign = self.campaign
        best = campaign.best
        values = [np.nan if r.value is None else r.value for r in campaign.records]
        return _result(
            x=None if best is None else self.shaped(best.params),
            fun=np.nan if best is None else best.value,
            x_iters=[self.shaped(record.params) for record in campaign.records],
            func_vals=np.array(values),
            nfev=calls,
            success=best is not None,
            message=message,
            agent=campaign.agent,
            campaign=campaign,
        )
