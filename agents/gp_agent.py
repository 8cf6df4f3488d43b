"""An agent composed of data, a model, an acquisition, a search and a batch rule."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions.functions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round
from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.batch.base import rolled_back
from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.compression import compression_for
from gpbandits_env.agents.data.conditioned import START, Arrived, Conditioned
from gpbandits_env.agents.data.learning import Learning
from gpbandits_env.agents.data.part import Observed, Part, observes
from gpbandits_env.agents.data.pending import Played
from gpbandits_env.agents.data.refit import Refit
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.search import Search
from gpbandits_env.arrays import Array, Plain, Points, State, finite_array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import Posterior
from gpbandits_env.problem import Problem


class GPAgent(Agent):
    """Chooses the actions with the best score; a batch rule chooses several per round.

    An algorithm is a subclass that declares in `PARTS` what it is composed of. Every such agent has
    the settings of `Parts`. They can be combined; an unsupported combination raises an error.

    Departures of all such agents: 1. equal scores go to the lowest index, so that under a constant
    prior the first action is arm 0 (up to rounding); if no score distinguishes actions in floating
    point (all are -inf, or several are 0 as logarithms), the largest posterior mean decides; 2. in
    a box the search is local, from many starts; with ``candidates`` it is exact over that many
    Sobol points, which are drawn once from the agent's generator, and the agent accepts no
    observation elsewhere.

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
        duplicates: the number of observed actions that repeated another one of the same round.
    """

    PARTS: ClassVar[Parts] = Parts()
    uses_contexts = True
    # Whether the algorithm assumes a function that drifts, whatever its settings are.
    assumes_drift = False
    search: Any  # a `Search`; an algorithm knows which one

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        acquisition: AcquisitionRule | Acquisition | None = None,
        /,
        **settings: Any,
    ) -> None:
        super().__init__(problem, rng)
        parts = self.PARTS.given(settings, type(self).__name__).resolved(problem)
        self.composed = parts
        self.keep = keep = parts.keep_for()
        self.action_map = mapped = parts.map_for(problem, rng, keep)
        self.data, model = Data(mapped.data_domain), parts.model(mapped.inner)
        self.refit = None
        if isinstance(parts.learn, Learning):
            self.refit = Refit(parts.learn, model, self.data, keep, mapped, problem.reward_sd)
        self.compression = compression_for(parts.compress, problem)
        self.conditioned = Conditioned(self.data, keep, mapped, self._prior, self.refit or model)
        self.search = parts.search_for(problem, mapped, rng, keep)
        self.rule = parts.rule_for(acquisition, problem, mapped.inner, self.search)
        self.batch = parts.batch_for(self.rule, problem)
        self.repeats = parts.repeats and parts.repeats(problem.batch_size)
        # Whether points are actions as they are.
        self._is_plain = self.action_map.identity and problem.contexts is None
        self._follows = type(self.search).follow is not Search.follow
        self._plans = type(self.search).first_points is not Search.first_points
        self._observers = [part for part in self.parts if observes(part)]
        self._begin()

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
        self.duplicates = 0
        for part in self.parts:
            part.begin()
        self._reach()

    def _facts(self) -> Plain:
        facts = {**super()._facts(), "n_observations": self.posterior.size}
        model = self.conditioned.model
        return facts | {"kernel": model.kernel, "noise_var": model.noise_var}

    def check(self) -> None:
        if self.batch.draws_samples:
            self.search.check_samples(self.posterior)

    @property
    def forgets(self) -> bool:
        """Whether data count less with time, or stop counting."""
        return self.keep.forgets or self.conditioned.ages

    def next_round(self) -> Round:
        """The next round, as a batch rule receives it."""
        now, m = self.conditioned, self.problem.batch_size
        return Round(
            now.posterior, self.search, self.rule, self.rng, m, self.round + 1, now.best_given
        )

    def acquisition(self) -> Acquisition:
        """The acquisition of the next round; a sampled incumbent is drawn for it."""
        return self.next_round().acquisition()

    def choose(self) -> Points:
        """The next actions as points of the posterior's domain, (m,) or (m, d)."""
        if self._plans:
            first = self.search.first_points(self.posterior, self.problem.batch_size)
            if first is not None:
                return np.asarray(first)
        return self.batch.choose(self.next_round())

    def ask(self, context: ArrayLike | None = None) -> Points:
        self.set_context(context)
        if self.repeats is not None and (again := self.repeats.again()) is not None:
            return np.asarray(again)
        self.search.renew()
        pending = self._pending_points() if self.pending else ()
        if len(pending):
            with rolled_back(self.posterior):
                self.posterior.hallucinate(pending)
                points = self.choose()
        else:
            points = self.choose()
        return points if self.action_map.identity else self.action_map.actions(points)

    def set_context(self, context: ArrayLike | None) -> None:
        if context is None and (self.problem.contexts is None or self.context is not None):
            return
        super().set_context(context)
        self.action_map.set_context(self.context, self.search)

    def tell(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        observed: ArrayLike | None = None,
        context: ArrayLike | None = None,
        noise_var: ArrayLike | None = None,
    ) -> None:
        own = None if noise_var is None else self._own_noise(noise_var, rewards, observed)
        played, values = self.problem.domain.observations(actions, rewards, observed, 1)
        points = played
        if context is not None or not self._is_plain:
            points = self._placed(played, context)
        self.round += 1
        arrived = self._add(points, values, self.round, self.clock, own)
        self.clock += self.pace
        if self.pending:
            self._drop_lost()
        if len(values) > 1:
            self.duplicates += len(arrived[2]) - len(np.unique(arrived[2], axis=0))
        if self._observers:
            self._show("round", played, points, values, np.full(len(values), float(self.round)))
        self._reach(arrived)

    def _learn_late(self, played: Sequence[Played], rewards: Array) -> None:
        actions, points = np.array([p.action for p in played]), np.array([p.point for p in played])
        rounds, times = np.array([(p.round, p.time) for p in played], dtype=np.float64).T
        self._take("late", actions, points, rewards, rounds, times, None)

    def _take(
        self,
        source: str,
        actions: Points,
        points: Points,
        rewards: Array,
        rounds: Array,
        times: Array,
        own: Array | None,
    ) -> None:
        """Observe rewards of other rounds than the present one."""
        for t in np.unique(rounds).tolist():
            mine = rounds == t
            noise = None if own is None else own[mine]
            arrived = self._add(points[mine], rewards[mine], t, times[mine].item(0), noise)
        if self._observers:
            self._show(source, actions, points, rewards, rounds)
        self._reach(arrived)

    def _add(
        self, points: Points, rewards: Array, t: float, time: float, own: Array | None
    ) -> Arrived:
        """Add the informative observations of a round to the data; bedi2022, eq. (2.12)."""
        if not self.compression.off:
            placed = self.action_map.coordinates(points)
            passed = self.compression.informative(self.posterior, placed)
            points, rewards = points[passed], rewards[passed]
        self.data.add(points, rewards, t, time, own)
        return t, time, points, rewards, own

    def prior_data(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        context: ArrayLike | None = None,
        noise_var: ArrayLike | None = None,
        rounds: ArrayLike | None = None,
    ) -> None:
        """Observe data known before the next round; no round is counted, and no time passes.

        Args:
            actions: (k,) arms or (k, d) points, k >= 1.
            rewards: (k,) noisy rewards.
            context: the context of all of them; by default that of the last `ask`.
            noise_var: as in `tell`.
            rounds: (k,) the rounds in which they were observed, at most 0 for those before round
                1, one unit of time apart; by default they are data of the present.
        Raises:
            InvalidInput: as in `tell`. The agent is unchanged.
        """
        own = self._own_noise(noise_var, rewards)
        played, values = self.problem.domain.observations(actions, rewards, None, 1)
        now = np.full(len(values), self.round + 0.5)
        of = now if rounds is None else finite_array(rounds, "rounds")
        if of.shape != values.shape:
            raise InvalidInput(f"rounds must have shape {values.shape}, got {of.shape}")
        if rounds is not None and of.max() > self.round:
            raise InvalidInput(
                f"rounds must be at most {self.round}, the last one, got {of.max():g}: leave out "
                "rounds for data of the present"
            )
        points = self._placed(played, context)
        times = np.full(len(of), self.clock) if rounds is None else START + of - 1.0
        self._take("prior", played, points, values, of, times, own)

    def _show(
        self, source: str, played: Points, points: Points, values: Array, rounds: Array
    ) -> None:
        """Show observations to the parts that remember."""
        now = self.conditioned
        before = now.posterior, now.best_reward, now.first_round
        new = played, points, values, now.given(values), rounds, source
        seen = Observed(*new, self.round, self.clock, *before, self.data)
        for part in self._observers:
            part.observe(seen)

    def _reach(self, arrived: Arrived | None = None) -> None:
        """Bring the posterior and the search to the next round; see `Conditioned.at`."""
        t = self.round + 1
        self.conditioned.at(t, self.clock, arrived)
        if self._follows:
            self.search.follow(t, self.posterior)

    def _placed(self, actions: Points, context: ArrayLike | None) -> Points:
        """The points of the data for checked actions in a context, which is entered.

        Raises:
            InvalidInput: an action corresponds to none of them, or it is no context. Nothing has
                changed then.
        """
        if self.action_map.identity:
            self.set_context(context)
            return actions
        points = self.action_map.points(actions)
        self.set_context(context)
        return self.action_map.placed(points)

    def _notes(self, actions: Points, context: ArrayLike | None) -> Sequence[Points | None]:
        """The points of the data: an embedding keeps only those of its last call."""
        return [np.array(point) for point in self._placed(actions, context)]

    def _pending_points(self) -> Points:
        """The points of pending actions, (k,) or (k, d), except those that would not count."""
        first = self.keep.first(self.round + 1)
        points = np.array([p.point for p in self.pending if p.round >= first])
        return self.action_map.coordinates(points) if len(points) else points

    @property
    def takes_noise(self) -> bool:
        """Whether rewards may have noise of variances of their own: not if data are dropped."""
        kept = not self.forgets and self.compression.off
        return kept and bool(self.posterior.takes_noise)

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        points = self._placed(self.problem.domain.check(actions), None)
        placed = self.action_map.coordinates(points)
        return self.compression.informative(self.posterior, placed, self._pending_points())

    def wait(self, dt: float) -> None:
        super().wait(dt)
        self._reach()

    @property
    def learned(self) -> list[Plain]:
        """The results of the fits of the model, one dict each; see `data.learning`."""
        return [] if self.refit is None else self.refit.learned

    def reset(self) -> None:
        super().reset()
        self.data.clear()
        self._begin()

    def snapshot(self) -> State:
        own = {
            "seeded": [self.action_map.fingerprint, self.search.fingerprint],
            "data": self.data.state(),
            "conditioned": self.conditioned.state(),
            "parts": [part.state() for part in self.parts],
            "duplicates": self.duplicates,
        }
        return super().snapshot() | own

    def _restore(self, state: State) -> None:
        self.data.restore(state["data"])
        for part, saved in zip(self.parts, state["parts"], strict=True):
            part.restore(saved)
        if list(state["seeded"]) != [self.action_map.fingerprint, self.search.fingerprint]:
            raise InvalidInput(
                "the snapshot is of an agent with another seed, which has other points: restore it "
                "into an agent made with that seed"
            )
        self.conditioned.restore(state["conditioned"], int(state["round"]) + 1)
        self.duplicates = int(state["duplicates"])
        super()._restore(state)
        self.search.follow(self.round + 1, self.posterior)

    def belief(self, points: ArrayLike | None = None) -> tuple[Array, Array] | None:
        """Posterior mean and standard deviation, two new arrays (n,).

        Args:
            points: (n, d) points of a box. On arms or candidates leave it out; the result is then
                for all of them. An embedding takes the points of its image that are nearest.
        Returns:
            None if points are needed and were not given.
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

    @property
    def fixes_coordinates(self) -> bool:
        """Whether the whole domain is searched, so that coordinates can be fixed."""
        return not self.composed.is_local and self.action_map.belief_domain == self.problem.domain
