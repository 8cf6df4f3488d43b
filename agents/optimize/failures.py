r"""Where the evaluations of a campaign fail.

.. math:: P(\text{success at } x) = (1 - q) \Phi(f(x))

A Gaussian process f is positive where evaluations can succeed, and with the chance q they fail
there all the same. f counts as the slack of a constraint: scores are multiplied by the probability
that it is positive. With p = E[Phi(f(x)) | data], a failure at x comes from chance rather than
from the place if p q > 1 - p, as where evaluations around it succeed. Such a point may be chosen
again; if it fails again, p falls. With "region", q is 0, and failed points are never chosen again.
With "random", f is positive everywhere. With "auto", q is learned; see `learning.signs`.

Source: Gelbart, Snoek & Adams (2014), "Bayesian Optimization with Unknown Constraints", and Bachoc,
Helbert & Picheny (2020), "Gaussian process optimization with failures".
Departures: 1. between fits, the label of a new evaluation becomes a Gaussian observation by one
step of expectation propagation.
"""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from scipy.special import ndtr

from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.constraints import check_search
from gpbandits_env.agents.optimize.records import Record
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import Array, Points, State
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.learning.signs import CHANCE, SignModel, site
from gpbandits_env.gp.posterior import Posterior, posterior_for

KINDS = ("auto", "region", "random")
# A fit after three evaluations, or after growth by 5% if that is more.
EVERY, GROWTH = 3, 0.05


class Failures:
    """The posterior of a function that is positive where evaluations succeed.

    There is none before the first failure. Cost: O(n^2) per evaluation, and O(n^3) per fit.

    Args:
        space: the space of the campaign.
        agent: the agent whose choices are to succeed; if it searches subspaces or embeddings of the
            space, nothing is learned.
        kind: what failures come from, one of `KINDS`.
    Raises:
        UnknownName: there is no such kind.
    """

    def __init__(self, space: Space, agent: GPAgent, kind: str) -> None:
        self.kind = one_of(kind, KINDS, "failures")
        self._space, self._supported = space, kind != "random"
        try:
            check_search(space, agent, "a model of failures")
        except InvalidInput:
            self._supported = False
        self._forget()

    def _forget(self) -> None:
        self._labels: Array = np.empty(0)
        self._points: Points = np.empty(0)
        self._due, self._fitted = 0, 0
        chance = CHANCE if self.kind == "auto" else 0.0
        self._learned = SignModel.prior(self._space.groups, chance)
        self._posterior: Posterior  # from the first fit on

    def tell(self, new: Sequence[Record], records: Sequence[Record]) -> None:
        """Observe which of the new evaluations failed; ``records`` are all of the campaign."""
        if not len(self._labels):
            if not self._supported or all(record.status != "failed" for record in records):
                return
            new = records
        closed = [record for record in new if record.status != "pending"]
        if not closed:
            return
        points = np.array([self._space.action(record.params) for record in closed])
        labels = np.array([1.0 if record.status == "done" else -1.0 for record in closed])
        self._points = np.concatenate([self._points, points]) if len(self._labels) else points
        self._labels = np.append(self._labels, labels)
        if (n := len(self._labels)) >= self._due:
            unit = self._space.domain.points(self._points)
            self._learned, self._fitted = self._learned.fitted(unit, self._labels), n
            self._due = n + max(EVERY, int(GROWTH * n))
            self._condition()
        else:
            self._add(points, labels)

    def learn_anew(self, records: Sequence[Record]) -> None:
        """Forget all evaluations, and observe these."""
        self._forget()
        self.tell(records, records)

    @property
    def success(self) -> Posterior | None:
        """The posterior of success, if some evaluations failed and some did not."""
        return self._posterior if (self._labels > 0.0).any() else None

    def avoided(self, failed: Sequence[Record]) -> list[Record]:
        """The failed records that are not by chance, as far as is known."""
        if self.kind == "random" or not failed:
            return []
        if self.success is None:
            return list(failed)
        points = np.array([self._space.action(record.params) for record in failed])
        mean, var = self._posterior.moments(points)
        possible = ndtr(mean / np.sqrt(1.0 + var))
        lasting = self._learned.chance * possible <= 1.0 - possible
        return [record for record, again in zip(failed, lasting, strict=True) if again]

    def _condition(self) -> None:
        """Condition on the evaluations of the last fit, and then on those after it one by one."""
        model, n = self._learned, self._fitted
        self._posterior = posterior_for(self._space.domain, model.kernel, 1.0, model.mean)
        targets = model.targets(self._space.domain.points(self._points[:n]), self._labels[:n])
        self._posterior.condition(self._points[:n], *targets)
        self._add(self._points[n:], self._labels[n:])

    def _add(self, points: Points, labels: Array) -> None:
        for at, label in zip(points, labels, strict=True):
            moments = self._posterior.moments(at[None])
            self._posterior.condition(
                at[None], *site(*moments, np.array([label]), self._learned.chance)
            )

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        if not len(self._labels):
            return {}
        return {
            "model": asdict(self._learned),
            "points": self._points.copy(),
            "labels": self._labels.copy(),
            "due": self._due,
            "fitted": self._fitted,
        }

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        self._forget()
        if not state:
            return
        self._learned = SignModel(**state["model"])
        self._points, self._labels = state["points"], state["labels"]
        self._due, self._fitted = state["due"], state["fitted"]
        self._condition()
