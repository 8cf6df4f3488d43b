"""Black-box constraints of a campaign: each is measured with the value and has a model.

Source: Gardner et al. (2014), "Bayesian Optimization with Inequality Constraints".
Departures: 1. the model of a constraint is static, also if the function drifts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.inputs import (
    WITH_CONSTRAINTS,
    constraints_by_name,
    number,
    pair_of,
)
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import Space, dense
from gpbandits_env.agents.optimize.space_agent import SpaceAgent
from gpbandits_env.agents.optimize.usual_agent import agent_for
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.agents.search.round import RoundSearch
from gpbandits_env.agents.search.search import ArmSearch
from gpbandits_env.arrays import Array, Plain, State, mapping, numbers
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.posterior import Posterior


def split(given: object) -> tuple[dict[str, float], list[LinearConstraint]]:
    """Checked upper bounds by name, and linear constraints.

    Args:
        given: a dict of upper bounds by name, a `LinearConstraint`, a list of them, or None.
    Raises:
        InvalidInput: it holds something else, or a name occurs twice.
    """
    bounds: dict[str, float] = {}
    linear: list[LinearConstraint] = []
    for item in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(item, LinearConstraint):
            linear.append(item)
            continue
        if isinstance(item, NonlinearConstraint):
            raise InvalidInput(
                "a campaign calls no functions: give the upper bound of a NonlinearConstraint by "
                "name, and tell its values"
            )
        kind = "a dict of upper bounds by name, an object of SciPy, or a list of them"
        for name, bound in mapping({} if item is None else item, "constraints", kind).items():
            if not isinstance(name, str):
                raise InvalidInput(f"the name of a constraint must be a string, got {shown(name)}")
            if name in bounds:
                raise InvalidInput(f"two constraints have the name {name!r}")
            bounds[name] = number(bound, f"constraint {name!r}")
    return bounds, linear


def linear_to_dict(given: LinearConstraint) -> Plain:
    """A linear constraint as a plain dict of lists, which SciPy's constructor accepts."""
    parts = {"A": dense(given), "lb": given.lb, "ub": given.ub}
    return {key: np.asarray(part).tolist() for key, part in parts.items()}


class Slacks:
    """A model of the slack b - c(x) of each constraint c(x) <= b.

    Args:
        space: the space of the campaign.
        agent: the agent whose choices are to be feasible.
        bounds: the upper bounds b by name.
    Raises:
        InvalidInput: the agent does not search the space itself.
    """

    def __init__(self, space: Space, agent: GPAgent, bounds: Mapping[str, float]) -> None:
        self.bounds = dict(bounds)
        if bounds:
            check_search(space, agent, "constraints")
        if space.linear:
            check_search(space, agent, "linear constraints")
        self._models = {
            name: SpaceAgent(space, agent_for(space, "max-mean", 0, {})) for name in bounds
        }

    def tell(self, records: Sequence[Record]) -> None:
        """Observe the values of all constraints at records."""
        bare = [replace(record, noise=None) for record in records]  # the noise is of the value
        for name, model in self._models.items():
            if bare:
                model.tell(bare, [self.bounds[name] - r.constraints[name] for r in bare])

    def learn_anew(self, records: Sequence[Record]) -> None:
        """Forget all values, and observe those of these records."""
        for model in self._models.values():
            model.agent.reset()
        self.tell(records)

    @property
    def posteriors(self) -> list[Posterior]:
        """The posteriors of the slacks; none before any value."""
        posteriors: list[Posterior] = [model.agent.posterior for model in self._models.values()]
        return posteriors if posteriors and len(posteriors[0].observed) else []

    def predict(self, unit: Array) -> dict[str, tuple[Array, Array]]:
        """The posterior mean and standard deviation of each constraint at unit points, by name."""
        found = {}
        for name, model in self._models.items():
            mean, var = model.moments(unit)
            found[name] = self.bounds[name] - mean, np.sqrt(var)
        return found

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        return {name: model.snapshot() for name, model in self._models.items()}

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        for name, model in self._models.items():
            model.restore(state[name])


def check_search(space: Space, agent: GPAgent, what: str) -> None:
    """Raise `InvalidInput` unless the agent's own search is over the space and supports this."""
    search, linear = agent.search, what.startswith("linear")
    kinds = (ArmSearch, BoxSearch) if linear else (ArmSearch, BoxSearch, RoundSearch)
    own = agent.action_map.inner.domain == space.domain and isinstance(search, kinds)
    mapped = linear and getattr(search, "through", None) is not None
    if mapped or not own or agent.next_round().search is not search:
        raise InvalidInput(
            f"{type(agent).__name__} does not support {what} with these settings, because it does "
            "not search the space itself: use ei, gp-ucb, ts, ts-rsr, ... and the default search"
        )


def with_constraints(
    fun: Callable[[Any], object], own: Sequence[str], others: "Sequence[NonlinearSides]", x: object
) -> tuple[object, object]:
    """The value of a function at x and the values of all constraints by name.

    Args:
        fun: the function; with constraints of its own it returns a pair of its value and theirs.
        own: their names.
        others: SciPy's constraint objects.
        x: the point.
    """
    value, told = pair_of(fun(x), WITH_CONSTRAINTS) if own else (fun(x), {})
    if told is not None:
        told = dict(constraints_by_name(own, told))
        for other in others:
            told |= other(x)
    return value, told


class NonlinearSides:
    """A `NonlinearConstraint` as upper bounds: an output c_j gives c_j <= ub and -c_j <= -lb.

    Args:
        given: SciPy's object.
        name: what the constraint is called.
    Attributes:
        bounds: the upper bounds by name.
    Raises:
        InvalidInput: it has no function, or its bounds exclude each other.
    """

    def __init__(self, given: NonlinearConstraint, name: str) -> None:
        both = (np.atleast_1d(np.asarray(end, dtype=float)) for end in (given.lb, given.ub))
        low, high = np.broadcast_arrays(*both)
        if not callable(given.fun) or low.ndim != 1 or not (low < high).all():
            raise InvalidInput(
                "a NonlinearConstraint needs a function, and lb below ub for each of its outputs; "
                f"got {shown(given.lb)} and {shown(given.ub)}"
            )
        self._name, self._shape = name, low.shape
        self._fun: Callable[[Any], Any] = given.fun
        self.bounds: dict[str, float] = {}
        self._sides: dict[str, tuple[int, float]] = {}  # the output and its sign
        for j, ends in enumerate(zip(high.tolist(), low.tolist(), strict=True)):
            one = name if len(low) == 1 else f"{name}[{j}]"
            for side, sign, end in zip((one, f"-{one}"), (1.0, -1.0), ends, strict=True):
                if np.isfinite(end):
                    self.bounds[side], self._sides[side] = sign * end, (j, sign)

    def __call__(self, x: object) -> dict[str, float]:
        """The values of the sides by name."""
        values = numbers(np.atleast_1d(self._fun(x)), self._name)
        if values.shape != self._shape:
            raise InvalidInput(
                f"{self._name} has bounds for {self._shape[0]} outputs, got {shown(values)}"
            )
        return {name: sign * float(values[j]) for name, (j, sign) in self._sides.items()}


def sides_of(given: object) -> tuple[tuple[str, ...], tuple[NonlinearSides, ...], list[object]]:
    """The parts of the argument ``constraints`` of `minimize`.

    Returns:
        The names of the function's own constraints, SciPy's nonlinear ones that have a bound, and
        all constraints in the form that a campaign takes.
    Raises:
        InvalidInput: it holds something else, or a name occurs twice.
    """
    items = list(given) if isinstance(given, (list, tuple)) else [given]
    nonlinear = [item for item in items if isinstance(item, NonlinearConstraint)]
    sides = [NonlinearSides(item, f"c{j}") for j, item in enumerate(nonlinear)]
    others = tuple(side for side in sides if side.bounds)  # some limit nothing
    rest = [item for item in items if not isinstance(item, NonlinearConstraint)]
    own = tuple(split(rest)[0])
    return own, others, [*rest, *(side.bounds for side in others)]
