"""The model behind a posterior on a box: kernel, noise and prior mean, checked together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gpbandits_env.arrays import Array, finite_array, positive
from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.kernels import Kernel
from gpbandits_env.kernels.columns import Columns
from gpbandits_env.posterior.arms import FLOOR
from gpbandits_env.posterior.paths import exact_features
from gpbandits_env.samplers import BoxSampler

# Every observation carries so much noise, as a part of the largest prior variance.
LEAST_NOISE = 1e-10


@dataclass(frozen=True)
class Model:
    """f ~ GP(prior_mean, kernel) on a box, observed with Gaussian noise.

    Args:
        box: where.
        kernel: the prior covariance.
        noise_var: of an observation.
        prior_mean: a number.
        floor: the smallest squared pivot of a factor; smaller ones are lifted to it.
    """

    box: Box
    kernel: Kernel
    noise_var: float
    prior_mean: float
    floor: float

    @property
    def least_noise(self) -> float:
        """The noise variance, or `LEAST_NOISE` of the prior variance where there is (almost) none.

        Without it a smooth kernel's residual covariances are soon nothing but rounding, which a
        kept inverse multiplies by its own size with every point: below 1e-11 it can overflow.
        """
        return max(self.noise_var, LEAST_NOISE * self.floor / FLOOR)

    def columns(self, points: Array) -> Columns:
        """The kernel at fixed points (t, d), prepared for many calls."""
        return self.kernel.columns(points, 0.5 * (self.box.low + self.box.high))

    @cached_property
    def exact_features(self) -> BoxSampler | None:
        """Features whose products are the kernel to 1e-12, if there are few enough."""
        return exact_features(self.box, self.kernel)


def checked_model(box: Box, kernel: Kernel, noise_var: float, prior_mean: ArrayLike) -> Model:
    """A model, or a clear error.

    Raises:
        InvalidInput: a kernel for other points, a negative noise variance, or a prior mean that is
            no number.
    """
    if not isinstance(box, Box) or not isinstance(kernel, Kernel):
        raise InvalidInput(f"a box and a kernel are needed, got {shown(box)} and {shown(kernel)}")
    noise_var = positive(noise_var, "noise_var", zero=True)
    mean = finite_array(prior_mean, "prior_mean")
    if mean.ndim:
        raise InvalidInput(f"prior_mean must be one number in a box, got shape {mean.shape}")
    # A convex prior variance, as the linear kernel's, is largest at a corner.
    farthest = np.where(np.abs(box.low) > np.abs(box.high), box.low, box.high)
    corners = np.stack([box.low, box.high, farthest])
    kernel.check_points(corners)
    floor = max(FLOOR * float(kernel.diagonal(corners).max()), np.finfo(float).tiny)
    return Model(box, kernel, noise_var, float(mean), floor)
