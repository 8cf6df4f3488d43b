"""Observations whose weight decays with age: the noise on them grows, and the function stays."""

from gpbandits_env.arrays import Array
from gpbandits_env.gp.linalg import inverse
from gpbandits_env.gp.posterior.states import TemporalStates
from gpbandits_env.gp.samplers import Factor
from gpbandits_env.gp.temporal import StaticTime
from gpbandits_env.gp.threads import OneThread


class DiscountedCoefficients(TemporalStates):
    r"""Weighted GP regression with geometric weights, on coefficients of f = F xi.

    An observation of age j has the noise variance s^2 / gamma^j. As long as nothing is observed,
    the precision of xi, which is I before any data, becomes

    .. math:: P^{-1} \leftarrow \gamma P^{-1} + (1 - \gamma) I

    while P^{-1} E[xi] is multiplied by gamma. The mean and the variance are those of

    .. math::
        \mu_t(x) = k_t(x)^T (K_t + \lambda_t W_t^{-1})^{-1} y_t, \quad
        \sigma_t^2(x) = k(x, x) - k_t(x)^T (K_t + \lambda_t W_t^{-1})^{-1} k_t(x)

    with weights w_s = gamma^(-s) and lambda_t = s^2 gamma^(-t).

    Cost: O(r^3) per round and O(r^2) per observation for rank r, at any time.

    Args:
        factor: F, with K(arms, arms) = F F^T.
        discount: gamma in (0, 1].
    Source: Deng et al. (2022), Section 3.
    """

    name = "discounted"
    noise_grows = True

    def __init__(self, factor: Factor, discount: float) -> None:
        self._discount = discount
        super().__init__([factor], StaticTime())

    def evolve(self, epsilon: float, dt: float) -> tuple[Array, Array]:
        with OneThread():
            self._fold()
            kept, covariance = self._discount**dt, self._state_covariance
            if kept < 1.0:
                precision = inverse(covariance)
                weighted = kept * (precision @ self._states)
                precision *= kept
                precision.flat[:: self.width + 1] += 1.0 - kept
                covariance[:] = inverse(precision)
                self._states = covariance @ weighted
        return super().evolve(epsilon, dt)
