"""SRE: sequential random embeddings.

Paper: Qian, Hu and Yu (2016), "Derivative-Free Optimization of High-Dimensional Non-Convex
Functions by Sequential Random Embeddings", Algorithm 2, as a baseline of tranthe2020.
Assumes: all coordinates have an effect, most of them a small one.
Departures: 1. within a stage the optimizer is GP-UCB (or any acquisition), as in tranthe2020; 2. a
stage starts with the observed reward of its starting point; 3. all stages have the kernel of the
first, or a stage starts with the kernel and the noise variance learned in the previous one, and
refits them to its own data; 4. those of `GPAgent`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from gpbandits_env.agents.acquisitions.rules import rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import box_of
from gpbandits_env.agents.data.pending import Played
from gpbandits_env.agents.embeddings import BoxMap, EmbeddedMap, sequential_embedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import Array, Points, State, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams, child


class SRE(GPAgent):
    r"""GP-UCB in a sequence of random embeddings, each around the best point so far.

    .. math:: x = \mathrm{clip}(a x' + A_j y)

    The domain must be a box. Stage j searches over (a, y). Here x' is the best point before the
    stage: the point with the largest observed reward. The last stage has no end. The posterior is
    on (a, y) (see `EmbeddedMap`).

    Args:
        d: the dimension of y.
        stages: the number m of stages.
        rounds: the number of rounds per stage; by default the horizon divided by m.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `rule_named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the small box.

    Attributes:
        stage: the stage of the next round, counted from 0.
        embedding: the embedding of that stage.
    Raises:
        InvalidInput: rounds is not given, and the horizon is unknown.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        d: int = 5,
        stages: int = 5,
        rounds: int | None = None,
        acquisition: str = "ucb",
        beta: Beta | None = None,
        **parts: Any,
    ) -> None:
        self._box = box_of(problem, self)
        self._low_dim, self._stages = whole(d, "d"), whole(stages, "stages")
        if rounds is None and problem.horizon is None:
            raise InvalidInput(
                "sre needs the number of rounds per stage: give it rounds or a horizon"
            )
        per_stage = rounds if rounds is not None else -(-(problem.horizon or 0) // self._stages)
        self._per_stage = whole(per_stage, "rounds")
        self._streams = Streams(rng)
        child(rng)  # unused; it keeps the results of earlier versions for the same seed
        self._best, self._best_reward = np.zeros(self._box.dim), -np.inf
        through = self._entered(0, self._best)
        rule = rule_named(acquisition, beta, through.small)
        super().__init__(problem, rng, rule, EmbeddedMap(problem, through), **parts)

    def _entered(self, stage: int, anchor: Array) -> BoxMap:
        """Enter a stage that starts at a point (D,) of the cube, and return its map."""
        self.stage, self._anchor = stage, anchor
        self.embedding = sequential_embedding(anchor, self._low_dim, self._streams.at(stage))
        return BoxMap(self.embedding, self._box)

    def tell(self, *given: Any, **named: Any) -> None:
        super().tell(*given, **named)
        stage = self._stage_after(self.round)
        if stage > self.stage:
            self.action_map = EmbeddedMap(self.problem, self._entered(stage, self._best))
            self._start_with_what_is_known()

    def _stage_after(self, rounds: int) -> int:
        return min(rounds // self._per_stage, self._stages - 1)

    def _notes(self, actions: Points, context: ArrayLike | None) -> Sequence[Points | None]:
        notes = super()._notes(actions, context)
        # Rewards of the last round of a stage arrive in the next one, which has other points.
        ends = self._stage_after(self.round + 1) > self.stage
        return [None] * len(notes) if ends else notes

    def _received(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None, *more: Any
    ) -> tuple[Points, Array]:
        found = super()._received(actions, rewards, observed, *more)
        self._note(*self.problem.domain.observations(actions, rewards, observed))
        return found

    def _learn_late(self, played: Sequence[Played], rewards: Array) -> None:
        super()._learn_late(played, rewards)
        self._note(np.array([p.action for p in played]), rewards)

    def _note(self, points: Points, rewards: Array) -> None:
        if len(rewards) and rewards.max() > self._best_reward:
            self._best_reward = float(rewards.max())
            best = points[[int(rewards.argmax())]]
            self._best = InputScaling.of(self._box).scale(best)[0]

    def _start_with_what_is_known(self) -> None:
        # The points in the log, and the pending ones, are coordinates of the previous embedding.
        self.pending = [played._replace(note=None) for played in self.pending]
        self.posterior.forget()
        self.log.clear()
        if np.isfinite(self._best_reward):
            there = np.eye(1, len(self.embedding.half))  # a = 1, y = 0
            reward = np.array([self._best_reward])
            self.posterior.condition(there, self._drawn_in(reward))
            self.log.append(self.round, there, reward)
            self._learn_model()

    def reset(self) -> None:
        self._best, self._best_reward = np.zeros(self._box.dim), -np.inf
        self.action_map = EmbeddedMap(self.problem, self._entered(0, self._best))
        super().reset()

    def snapshot(self) -> State:
        own = {
            "stage": self.stage,
            "anchor": self._anchor.copy(),
            "best": self._best.copy(),
            "best_reward": self._best_reward,
        }
        return super().snapshot() | {"sre": own}

    def _restore(self, state: State) -> None:
        own = state["sre"]
        anchor = np.array(own["anchor"], dtype=np.float64)
        through = self._entered(int(own["stage"]), anchor)
        self.action_map = EmbeddedMap(self.problem, through)
        self._best = np.array(own["best"], dtype=np.float64)
        self._best_reward = float(own["best_reward"])
        super()._restore(state)
