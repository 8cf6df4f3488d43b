"""scikit-learn's Gaussian process, with UCB or EI over candidates (extra ``sklearn``).

Source: `sklearn.gaussian_process.GaussianProcessRegressor`; srinivas2010, eq. (6), for UCB.
Assumes: a stationary kernel (se, matern).
Departures: 1. the first batch, before any data, is drawn at random; 2. a box is searched over
candidates only, some near the best observed; 3. in a batch each action is chosen as if those
before it had given their means (Ginsbourger et al. 2008); 4. data do not fade.
"""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import UCB, LogEI
from gpbandits_env.agents.adapters.base import Adapter, StationaryModel, imported
from gpbandits_env.agents.search.candidates import near, spread
from gpbandits_env.arrays import Array, flag, positive, whole
from gpbandits_env.domains import Box
from gpbandits_env.errors import one_of
from gpbandits_env.problem import Problem

# How far lengthscales and variances may be from the problem's when they are learned.
FACTOR = 100.0
# Around so many of the best observed, further points of a box are looked at.
BEST_OBSERVED = 5


class SklearnGP(Adapter):
    """The candidate of the best score under scikit-learn's posterior.

    Args:
        problem: where it acts; its kernel and noise are where learning starts.
        acquisition: "ei" or "ucb".
        beta: of UCB; it multiplies the variance under the root.
        learn: whether lengthscales and variance are learned, by scikit-learn, at every ask; the
            values are then standardized.
        candidates: points of a box that are looked at.
    Raises:
        MissingExtra: scikit-learn is not installed.
        UnknownName: no such acquisition.
        InvalidInput: a kernel that scikit-learn does not have.
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

    def choose(self, seed: int) -> NDArray[Any]:
        options = self._options(seed)
        at, points, rewards = self._domain.points(options), self._points, self._rewards
        model = self._model(points, rewards)
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

    def _options(self, seed: int) -> NDArray[Any]:
        """All arms, or points of the box, some of them near the best observed."""
        domain, rng = self._domain, np.random.default_rng(seed)
        if not isinstance(domain, Box):
            return np.arange(domain.size)
        best = self._actions[np.argsort(-self._rewards, kind="stable")[:BEST_OBSERVED]]
        return np.concatenate([spread(domain, self._candidates, rng), near(domain, best, rng)])

    def _model(self, points: Array, rewards: Array, kernel: Any = None) -> Any:
        """A regressor of rewards about the prior mean; with a kernel nothing is learned."""
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

    def _kernel(self, dim: int) -> Any:
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
