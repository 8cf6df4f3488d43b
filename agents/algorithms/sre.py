"""SRE: sequential random embeddings.

Paper: Qian, Hu and Yu (2016), "Derivative-Free Optimization of High-Dimensional Non-Convex
Functions by Sequential Random Embeddings", Algorithm 2, as a baseline of tranthe2020.
Assumes: all coordinates have an effect, most of them a small one.
Departures: 1. within a stage the optimizer is GP-UCB (or any acquisition), as in tranthe2020; 2. a
stage starts with the observed reward of its starting point; 3. all stages have the kernel of the
first, or a stage starts with the kernel and the noise variance learned in the previous one, and
refits them to its own data; 4. those of `GPAgent`.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import NAMED
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.embeddings.action_map import box_of
from gpbandits_env.agents.embeddings.embedding import EmbeddedMap, sequential_embedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import State, whole
from gpbandits_env.errors import InvalidInput
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


class StagedMap(EmbeddedMap):
    """An embedding that is drawn anew at each stage, around the best point so far.

    A stage is one of the data too: what was observed before is at points of another embedding.

    Attributes:
        stage: the stage of the next round, counted from 0.
        best: (D,) the point of the cube with the largest observed reward; 0 without any.
    """

    REMEMBERS = ("stage", "_anchor", "best", "_best_reward", "_best_noise")

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        keep: Keep,
        *,
        d: int,
        stages: int,
        rounds: int | None,
    ) -> None:
        self._d, self._stages, self._keep = whole(d, "d"), whole(stages, "stages"), keep
        if rounds is None and problem.horizon is None:
            raise InvalidInput(
                "sre needs the number of rounds per stage: give it rounds or a horizon"
            )
        per_stage = rounds if rounds is not None else -(-(problem.horizon or 0) // self._stages)
        self._per_stage = whole(per_stage, "rounds")
        self._streams, self.stage = Streams(rng), 0
        self._anchor = self.best = np.zeros(box_of(problem).dim)
        super().__init__(problem, sequential_embedding(self._anchor, self._d, self._streams.at(0)))
        self.begin()

    def begin(self) -> None:
        self.best, self._best_reward = np.zeros(len(self.best)), -np.inf
        self._best_noise = -1.0  # its variance, if it is known
        self._start(0, self.best)

    def _start(self, stage: int, anchor: np.ndarray) -> None:
        """Start a stage at a point (D,) of the cube."""
        self.stage, self._anchor = stage, anchor
        self.embed(sequential_embedding(anchor, self._d, self._streams.at(stage)))

    def observe(self, seen: Observed, before: Any) -> None:
        if len(seen.rewards) and seen.rewards.max() > self._best_reward:
            top = int(seen.rewards.argmax())
            self._best_reward = float(seen.rewards[top])
            own = np.nan if seen.noise_var is None else float(seen.noise_var[top])
            self._best_noise = -1.0 if np.isnan(own) else own
            self.best = self._map.scaling.scale(seen.actions[[top]])[0]
        stage = min(seen.round // self._per_stage, self._stages - 1)
        if stage == self.stage:
            return
        self._start(stage, self.best)
        now = self._keep.stage = seen.round + 0.5
        if np.isfinite(self._best_reward):
            there = np.eye(1, self._d + 1)  # a = 1, y = 0
            noise_var = None if self._best_noise < 0.0 else np.array([self._best_noise])
            before.data.add(there, np.array([self._best_reward]), now, seen.clock, noise_var)

    def restore(self, state: State) -> None:
        super().restore(state)
        self._start(self.stage, self._anchor)


class SRE(GPAgent):
    r"""GP-UCB in a sequence of random embeddings, each around the best point so far.

    .. math:: x = \mathrm{clip}(a x' + A_j y)

    The domain must be a box. Stage j searches over (a, y). Here x' is the best point before the
    stage: the point with the largest observed reward. The last stage has no end. The posterior is
    on (a, y) (see `EmbeddedMap`).

    Args:
        d: the dimension of y.
        stages: the number m of stages.
        rounds: the number of rounds per stage; by default the horizon divided by m, rounded up.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `Named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the small box.

    Raises:
        InvalidInput: rounds is not given, and the horizon is unknown.
    """

    PARTS = Parts(acquisition=NAMED, action_map=partial(StagedMap, d=5, stages=5, rounds=None))
