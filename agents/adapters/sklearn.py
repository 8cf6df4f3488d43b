"""scikit-learn's Gaussian process, with UCB or EI over candidates (extra ``sklearn``).

Source: `sklearn.gaussian_process.GaussianProcessRegressor`; srinivas2010, eq. (6), for UCB.
Assumes: a stationary kernel (se, matern).
Departures: 1. the first batch, before any data, is drawn at random; 2. in a box, only candidates
are scored, some of them near the best observed points; 3. in a batch, each action is chosen as if
those before it had given their posterior means (Ginsbourger et al. 2008), and so are actions whose
rewards have not arrived; 4. drift is not supported.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.acquisitions import UCB, LogEI
from gpbandits_env.agents.adapters.base import Adapter, StationaryModel, imported
from gpbandits_env.agents.search.candidates import near, spread
from gpbandits_env.arrays import Array, Points, flag, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import one_of
from gpbandits_env.problem import Problem

# The range of learned lengthscales and variances, relative to those of the problem.
FACTOR = 100.0
# The number of best observed points around which further points of a box are scored.
BEST_OBSERVED = 5


class SklearnGP(Adapter):
    """The candidate with the best score under scikit-learn's posterior.

    Args:
        problem: the domain and the model; fits start from its kernel and noise variance.
        acquisition: "ei" or "ucb".
        beta: of UCB; it multiplies the variance under the root.
        learn: whether scikit-learn fits the lengthscales and the variance at every `ask`; the
            rewards are then standardized.
        candidates: in a box, the number of points that are scored.
    Raises:
        MissingExtra: scikit-learn is not installed.
        UnknownName: there is no such acquisition.
        InvalidInput: scikit-learn does not have the kernel.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        acquisition: str = "ei",
        beta: float = 4.0,
        learn: bool = False,
        candidates: int = 512,
    ) -> None:
        super().__init__(problem, rng)
        self._acquisition = one_of(acquisition, ("ei", "ucb"), "acquisition")
        self._beta, self._learns = positive(beta, "beta", zero=True), flag(learn, "learn")
        self._candidates = whole(candidates, "candidates", 2)
        self._given = StationaryModel.of(problem, "scikit-learn")
        self._mean = 0.0 if self._learns else self._given.mean
        imported("sklearn.gaussian_process", "sklearn")

    def choose(self, seed: int) -> Points:
        options = self._options(seed)
        at, points, rewards = self._domain.points(options), self._points, self._rewards
        model = self._model(points, rewards)
        pending = self._domain.points(self._pending_actions)
        if len(pending):
            points = np.concatenate([points, pending])
            rewards = np.concatenate([rewards, self._predicted(model, pending)[0]])
            model = self._model(points, rewards, model.kernel_)
        chosen: list[int] = []
        while True:
            mean, sd = self._predicted(model, at)
            best = LogEI(float(self._predicted(model, points)[0].max()), 0.0)
            score = (UCB(self._beta) if self._acquisition == "ucb" else best).score(mean, sd**2)
            chosen.append(int(score.argmax()))
            if len(chosen) == self.batch_size:
                return np.asarray(options[chosen])
            points = np.concatenate([points, at[chosen[-1:]]])
            rewards = np.concatenate([rewards, mean[chosen[-1:]]])
            model = self._model(points, rewards, model.kernel_)

    def _options(self, seed: int) -> Points:
        """All arms, or points of the box, some of them near the best observed points."""
        domain, rng = self._domain, np.random.default_rng(seed)
        if not isinstance(domain, Box):
            return np.arange(domain.size)
        best = self._actions[np.argsort(-self._rewards, kind="stable")[:BEST_OBSERVED]]
        return np.concatenate([spread(domain, self._candidates, rng), near(domain, best, rng)])

    def _model(self, points: Array, rewards: Array, kernel: object = None) -> Any:
        """A regressor of rewards minus the prior mean; if a kernel is given, nothing is learned."""
        process = imported("sklearn.gaussian_process", "sklearn")
        learning, noise = self._learns and kernel is None, max(self._given.noise_var, 1e-10)
        if self._learns:
            noise /= float(np.var(rewards)) or 1.0
        regressor = process.GaussianProcessRegressor(
            self._kernel(points.shape[1]) if kernel is None else kernel,
            alpha=noise,
            optimizer="fmin_l_bfgs_b" if learning else None,
            normalize_y=self._learns,
        )
        return regressor.fit(points, rewards - self._mean)

    def _kernel(self, dim: int) -> object:
        kernels = imported("sklearn.gaussian_process.kernels", "sklearn")
        given = self._given
        ell = np.asarray(given.lengthscale, dtype=float)
        ell = np.broadcast_to(ell, (dim,)) if self._learns else ell
        limits = (float(ell.min()) / FACTOR, float(ell.max()) * FACTOR)
        scale = 1.0 if self._learns else given.variance
        shape = kernels.Matern(ell, limits, nu=given.nu)
        return kernels.ConstantKernel(scale, (scale / FACTOR, scale * FACTOR)) * shape

    def _predicted(self, model: Any, at: Array) -> tuple[Array, Array]:
        mean, sd = model.predict(at, return_std=True)
        return mean + self._mean, sd
