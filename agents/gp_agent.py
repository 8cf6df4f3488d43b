"""An agent composed of a posterior, an acquisition, a search, a batch rule and its data."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions.functions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, Round, acquisition_for
from gpbandits_env.agents.action_map import (
    ActionMap,
    ContextMap,
    action_map_for,
    check_own_search,
)
from gpbandits_env.agents.agent import Agent
from gpbandits_env.agents.batch import Batch, rule_for
from gpbandits_env.agents.batch.base import rolled_back
from gpbandits_env.agents.data.compression import Budget, compression_for
from gpbandits_env.agents.data.forgetting import Fade, Forgetting, drift_of, forgetting_for
from gpbandits_env.agents.data.learning import Learning, learning_for
from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.agents.data.pending import Played
from gpbandits_env.agents.data.refit import Refit
from gpbandits_env.agents.search import ArmSearch, SearchSpec, search_for
from gpbandits_env.arrays import Array, Plain, Points, Settings, State, positive
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import ArmPosterior, Posterior, posterior_for, posterior_kind
from gpbandits_env.gp.temporal import TemporalKernel
from gpbandits_env.problem import Problem

# A Nystrom posterior and a temporal kernel need arms. In a box, this is the default number of
# candidates.
USUAL_CANDIDATES = 1024
# The value of epsilon before the first fit, if it is learned and the problem does not state it.
FIRST_EPSILON = 0.01


class GPAgent(Agent):
    """Chooses the actions with the best score; a batch rule chooses several per round.

    An algorithm is a subclass whose constructor states its parts. Every such agent has the settings
    below. They can be combined; an unsupported combination raises an error.

    Departures of all such agents: 1. equal scores go to the lowest index, so that under a constant
    prior the first action is arm 0 (up to rounding); if no score distinguishes actions in floating
    point (all are -inf, or several are 0 as logarithms), the largest posterior mean decides; 2. in
    a box the search is local, from many starts; with ``candidates`` it is exact over that many
    Sobol points, which are drawn once from the agent's generator, and the agent accepts no
    observation elsewhere.

    Args:
        problem: the domain, the model and the batch size.
        rng: the agent's generator.
        acquisition: the score of actions: an acquisition, or a rule that makes one in each round;
            None for an algorithm that draws posterior samples instead.
        action_map: for an algorithm whose posterior is not on the problem's domain.
        forgetting: for an algorithm that forgets by a rule of its own.
        posterior: the representation of the posterior. On arms "auto" takes the cheaper of "rows"
            (dense) and "coefficients". "nystrom", or {"type": "nystrom", "qbar": 5.0}, is the
            posterior of BKB: after each round its dictionary is redrawn and includes each past
            point with probability min(1, qbar sigma~^2). It does not support epsilon, and in a box
            it needs candidates, by default 1024.
        epsilon: if given, the correlation with past data decays at this rate (see
            `data.forgetting`).
        temporal: if given, the covariance in time, as a dict (see `temporal`): {"type": "periodic",
            "period": 24.0}, ... Rounds are one unit of time apart. A Markov kernel is epsilon. In a
            box the others need candidates, by default 1024.
        reset_every: if given, all data are discarded after each block of this many rounds; if
            rewards are pending then, when the first reward of the next block arrives.
        history: if given, the number of last rows of the problem's history (`Problem.history`), one
            round apart, that the agent observes before round 1.
        window: if given, only the data of this many last rounds are used.
        compress: if given, the posterior uses only informative observations (see
            `data.compression`). A rule as a dict, {"type": "constant", "epsilon": 1e-4} or
            {"type": "horizon", "alpha": 0.5}, or a number, which is a constant epsilon. Other
            observations count as a round but are dropped, also for a window and for fits.
        candidates: in a box, the number of points to choose among; by default the whole box is
            searched.
        search: how a box is searched, as a dict (see `search`).
        batch: the batch rule, by name or as a dict (see `batch`). By default actions are chosen
            one after the other by hallucinated variance; without an acquisition, each maximizes
            its own posterior sample.
        learn: if given, hyperparameters are fitted to the rewards at intervals:
            {"every": 10, "what": ["lengthscale", "variance", "noise_var", "epsilon"], ...}, or
            True for those of the kernel and the noise variance (see `data.learning`). `learned`
            lists the fits.
        standardize: whether the mean and the scale of the rewards are unknown. The problem's model
            is then that of rewards with mean 0 and variance 1.

    Attributes:
        posterior: the posterior on ``action_map.inner.domain``.
        log: the observations that forgetting, late rewards and fits need; often none.
        duplicates: the number of observed actions that repeated another one of the same round.
    """

    posterior: Posterior
    uses_contexts = True
    # Whether the algorithm assumes a function that drifts, whatever its settings are.
    assumes_drift = False
    # The factor of an observation's weight per round of its age.
    discount = 1.0

    # The agent is composed here, so there is one parameter per part.
    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        acquisition: AcquisitionRule | Acquisition | None,
        action_map: ActionMap | None = None,
        forgetting: Forgetting | None = None,
        *,
        posterior: Settings | str = "auto",
        epsilon: float | None = None,
        temporal: TemporalKernel | Settings | None = None,
        reset_every: int | None = None,
        window: int | None = None,
        history: int | None = None,
        compress: Settings | Budget | float | None = None,
        candidates: int | None = None,
        search: SearchSpec = None,
        batch: Batch | None = None,
        learn: Learning | Settings | Sequence[str] | bool | None = None,
        standardize: bool = False,
    ) -> None:
        super().__init__(problem, rng)
        learning = learning_for(learn, standardize)
        epsilon, moving = drift_of(epsilon, temporal)
        if learning is not None and learning.drifts and epsilon is None:
            epsilon = FIRST_EPSILON if problem.epsilon is None else problem.epsilon
        drifts = {"epsilon": epsilon, "temporal": moving}
        self._kind = posterior_kind(posterior, [k for k, v in drifts.items() if v is not None])
        needs_arms = self._kind["type"] == "nystrom" or moving is not None
        if needs_arms and candidates is None:
            candidates = USUAL_CANDIDATES
        # Whether the search is that of the whole domain, so that coordinates can be fixed.
        self.fixes_coordinates = action_map is None and candidates is None
        self.action_map = action_map or action_map_for(problem, candidates, rng)
        if action_map is not None:
            check_own_search(problem, candidates)
        inner = self.action_map.inner
        self.forgetting = forgetting_for(epsilon, reset_every, window, moving, forgetting)
        model = Model(inner.kernel, inner.noise_var, inner.prior_mean, epsilon or 0.0, moving)
        self.refit = None if learning is None else self._refit(learning, model)
        self._history = problem.last_rows(history)[-(window or 0) :]
        self.log = self._new_log(learning)
        self._compress = compress
        self.compression = compression_for(compress, problem)
        self.posterior = self._prior(model)
        actions = None if problem.contexts is None else self.action_map.shown
        self.search = search_for(inner.domain, search, rng, actions=actions)
        self.rule = acquisition_for(acquisition, problem, inner)
        if batch is None:
            batch = "thompson" if acquisition is None else "hallucinate"
        self.batch = rule_for(batch)
        self.batch.check(self.rule, problem)
        self.duplicates = 0
        self._observe_history()

    def _new_log(self, learning: Learning | None) -> ObservationLog:
        """An empty log that keeps what forgetting, late rewards and fits need."""
        if learning is not None:
            return ObservationLog(None, max(learning.last, learning.window), self._drawn_in)
        if self.forgetting is None:
            return ObservationLog(0)
        late = self.problem.max_delay is not None
        kept = self.forgetting.rounds_late if late else self.forgetting.rounds
        return ObservationLog(kept and kept + len(self._history))

    def _facts(self) -> Plain:
        facts = {**super()._facts(), "n_observations": self.posterior.size}
        if self.refit is not None:
            model = self.refit.model
            facts |= {"kernel": model.kernel, "noise_var": model.noise_var}
        return facts

    def check(self) -> None:
        now = self.next_round()
        if self.batch.draws_samples:
            now.search.check_samples(now.posterior)

    def next_round(self) -> Round:
        """The next round, as a batch rule receives it."""
        return Round(
            self.posterior,
            self.search,
            self.rule,
            self.rng,
            self.problem.batch_size,
            self.round + 1,
            self.log.best_reward if self.refit is None else self.log.best_given,
        )

    def acquisition(self) -> Acquisition:
        """The acquisition of the next round; a sampled incumbent is drawn for it."""
        return self.next_round().acquisition()

    def choose(self) -> Points:
        """The next actions as points of the posterior's domain, (m,) or (m, d)."""
        return self.batch.choose(self.next_round())

    def ask(self, context: ArrayLike | None = None) -> Points:
        self.enter(context)
        self.search.renew()
        late = self._pending_points() if self.pending else ()
        if len(late):
            with rolled_back(self.posterior):
                self.posterior.hallucinate(late)
                points = self.choose()
        else:
            points = self.choose()
        return points if self.action_map.identity else self.action_map.actions(points)

    def enter(self, context: ArrayLike | None) -> None:
        if context is None and (self.problem.contexts is None or self.context is not None):
            return  # in most rounds
        super().enter(context)
        mapped, search, entered = self.action_map, self.search, self.context
        assert isinstance(mapped, ContextMap)
        if entered is None:
            raise InvalidInput(
                "the problem has contexts: give one by ask(context=...) or tell(..., context=...)"
            )
        mapped.context, contexts = entered, mapped.contexts
        if isinstance(search, ArmSearch) and isinstance(contexts, Arms):
            search.among = slice(entered.item(), None, contexts.size)
        else:
            free = np.full(mapped.shown.dim, np.nan)
            point = np.concatenate([free, contexts.points(entered)[0]])
            search.fix(mapped.inner.domain, point)

    def tell(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        observed: ArrayLike | None = None,
        context: ArrayLike | None = None,
        noise_var: ArrayLike | None = None,
    ) -> None:
        own = None if noise_var is None else self._own_noise(noise_var, rewards, observed)
        points, values = self._received(actions, rewards, observed, context)
        self.posterior.learn(points, self._drawn_in(values), own)
        self.round += 1
        if self.pending:
            self._lose()
        self.log.append(self.round, points, values, own)
        if len(points) > 1:
            self.duplicates += len(points) - len(np.unique(points, axis=0))
        if self.forgetting is not None:
            self.forgetting.advance(self.round, self.posterior, self.log)
            if self._outdated and not self.pending:
                self.posterior.forget()
        if self.refit is not None:
            self._learn_model()

    def expect(
        self,
        actions: ArrayLike,
        observed: ArrayLike | None = None,
        context: ArrayLike | None = None,
    ) -> None:
        if self.forgetting is not None and self.problem.max_delay is None:
            raise InvalidInput(
                "an agent that forgets learns from a late reward in the round of its action, and "
                "has to keep its data for that: give the problem or the agent max_delay, the "
                "largest number of rounds by which a reward is late"
            )
        super().expect(actions, observed, context)

    def _notes(self, actions: Points, context: ArrayLike | None) -> Sequence[Points | None]:
        """The points of the posterior's domain: an embedding keeps only those of its last call."""
        return [np.array(point) for point in self._placed(actions, context)]

    def _pending_points(self) -> Points:
        """The points of pending actions, (k,) or (k, d), except those of discarded rounds."""
        first = 0.0 if self.forgetting is None or self._outdated else self.log.first_round
        known = [p.note for p in self.pending if p.note is not None and p.round >= first]
        return np.array(known)

    def _learn_late(self, played: Sequence[Played], rewards: Array) -> None:
        known = [i for i, p in enumerate(played) if p.note is not None]
        if not known:
            return
        points, values = np.array([played[i].note for i in known]), rewards[known]
        rounds = np.array([played[i].round for i in known])
        if self._outdated and rounds.max() >= self.log.first_round:
            self.posterior.forget()
        if not self.compression.off:
            passed = self.compression.informative(self.posterior, points)
            points, values, rounds = points[passed], values[passed], rounds[passed]
        if self.forgetting is None:
            self.posterior.learn(points, self._drawn_in(values))
            self.log.append(self.round, points, values)
            return
        for t in np.unique(rounds).tolist():
            self.log.insert(t, points[rounds == t], values[rounds == t])
        if self.log.best_reward > -math.inf:
            self.posterior.forget()
            self.log.replay(self.posterior)

    @property
    def _outdated(self) -> bool:
        """Whether the posterior has data that the log has discarded; see `Forgetting.advance`."""
        emptied = self.forgetting is not None and self.log.best_reward == -math.inf
        return emptied and len(self.posterior.observed) > 0

    def prior_data(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        context: ArrayLike | None = None,
        noise_var: ArrayLike | None = None,
    ) -> None:
        own = self._own_noise(noise_var, rewards)
        points, values = self._received(actions, rewards, None, context)
        self.posterior.learn(points, self._drawn_in(values), own)
        self.log.append_known(points, values, own)
        self._learn_model(len(points))

    @property
    def takes_noise(self) -> bool:
        """Whether rewards may have noise of variances of their own: not if data are dropped."""
        kept = self.forgetting is None and self.compression.off
        return kept and self.posterior.takes_noise

    def _received(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        observed: ArrayLike | None,
        context: ArrayLike | None,
    ) -> tuple[Points, Array]:
        """The informative observations, checked, as points of the posterior's domain."""
        points, values = self.problem.domain.observations(actions, rewards, observed, 1)
        points = self._placed(points, context)
        if self._outdated and len(points):
            self.posterior.forget()
        if self.compression.off:
            return points, values
        passed = self.compression.informative(self.posterior, points)
        return points[passed], values[passed]

    def _placed(self, actions: Points, context: ArrayLike | None) -> Points:
        """The points of the posterior's domain for checked actions in a context, which is entered.

        Raises:
            InvalidInput: an action corresponds to none of them, or it is no context. Nothing has
                changed then.
        """
        if self.action_map.identity:
            self.enter(context)
            return actions
        points = self.action_map.points(actions)
        self.enter(context)
        return self.action_map.placed(points)

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        points = self._placed(self.problem.domain.check(actions), None)
        return self.compression.informative(self.posterior, points, self._pending_points())

    def wait(self, dt: float) -> None:
        """Let dt > 0 rounds pass without an observation; it has no effect unless data age."""
        if self.forgetting is not None:
            self.forgetting.wait(positive(dt, "dt"), self.posterior, self.log)

    def _observe_history(self) -> None:
        """Condition on the known rounds before the first one."""
        for row in self._history:
            points = np.arange(len(row))
            self.posterior.learn(points, row)
            self.log.append(0, points, row)
            self.wait(1.0)

    @property
    def learned(self) -> list[Plain]:
        """The results of the fits of the model, one dict each; see `data.learning`."""
        return [] if self.refit is None else self.refit.learned

    def reset(self) -> None:
        super().reset()
        self.duplicates = 0
        self.posterior.forget()
        self.log.clear()
        if self.refit is not None:
            self.refit.clear()
            self._use(self.refit.model)
        self._observe_history()

    def snapshot(self) -> State:
        own = {
            "posterior": None if self._is_in_log else self.posterior.snapshot(),
            "log": self.log.snapshot(),
            "action_map": self.action_map.fingerprint,
            "duplicates": self.duplicates,
        }
        if self.refit is not None:
            own["refit"] = self.refit.snapshot()
        return super().snapshot() | own

    @property
    def _is_in_log(self) -> bool:
        """Whether the posterior on arms follows from the log: it may take far less storage."""
        kept = self.forgetting is None and sum(self.log.calls) == self.posterior.size > 0
        return kept and isinstance(self.posterior, ArmPosterior) and not self.posterior.hallucinated

    def _restore(self, state: State) -> None:
        if state["action_map"] != self.action_map.fingerprint:
            raise InvalidInput(
                "the snapshot is of an agent with another seed, which has other points: restore it "
                "into an agent made with that seed"
            )
        self.log.clear()
        if self.refit is not None:
            self.refit.restore(state["refit"])
            self._use(self.refit.model)
        self.log.restore(state["log"])
        if state["posterior"] is None:
            self.posterior.forget()
            self.log.repeat(self.posterior)
        else:
            self.posterior.restore(state["posterior"])
        self.duplicates = int(state["duplicates"])
        super()._restore(state)

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
        domain = self.action_map.shown
        if isinstance(self.action_map, ContextMap) and self.context is None:
            return None
        if domain.finite:
            if points is not None:
                raise InvalidInput("the posterior of this agent is on arms: leave out the points")
            at: Points = np.arange(len(domain.span))
        elif points is None:
            return None
        else:
            at = self.action_map.points(self.problem.domain.check(points))
        mean, var = self.posterior.moments(self.action_map.placed(at))
        return mean, np.sqrt(var)

    def _prior(self, model: Model) -> Posterior:
        """The posterior under a model before any data."""
        return posterior_for(
            self.action_map.inner.domain,
            model.kernel,
            model.noise_var,
            model.prior_mean,
            self._kind["type"],
            qbar=self._kind.get("qbar"),
            horizon=self.problem.horizon,
            rng=self.rng,
            temporal=model.temporal,
            discount=self.discount,
        )

    def _refit(self, learning: Learning, given: Model) -> Refit:
        """The fits of the model, which start from the problem's on the posterior's domain."""
        return Refit(learning, given, self.action_map.inner.domain, self.problem.reward_sd)

    def _learn_model(self, known: int = 0) -> None:
        """Fit the model to the log if a fit is due, and use it; see `Refit.update`.

        A fit waits while the posterior has data that the log has discarded.
        """
        if self.refit is None or self._outdated:
            return
        if self.refit.update(self.round, self.log, known):
            self._use(self.refit.model)

    def _use(self, model: Model) -> None:
        """Condition on the same data under another model; compression uses its noise variance."""
        assert self.refit is not None
        if self.refit.learning.drifts:
            self.forgetting = Fade(model.epsilon)
        if self.refit.keeps_prior:
            self.posterior.forget()
            if self.posterior.ages:
                self.log.replay(self.posterior)
                return
            for entry in self.log.data:  # round by round, as it was conditioned before
                self.posterior.learn(entry.points, entry.rewards, entry.noise_var)
                self.posterior.advance(entry.faded)
            return
        self.compression = compression_for(
            self._compress, self.problem.replaced(noise_var=model.noise_var)
        )
        self.posterior = self._prior(model)
        self.log.replay(self.posterior)

    def _drawn_in(self, rewards: Array) -> Array:
        """The rewards for the posterior; see `Learning.robust`."""
        return rewards if self.refit is None else self.refit.drawn_in(rewards)
