"""The calls of a function at the suggestions of a campaign."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Real
from gpbandits_env.agents.optimize.records import Suggestion
from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput, one_of, shown

Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class _Failure(str):
    """The exception of a call that gave no value."""


@dataclass(frozen=True)
class _Guarded:
    """A function that returns its exceptions as failures, from other processes too."""

    fun: Callable[[Any], Any]

    def __call__(self, x: Any) -> Any:
        try:
            return self.fun(x)
        except Exception as error:
            return _Failure(f"{type(error).__name__}: {shown(error)}")


@dataclass
class Run:
    """The calls at the suggestions of a campaign, by the arguments of `minimize` of these names."""

    fun: Callable[[Any], Any]
    n_calls: int
    batch: int
    parallel: Map
    callback: Callable[[OptimizeResult], Any] | None
    on_error: str
    made: int = 0  # values so far
    campaign: Campaign = field(init=False)
    named: bool = field(init=False)

    def __post_init__(self) -> None:
        whole(self.n_calls, "n_calls")
        whole(self.batch, "batch")
        called = {"fun": self.fun, "parallel": self.parallel, "callback": self.callback or bool}
        for name, given in called.items():
            if not callable(given):
                raise InvalidInput(f"{name} must be a function, got {shown(given)}")
        one_of(self.on_error, ("raise", "fail"), "on_error")

    def finish(
        self, campaign: Campaign, named: bool, waiting: Sequence[Mapping[str, Any]]
    ) -> OptimizeResult:
        """Make all calls; an exception that ends them has the result so far.

        Args:
            campaign: chooses the points and learns the values.
            named: whether the function takes a dict of values by name.
            waiting: points to call first.
        Raises:
            InvalidInput: a value that is no number, or not one for each point.
        """
        self.campaign, self.named = campaign, named
        try:
            while self.made < self.n_calls:
                count = min(self.batch, self.n_calls - self.made)
                points = [campaign.expect(params) for params in waiting[:count]]
                waiting = waiting[count:]
                if count > len(points):
                    points += campaign.ask(count - len(points))
                self._call(points)
                stopped = "stopped by the callback"
                if self.callback is not None and self.callback(self._result(stopped)):
                    return self._result(stopped)
        except BaseException as error:
            with suppress(AttributeError, TypeError):  # an exception of its own kind may refuse it
                error.result = self._result("ended by an exception")  # type: ignore[attr-defined]
            error.add_note(
                f"{self.made} calls were made before; `result` of this exception is the result so "
                "far (its `campaign` can continue). file='...' keeps all on disk, and "
                "on_error='fail' continues after exceptions of the function."
            )
            raise
        return self._result(f"{self.made} calls were made")

    def _call(self, points: Sequence[Suggestion]) -> None:
        """Call pending points; each value is learned as it comes, so that none is lost."""
        fun = _Guarded(self.fun) if self.on_error == "fail" else self.fun
        values = self.parallel(fun, [self._shaped(point.params) for point in points])
        if not isinstance(values, Iterable):
            raise InvalidInput(f"parallel must return values as `map` does, got {shown(values)}")
        given = 0
        for given, value in enumerate(values, 1):
            if given <= len(points):
                self.made += 1
                failed = isinstance(value, _Failure)
                close = self.campaign.fail if failed else self.campaign.tell
                close(points[given - 1].id, value)
        if given != len(points):
            raise InvalidInput(f"parallel gave {given} values for {len(points)} points")

    def _shaped(self, params: Mapping[str, Any]) -> Any:
        """A point as the function takes it."""
        if self.named:
            return dict(params)
        kinds = self.campaign.space.dimensions.values()
        values = list(params.values())
        return np.array(values) if all(isinstance(kind, Real) for kind in kinds) else values

    def _result(self, message: str) -> OptimizeResult:
        """The result so far."""
        campaign, best = self.campaign, self.campaign.best
        values = [np.nan if r.value is None else r.value for r in campaign.records]
        made: Any = OptimizeResult  # a dict whose fields SciPy leaves open
        return made(
            x=None if best is None else self._shaped(best.params),
            fun=np.nan if best is None else best.value,
            x_iters=[self._shaped(record.params) for record in campaign.records],
            func_vals=np.array(values),
            nfev=self.made,
            success=best is not None,
            message=message,
            agent=campaign.agent,
            campaign=campaign,
        )
