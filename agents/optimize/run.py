"""Calls a function at the suggestions of a campaign: in turn, in batches or asynchronously."""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.inputs import WITH_CONSTRAINTS, WITH_NOISE, moment, pair_of
from gpbandits_env.agents.optimize.records import Record, Suggestion
from gpbandits_env.agents.optimize.result import OptimizationResult
from gpbandits_env.arrays import flag, positive, whole
from gpbandits_env.display import counted, progress_bar
from gpbandits_env.errors import InvalidInput, one_of, shown

Map: TypeAlias = Callable[[Callable[[Any], object], Iterable[object]], Iterable[object]]
# How calls are made: a map, an executor, or the number of worker processes.
Parallel: TypeAlias = Map | Executor | int
Callback: TypeAlias = Callable[[OptimizationResult], object]
# The values of dimensions that are observed and not chosen, or what reads them now.
Context: TypeAlias = Params | Callable[[], Params]

LOGGER = logging.getLogger("gpbandits_env.agents.optimize")
LOGGER.addHandler(logging.NullHandler())


class _Failure(str):
    """The text of the exception of a call that returned no value."""


def _guarded(fun: Callable[[Any], object], x: object) -> object:
    """What a function returns; its exceptions as failures, also from other processes."""
    try:
        return fun(x)
    except Exception as error:
        return _Failure(shown(error))


def _in_turn(fun: Callable[[Any], object], points: Iterable[object]) -> Iterable[object]:
    """As `map`, which ends silently if the function raises StopIteration; this raises an error."""
    return (fun(point) for point in points)


def _one_each(values: Iterable[object], count: int) -> Iterator[object]:
    """The values of a map as they arrive; a list of another length is an error at once."""
    must = f"parallel must return one value for each of {counted(count, 'point')}, in their order"
    if isinstance(values, (Mapping, Set)):  # its keys are no values, or it has no order
        raise InvalidInput(f"{must}, got {shown(values)}")
    if not isinstance(values, Iterator):
        try:
            values = list(values)
        except TypeError:
            raise InvalidInput(f"{must}, got {shown(values)}") from None
        if len(values) != count:
            raise InvalidInput(f"{must}, got {counted(len(values), 'value')}")
    arrived = 0
    for arrived, value in enumerate(values, 1):
        if arrived > count:
            raise InvalidInput(f"{must}, got more values")
        yield value
    if arrived < count:
        raise InvalidInput(f"{must}, got {counted(arrived, 'value')}")


@dataclass
class Run:
    """The calls at the suggestions of a campaign; the arguments are those of `minimize`."""

    fun: Callable[[Any], object]
    n_calls: int
    batch: int
    parallel: Parallel
    callback: Callback | Sequence[Callback] | None
    on_error: str
    timeout: float | None = None
    verbose: bool = False
    context: Context | None = None
    time: Callable[[], float] | None = None
    constrained: bool = False  # whether a call returns its value and those of constraints
    with_noise: bool = False  # whether a value comes with the standard deviation of its noise
    made: int = 0  # the number of values so far
    campaign: Campaign = field(init=False)

    def __post_init__(self) -> None:
        whole(self.n_calls, "n_calls")
        whole(self.batch, "batch")
        one_of(self.on_error, ("raise", "fail"), "on_error")
        flag(self.verbose, "verbose")
        if self.timeout is not None:
            positive(self.timeout, "timeout")
        given: Any = () if self.callback is None else self.callback
        several = isinstance(given, (list, tuple)) and not callable(given)
        self.callbacks: list[Callback] = list(given) if several else [given]
        _check_callable("fun", self.fun)
        for one in self.callbacks:
            _check_callable("callback", one)
        if self.context is not None and not isinstance(self.context, Mapping):
            _check_callable("context", self.context, "a dict or ")
        if self.time is not None:
            _check_callable("time", self.time)
        parallel = self.parallel
        self._map: Map | None = None
        self._executor: Executor | None = None  # unless it is a number of workers
        if isinstance(parallel, Executor):
            self._executor = parallel
            self._width = max(self.batch, getattr(parallel, "_max_workers", 1) or 1)
        elif isinstance(parallel, (int, np.integer)):
            self._width = os.cpu_count() or 1 if parallel == -1 else whole(parallel, "parallel")
        else:
            forgotten = isinstance(parallel, type) and parallel is not map  # its call
            if forgotten or not callable(parallel):
                raise InvalidInput(
                    "parallel must be a number, an executor or a function such as the map of a "
                    f"pool, got {shown(parallel)}"
                )
            self._map = _in_turn if parallel is map else parallel

    def finish(self, campaign: Campaign, waiting: Sequence[Params]) -> OptimizationResult:
        """Make all calls; an exception that ends them carries the result so far.

        Args:
            campaign: the campaign that chooses the points and receives the values. Its pending
                evaluations are made first.
            waiting: the points to evaluate next.
        """
        self.campaign, self._stopped = campaign, ""
        begun = [Suggestion(record.id, record.params) for record in campaign.pending]
        self._given: list[Suggestion | Params] = [*begun, *waiting]
        self._end = None if self.timeout is None else time.monotonic() + self.timeout
        self._call = partial(_guarded, self.fun) if self.on_error == "fail" else self.fun
        try:
            with progress_bar(
                total=self.n_calls, initial=self.made, disable=not self.verbose, unit="call"
            ) as self._bar:
                if self._map is None:
                    self._call_asynchronously()
                else:
                    self._call_in_batches(self._map)
        except BaseException as error:
            with suppress(AttributeError, TypeError):  # some exceptions accept no attribute
                error.result = self._result("ended by an exception")  # type: ignore[attr-defined]
            error.add_note(
                f"{counted(self.made, 'call')} made before; the attribute `result` of this "
                "exception is the result so far, and its `campaign` can continue. With file='...' "
                "all values are kept on disk."
            )
            wrong = isinstance(error, InvalidInput)  # a value, which ends the run in any case
            if self.on_error == "raise" and isinstance(error, Exception) and not wrong:
                error.add_note(
                    "With on_error='fail' an exception in the function is a failed call."
                )
            raise
        return self._result(self._stopped or f"{counted(self.made, 'call')} made")

    def _call_in_batches(self, call: Map) -> None:
        """Evaluate ``batch`` points at a time; each value is recorded as it arrives."""
        while self._goes_on(self.made):
            rest = self.batch - self.made % self.batch  # of a batch that was interrupted
            points = self._next(min(rest, self.n_calls - self.made))
            values = call(self._call, [self.campaign.space.shaped(p.params) for p in points])
            for point, value in zip(points, _one_each(values, len(points)), strict=True):
                self._close(point.id, value)
            self._report()

    def _call_asynchronously(self) -> None:
        """Give each free worker the next point at once; the running ones are pending."""
        running = dict[Future[object], Suggestion]()
        try:
            while True:
                while len(running) < self._width and self._goes_on(self.made + len(running)):
                    (point,) = self._next(1)
                    shaped = self.campaign.space.shaped(point.params)
                    running[self._pool().submit(self._call, shaped)] = point
                if not running:
                    return
                done = wait(running, return_when=FIRST_COMPLETED).done
                for future in sorted(done, key=lambda one: running[one].id):
                    point = running.pop(future)
                    self._close(point.id, self._returned(future))
                    self._report()
        except BaseException as error:
            self._collect(running, patient=isinstance(error, Exception))
            raise

    def _pool(self) -> Executor:
        """The executor; the one of a number of workers is made anew if it broke."""
        if self._executor is not None:
            return self._executor
        # Loaded when it is needed: importing agents must not import an engine.
        return import_module("joblib.externals.loky").get_reusable_executor(max_workers=self._width)

    def _returned(self, future: "Future[object]") -> object:
        """What a call returned; a failure if its worker died and calls may fail."""
        try:
            return future.result()
        except BrokenExecutor as error:
            if self.on_error == "raise" or self._executor is not None:
                raise
            return _Failure(f"a worker process died: {type(error).__name__}")

    def _collect(self, running: Mapping["Future[object]", Suggestion], *, patient: bool) -> None:
        """Record what the running calls return before the run ends; the others stay pending."""
        for future in running:
            future.cancel()
        for future, point in running.items():
            if not future.cancelled() and (patient or future.done()):
                with suppress(Exception):
                    self._close(point.id, future.result())

    def _goes_on(self, begun: int) -> bool:
        """Whether a further call may begin after so many."""
        if self._end is not None and not self._stopped and time.monotonic() >= self._end:
            self._stopped = f"the time budget of {self.timeout:g} s was used"
        known = self._given or self.context is not None
        if not (known or self._stopped) and self.campaign.exhausted:
            self._stopped = "all combinations were called, and no repeat would differ"
        return not self._stopped and begun < self.n_calls

    def _next(self, count: int) -> list[Suggestion]:
        """The next points: those begun by an earlier run, those given, then suggestions."""
        given, self._given = self._given[:count], self._given[count:]
        points = [p if isinstance(p, Suggestion) else self.campaign.expect(p) for p in given]
        if count > len(points):
            context = self.context() if callable(self.context) else self.context
            if context is None and self.context is not None:  # a forgotten `return`
                raise InvalidInput("context must return a dict of values by name, got None")
            points += self.campaign.ask(count - len(points), time=self._now(), context=context)
        return points

    def _now(self) -> float | None:
        return None if self.time is None else moment(self.time(), "what time returns")

    def _close(self, id: int, value: Any) -> None:
        """Record a value or a failure, and count the call."""
        try:
            record = self._recorded(id, value)
        finally:  # a value that could not be saved is kept, and a wrong one is not
            self.made += self.campaign.records[id].status != "pending"
        best = self.campaign.best and self.campaign.best.value
        which, at = f"call {self.made} of {self.n_calls}", record.params
        if record.status == "failed":
            LOGGER.warning("%s failed at %s: %s", which, at, record.reason)
        else:
            LOGGER.info("%s: %.6g at %s; best %s", which, record.value, at, best)
        if best is not None:
            self._bar.set_postfix(best=f"{best:.6g}", refresh=False)
        self._bar.update()

    def _recorded(self, id: int, value: Any) -> Record:
        if isinstance(value, _Failure):
            return self.campaign.fail(id, value)
        told, constraints = pair_of(value, WITH_CONSTRAINTS) if self.constrained else (value, None)
        told, noise = pair_of(told, WITH_NOISE) if self.with_noise else (told, None)
        return self.campaign.tell(id, told, noise=noise, constraints=constraints, time=self._now())

    def _report(self) -> None:
        """Call the callbacks with the result so far."""
        if self.callbacks:
            result = self._result(self._stopped or "stopped by the callback")
            wishes = [callback(result) for callback in self.callbacks]  # all of them are called
            if any(wishes):
                self._stopped = result.message

    def _result(self, message: str) -> OptimizationResult:
        return OptimizationResult.of(self.campaign, self.made, message)


def _check_callable(name: str, given: object, kind: str = "") -> None:
    if not callable(given):
        raise InvalidInput(f"{name} must be {kind}a function, got {shown(given)}")
