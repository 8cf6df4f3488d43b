"""LineBO.

Paper: Kirschner et al. (2019), "Adaptive and Safe Bayesian Optimization in High Dimensions via
One-Dimensional Subspaces", Algorithm 1, as a baseline of tranthe2020.
Assumes: Gaussian noise of known variance.
Departures: 1. the ascent rule uses the gradient of the posterior mean, whereas the paper spends
evaluations on an estimate; if the gradient is 0, the direction is random; 2. coordinates are drawn
at random, not cyclically; 3. all actions of a batch lie on one line; 4. those of `GPAgent`.
"""

from functools import partial

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import NAMED
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.embeddings.action_map import box_of
from gpbandits_env.agents.embeddings.embedding import BoxMap, LineEmbedding
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.parts import Parts
from gpbandits_env.agents.search import SearchSpec, gradient_for
from gpbandits_env.agents.search.box import BoxSearch
from gpbandits_env.arrays import Array, State, leading, whole
from gpbandits_env.errors import one_of
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


class LineSearch(BoxSearch):
    """The search of one line, which is drawn anew after some rounds.

    Attributes:
        line: the line of the next round.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        keep: Keep,
        spec: SearchSpec,
        *,
        anchor: str,
        directions: str,
        rounds_per_line: int,
    ) -> None:
        self._anchor = one_of(anchor, ("best", "random"), "anchor of line-bo")
        known = ("random", "coordinate", "ascent")
        self._directions = one_of(directions, known, "directions of line-bo")
        self._per_line = whole(rounds_per_line, "rounds_per_line")
        self._streams, self._whole = Streams(rng), box_of(problem)
        self._scaling = InputScaling.of(self._whole)
        self._take(LineEmbedding(self._start(0), self._direction(0, None)))
        super().__init__(self._whole, rng, gradient_for(spec, type(self).__name__), self.through)

    def follow(self, t: int, posterior: BoxPosterior) -> None:
        """Draw the line of round t, through its anchor, if it is the first round of a line."""
        number, within = divmod(t - 1, self._per_line)
        if within:
            return
        anchor, slope, observed = self._start(number), None, posterior.observed
        if len(observed) and self._anchor == "best":
            best = int(leading(posterior.mean_at_observed()))
            anchor = self._scaling.scale(observed[[best]])[0]
        if len(observed) and self._directions == "ascent":
            here = self._scaling.unscale(anchor[None])
            slope = posterior.gradients(here)[2][0] * self._scaling.unit
        self._take(LineEmbedding(anchor, self._direction(number, slope)))

    def _start(self, number: int) -> Array:
        """The anchor of a line as far as it does not depend on data, (D,)."""
        if self._anchor == "best":
            return np.zeros(self._whole.dim)
        return self._streams.at(number, 1).uniform(-1.0, 1.0, self._whole.dim)

    def _direction(self, number: int, slope: Array | None) -> Array:
        """The direction of a line, (D,); along a gradient (D,) if one is given."""
        if slope is not None and slope.any():
            return slope
        rng = self._streams.at(number)
        if self._directions == "coordinate":
            return np.eye(1, self._whole.dim, int(rng.integers(self._whole.dim)))[0]
        return rng.standard_normal(self._whole.dim)

    def _take(self, line: LineEmbedding) -> None:
        self.line, self.through = line, BoxMap(line, self._whole)

    def state(self) -> State:
        return {"line": (self.line.anchor.copy(), self.line.direction.copy())}

    def restore(self, state: State) -> None:
        anchor, direction = (np.array(part, dtype=np.float64) for part in state["line"])
        self._take(LineEmbedding(anchor, direction))


class LineBO(GPAgent):
    """GP-UCB on one line through the best point, then on the next line.

    The domain must be a box. Lines are drawn after it is scaled to [-1, 1]^D. The best point is
    the observed point with the largest posterior mean, or the center of the box before any data.
    What is drawn at random depends only on the generator and the number of the line.

    Args:
        anchor: the point through which a line goes: "best", the best point, or "random", a uniform
            point of the box.
        directions: "random", uniform on the sphere; "coordinate", along an axis; or "ascent", along
            the gradient of the posterior mean.
        rounds_per_line: the number of rounds before the next line is drawn.
        acquisition: "ucb", "ei", "mpi" or "ts"; see `Named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for [-1, 1].
        search: the search of the line; see `Parts`.
    """

    PARTS = Parts(
        acquisition=NAMED,
        own_search=partial(LineSearch, anchor="best", directions="random", rounds_per_line=1),
    )
    search: LineSearch
