"""Where the evaluations of a campaign fail.

A Gaussian process is positive where evaluations succeed, and only its sign is observed. It counts
as the slack of a constraint: scores are multiplied by the probability that it is positive.

Source: Gelbart, Snoek & Adams (2014), "Bayesian Optimization with Unknown Constraints", and Bachoc,
Helbert & Picheny (2020), "Gaussian process optimization with failures".
Departures: 1. between fits, the label of a new evaluation becomes a Gaussian observation by one
step of expectation propagation.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.constraints import check_search
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.search.base import ArmSearch
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.agents.search.round import RoundSearch
from gpbandits_env.arrays import Array, Points, State, finite_array, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.learning.signs import SignModel, site
from gpbandits_env.posterior import Posterior, posterior_for

# A fit after three evaluations, or after growth by 5% if that is more.
EVERY, GROWTH = 3, 0.05


class SuccessModel:
    """The posterior of a function that is positive where evaluations succeed.

    Cost: O(n^2) per evaluation, and O(n^3) per fit.
    """

    def __init__(self, space: Space) -> None:
        self._space, self._due = space, 0
        self._labels: Array = np.empty(0)
        self._points: Points = np.empty(0)
        self._learned = SignModel.prior(space.groups)
        self.posterior = self._prior()

    def tell(self, records: Sequence[Record]) -> None:
        """Observe which of some evaluations succeeded."""
        new = np.array([self._space.action(record.params) for record in records])
        labels = np.array([1.0 if record.status == "done" else -1.0 for record in records])
        self._points = np.concatenate([self._points, new]) if len(self._points) else new
        self._labels = np.append(self._labels, labels)
        if (n := len(self._labels)) >= self._due:
            self._fit()
            self._due = n + max(EVERY, int(GROWTH * n))
            return
        for at, label in zip(new, labels, strict=True):
            moments = self.posterior.moments(at[None])
            self.posterior.condition(at[None], *site(*moments, np.array([label])))

    @property
    def failed(self) -> Points:
        """The points where evaluations failed, a new array."""
        return self._points[self._labels < 0.0]

    def _fit(self) -> None:
        points = self._points
        unit = self._space.domain.points(points)
        self._learned = self._learned.fitted(unit, self._labels)
        self.posterior = self._prior()
        self.posterior.condition(points, *self._learned.targets(unit, self._labels))

    def _prior(self) -> Posterior:
        learned = self._learned
        return posterior_for(self._space.domain, learned.kernel, 1.0, learned.mean)

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        learned = self._learned
        return {
            "model": np.array([*learned.lengthscales, learned.variance, learned.mean]),
            "points": self._points.copy(),
            "labels": self._labels.copy(),
            "due": self._due,
            "posterior": self.posterior.snapshot(),
        }

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        *scales, variance, mean = finite_array(state["model"], "model", 1).tolist()
        self._learned = replace(
            self._learned, lengthscales=tuple(scales), variance=variance, mean=mean
        )
        self._labels = np.array(finite_array(state["labels"], "labels", 1))
        self._points = np.array(self._space.domain.check(state["points"]))
        self._due = whole(state["due"], "due", 0)
        self.posterior = self._prior()
        self.posterior.restore(state["posterior"])
        if len(self._points) != len(self._labels):
            raise InvalidInput("the model of failures must have one label per evaluation")


class Failures:
    """A model of success, made at the first failure.

    Args:
        space: the space of the campaign.
        agent: the agent whose choices are to succeed; if it searches subspaces or embeddings of the
            space, there is no model.
    """

    def __init__(self, space: Space, agent: GPAgent) -> None:
        self._space, self._supported = space, True
        self._model: SuccessModel | None = None
        try:
            check_search(space, agent, "a model of failures", ArmSearch, BoxSearch, RoundSearch)
        except InvalidInput:
            self._supported = False

    def tell(self, new: Sequence[Record], records: Sequence[Record]) -> None:
        """Observe which of the new evaluations failed; ``records`` are all of the campaign."""
        if not self._supported:
            return
        if self._model is None:
            if all(record.status != "failed" for record in records):
                return
            self._model = SuccessModel(self._space)
            new = records
        closed = [record for record in new if record.status != "pending"]
        if closed:
            self._model.tell(closed)

    def learn_anew(self, records: Sequence[Record]) -> None:
        """Forget all evaluations, and observe these."""
        self._model = None
        self.tell(records, records)

    def success(self, records: Sequence[Record]) -> Posterior | None:
        """The posterior of success, if some evaluations failed and some did not."""
        if self._model is None or all(record.status != "done" for record in records):
            return None
        return self._model.posterior

    @property
    def points(self) -> Points | None:
        """The points where evaluations failed, (n,) arms or (n, d) points; None without a model."""
        return None if self._model is None else self._model.failed

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        return {} if self._model is None else self._model.snapshot()

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        self._model = SuccessModel(self._space) if state else None
        if self._model is not None:
            self._model.restore(state)
