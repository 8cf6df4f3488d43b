"""BoTorch's models and acquisitions as an agent (extra ``botorch``).

Source: Balandat et al. (2020), BoTorch; Ament et al. (2023) for qLogEI; Wilson et al. (2018) for
the batch form of UCB.
Assumes: the kernel se, matern12, matern32 or matern52.
Departures: 1. the first batch, before any data, is drawn at random; 2. the incumbent of qLogEI is
the largest posterior mean at an observed point; 3. computations are in float64; 4. drift is not
supported; 5. a noise variance below 1e-8 counts as that.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.adapters.adapter import Adapter, imported
from gpbandits_env.arrays import Array, Points, flag, positive, whole
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.problem import Problem

# With larger rewards, BoTorch's weights of the starting points overflow.
MOST_REWARD = 1e100
# The kernels that BoTorch also has, with their smoothness.
NU = {"se": np.inf, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


class BoTorch(Adapter):
    """The maximizer of a BoTorch acquisition under its `SingleTaskGP`.

    Args:
        acquisition: "qlogei" or "qucb".
        beta: of qUCB; it multiplies the variance under the root.
        learn: whether the model is BoTorch's own, fitted at every `ask` (with its priors, inputs on
            the unit cube, and standardized rewards); otherwise it is that of the problem.
        starts: in a box, the number of starting points of the gradient ascent.
        samples: the number of joint samples of the values of a batch.
        candidates: in a box, the number of points from which the best are taken as starts.
    Raises:
        MissingExtra: botorch is not installed.
        UnknownName: there is no such acquisition.
        InvalidInput: BoTorch does not have the kernel, the arms have different prior means, or a
            number is out of range. `tell` raises it for rewards above 1e100 in size.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        acquisition: str = "qlogei",
        beta: float = 4.0,
        learn: bool = False,
        starts: int = 5,
        samples: int = 128,
        candidates: int = 512,
    ) -> None:
        super().__init__(problem, rng)
        self._acquisition = one_of(acquisition, ("qlogei", "qucb"), "acquisition")
        self._beta, self._learns = positive(beta, "beta", zero=True), flag(learn, "learn")
        self._starts, self._samples = whole(starts, "starts"), whole(samples, "samples")
        self._candidates = whole(candidates, "candidates", 2)
        if problem.kernel.radial is None or problem.kernel.radial.type_name not in NU:
            raise InvalidInput(
                f"BoTorch supports only the kernels {', '.join(NU)}, and that of the problem is "
                "another one: give the agent kernel={'type': 'matern52', 'lengthscale': ...}"
            )
        if isinstance(problem.prior_mean, np.ndarray):
            raise InvalidInput(
                "BoTorch supports only one prior mean for all arms: give the agent a prior_mean"
            )
        imported("botorch", "botorch")

    def _learn(self, actions: Points, rewards: Array) -> None:
        largest = float(np.abs(rewards).max(initial=0.0))
        if largest > MOST_REWARD:
            raise InvalidInput(
                f"rewards must be at most {MOST_REWARD:g} in size for BoTorch, got {largest:g}"
            )
        super()._learn(actions, rewards)

    def choose(self, seed: int) -> Points:
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self._best(self._score(self._model(), seed))

    def _model(self) -> Any:
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Normalize
        from gpytorch import kernels, means
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x, y = torch.tensor(self._points), torch.tensor(self._data.rewards)[:, None]
        if self._learns:
            corners = torch.tensor(_corners(self._domain))
            model = SingleTaskGP(x, y, input_transform=Normalize(x.shape[1], bounds=corners))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            return model
        given, problem = self.problem.kernel.radial, self.problem
        assert given is not None
        nu, ell = NU[given.type_name], torch.tensor(given.lengthscale, dtype=torch.float64)
        dims = x.shape[1] if ell.ndim else None
        shape = (
            kernels.RBFKernel(ard_num_dims=dims)
            if np.isinf(nu)
            else kernels.MaternKernel(nu, ard_num_dims=dims)
        )
        kernel, mean = kernels.ScaleKernel(shape).double(), means.ConstantMean().double()
        shape.lengthscale, kernel.outputscale = ell, given.variance
        mean.constant = torch.tensor(problem.prior_mean, dtype=torch.float64)
        noise = torch.full_like(y, max(problem.noise_var, 1e-8))
        model = SingleTaskGP(
            x, y, noise, covar_module=kernel, mean_module=mean, outcome_transform=None
        )
        return model.eval()

    def _score(self, model: Any, seed: int) -> object:
        import torch
        from botorch.acquisition import qLogExpectedImprovement, qUpperConfidenceBound
        from botorch.sampling import SobolQMCNormalSampler

        sampler = SobolQMCNormalSampler(torch.Size([self._samples]), seed=seed)
        pending = torch.tensor(self._domain.points(self._pending_actions))
        given = {"sampler": sampler, "X_pending": pending if len(pending) else None}
        if self._acquisition == "qucb":
            return qUpperConfidenceBound(model, self._beta, **given)
        with torch.no_grad():
            incumbent = model.posterior(torch.tensor(self._points)).mean.max()
        return qLogExpectedImprovement(model, incumbent, **given)

    def _best(self, score: object) -> Points:
        import torch
        from botorch.optim import optimize_acqf, optimize_acqf_discrete

        domain, m = self._domain, self.batch_size
        if domain.finite:
            arms = domain.span
            found, _ = optimize_acqf_discrete(score, m, torch.tensor(arms), unique=m <= len(arms))
            gaps = ((found.numpy()[:, None] - arms[None]) ** 2).sum(axis=2)
            return gaps.argmin(axis=1)
        low, high = _corners(domain)
        found, _ = optimize_acqf(
            score,
            torch.tensor(np.stack([low, high])),
            q=m,
            num_restarts=self._starts,
            raw_samples=self._candidates,
            sequential=True,
        )
        return np.clip(found.detach().numpy(), low, high)


def _corners(domain: Domain) -> Array:
    """The box, or the bounding box of the arms, (2, d); a side of length 0 gets length 1."""
    low, high = domain.span.min(axis=0), domain.span.max(axis=0)
    return np.stack([low, high + (low == high)])
