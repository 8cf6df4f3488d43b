"""LineBO.

Paper: Kirschner et al. (2019), "Adaptive and Safe Bayesian Optimization in High Dimensions via
One-Dimensional Subspaces", Algorithm 1, as a baseline of tranthe2020.
Assumes: Gaussian noise of known variance.
Departures: 1. the gradient of the ascent rule is that of the posterior mean, where the paper spends
evaluations on an estimate; where it is 0, the direction is random; 2. coordinates are drawn at
random, not in turns; 3. a batch lies on one line; 4. those of `GPAgent`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.agents.any_acquisition import AnyAcquisition
from gpbandits_env.agents.embeddings import BoxMap, LineEmbedding
from gpbandits_env.agents.search import search_for
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.arrays import Array, whole
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.learning import InputScaling
from gpbandits_env.problem import Problem

DIRECTIONS = ("random", "coordinate", "ascent")


class LineBO(AnyAcquisition):
    """The acquisition is maximised on one line through the best point, then on the next.

    The best point is that of the largest posterior mean told; before any data, the box's centre.

    Args:
        problem: where it acts; its domain is a box, and lines are drawn where it is [-1, 1]^D.
        rng: its own randomness; the directions depend on it and the line's number alone.
        directions: "random", uniform on the sphere; "coordinate", along an axis; or "ascent", along
            the gradient of the posterior mean.
        rounds_per_line: before the next line is drawn.
        search: of the line, as of `GPAgent`.
        settings: those of `AnyAcquisition`.
    """

    search: BoxSearch

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        directions: str = "random",
        rounds_per_line: int = 1,
        search: Mapping[str, Any] | str | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(directions, str) or directions not in DIRECTIONS:
            raise unknown("directions of line-bo", directions, DIRECTIONS)
        self._directions = directions
        self._per_line = whole(rounds_per_line, "rounds_per_line")
        self._key = rng.integers(0, 2**63, size=4).tolist()
        super().__init__(problem, rng, search=search, **settings)
        self._scaling = InputScaling.of(problem.domain)
        self._draw_line()
        self.search = search_for(problem.domain, search, rng, BoxMap(self.line, problem.domain))

    def default_beta(self) -> Mapping[str, Any]:
        """Theorem 2 over 5, for one coordinate in [-1, 1]."""
        return {"type": "continuous", "scale": 0.2, "dim": 1, "r": 2.0}

    def _draw_line(self) -> None:
        """The line of the next round, through the best point so far."""
        told = self.box_posterior.observed
        self._anchor = np.zeros(self.problem.domain.dim)
        if len(told):
            best = int(self.box_posterior.mean_at_observed().argmax())
            self._anchor = self._scaling.scale(told[[best]])[0]
        self._direction = self._drawn_direction()
        self.line = LineEmbedding(self._anchor, self._direction)
        self.search.through = BoxMap(self.line, self.problem.domain)

    def _drawn_direction(self) -> Array:
        dim = len(self._anchor)
        rng = np.random.default_rng([*self._key, self.round // self._per_line])
        if self._directions == "coordinate":
            return np.eye(1, dim, int(rng.integers(dim)))[0]
        if self._directions == "ascent":
            here = self._scaling.unscale(self._anchor[None])
            slope = self.box_posterior.gradients(here)[2][0] * self._scaling.unit
            if slope.any():
                return np.asarray(slope)
        return rng.standard_normal(dim)

    def tell(
        self, actions: ArrayLike, rewards: ArrayLike, observed: ArrayLike | None = None
    ) -> None:
        super().tell(actions, rewards, observed)
        if self.round % self._per_line == 0:
            self._draw_line()

    def prior_data(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        super().prior_data(actions, rewards)
        self._draw_line()

    def reset(self) -> None:
        super().reset()
        self._draw_line()

    def snapshot(self) -> dict[str, Any]:
        line = {"anchor": self._anchor.copy(), "direction": self._direction.copy()}
        return super().snapshot() | {"line": {"key": list(self._key), **line}}

    def _restore(self, state: Mapping[str, Any]) -> None:
        line = state["line"]
        if line["key"] != self._key:
            raise InvalidInput("the agent of the snapshot draws other lines: another seed")
        super()._restore(state)
        self._anchor = np.array(line["anchor"], dtype=np.float64)
        self._direction = np.array(line["direction"], dtype=np.float64)
        self.line = LineEmbedding(self._anchor, self._direction)
        self.search.through = BoxMap(self.line, self.problem.domain)
