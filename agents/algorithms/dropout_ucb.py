"""DropoutUCB.

Paper: Li et al. (2017), "High Dimensional Bayesian Optimization Using Dropout", Algorithm 1, as a
baseline of tranthe2020.
Assumes: optimizing only d coordinates at a time comes close to the optimum.
Departures: 1. any acquisition can be used, GP-UCB by default; 2. all actions of a batch share the d
coordinates, and the others are filled for each action separately; 3. those of `GPAgent`, in the box
of the d coordinates.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions.rules import Round, rule_named
from gpbandits_env.agents.acquisitions.schedules import Beta
from gpbandits_env.agents.action_map import ActionMap, box_of
from gpbandits_env.agents.data.learning import Learning
from gpbandits_env.agents.data.refit import Refit
from gpbandits_env.agents.embeddings import BoxMap, Coordinates, kernel_on_y
from gpbandits_env.agents.gp_agent import GPAgent
from gpbandits_env.agents.search import SearchSpec, search_for
from gpbandits_env.arrays import Array, IntArray, Points, leading, share, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import BoxPosterior
from gpbandits_env.problem import Problem
from gpbandits_env.seeding import Streams


class DropoutUCB(GPAgent):
    """GP-UCB over d random coordinates per round, with a posterior on these coordinates only.

    The domain must be a box. The attribute `posterior` is over the whole box and holds the data.
    In each round, actions are chosen with a new posterior on the d coordinates, at a cost of
    O(t^2 (d + t)). The random draws of a round depend only on the generator and the round.

    Args:
        d: the number of coordinates per round; all of them if the box has fewer.
        fill: how the other coordinates are set. "copy" copies those of the point with the largest
            observed reward, "random" draws them, and "mix" draws them with probability p and copies
            them otherwise, separately for each action. Before any data they are random.
        p: the probability of "mix".
        acquisition: "ucb", "ei", "mpi" or "ts"; see `rule_named`.
        beta: beta_t of "ucb"; by default srinivas2010, Theorem 2, over 5, for the box [-1, 1]^d.
        epsilon: not supported, because the posterior is rebuilt in each round.
        search: the search over the d coordinates; see `GPAgent`.
        parts: the arguments of `GPAgent`. If a model is learned, it is fitted to the round's
            coordinates only, and the kernel's lengthscales are replaced by their geometric mean.
    Source: Li et al. (2017), Algorithm 1 and Section 3.2 (the three fills).
    """

    posterior: BoxPosterior

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        d: int = 5,
        fill: str = "mix",
        p: float = 0.1,
        acquisition: str = "ucb",
        beta: Beta | None = None,
        epsilon: float | None = None,
        search: SearchSpec = None,
        **parts: Any,
    ) -> None:
        self._box = box_of(problem, self)
        if epsilon is not None:
            raise InvalidInput(
                "dropout-ucb rebuilds its posterior in each round and does not support epsilon: "
                "leave it out (window and reset_every are supported)"
            )
        low_dim = min(whole(d, "d"), self._box.dim)
        chances = {"random": 1.0, "copy": 0.0, "mix": share(p, "p")}
        self._chance = chances[one_of(fill, chances, "fill of dropout-ucb")]
        self._streams, self._search_spec = Streams(rng), search
        self._cube = Box(-np.ones(low_dim), np.ones(low_dim))
        self._scaling = InputScaling.of(self._box)
        rule = rule_named(acquisition, beta, self._cube)
        super().__init__(problem, rng, rule, ActionMap(problem, self._streams.fingerprint), **parts)

    def coordinates(self, t: int) -> IntArray:
        """The coordinates of round t, (d,), in increasing order."""
        return self._drawn(t)[0]

    @property
    def takes_noise(self) -> bool:
        return False

    def next_round(self) -> Round:
        t = self.round + 1
        active, rng = self._drawn(t)
        search = search_for(self._cube, self._search_spec, rng)
        posterior = self._posterior_on(active)
        m, best = self.problem.batch_size, float(posterior.rewards.max(initial=-np.inf))
        pending = self.posterior.conditioned[len(self.posterior.observed) :]
        if len(pending):
            posterior.hallucinate(self._scaling.scale(pending)[:, active])
        return Round(posterior, search, self.rule, rng, m, t, best)

    def choose(self) -> Points:
        now = self.next_round()
        y = self.batch.choose(now)
        filled = Coordinates(self.coordinates(now.t), self._fill(now.rng))
        return BoxMap(filled, self._box).lift(y)

    def _drawn(self, t: int) -> tuple[IntArray, Generator]:
        """The coordinates of round t, and the generator for the rest of that round."""
        rng = self._streams.at(t)
        return np.sort(rng.choice(self._box.dim, self._cube.dim, replace=False)), rng

    def _data_on(self, active: IntArray) -> tuple[Array, Array]:
        """These coordinates of the observed points, (t, d), scaled to the cube, and the rewards."""
        return self._scaling.scale(self.posterior.observed)[:, active], self.posterior.rewards

    def _posterior_on(self, active: IntArray) -> BoxPosterior:
        model = self._model(active)
        assert isinstance(model.prior_mean, float)
        posterior = BoxPosterior(self._cube, model.kernel, model.noise_var, model.prior_mean)
        points, rewards = self._data_on(active)
        posterior.condition(points, super()._drawn_in(rewards))
        return posterior

    def _drawn_in(self, rewards: Array) -> Array:
        """Rewards are drawn in for the posterior of each round, and kept as they are until then."""
        return rewards

    def _model(self, active: IntArray) -> Model:
        """The learned model, or the problem's on these coordinates in units of the cube."""
        if self.refit and self.refit.learned:
            return self.refit.model
        given, unit = self.problem, self._scaling.unit
        kernel = given.kernel.with_lengthscale(lambda ell: tuple((np.asarray(ell) / unit)[active]))
        return Model(kernel, given.noise_var, given.prior_mean)

    def _fill(self, rng: Generator) -> Array:
        """Points of the cube, (m, D), that supply the coordinates that are not searched."""
        m, observed = self.batch_size, self.posterior.observed
        drawn = rng.uniform(-1.0, 1.0, (m, self._box.dim))
        coins = rng.random(m) < self._chance
        if not len(observed):
            return drawn
        best = self._scaling.scale(observed[leading(self.posterior.rewards)[None]])
        return np.where(coins[:, None], drawn, best)

    def _refit(self, learning: Learning, given: Model) -> Refit:
        if learning.drifts:
            raise InvalidInput("dropout-ucb does not support epsilon, so it cannot learn one")
        pooled = kernel_on_y(given.kernel, self._scaling, 1.0)
        return Refit(learning, replace(given, kernel=pooled), self._cube, self.problem.reward_sd)

    def _learn_model(self, known: int = 0) -> None:
        observations = len(self.posterior.rewards)
        if self.refit and self.round and self.refit.due(self.round, observations):
            self.refit.fit(self.round, *self._data_on(self.coordinates(self.round + 1)))

    def _use(self, model: Model) -> None:
        """Do nothing: each round builds its posterior from the current model."""
