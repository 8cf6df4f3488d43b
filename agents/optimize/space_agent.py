"""An agent whose actions are the named values of a space."""

from collections.abc import Sequence

import numpy as np

from gpbandits_env.agents.acquisitions import Feasibility, Mean
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.optimize.dimensions import Params
from gpbandits_env.agents.optimize.records import Record, Told
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.arrays import Array, Plain, Points, State, leading
from gpbandits_env.errors import InvalidInput

# Points of the unit cube that differ by less in each coordinate are the same.
EQUAL = 1e-9


class SpaceAgent:
    """An agent whose actions are named values.

    The posterior of an agent with an embedding is on a small box. Several points of that box may
    represent the same point of the space, and suggestions are rounded for integers and choices. A
    value is therefore observed at the point of the small box that the agent had chosen, which is
    kept for each evaluation. (Data of an agent whose coordinates change are in the space itself.)
    """

    def __init__(self, space: Space, agent: GPAgent) -> None:
        self.space, self.agent = space, agent
        self._elsewhere = agent.action_map.data_domain != space.domain
        self._points: dict[int, tuple[int, Points]] = {}

    def next(
        self,
        id: int,
        around: Sequence[Record],
        feasibility: Feasibility | None,
        context: Params | None,
        noisy: bool | None,
    ) -> Plain | None:
        """The values of evaluation ``id``, given the pending and failed points, and some values.

        With a feasibility, scores are multiplied by it. Arms that should not be chosen again are
        chosen only if no other is left. In a box nothing prevents that an agent chooses such a
        point, for example in a corner; the result is None then. With a feasibility it is the
        candidate of largest variance among those that are feasible with probability 1/2.

        Args:
            id: the number of the evaluation.
            around: the pending and failed evaluations; at least the last ones.
            feasibility: the probability that constraints hold and that evaluations succeed.
            context: the values of some dimensions.
            noisy: whether the values have noise, so that all points may be chosen again, or have
                none, so that none may; None if it is unknown, so that those with values may.
        """
        agent = self.agent
        search, points = agent.search, self._points_of(around) if around else None
        search.renew()
        if context:
            search.fix(self.space.domain, self.space.encode(context))
        search.feasibility = feasibility
        known = agent.posterior.observed[: None if noisy is False else 0]
        if points is not None and not noisy:
            known = np.concatenate([known, points])
        try:
            if points is not None:
                waits = np.array([record.status == "pending" for record in around])
                agent.beside = points[waits], points[~waits]
                agent.posterior.hallucinate(points)
            point = self._choose(known)
        finally:
            agent.posterior.rollback()
            search.feasibility = search.excluded = None
            agent.beside = (), ()
            if context:
                search.fix(self.space.domain, None)
        if point is None:
            return None
        if self._elsewhere:
            self._points[id] = agent.action_map.fingerprint, np.array(point)
        return self.space.params(agent.action_map.actions(point)[0]) | dict(context or {})

    def _choose(self, known: Points) -> Points | None:
        """The agent's choice, (1,) or (1, d), which is none of the known points; see `next`."""
        agent, search = self.agent, self.agent.search
        if agent.action_map.inner.domain.finite:
            search.excluded = known if len(known) else None
            return agent.choose()
        point = agent.choose()
        if not _is_among(known, point):
            return point
        if search.feasibility is None:
            return None
        # Spread points, which are asked instead of None, do not consider the feasibility.
        options, _, var = search.candidates_of(agent.posterior)
        var[~search.feasibility.likely(options)] = 0.0
        point = options[leading(var)[None]]
        return point if var.any() and not _is_among(known, point) else None

    def check_context(self) -> None:
        """Raise `InvalidInput` if the agent cannot fix some of the values."""
        if self.agent.composed.is_local:
            raise InvalidInput(
                f"{type(self.agent).__name__} searches lines or subspaces of its own and supports "
                "no context: use ei, gp-ucb, ts, ..."
            )
        if self.space.linear and not self.space.domain.finite:
            raise InvalidInput(
                "linear constraints are not supported together with a context, because a search "
                "that fixes coordinates does not move along them: state them as upper bounds by "
                "name, constraints={'name': bound}, or use a space without real dimensions"
            )

    def best_mean(self, context: Params) -> Plain:
        """The values with the largest posterior mean among those that agree with the context."""
        agent, search = self.agent, self.agent.search
        search.renew()
        search.fix(self.space.domain, self.space.encode(context))
        try:
            point = search.best(Mean(), agent.posterior)
        finally:
            search.fix(self.space.domain, None)
        return self.space.params(agent.action_map.actions(point)[0]) | dict(context)

    def tell(
        self, records: Sequence[Record], rewards: Sequence[float], pace: float | None = None
    ) -> None:
        """Observe rewards together: as prior data, or as a round that takes a time."""
        agent, actions = self.agent, self._actions(records)
        noise_var = [np.nan if r.noise is None else r.noise**2 for r in records]
        told = {} if np.isnan(noise_var).all() else {"noise_var": noise_var}
        if pace is None:
            agent.prior_data(actions, rewards, **told)
        else:
            agent.pace = pace
            agent.tell(actions, rewards, **told)

    def learn_anew(self, told: Sequence[tuple[Record | None, float, Told]]) -> None:
        """Forget all data, and observe these; the number of rounds stays."""
        agent, rounds = self.agent, self.agent.round
        agent.reset()
        if not agent.replays:
            agent.round = rounds
            if known := [(record, reward) for record, reward, _ in told if record is not None]:
                self.tell([record for record, _ in known], [reward for _, reward in known])
        else:
            for record, reward, one in told:
                self.wait(one.elapsed)
                if record is not None:
                    self.tell([record], [reward], one.pace)
                elif one.pace is not None:
                    nowhere = self.agent.problem.domain.sample(np.random.default_rng(0), 1)
                    agent.pace = one.pace
                    agent.tell(nowhere, [reward], observed=[False])
        agent.round = rounds
        agent.search.follow(rounds + 1, agent.posterior)

    def wait(self, elapsed: float) -> None:
        """Let time pass; see `GPAgent.wait`."""
        if elapsed:
            self.agent.wait(elapsed)

    def recommended(
        self, records: Sequence[Record], feasibility: Feasibility | None = None
    ) -> Record | None:
        """The record with the largest posterior mean among those with values.

        With a feasibility, only points where each constraint likely holds are considered.
        """
        posterior = self.agent.posterior
        observed, mean = posterior.observed, posterior.mean_at_observed()
        if feasibility is not None:
            likely = feasibility.likely(observed)
            observed, mean = observed[likely], mean[likely]
        if not len(observed):
            return None
        top = observed[leading(mean)]
        away = np.abs(self._points_of(records) - top).reshape(len(records), -1).sum(axis=1)
        return records[int(away.argmin())]

    def moments(self, unit: Array) -> tuple[Array, Array]:
        """Posterior mean and variance (n,) at points (n, d) of the unit cube that stand for values.

        They are those of the rewards, which are to be maximized.
        """
        actions = unit
        if self.space.domain.finite:
            actions = np.array([self.space.nearest(one) for one in unit], dtype=np.int64)
        mapped = self.agent.action_map
        mean, var = self.agent.posterior.moments(mapped.coordinates(mapped.points(actions)))
        if self.agent.refit is None or self.agent.refit.winsorizer is None:
            return mean, var
        mean, slope = self.agent.refit.winsorizer.undone(mean)
        return mean, var * slope**2

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        points = [[id, of, point.copy()] for id, (of, point) in self._points.items()]
        return {"state": self.agent.snapshot(), "points": points}

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        self.agent.restore(state["state"])
        self._points = {id: (of, point) for id, of, point in state["points"]}

    def _actions(self, records: Sequence[Record]) -> Points:
        """The agent's actions for records, which it observes at the points that it had chosen."""
        actions = np.array([self.space.action(record.params) for record in records])
        if self._elsewhere:
            points = [self._point(record) for record in records]
            own = [point is not None for point in points]
            chosen = [self.agent.posterior.observed[:0], *(p for p in points if p is not None)]
            # Also with none, so that the map does not remember earlier ones.
            actions[own] = self.agent.action_map.actions(np.concatenate(chosen))
        return actions

    def _points_of(self, records: Sequence[Record]) -> Points:
        """The points of records in the posterior's domain, (n,) arms or (n, d) points; n >= 1."""
        actions = np.array([self.space.action(record.params) for record in records])
        mapped = self.agent.action_map
        found = mapped.coordinates(mapped.points(self.agent.problem.domain.check(actions)))
        for i, record in enumerate(records if self._elsewhere else ()):
            if (point := self._point(record)) is not None:
                found[i] = point[0]
        return found

    def _point(self, record: Record) -> Points | None:
        of, point = self._points.get(record.id, (None, None))
        return point if of == self.agent.action_map.fingerprint else None


def _is_among(known: Points, point: Points) -> bool:
    """Whether a point (1, d) is one of the known ones (n, d)."""
    return bool(len(known)) and bool(np.abs(known - point).max(axis=1).min() < EQUAL)
