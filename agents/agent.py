"""The ask/tell interface of all agents."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.data.pending import Played, matched
from gpbandits_env.agents.policy import Policy, learn
from gpbandits_env.arrays import Array, Plain, Points, State, finite_array, own_noise, positive
from gpbandits_env.display import Displayed
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.problem import Problem

# The exceptions that reading an invalid snapshot may raise.
BROKEN = (
    *(KeyError, TypeError, ValueError, AttributeError),
    *(IndexError, OverflowError, RecursionError, AssertionError),
)


class Agent(Displayed, ABC):
    """An agent for one problem.

    It receives only what is available without an environment: actions and noisy rewards.

    Args:
        problem: the domain, the model and the batch size.
        rng: the agent's generator.

    Raises:
        InvalidInput: an argument has another type, or the problem has contexts, and the agent does
            not use them.

    Attributes:
        uses_contexts: whether agents of the class accept problems with contexts, unless their
            settings or their search exclude them.
        context: the context of the present round, (1,) or (1, q); None without contexts, or before
            the first one.
        problem: as given.
        batch_size: the number m of actions per round.
        rng: as given.
        round: the number of rounds observed so far.
        clock: the time of the next round: 0 for round 1.
        pace: the time that a round takes, by default 1.
        pending: the actions that were announced by `expect` and whose rewards have not arrived.
    """

    uses_contexts: ClassVar[bool] = False
    # The state of the generator before parts of the agent were drawn from it; empty if none was.
    _seeded = ""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        if not (isinstance(problem, Problem) and isinstance(rng, np.random.Generator)):
            raise InvalidInput(
                f"an agent needs a Problem and a generator, got {type(problem).__name__} and "
                f"{type(rng).__name__}: agents.make also takes an environment and a seed"
            )
        if problem.contexts is not None and not self.uses_contexts:
            raise InvalidInput(
                f"{type(self).__name__} does not use contexts, and the problem has them: use an "
                "agent that does, such as gp-ucb, ei or ts"
            )
        self.context: Points | None = None
        self.problem, self.batch_size, self.rng = problem, problem.batch_size, rng
        self.round, self.clock, self.pace = 0, 0.0, 1.0
        self.pending: list[Played] = []
        self._policy = Policy(self)

    def _facts(self) -> Plain:
        of = ("domain", "kernel", "noise_var", "batch_size")
        return {name: getattr(self.problem, name) for name in of} | {"round": self.round}

    @abstractmethod
    def ask(self) -> Points:
        """Choose the next m actions: a new array of (m,) arms or (m, d) points for `env.step`.

        The posterior does not change. A second call repeats the choice, or draws new samples or
        candidates. An agent that uses contexts takes ``context``, the context of the round: the
        number of a finite set's context, or a point (q,). It is kept for `tell`.
        """

    def set_context(self, context: ArrayLike | None) -> None:
        """Set the context of the present round; None keeps it.

        Raises:
            InvalidInput: it is not one of the problem's contexts, or the problem has none.
        """
        if context is not None:
            self.context = self.checked_context(context)

    def checked_context(self, context: ArrayLike) -> Points:
        """A context of the problem as an array (1,) or (1, q).

        Raises:
            InvalidInput: as in `set_context`.
        """
        contexts = self.problem.contexts
        if contexts is None:
            raise InvalidInput("the problem has no contexts: leave out context")
        finite = contexts.finite
        try:
            given = np.asanyarray(context)  # a mask stays, as `check` reads it
            alone = given.ndim == (0 if finite else 1)
            return contexts.check(given[None] if alone else given, 1)
        except (InvalidInput, TypeError, ValueError):
            arms = f"a whole number in 0..{len(contexts.span) - 1}"
            kind = arms if finite else f"a point of {contexts!r}"
            raise InvalidInput(f"context must be {kind}, got {shown(context)}") from None

    def tell(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        observed: ArrayLike | None = None,
        context: ArrayLike | None = None,
        noise_var: ArrayLike | None = None,
    ) -> None:
        """Observe the rewards of one round; the actions need not be those of `ask`.

        Args:
            actions: (k,) arms or (k, d) points, k >= 1.
            rewards: (k,) noisy rewards.
            observed: (k,) bool, which of the actions were evaluated; by default all. The
                rewards of the others are ignored. The round counts even if no action was
                evaluated.
            context: the context of the round; by default that of the last `ask`.
            noise_var: (k,) the variance of the noise of each reward, where it is known and differs
                from that of the others; NaN elsewhere. See `takes_noise`.
        Raises:
            InvalidInput: a shape is wrong, an action is outside the domain, a reward is not finite,
                or the agent takes no such variances, or none with ``observed``. The agent is
                unchanged.
        """
        own = None if noise_var is None else self._own_noise(noise_var, rewards, observed)
        played, values = self.problem.domain.observations(actions, rewards, observed, 1)
        points, now, time = self._placed(played, context), self.round + 1, self.clock
        after = time + self.pace
        self._process(Observed("round", played, points, values, now, time, own, now, after))
        self.round, self.clock = now, after
        if self.pending and (most := self.problem.max_delay) is not None:
            self.pending = [p for p in self.pending if p.round + most >= now]

    def expect(
        self,
        actions: ArrayLike,
        observed: ArrayLike | None = None,
        context: ArrayLike | None = None,
    ) -> None:
        """Count a round whose rewards arrive later; until then its actions are pending.

        The round passes as in `tell`, without a reward. An agent with a posterior conditions its
        variance on pending actions, so that it does not repeat them. If the problem states
        ``max_delay``, a reward that has not arrived after that many rounds is lost, and its action
        is no longer pending.

        Args:
            actions: (k,) arms or (k, d) points that were played, k >= 1.
            observed: (k,) bool, which of them are evaluated; by default all.
            context: as in `tell`.
        Raises:
            InvalidInput: as in `tell`, or the agent cannot learn from late rewards. The agent is
                unchanged.
        """
        domain = self.problem.domain
        checked = domain.check(actions)
        nothing = np.zeros(len(checked))
        played, _ = domain.observations(checked, nothing, observed, 1)
        points, time = self._placed(played, context), self.clock
        self.tell(checked, nothing, observed=np.zeros(len(checked), dtype=np.bool_))
        each = zip(played, points, strict=True)
        self.pending += [Played(self.round, np.array(a), np.array(p), time) for a, p in each]

    def tell_late(
        self, actions: ArrayLike, rewards: ArrayLike, rounds: ArrayLike | None = None
    ) -> None:
        """Observe rewards of pending actions; no round is counted.

        The rewards are those of the function of the round in which the action was played, also for
        an agent that forgets.

        Args:
            actions: (k,) arms or (k, d) points, k >= 1.
            rewards: (k,) noisy rewards.
            rounds: (k,) the rounds in which the actions were played, counted from 1. Without it, a
                reward is that of the oldest pending action that is equal.
        Raises:
            InvalidInput: as in `tell`, or an action is not pending. The agent is unchanged.
        """
        checked, values = self.problem.domain.observations(actions, rewards, None, 1)
        found = matched(self.pending, checked, rounds)
        each, _, points, times = zip(*(self.pending[i] for i in found), strict=True)
        new = "late", checked, np.array(points), values, np.array(each, float), np.array(times)
        self._process(Observed(*new, None, self.round, self.clock))
        self.pending = [p for i, p in enumerate(self.pending) if i not in found]

    def wait(self, dt: float) -> None:
        """Let dt > 0 rounds pass without an observation; it has no effect unless data age."""
        self.clock += positive(dt, "dt")

    def pass_until(self, read: float, now: float) -> None:
        """Let time pass until the next rewards hold; `tell` then lets it pass until they arrive.

        Args:
            read: the time at which the rewards of the round hold, in units of the drift.
            now: the time at which they arrive, after which the next round begins.
        Raises:
            InvalidInput: they would arrive before they hold. The agent is unchanged.
        """
        pace = positive(now - read, "the time between read and now", zero=True)
        if read > self.clock:
            self.wait(read - self.clock)
        self.pace = pace

    def observe(self, observation: Mapping[str, ArrayLike]) -> None:
        """Learn from an observation of an environment: what was played, what arrived.

        The observation of `reset` has nothing to learn. If the problem has contexts, that of the
        next round is taken from the observation.

        Args:
            observation: the dict of one instance, not of a vector environment.
        Raises:
            InvalidInput: as in `tell` and `tell_late`.
        """
        each, single = self._policy.read(observation, None)
        if not single:
            raise InvalidInput("observe takes the observation of one instance: use one agent each")
        _, actions, rewards, context, *masks = each[0]
        if np.any(observation["round"]):  # a wrapper may scale it
            learn(self, actions, rewards, *masks)
        self.set_context(context)

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
                1, one unit of time apart; by default they are data of the present. Under a clock,
                a round that would be later than now is now.
        Raises:
            InvalidInput: as in `tell`. The agent is unchanged.
        """
        own = None if noise_var is None else self._own_noise(noise_var, rewards, None)
        played, values = self.problem.domain.observations(actions, rewards, None, 1)
        if rounds is None:
            of, times = np.full(len(values), self.round + 0.5), np.full(len(values), self.clock)
        else:
            times = np.minimum((of := finite_array(rounds, "rounds")) - 1.0, self.clock)
            if of.shape != values.shape:
                raise InvalidInput(f"rounds must have shape {values.shape}, got {of.shape}")
            if of.max() > self.round:
                raise InvalidInput(
                    f"rounds must be at most {self.round}, the last one, got {of.max():g}: leave "
                    "out rounds for data of the present"
                )
        new = "prior", played, self._placed(played, context), values, of, times, own
        self._process(Observed(*new, self.round, self.clock))

    @property
    def takes_noise(self) -> bool:
        """Whether rewards may have noise of variances of their own."""
        return False

    def _own_noise(
        self, noise_var: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None
    ) -> Array | None:
        """The variances of the noise of the rewards, checked; None if none is known."""
        if observed is not None:
            raise InvalidInput(
                "give noise_var or observed, not both: leave out actions that were not evaluated"
            )
        if not self.takes_noise:
            raise InvalidInput(
                f"{type(self).__name__} with these settings takes no noise of each reward's own: "
                "it needs an agent that keeps all data in one posterior, such as ei, gp-ucb or ts, "
                "without compress or a Nystrom posterior"
            )
        found = own_noise(noise_var, np.size(rewards))
        return None if np.isnan(found).all() else found

    def informative(self, actions: ArrayLike) -> NDArray[np.bool_]:
        """Whether each action would be informative if it were evaluated now: a new (m,) array.

        All actions are informative unless the agent compresses its data. The others need not be
        evaluated; pass ``tell(actions, rewards, observed=...)`` then.

        Args:
            actions: (m,) arms or (m, d) points; those of `ask`, before they are evaluated.
        Raises:
            InvalidInput: the shape is wrong, or an action is outside the domain.
        """
        return np.ones(len(self.problem.domain.check(actions)), dtype=np.bool_)

    def _placed(self, actions: Points, context: ArrayLike | None) -> Points:
        """What is learned from of checked actions (k, ...), whose context is entered: (k, ...).

        By default, that is the actions. It is kept until late rewards arrive.

        Raises:
            InvalidInput: there is no such point or context. Nothing has changed then.
        """
        self.set_context(context)
        return actions

    def _process(self, seen: Observed) -> None:
        """Process observations; `round` and `clock` are still those before them."""
        self._learn(*(np.broadcast_to(a, a.shape) for a in (seen.points, seen.rewards)))

    def _learn(self, actions: Points, rewards: Array) -> None:
        """Process checked observations: (k,) or (k, d) actions and (k,) rewards; k may be 0.

        Both are read-only, and may be views of the caller's arrays: copy what you keep.
        """
        return

    def reset(self) -> None:
        """Forget all observations; the generator is not reset."""
        self.round, self.clock, self.pace = 0, 0.0, 1.0
        self.pending, self.context = [], None

    def predict(
        self,
        observation: Mapping[str, ArrayLike],
        state: object = None,
        episode_start: ArrayLike | None = None,
        deterministic: bool = True,
    ) -> tuple[Points, None]:
        """The next actions for an observation, with the signature of stable-baselines3's policies.

        The agent first learns from the observation, and then acts; see `Policy`.
        """
        return self._policy(observation, episode_start), None

    def instances(self, count: int) -> list[Self]:
        """The agents by which `predict` acts in the first instances of a vector environment.

        This agent is the first. Each has the data of its instance, for example for `belief`.
        """
        return self._policy.agents(count)

    def snapshot(self) -> State:
        """The state of the agent and of its generator, as a copy in plain data that can be pickled.

        If `predict` acts in several environment instances, the snapshot holds the agent of the
        first one only; pickle the agent to keep all of them.
        """
        return {
            "round": self.round,
            "clock": self.clock,
            "pace": self.pace,
            "rng": copy.deepcopy(self.rng.bit_generator.state),
            "pending": [tuple(played) for played in self.pending],
            "context": None if self.context is None else self.context.copy(),
            "seeded": self._seeded,
        }

    def restore(self, state: State) -> None:
        """Continue from a snapshot of this agent, or of one with the same settings.

        If parts of the agent are drawn when it is made, as candidates and embeddings are, the other
        agent must also have the same seed.

        Raises:
            InvalidInput: the snapshot is of another kind of agent. The agent is unchanged.
        """
        before = self.snapshot()
        if not isinstance(state, Mapping) or set(state) != set(before):
            raise InvalidInput(
                f"not a snapshot of {type(self).__name__}: a snapshot has the keys {list(before)}"
            )
        try:
            self._restore(state)
        except BROKEN as error:
            self._restore(before)
            raise InvalidInput(
                f"not a snapshot of a {type(self).__name__} like this one: {shown(error)}"
            ) from None

    def _restore(self, state: State) -> None:
        if state["seeded"] != self._seeded:
            raise InvalidInput(
                "the snapshot is of an agent with another seed, which has other points: restore it "
                "into an agent made with that seed"
            )
        self.rng.bit_generator.state = copy.deepcopy(state["rng"])
        self.round = int(state["round"])
        self.clock, self.pace = float(state["clock"]), float(state["pace"])
        self.context, each = None, state["pending"]
        if state["context"] is not None:
            self.set_context(state["context"])
        self.pending = [Played(int(t), np.array(a), np.array(p), float(at)) for t, a, p, at in each]

    def belief(self, points: ArrayLike | None = None) -> tuple[Array, Array] | None:
        """Posterior mean and standard deviation at all arms, or in a box at the points (n, d).

        None for an agent without a posterior.
        """
        return None
