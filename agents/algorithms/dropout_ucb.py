"""DropoutUCB.

Paper: Li et al. (2017), "High Dimensional Bayesian Optimization Using Dropout", Algorithm 1, as a
baseline of tranthe2020.
Assumes: optimizing only d coordinates at a time comes close to the optimum.
Departures: 1. any acquisition can be used, GP-UCB by default; 2. all actions of a batch share the d
coordinates, and the others are filled for each action separately; 3. those of `GPAgent`, in the box
of the d coordinates.
"""

from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import NAMED
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.data.part import Observed
from gpbandits_env.agents.embeddings.action_map import ActionMap, box_of
from gpbandits_env.agents.embeddings.embedding import BoxMap, Coordinates, kernel_on_y
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.arrays import Array, IntArray, State, finite_array, leading, share, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import one_of
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


class DropoutMap(ActionMap):
    """The posterior is on d coordinates of the box, scaled to [-1, 1]^d, drawn in each round.

    Attributes:
        active: (d,) the coordinates of the next round, in increasing order.
    """

    identity: ClassVar[bool] = False
    moves: ClassVar[bool] = True

    def __init__(
        self, problem: Problem, rng: Generator, keep: Keep, *, d: int, fill: str, p: float
    ) -> None:
        self._box, self._streams = box_of(problem), Streams(rng)
        chances = {"random": 1.0, "copy": 0.0, "mix": share(p, "p")}
        self._chance = chances[one_of(fill, chances, "fill of dropout-ucb")]
        self._size, self._given = problem.batch_size, problem.kernel
        self._scaling = InputScaling.of(self._box)
        low_dim = min(whole(d, "d"), self._box.dim)
        cube = Box(-np.ones(low_dim), np.ones(low_dim))
        kernel = kernel_on_y(problem.kernel, self._scaling, 1.0)
        super().__init__(problem.replaced(domain=cube, kernel=kernel))
        self.data_domain = self.belief_domain = self._box
        self._keep = keep
        self.begin()

    def begin(self) -> None:
        self._best: Array | None = None
        self._enter(1)

    def _enter(self, t: int) -> None:
        self._rng, self._t = self._streams.at(t), t
        active = self._rng.choice(self._box.dim, self.inner.domain.dim, replace=False)
        self.active: IntArray = np.sort(active)

    def kernel(self, kernel: Kernel) -> Kernel:
        """A learned kernel, or the problem's on the coordinates in units of the cube."""
        if kernel != self.inner.kernel:  # a restored kernel is equal, but another object
            return kernel
        unit = self._scaling.unit
        return self._given.with_lengthscale(
            lambda ell: tuple((np.asarray(ell) / unit)[self.active])
        )

    def coordinates(self, points: Array) -> Array:
        return self._scaling.scale(points)[:, self.active]

    def observe(self, seen: Observed, before: Any) -> None:
        self._enter(seen.round + 1)
        rows, self._best = self._keep.counts(before.data, self._t), None
        rewards = before.data.rewards[rows]
        if len(rewards):
            best = before.data.points[rows][leading(rewards)[None]]
            self._best = self._scaling.scale(best)

    def state(self) -> State:
        return {"t": self._t, "best": copy(self._best)}

    def restore(self, state: State) -> None:
        self._enter(whole(state["t"], "t"))
        best = state["best"]
        self._best = None if best is None else finite_array(best, "best", 2).copy()

    def actions(self, points: Array) -> Array:
        """The points of the box with these coordinates; the others are filled, for each point."""
        rng = self._streams.at(self._t, 1)
        filled = rng.uniform(-1.0, 1.0, (self._size, self._box.dim))
        copied = rng.random(self._size) >= self._chance
        if self._best is not None:
            filled = np.where(copied[:, None], self._best, filled)
        return BoxMap(Coordinates(self.active, filled), self._box).lift(points)


class DropoutUCB(GPAgent):
    """GP-UCB over d random coordinates per round, with a posterior on these coordinates only.

    The domain must be a box. The attribute `data` holds points of the whole box, and `posterior` is
    on the d coordinates of the next round, scaled to [-1, 1]^d. It is conditioned anew in each
    round, at a cost of O(t^2 (d + t)). The random draws of a round depend only on the generator and
    the round.

    Args:
        d: the number of coordinates per round; all of them if the box has fewer.
        fill: how the other coordinates are set. "copy" copies those of the point with the largest
            observed reward, "random" draws them, and "mix" draws them with probability p and copies
            them otherwise, separately for each action. Before any data they are random.
        p: the probability of "mix".
        acquisition: "ucb", "ei", "mpi" or "ts"; see `Named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the box [-1, 1]^d.
        search: the search over the d coordinates; see `Parts`.
        learn: see `Parts`. A fit, also one for ``standardize``, uses only the coordinates of its
            round, and replaces the lengthscales of the problem by their geometric mean first.
    Source: Li et al. (2017), Algorithm 1 and Section 3.2 (the three fills).
    """

    PARTS = Parts(acquisition=NAMED, action_map=partial(DropoutMap, d=5, fill="mix", p=0.1))
