"""LineBO.

Paper: Kirschner et al. (2019), "Adaptive and Safe Bayesian Optimization in High Dimensions via
One-Dimensional Subspaces", Algorithm 1, as a baseline of tranthe2020.
Assumes: Gaussian noise of known variance.
Departures: 1. the ascent rule uses the gradient of the posterior mean, whereas the paper spends
evaluations on an estimate; if the gradient is 0, the direction is random; 2. coordinates are drawn
at random, not cyclically; 3. all actions of a batch lie on one line; 4. those of `GPAgent`.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import ActionMap, box_of
from gpbandits_env.agents.embeddings import BoxMap, LineEmbedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.search import SearchSpec, search_for
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.arrays import Array, State, leading, whole
from gpbandits_env.errors import one_of
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


class LineBO(GPAgent):
    """GP-UCB on one line through the best point, then on the next line.

    The domain must be a box. Lines are drawn after it is scaled to [-1, 1]^D. The best point is
    the observed point with the largest posterior mean, or the center of the box before any data.
    Directions and random anchors depend only on the generator and the number of the line.

    Args:
        anchor: the point through which a line goes: "best", the best point, or "random", a uniform
            point of the box.
        directions: "random", uniform on the sphere; "coordinate", along an axis; or "ascent", along
            the gradient of the posterior mean.
        rounds_per_line: the number of rounds before the next line is drawn.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `rule_named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for [-1, 1].
        search: the search of the line; see `GPAgent`.

    Attributes:
        line: the line of the next round.
    """

    search: BoxSearch
    posterior: BoxPosterior

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        anchor: str = "best",
        directions: str = "random",
        rounds_per_line: int = 1,
        acquisition: str = "ucb",
        beta: Beta | None = None,
        search: SearchSpec = None,
        **parts: Any,
    ) -> None:
        self._box = box = box_of(problem, self)
        self._anchor = one_of(anchor, ("best", "random"), "anchor of line-bo")
        known = ("random", "coordinate", "ascent")
        self._directions = one_of(directions, known, "directions of line-bo")
        self._per_line = whole(rounds_per_line, "rounds_per_line")
        self._streams, self._scaling = Streams(rng), InputScaling.of(box)
        self.line = LineEmbedding(self._start(0), self._direction(0, None))
        through = BoxMap(self.line, box)
        super().__init__(
            problem,
            rng,
            rule_named(acquisition, beta, through.small),
            ActionMap(problem, self._streams.fingerprint),
            search=search_for(box, search, rng, through),
            **parts,
        )

    def _draw_line(self) -> None:
        """Draw the line of the next round, through its anchor."""
        number = self.round // self._per_line
        anchor, slope = self._start(number), None
        observed = self.posterior.observed
        if len(observed) and self._anchor == "best":
            best = int(leading(self.posterior.mean_at_observed()))
            anchor = self._scaling.scale(observed[[best]])[0]
        if len(observed) and self._directions == "ascent":
            here = self._scaling.unscale(anchor[None])
            slope = self.posterior.gradients(here)[2][0] * self._scaling.unit
        self._take(LineEmbedding(anchor, self._direction(number, slope)))

    def _start(self, number: int) -> Array:
        """The anchor of a line as far as it does not depend on data, (D,)."""
        if self._anchor == "best":
            return np.zeros(self._box.dim)
        return self._streams.at(number, 1).uniform(-1.0, 1.0, self._box.dim)

    def _direction(self, number: int, slope: Array | None) -> Array:
        """The direction of a line, (D,); along a gradient (D,) if one is given."""
        if slope is not None and slope.any():
            return slope
        rng = self._streams.at(number)
        if self._directions == "coordinate":
            return np.eye(1, self._box.dim, int(rng.integers(self._box.dim)))[0]
        return rng.standard_normal(self._box.dim)

    def _take(self, line: LineEmbedding) -> None:
        self.line, self.search.through = line, BoxMap(line, self._box)

    def tell(self, *given: Any, **named: Any) -> None:
        super().tell(*given, **named)
        if self.round % self._per_line == 0:
            self._draw_line()

    def prior_data(self, *given: Any, **named: Any) -> None:
        super().prior_data(*given, **named)
        self._draw_line()

    def reset(self) -> None:
        super().reset()
        self._draw_line()

    def snapshot(self) -> State:
        line = (self.line.anchor.copy(), self.line.direction.copy())
        return super().snapshot() | {"line": line}

    def _restore(self, state: State) -> None:
        anchor, direction = (np.array(part, dtype=np.float64) for part in state["line"])
        super()._restore(state)
        self._take(LineEmbedding(anchor, direction))
