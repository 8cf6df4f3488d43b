"""Calls a function at the suggestions of a campaign."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.found import Found, shaped
from gpbandits_env.agents.optimize.records import Suggestion
from gpbandits_env.arrays import whole
from gpbandits_env.errors import InvalidInput, one_of, shown

Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class _Failure(str):
    """The text of the exception of a call that returned no value."""


@dataclass(frozen=True)
class _Guarded:
    """A function that returns its exceptions as failures, also from other processes."""

    fun: Callable[[Any], Any]

    def __call__(self, x: Any) -> Any:
        try:
            return self.fun(x)
        except Exception as error:
            return _Failure(f"{type(error).__name__}: {shown(error)}")


@dataclass
class Run:
    """The calls at the suggestions of a campaign; the arguments are those of `minimize`."""

    fun: Callable[[Any], Any]
    n_calls: int
    batch: int
    parallel: Map
    callback: Callable[[Found], Any] | None
    on_error: str
    made: int = 0  # the number of values so far
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
    ) -> Found:
        """Make all calls; an exception that ends them carries the result so far.

        Args:
            campaign: the campaign that chooses the points and receives the values.
            named: whether the function takes a dict of values by name.
            waiting: the points to evaluate first.
        Raises:
            InvalidInput: a value is no number, or the number of values is wrong.
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
            with suppress(AttributeError, TypeError):  # some exceptions accept no attribute
                error.result = self._result("ended by an exception")  # type: ignore[attr-defined]
            error.add_note(
                f"{self.made} calls were made before; the attribute `result` of this exception is "
                "the result so far, and its `campaign` can continue. With file='...' all values "
                "are kept on disk; with on_error='fail' the run continues after exceptions."
            )
            raise
        return self._result(f"{self.made} calls were made")

    def _call(self, points: Sequence[Suggestion]) -> None:
        """Evaluate pending points; each value is recorded as it arrives, so that none is lost."""
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
            raise InvalidInput(
                f"parallel must return one value per point, got {given} for {len(points)} points"
            )

    def _shaped(self, params: Mapping[str, Any]) -> Any:
        """A point in the form that the function takes."""
        return shaped(self.campaign.space, params, named=self.named)

    def _result(self, message: str) -> Found:
        """The result so far."""
        return Found.of(self.campaign, self.made, message, named=self.named)
