"""scikit-learn's Gaussian process, with UCB or EI over candidates (extra ``sklearn``).

Source: `sklearn.gaussian_process.GaussianProcessRegressor`; srinivas2010, eq. (6), for UCB.
Assumes: a stationary kernel (se, matern).
Departures: 1. the first batch, before any data, is drawn at random; 2. a box is searched over
candidates only, some near the best told; 3. in a batch each action believes that those before it
gave their means (Ginsbourger et al. 2008); 4. data do not fade.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.acquisitions import UCB, Acquisition, LogEI
from gpbandits_env.agents.adapters.base import NU, Adapter, stationary
from gpbandits_env.arrays import Array, flag, positive
from gpbandits_env.errors import require_extra, unknown
from gpbandits_env.problem import Problem

ACQUISITIONS = ("ei", "ucb")
# How far lengthscales and variances may be from the problem's when they are learned.
FACTOR = 100.0


class SklearnGP(Adapter):
    """The candidate of the best score under scikit-learn's posterior.

    Args:
        problem: where it acts; its kernel and noise are where learning starts.
        rng: its own randomness.
        acquisition: "ei" or "ucb".
        beta: of UCB; it multiplies the variance under the root.
        learn: whether lengthscales and variance are learned, by scikit-learn, at every ask; the
            values are then standardised.
        candidates: points of a box that are looked at.
    Raises:
        MissingExtra: scikit-learn is not installed.
        UnknownName: no such acquisition.
        InvalidInput: a kernel that scikit-learn does not have.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        acquisition: str = "ei",
        beta: float = 4.0,
        learn: bool = False,
        candidates: int = 512,
    ) -> None:
        super().__init__(problem, rng, candidates=candidates)
        if not isinstance(acquisition, str) or acquisition not in ACQUISITIONS:
            raise unknown("acquisition", acquisition, ACQUISITIONS)
        self._acquisition, self.learn = acquisition, flag(learn, "learn")
        self._beta = positive(beta, "beta", zero=True)
        stationary(problem, "scikit-learn")
        _imported()

    def choose(self, seed: int) -> NDArray[Any]:
        options = self._options(seed)
        at = self.problem.domain.points(options)
        points, rewards = self._points, self._rewards
        model = self._model(points, rewards, learning=self.learn)
        chosen: list[int] = []
        for i in range(self.batch_size):
            mean, sd = model.predict(at, return_std=True)
            score = self._score(float(np.max(model.predict(points)))).score(mean, sd**2)
            chosen.append(int(score.argmax()))
            if i + 1 < self.batch_size:
                points = np.concatenate([points, at[chosen[-1:]]])
                rewards = np.concatenate([rewards, mean[chosen[-1:]]])
                model = self._model(points, rewards, kernel=model.kernel_)
        picked: NDArray[Any] = options[chosen]
        return picked

    def _score(self, incumbent: float) -> Acquisition:
        return UCB(self._beta) if self._acquisition == "ucb" else LogEI(incumbent, 0.0)

    def _model(
        self, points: Array, rewards: Array, kernel: Any = None, learning: bool = False
    ) -> Any:
        """A fitted regressor, of rewards about the prior mean."""
        regressor, kernels = _imported()
        problem = self.problem
        own = stationary(problem, "scikit-learn")
        variance = float(own.diagonal(points[:1])[0])
        if kernel is None:
            ell = np.asarray(own.lengthscale, dtype=float)
            ell = np.broadcast_to(ell, points.shape[1:]) if learning else ell
            limits = (float(ell.min()) / FACTOR, float(ell.max()) * FACTOR)
            shape = kernels.Matern(ell, limits, nu=NU[own.type_name])
            scale = 1.0 if learning else variance
            kernel = kernels.ConstantKernel(scale, (scale / FACTOR, scale * FACTOR)) * shape
        noise = max(problem.noise_var, 1e-10)
        model = regressor(
            kernel,
            alpha=noise / (float(np.var(rewards)) or 1.0) if self.learn else noise,
            optimizer="fmin_l_bfgs_b" if learning else None,
            normalize_y=self.learn,
        )
        return _Shifted(model, 0.0 if self.learn else float(problem.prior_mean)).fit(
            points, rewards
        )


class _Shifted:
    """A regressor about a prior mean."""

    def __init__(self, model: Any, mean: float) -> None:
        self._model, self._mean = model, mean

    def fit(self, points: Array, rewards: Array) -> "_Shifted":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a lengthscale at its limit, a fit that stopped early
            self._model.fit(points, rewards - self._mean)
        return self

    @property
    def kernel_(self) -> Any:
        return self._model.kernel_

    def predict(self, at: Array, return_std: bool = False) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a variance below 0 by rounding, which is set to 0
            if not return_std:
                return self._model.predict(at) + self._mean
            mean, sd = self._model.predict(at, return_std=True)
        return mean + self._mean, sd


def _imported() -> Any:
    try:
        from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    except ImportError:
        raise require_extra("sklearn", "sklearn") from None
    return GaussianProcessRegressor, kernels
