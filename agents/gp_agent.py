"""An agent composed of data, a model, an acquisition, a search and a batch rule."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions.functions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.batch.rule import rolled_back
from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.compression import compression_for
from gpbandits_env.agents.data.conditioned import Conditioned
from gpbandits_env.agents.data.part import Observed, Part
from gpbandits_env.agents.data.refit import Refit
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.search import Search
from gpbandits_env.arrays import Array, Plain, Points, State
from gpbandits_env.gp.learning import Learning
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.problem import Problem


class GPAgent(Agent):
    """Chooses the actions with the best score; a batch rule chooses several per round.

    An algorithm is a subclass that declares in `PARTS` what it is composed of. Every such agent has
    the settings of `Parts`. They can be combined; an unsupported combination raises an error.

    Departures of all agents with a posterior: 1. equal scores go to the lowest index, so that under
    a constant prior the first action is arm 0 (up to rounding); if no score distinguishes actions
    in floating point (all are -inf, or several are 0 as logarithms), the largest posterior mean
    decides; 2. in a box the search is local, from many starts; with ``candidates`` it is exact over
    that many Sobol points, which are drawn once from the agent's generator, and the agent accepts
    no observation elsewhere.

    Args:
        problem: the domain, the model and the batch size.
        rng: the agent's generator.
        acquisition: the score of actions, instead of that of `PARTS`.
        settings: see `Parts`.

    Attributes:
        data: what was observed, in order of arrival.
        action_map: the map between actions and points of the posterior's domain.
        search: the search for actions.
        composed: the parts with the settings of this agent.
    """

    PARTS: ClassVar[Parts] = Parts()
    uses_contexts = True
    # Whether the algorithm assumes a function that drifts, whatever its settings are.
    assumes_drift = False
    search: Any  # a `Search`; an algorithm knows which one
    # The pending and the failed points of a campaign, which the posterior has as hallucinated ones.
    beside: tuple[Points | tuple[()], Points | tuple[()]] = ((), ())

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        acquisition: AcquisitionRule | None = None,
        /,
        **settings: Any,
    ) -> None:
        super().__init__(problem, rng)
        start = repr(rng.bit_generator.state)
        parts = self.PARTS.given(settings, type(self).__name__).resolved(problem)
        self.composed = parts
        self.keep = keep = parts.keep_for()
        self.action_map = mapped = parts.map_for(problem, rng, keep)
        self.data, model = Data(mapped.data_domain), parts.model(mapped.inner)
        given = model, self.data, keep, mapped
        self.refit = Refit(parts.learn, *given) if isinstance(parts.learn, Learning) else None
        self.compression = compression_for(parts.compress, problem)
        self.conditioned = Conditioned(self.data, keep, mapped, self._prior, model, self.refit)
        self.search = parts.search_for(problem, mapped, rng, keep)
        self.rule = parts.rule_for(acquisition, problem, mapped.inner, self.search)
        self.batch = parts.batch_for(self.rule, problem)
        self.repeats = parts.repeats and parts.repeats(problem.batch_size)
        self._follows = type(self.search).follow is not Search.follow
        self._planners = [p for p in self.parts if type(p).planned is not Part.planned]
        self._observers = [p for p in self.parts if type(p).observe is not Part.observe]
        self._begin()
        if self.batch.draws_samples and self.search.draws_paths:
            self.posterior.check_paths()
        self._seeded = "" if repr(rng.bit_generator.state) == start else start

    @property
    def parts(self) -> Sequence[Part]:
        """The parts that may remember, in the order in which they observe."""
        others = [part for part in (self.refit, self.repeats) if part is not None]
        return self.keep, self.action_map, self.search, *others

    @property
    def posterior(self) -> Any:
        """The posterior on ``action_map.inner.domain``, given the data that count now."""
        return self.conditioned.posterior

    def _begin(self) -> None:
        """The state before any data."""
        for part in self.parts:
            part.begin()
        self._reach(1, self.clock)

    def _facts(self) -> Plain:
        facts, model, n = super()._facts(), self.conditioned.model, self.posterior.size
        return facts | {"n_observations": n, "kernel": model.kernel, "noise_var": model.noise_var}

    @property
    def forgets(self) -> bool:
        """Whether data count less with time, or stop counting."""
        return self.keep.forgets or self.conditioned.ages

    @property
    def replays(self) -> bool:
        """Whether the rounds of the data matter: it forgets, or a part takes note of rounds."""
        return self.forgets or self._follows or any(p is not self.refit for p in self._observers)

    def next_round(self) -> Round:
        """The next round, as a batch rule receives it."""
        now, late = self.conditioned, (self._pending_points(), ()) if self.pending else self.beside
        m, t, best = self.problem.batch_size, self.round + 1, now.best_received
        return Round(now.posterior, self.search, self.rule, self.rng, m, t, best, *late)

    def acquisition(self) -> Acquisition:
        """The acquisition of the next round; a sampled incumbent is drawn for it."""
        return self.next_round().acquisition()

    def choose(self) -> Points:
        """The next actions as points of the posterior's domain, (m,) or (m, d)."""
        for part in self._planners:
            if (planned := part.planned(self.posterior, self.problem.batch_size)) is not None:
                return planned
        return self.batch.choose(self.next_round())

    def ask(self, context: ArrayLike | None = None) -> Points:
        if context is not None or self.problem.contexts is not None:
            self.set_context(context)
        self.search.renew()
        if self.pending and len(pending := self._pending_points()):
            with rolled_back(self.posterior):
                self.posterior.hallucinate(pending)
                points = self.choose()
        else:
            points = self.choose()
        return points if self.action_map.identity else self.action_map.actions(points)

    def set_context(self, context: ArrayLike | None) -> None:
        if context is None and self.context is not None:
            return
        super().set_context(context)
        self.action_map.set_context(self.context, self.search)

    def _placed(self, actions: Points, context: ArrayLike | None) -> Points:
        """The points of the data; an embedding keeps only those of its last call."""
        if context is None and self.action_map.identity:
            return actions
        points = self.action_map.points(actions)
        self.set_context(context)
        return self.action_map.placed(points)

    def _process(self, seen: Observed) -> None:
        new = seen
        if self.compression.epsilon:  # bedi2022, eq. (2.12)
            placed = self.action_map.coordinates(seen.points)
            new = seen.only(self.compression.informative(self.posterior, placed))
        self.data.add(new.points, new.rewards, new.rounds, new.times, new.noise_var)
        for part in self._observers:
            part.observe(seen, self.conditioned)
        self._reach(seen.round + 1, seen.clock, new)

    def _reach(self, t: int, time: float, new: Observed | None = None) -> None:
        """Bring the posterior and the search to the beginning of round t; see `Conditioned.at`."""
        self.conditioned.at(t, time, new)
        if self._follows:
            self.search.follow(t, self.posterior)

    def _pending_points(self) -> Points:
        """The points of pending actions, (k,) or (k, d), except those that would not count."""
        first = self.keep.first(self.round + 1)
        points = np.array([p.point for p in self.pending if p.round >= first])
        return self.action_map.coordinates(points) if len(points) else points

    @property
    def takes_noise(self) -> bool:
        """Whether rewards may have noise of variances of their own: not if data age or drop out."""
        return not self.forgets and not self.compression.epsilon and self.posterior.takes_noise

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        placed = self.action_map.coordinates(self._placed(self.problem.domain.check(actions), None))
        return self.compression.informative(self.posterior, placed, self._pending_points())

    def wait(self, dt: float) -> None:
        super().wait(dt)
        self._reach(self.round + 1, self.clock)

    @property
    def learned(self) -> list[Plain]:
        """The results of the fits of the model, one dict each; see `Refit`."""
        return [] if self.refit is None else self.refit.learned

    @property
    def duplicates(self) -> int:
        """The number of observed actions that repeated another one of the same round."""
        rounds, points = self.data.rounds, self.data.points
        mine = (rounds >= 1.0) & (rounds % 1.0 == 0.0)  # prior data may be of no round
        rows = np.column_stack([rounds, points])[mine]
        return len(rows) - len(np.unique(rows, axis=0))

    def reset(self) -> None:
        super().reset()
        self.data.clear()
        self._begin()

    def snapshot(self) -> State:
        own = {"data": self.data.state(), "conditioned": self.conditioned.state()}
        return super().snapshot() | own | {"parts": [part.state() for part in self.parts]}

    def _restore(self, state: State) -> None:
        self.data.restore(state["data"])
        for part, saved in zip(self.parts, state["parts"], strict=True):
            part.restore(saved)
        super()._restore(state)
        self.conditioned.restore(state["conditioned"])
        self._reach(self.round + 1, self.clock)

    def belief(self, points: ArrayLike | None = None) -> tuple[Array, Array] | None:
        """Posterior mean and standard deviation, two new arrays (n,).

        Args:
            points: (n, d) points of a box. On arms or candidates leave it out; the result is then
                for all of them. An embedding takes the points of its image that are nearest.
        Returns:
            None if points are needed and were not given, or there is no context yet.
        Raises:
            InvalidInput: points are given on arms, or lie outside the box.
        """
        mapped = self.action_map
        at = mapped.belief_points(None if points is None else self.problem.domain.check(points))
        if at is None or (self.problem.contexts is not None and self.context is None):
            return None
        mean, var = self.posterior.moments(mapped.coordinates(mapped.placed(at)))
        return mean, np.sqrt(var)

    def _prior(self, model: Model) -> Posterior:
        """The posterior under a model before any data."""
        return self.composed.prior(model, self.action_map, self.problem, self.rng)
