"""DropoutUCB.

Paper: Li et al. (2017), "High Dimensional Bayesian Optimization Using Dropout", Algorithm 1, as a
baseline of tranthe2020.
Assumes: the function is nearly as good when only d coordinates at a time are chosen with care.
Departures: 1. any acquisition, GP-UCB by default; 2. a batch shares its d coordinates, each action
is filled on its own; 3. those of `GPAgent`, in the box of the d coordinates.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions.round import Round
from gpbandits_env.agents.any_acquisition import AnyAcquisition
from gpbandits_env.agents.data.learning import Learning, Refit
from gpbandits_env.agents.embeddings import Coordinates
from gpbandits_env.agents.embeddings.places import kernel_on_y
from gpbandits_env.agents.search import search_for
from gpbandits_env.arrays import Array, IntArray, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning import InputScaling
from gpbandits_env.model import Model
from gpbandits_env.posterior import BoxPosterior
from gpbandits_env.problem import Problem

FILLS = ("random", "copy", "mix")


class DropoutUCB(AnyAcquisition):
    """Each round d coordinates at random; the belief of that round is over them alone.

    Its `posterior` is over the whole box and holds the data; what is chosen is chosen under a
    posterior of the d coordinates, made anew each round, O(t^2 (d + t)).

    Args:
        problem: where it acts; its domain is a box.
        rng: its own randomness; what a round draws depends on it and the round alone.
        d: the number of coordinates a round; all of them if there are fewer.
        fill: the other coordinates: "copy" those of the point of the largest reward told, "random",
            or "mix", random with probability p and copied else, action by action. Before any data
            they are random.
        p: of "mix".
        search: as of `GPAgent`.
        settings: those of `AnyAcquisition`, but not ``epsilon`` and ``candidates``. What ``learn``
            says is learned from the round's coordinates alone; several lengthscales of the
            problem's kernel then count by their geometric mean.
    Source: Li et al. (2017), Algorithm 1 and Section 3.2 (the three fills).
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        d: int = 5,
        fill: str = "mix",
        p: float = 0.1,
        search: Mapping[str, Any] | str | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(fill, str) or fill not in FILLS:
            raise unknown("fill of dropout-ucb", fill, FILLS)
        if positive(p, "p", zero=True) > 1.0:
            raise InvalidInput(f"p is a probability, got {p!r}")
        if given := [k for k in ("epsilon", "candidates") if settings.get(k) is not None]:
            raise InvalidInput(
                f"dropout-ucb makes its belief anew each round, in a box of its own: leave out "
                f"{' and '.join(given)} (window and reset_every make it forget)"
            )
        self._low_dim = min(whole(d, "d"), problem.domain.dim)
        self._how, self._p, self._search_spec = fill, p, search
        self._key = rng.integers(0, 2**63, size=4).tolist()
        self._cube = Box(-np.ones(self._low_dim), np.ones(self._low_dim))
        self._scaling = InputScaling.of(problem.domain)
        super().__init__(problem, rng, **settings)

    def default_beta(self) -> Mapping[str, Any]:
        """Theorem 2 over 5, for d coordinates of [-1, 1]."""
        return {"type": "continuous", "scale": 0.2, "dim": self._low_dim, "r": 2.0}

    def coordinates(self, t: int) -> IntArray:
        """(d,) the coordinates of round t, in increasing order."""
        return self._draw(t)[0]

    def next_round(self) -> Round:
        active, rng = self._draw(self.round + 1)
        search = search_for(self._cube, self._search_spec, rng)
        posterior = self._believed(active)
        m, best = self.problem.batch_size, self.log.best_reward
        return Round(posterior, search, self.rule, rng, m, self.round + 1, best)

    def choose(self) -> NDArray[Any]:
        now = self.next_round()
        y = self.batch.choose(now)
        active = self.coordinates(now.t)
        return self._scaling.unscale(Coordinates(active, self._fill(now.rng)).lift(y))

    def _draw(self, t: int) -> tuple[IntArray, np.random.Generator]:
        rng = np.random.default_rng([*self._key, t])
        active = rng.choice(self.problem.domain.dim, self._low_dim, replace=False)
        return np.sort(active), rng

    def _believed(self, active: IntArray) -> BoxPosterior:
        """The posterior of these coordinates alone."""
        told, model = self.box_posterior, self._model(active)
        assert isinstance(model.prior_mean, float)
        posterior = BoxPosterior(self._cube, model.kernel, model.noise_var, model.prior_mean)
        posterior.condition(self._scaling.scale(told.observed)[:, active], told.rewards)
        return posterior

    def _model(self, active: IntArray) -> Model:
        if self.refit is not None and self.refit.learned:
            return self.refit.model
        problem = self.problem
        kernel = self._kernel(problem.kernel, active)
        return Model(kernel, problem.noise_var, problem.prior_mean)

    def _kernel(self, kernel: Kernel, active: IntArray) -> Kernel:
        """The problem's kernel on some of its coordinates, in units of the cube."""
        unit = self._scaling.unit
        return kernel.with_lengthscale(lambda ell: tuple((np.asarray(ell) / unit)[active]))

    def _fill(self, rng: np.random.Generator) -> Array:
        """(m, D) points of the cube whose coordinates an action takes where it has no own."""
        m, told = self.batch_size, self.box_posterior
        drawn = rng.uniform(-1.0, 1.0, (m, self.problem.domain.dim))
        coins = rng.random(m) < {"random": 1.0, "copy": 0.0, "mix": self._p}[self._how]
        if not len(told.observed):
            return drawn
        best = self._scaling.scale(told.observed[[int(told.rewards.argmax())]])
        return np.where(coins[:, None], drawn, best)

    def _refit(self, learning: Learning, given: Model) -> Refit:
        if learning.drifts:
            raise InvalidInput("dropout-ucb has no epsilon to learn: its data do not fade")
        pooled = kernel_on_y(given.kernel, self._scaling, 1.0)
        return Refit(learning, replace(given, kernel=pooled), self._cube)

    def _learn_model(self) -> None:
        told = self.box_posterior
        if self.refit and self.round and self.refit.due(self.round, len(told.rewards)):
            active = self.coordinates(self.round + 1)
            self.refit.fit(self.round, self._scaling.scale(told.observed)[:, active], told.rewards)

    def _use(self, model: Model) -> None:
        """Nothing: the posterior of a round is made of the model in that round."""

    def snapshot(self) -> dict[str, Any]:
        return super().snapshot() | {"key": list(self._key)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        if state["key"] != self._key:
            raise InvalidInput("the agent of the snapshot draws other coordinates: another seed")
        super()._restore(state)
