"""SRE: sequential random embeddings.

Paper: Qian, Hu and Yu (2016), "Derivative-Free Optimization of High-Dimensional Non-Convex
Functions by Sequential Random Embeddings", Algorithm 2, as a baseline of tranthe2020.
Assumes: all coordinates matter, most of them little.
Departures: 1. inside a stage the search is GP-UCB (or any acquisition), as in tranthe2020; 2. a
stage starts knowing the reward of the point it starts from; 3. a stage begins with the kernel and
the noise learned in the one before, and learns from its own data; 4. those of `GPAgent`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from gpbandits_env.agents.acquisitions.rules import rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import box_of
from gpbandits_env.agents.embeddings import BoxMap, EmbeddedMap, sequential_embedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.learning import InputScaling
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams, child


class SRE(GPAgent):
    r"""GP-UCB in a sequence of random embeddings, each around the best point so far.

    .. math:: x = \mathrm{clip}(a x' + A_j y)

    Stage j searches (a, y); x' is the best point before it, that of the largest reward observed. It
    acts in a box. After the last stage the agent stays in it. The posterior is on (a, y) (see
    `EmbeddedMap`).

    Args:
        d: the number of coordinates y.
        stages: m.
        rounds: of a stage; the horizon over m when not given.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `rule_named`.
        margin: of "ei" and "mpi".
        beta: of "ucb"; by default Theorem 2 of srinivas2010 over 5, for the small box.

    Attributes:
        stage: the stage of the next round, from 0.
        embedding: that of the stage.
    Raises:
        InvalidInput: no rounds given and no horizon known.
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
        margin: float | None = None,
        beta: Beta | None = None,
        **parts: Any,
    ) -> None:
        self._box = box_of(problem, self)
        self._low_dim, self._stages = whole(d, "d"), whole(stages, "stages")
        if rounds is None and problem.horizon is None:
            raise InvalidInput("sre splits its rounds over stages: give it rounds, or a horizon")
        per_stage = rounds if rounds is not None else -(-(problem.horizon or 0) // self._stages)
        self._per_stage = whole(per_stage, "rounds")
        self._streams = Streams(rng)
        child(rng)  # draws that nothing uses: with them, seeds give the results on record
        self._best, self._best_reward = np.zeros(self._box.dim), -np.inf
        through = self._entered(0, self._best)
        rule = rule_named(acquisition, margin, beta, through.small)
        super().__init__(problem, rng, rule, EmbeddedMap(problem, through), **parts)

    def _entered(self, stage: int, anchor: Array) -> BoxMap:
        """The map of a stage that begins at a point (D,) of the cube."""
        self.stage, self._anchor = stage, anchor
        self.embedding = sequential_embedding(anchor, self._low_dim, self._streams.at(stage))
        return BoxMap(self.embedding, self._box)

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        given = self.problem.domain.observations(actions, rewards, observed, 1)
        super().tell(actions, rewards, observed)
        self._note(*given)
        stage = min(self.round // self._per_stage, self._stages - 1)
        if stage > self.stage:
            self.action_map = EmbeddedMap(self.problem, self._entered(stage, self._best))
            self._start_with_what_is_known()

    def prior_data(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        super().prior_data(actions, rewards)
        self._note(*self.problem.domain.observations(actions, rewards))

    def _note(self, points: NDArray[Any], rewards: Array) -> None:
        if len(rewards) and rewards.max() > self._best_reward:
            self._best_reward = float(rewards.max())
            best = points[[int(rewards.argmax())]]
            self._best = InputScaling.of(self._box).scale(best)[0]

    def _start_with_what_is_known(self) -> None:
        # The log holds points in the coordinates of another embedding.
        self.posterior.forget()
        self.log.clear()
        if np.isfinite(self._best_reward):
            there = np.eye(1, len(self.embedding.half))  # a = 1, y = 0
            reward = np.array([self._best_reward])
            self.posterior.condition(there, reward)
            self.log.append(self.round, there, reward)
            self._learn_model()

    def reset(self) -> None:
        self._best, self._best_reward = np.zeros(self._box.dim), -np.inf
        self.action_map = EmbeddedMap(self.problem, self._entered(0, self._best))
        super().reset()

    def snapshot(self) -> dict[str, Any]:
        own = {
            "stage": self.stage,
            "anchor": self._anchor.copy(),
            "best": self._best.copy(),
            "best_reward": self._best_reward,
        }
        return super().snapshot() | {"sre": own}

    def _restore(self, state: Mapping[str, Any]) -> None:
        own = state["sre"]
        anchor = np.array(own["anchor"], dtype=np.float64)
        through = self._entered(int(own["stage"]), anchor)
        self.action_map = EmbeddedMap(self.problem, through)
        self._best = np.array(own["best"], dtype=np.float64)
        self._best_reward = float(own["best_reward"])
        super()._restore(state)
