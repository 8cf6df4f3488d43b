"""The calls of a function that a campaign asks for, and what becomes of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Real
from gpbandits_env.agents.optimize.records import Suggestion, measured
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import listed
from gpbandits_env.errors import InvalidInput, shown

Map: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def given_points(
    space: Space, x0: Any, y0: Any, *, worst: float
) -> tuple[list[tuple[dict[str, Any], float]], list[dict[str, Any]]]:
    """The points x0 whose values are known, with those; and the points to call first.

    Args:
        space: of the points.
        x0: a list of points, by place or by name; None for none.
        y0: their values; None if they are to be called.
        worst: the infinity that says that a call failed.
    Raises:
        InvalidInput: other shapes, points out of the space, or values that are no numbers.
    """
    if x0 is None:
        if y0 is not None:
            raise InvalidInput("y0 are the values of x0: give x0 too")
        return [], []
    points = [space.check(_named(space, x)) for x in _rows(x0, "x0")]
    if y0 is None:
        return [], points
    try:
        values = [measured(value, worst=worst) for value in _rows(y0, "y0")]
    except InvalidInput as error:
        raise InvalidInput(f"y0: {error}") from None
    if len(values) != len(points):
        raise InvalidInput(f"y0 has {len(values)} values for the {len(points)} points of x0")
    return list(zip(points, values, strict=True)), []


def _rows(given: Any, name: str) -> tuple[Any, ...]:
    """The items of a list, or of what turns into an array: a table's column, a tensor."""
    array = hasattr(given, "__array__") and not isinstance(given, np.generic)
    return listed(np.asarray(given) if array else given, name)


def _named(space: Space, x: Any) -> Mapping[str, Any]:
    names = list(space.dimensions)
    if isinstance(x, Mapping):
        return x
    several = isinstance(x, Sequence) or (isinstance(x, np.ndarray) and x.ndim == 1)
    if not several or isinstance(x, (str, bytes)) or len(x) != len(names):
        raise InvalidInput(
            f"x0 is a list of points, each of {len(names)} values (or a dict by name), got "
            f"{shown(x)} among them"
        )
    return dict(zip(names, x, strict=True))


@dataclass(frozen=True)
class _Failure:
    """What a call ended in instead of a value."""

    reason: str


@dataclass(frozen=True)
class Guarded:
    """A function whose exceptions come back as failures, from other processes too."""

    fun: Callable[[Any], Any]

    def __call__(self, x: Any) -> Any:
        try:
            return self.fun(x)
        except Exception as error:
            return _Failure(f"{type(error).__name__}: {shown(error)}")


@contextmanager
def nothing_lost(run: "Run") -> Iterator[None]:
    """What ends the run early carries the result so far."""
    try:
        yield
    except BaseException as error:
        with suppress(AttributeError, TypeError):  # an exception of its own kind may refuse it
            error.result = run.result("ended by an exception")  # type: ignore[attr-defined]
        error.add_note(
            f"{run.calls} calls were made before; `result` of this exception is the result so far "
            "(its `campaign` can go on). file='...' keeps all on disk, and on_error='fail' goes on "
            "after exceptions of the function."
        )
        raise


@dataclass
class Run:
    """A campaign, and the form in which the function takes its points.

    Args:
        campaign: what asks and is told.
        named: whether the function takes a dict of values by name.
        calls: how many values came back.
    """

    campaign: Campaign
    named: bool
    calls: int = 0
    _real: bool = field(init=False)

    def __post_init__(self) -> None:
        kinds = self.campaign.space.dimensions.values()
        self._real = all(isinstance(dimension, Real) for dimension in kinds)

    def call(self, points: Sequence[Suggestion], fun: Any, parallel: Any) -> None:
        """Have the points called; each value is told as it comes, so that none is lost.

        Args:
            points: pending ones.
            fun: called with each, as `shaped`.
            parallel: how; see `minimize`.
        Raises:
            InvalidInput: no values, too few or too many; or one that is no number.
        """
        values = parallel(fun, [self.shaped(point.params) for point in points])
        if not isinstance(values, Iterable):
            raise InvalidInput(f"parallel gives values as `map` does, got {shown(values)}")
        given = 0
        for given, value in enumerate(values, 1):
            if given <= len(points):
                self._tell(points[given - 1].id, value)
        if given != len(points):
            raise InvalidInput(f"parallel gave {given} values for {len(points)} points")

    def _tell(self, id: int, value: Any) -> None:
        self.calls += 1
        if isinstance(value, _Failure):
            self.campaign.fail(id, value.reason)
        else:
            self.campaign.tell(id, value)

    def shaped(self, params: Mapping[str, Any]) -> Any:
        """A point as the function takes it."""
        if self.named:
            return dict(params)
        values = list(params.values())
        return np.array(values) if self._real else values

    def result(self, message: str) -> OptimizeResult:
        """All there is so far."""
        campaign = self.campaign
        best = campaign.best
        values = [np.nan if r.value is None else r.value for r in campaign.records]
        made: Any = OptimizeResult  # a dict whose fields SciPy leaves open
        return made(
            x=None if best is None else self.shaped(best.params),
            fun=np.nan if best is None else best.value,
            x_iters=[self.shaped(record.params) for record in campaign.records],
            func_vals=np.array(values),
            nfev=self.calls,
            success=best is not None,
            message=message,
            agent=campaign.agent,
            campaign=campaign,
        )
