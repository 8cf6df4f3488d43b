"""The model of a reward function: a posterior starts from it, and `learning.fit` estimates it."""

from copy import copy
from dataclasses import dataclass

from gpbandits_env.arrays import Array, Plain, finite_array, frozen, positive, share
from gpbandits_env.errors import InvalidInput, shown
from gpbandits_env.gp.kernels import Kernel, kernel_from_dict
from gpbandits_env.gp.temporal import TemporalKernel, temporal_from_dict


@dataclass(frozen=True)
class Model:
    """A Gaussian process f_1 ~ GP(prior_mean, kernel) that drifts, observed with Gaussian noise.

    .. math:: f_{t+1} - m = \\sqrt{1 - \\epsilon} (f_t - m) + \\sqrt{\\epsilon} g_{t+1}

    Args:
        kernel: the covariance, in the units of the points, or its dict.
        noise_var: the variance of the noise, at least 0, in reward units squared.
        prior_mean: m, a number, or (n,) one for each arm.
        epsilon: the drift per unit of time, in [0, 1]; 0 for a static function.
        temporal: another covariance in time, or its dict, instead of epsilon; or one for each term
            of the kernel (`TermsInTime`).
    Raises:
        InvalidInput: a number is out of range, both epsilon and a temporal kernel are given, or
            the kernel is not a sum of as many terms as `TermsInTime` has.
    Source: bogunovic2016, eqs. (3)-(4).
    """

    kernel: Kernel
    noise_var: float
    prior_mean: float | Array = 0.0
    epsilon: float = 0.0
    temporal: TemporalKernel | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", kernel_from_dict(self.kernel))
        object.__setattr__(self, "noise_var", positive(self.noise_var, "noise_var", zero=True))
        share(self.epsilon, "epsilon")
        if self.temporal is not None:
            if self.epsilon:
                raise InvalidInput("give epsilon or temporal, not both: epsilon is a Markov drift")
            object.__setattr__(self, "temporal", temporal_from_dict(self.temporal))
            assert self.temporal is not None
            terms(self.kernel, self.temporal)
        mean = finite_array(self.prior_mean, "prior_mean")
        object.__setattr__(self, "prior_mean", frozen(mean.copy()) if mean.ndim else float(mean))

    def to_dict(self) -> Plain:
        """The arguments as a plain dict of copies."""
        return {
            "kernel": self.kernel.to_dict(),
            "noise_var": self.noise_var,
            "prior_mean": copy(self.prior_mean),
            "epsilon": self.epsilon,
            "temporal": None if self.temporal is None else self.temporal.to_dict(),
        }


def terms(kernel: Kernel, temporal: TemporalKernel) -> tuple[tuple[Kernel, TemporalKernel], ...]:
    """The pairs of kernels whose products k_i(x, z) T_i(t, s) add up to the covariance.

    Raises:
        InvalidInput: the temporal kernel has several parts, and the kernel is not a sum of as many.
    """
    if len(temporal.parts) == 1:
        return ((kernel, temporal.parts[0]),)
    parts = kernel.parts if kernel.type_name == "sum" else (kernel,)
    if len(parts) != len(temporal.parts):
        raise InvalidInput(
            f"the temporal kernel 'terms' has {len(temporal.parts)} kernels, one for each term of "
            f"a sum in space, but the kernel in space is {shown(kernel)}"
        )
    return tuple(zip(parts, temporal.parts, strict=True))
