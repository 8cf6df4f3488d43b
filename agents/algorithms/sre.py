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
from numpy.typing import ArrayLike

from gpbandits_env.agents.embeddings import EmbeddedMap, Embedding, sequential_embedding
from gpbandits_env.agents.embeddings.agent import EmbeddedAgent
from gpbandits_env.arrays import Array, finite_array, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput
from gpbandits_env.learning import InputScaling
from gpbandits_env.problem import Problem


class SRE(EmbeddedAgent):
    """m stages; stage j searches (a, y) for x = clip(a x' + A_j y), x' the best point before it.

    The best point is that of the largest reward told. After the last stage the agent stays in it.

    Args:
        problem: where it acts; its domain is a box.
        rng: its own randomness, which draws the embeddings of all stages beforehand.
        stages: m.
        rounds: of a stage; the horizon over m when not given.
        settings: those of `EmbeddedAgent`.
    Raises:
        InvalidInput: no rounds given and no horizon known.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        stages: int = 5,
        rounds: int | None = None,
        **settings: Any,
    ) -> None:
        self._stages = whole(stages, "stages")
        if rounds is None and problem.horizon is None:
            raise InvalidInput("sre splits its rounds over stages: give it rounds, or a horizon")
        per_stage = rounds if rounds is not None else -(-(problem.horizon or 0) // self._stages)
        self._per_stage = whole(per_stage, "rounds")
        self._key = rng.integers(0, 2**63, size=4).tolist()
        self._stage, self._best_reward = 0, -np.inf
        self._anchor = self._best = np.zeros(problem.domain.dim)
        super().__init__(problem, rng, **settings)

    @property
    def stage(self) -> int:
        """The stage of the next round, from 0."""
        return self._stage

    def _drawn(self, dim: int, low_dim: int, rng: np.random.Generator) -> Embedding:
        return self._embedding_of(0, np.zeros(dim))

    def _embedding_of(self, stage: int, anchor: Array) -> Embedding:
        draws = np.random.default_rng([*self._key, stage])
        return sequential_embedding(anchor, self._low_dim, draws)

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        super().tell(actions, rewards, observed)
        self._note(actions, rewards, observed)
        stage = min(self.round // self._per_stage, self._stages - 1)
        if stage > self._stage:
            self._enter(stage, self._best)
            self._start_with_what_is_known()

    def prior_data(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        super().prior_data(actions, rewards)
        self._note(actions, rewards, None)

    def _note(self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None) -> None:
        """Remember the best point; what is given has been checked."""
        points, values = np.asarray(actions, float), np.asarray(rewards)
        if observed is not None:
            mask = np.asarray(observed)
            points, values = points[mask], values[mask]
        values = finite_array(values, "rewards")
        if len(values) and values.max() > self._best_reward:
            self._best_reward = float(values.max())
            self._best = self._scaling.scale(points[[int(values.argmax())]])[0]

    @property
    def _scaling(self) -> InputScaling:
        return InputScaling.of(self.problem.domain)

    def _enter(self, stage: int, anchor: Array) -> None:
        """A new embedding; the belief's box stays the same, its data must be dropped."""
        assert isinstance(self.problem.domain, Box)
        self._stage, self._anchor = stage, anchor
        self.embedding = self._embedding_of(stage, anchor)
        self.action_map = EmbeddedMap(self.embedding, self.problem)

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
        self._best_reward = -np.inf
        self._best = np.zeros(self.problem.domain.dim)
        self._enter(0, self._best)
        super().reset()

    def snapshot(self) -> dict[str, Any]:
        own = {
            "key": list(self._key),
            "stage": self._stage,
            "anchor": self._anchor.copy(),
            "best": self._best.copy(),
            "best_reward": self._best_reward,
        }
        return super().snapshot() | {"sre": own}

    def _restore(self, state: Mapping[str, Any]) -> None:
        own = state["sre"]
        if own["key"] != self._key:
            raise InvalidInput("the agent of the snapshot draws other embeddings: another seed")
        self._enter(int(own["stage"]), np.array(own["anchor"], dtype=np.float64))
        self._best = np.array(own["best"], dtype=np.float64)
        self._best_reward = float(own["best_reward"])
        super()._restore(state)
