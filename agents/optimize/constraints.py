"""Black-box constraints of a campaign: each is measured with the value and has a model.

Source: Gardner et al. (2014), "Bayesian Optimization with Inequality Constraints".
Departures: 1. the model of a constraint is static, also if the function drifts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.inputs import number
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import Space, dense
from gpbandits_env.agents.optimize.space_agent import SpaceAgent
from gpbandits_env.agents.optimize.usual_agent import agent_for
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.agents.search.round import RoundSearch
from gpbandits_env.agents.search.search import ArmSearch
from gpbandits_env.arrays import Array, Plain, State, mapping
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
        parts = item.values() if isinstance(item, Mapping) else (item,)
        if any(callable(part) or isinstance(part, NonlinearConstraint) for part in parts):
            raise InvalidInput(
                "state constraints that are functions by named upper bounds, as constraints={'c': "
                "1.0}: the function to be optimized returns a pair of its value and {'c': ...}, "
                "and `tell` takes both; a lower bound is an upper bound of -c"
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
    if mapped or not own:
        raise InvalidInput(
            f"{type(agent).__name__} does not support {what} with these settings, because it does "
            "not search the space itself: use ei, gp-ucb, ts, ts-rsr, ... and the default search"
        )
