r"""Learning a temporal kernel: the marginal likelihood in space and time, and its maximum.

Observations at any points need the covariance of all of them,

.. math:: \Sigma_{ij} = k(x_i, x_j) T(t_i, t_j) + s^2 \delta_{ij}.

Readings of all arms need a Kalman filter instead: with K = U diag(lam) U^T, the rotated series
(Y U)_i are independent, and each is a function of time with covariance lam_i T.

Source: Rasmussen & Williams (2006), eq. (5.8); Hartikainen and Sarkka (2010), Section 3.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.gp.learning.climbs import MOST_EPSILON, REACH
from gpbandits_env.gp.learning.data import Observations, Series
from gpbandits_env.gp.learning.likelihood import one_mean, rotated
from gpbandits_env.gp.linalg import log_density
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import TemporalKernel

# The smallest epsilon from which a search starts.
LEAST = 1e-5
# How far the logarithm of a period may move from its start: a factor of 1.5, because the likelihood
# has a maximum at each alias.
PERIOD_REACH = 0.4
STEP = 1e-5


class TimeLikelihoodOfPoints:
    """The log density of n observations at any points, in nats, O(n^3).

    It is -inf if the covariance cannot be factorized.

    Args:
        model: the kernel in space and the prior mean, one number.
        data: the observations.
    """

    def __init__(self, model: Model, data: Observations) -> None:
        self._gap = data.rewards - one_mean(model)
        model.kernel.check_points(data.points)
        self._space = model.kernel(data.points)
        self._times, self._which = np.unique(data.times, return_inverse=True)

    def __call__(self, temporal: TemporalKernel, noise_var: float) -> float:
        shared = temporal(self._times, self._times)
        covariance = self._space * shared[np.ix_(self._which, self._which)]
        covariance.flat[:: len(covariance) + 1] += noise_var
        try:
            return log_density(self._gap, covariance)
        except np.linalg.LinAlgError:
            return -np.inf


class TimeLikelihoodOfSeries:
    """The log density of series of all n arms, in nats, by n Kalman filters at once.

    Cost: O(n T p^2) for T times and p temporal states, O(n T p^3) if the transition is not
    diagonal.

    Args:
        model: the kernel of arm indices and the prior mean.
        series: independent series of the same arms.
    Raises:
        InvalidInput: there are no series, or their numbers of arms differ.
    """

    def __init__(self, model: Model, series: Sequence[Series]) -> None:
        self._eigenvalues, self._rotated = rotated(model, series)
        self._times = [s.times - s.times[0] for s in series]

    def __call__(self, temporal: TemporalKernel, noise_var: float) -> float:
        pairs = zip(self._times, self._rotated, strict=True)
        return sum(self._filter(temporal, noise_var, times, rows) for times, rows in pairs)

    def _filter(
        self, temporal: TemporalKernel, noise_var: float, times: Array, rows: Array
    ) -> float:
        lam = self._eigenvalues[:, None, None]
        covariance = lam * temporal.covariance(0.0)
        mean = np.zeros(covariance.shape[:2])
        value, steps = -0.5 * rows.size * float(np.log(2.0 * np.pi)), Steps(temporal, lam)
        for i, (t, y) in enumerate(zip(times.tolist(), rows, strict=True)):
            if i:
                mean, covariance = steps(mean, covariance, float(times[i - 1]), t)
            row = temporal.row(t)
            cross = covariance @ row
            total = cross @ row + noise_var
            gap = y - mean @ row
            value -= 0.5 * float(np.log(total).sum() + gap @ (gap / total))
            gain = cross / total[:, None]
            mean = mean + gain * gap[:, None]
            covariance = covariance - gain[:, :, None] * cross[:, None, :]
        return value


class Steps:
    """The prediction of n filters from one time to the next.

    Args:
        temporal: the temporal kernel.
        scale: of each filter's noise, (n, 1, 1).
    """

    def __init__(self, temporal: TemporalKernel, scale: Array) -> None:
        self.temporal, self.scale = temporal, scale
        self._dt = np.nan

    def __call__(
        self, mean: Array, covariance: Array, start: float, end: float
    ) -> tuple[Array, Array]:
        """The mean (n, p) and covariance (n, p, p) at the end."""
        if (dt := end - start) != self._dt or not self.temporal.stationary:
            self._dt, self._carry = dt, self.temporal.transition(dt)
            self._noise = self.scale * self.temporal.noise(start, dt)
            self._factors = self._carry.diagonal()
            self._diagonal = np.count_nonzero(self._carry) == np.count_nonzero(self._factors)
            self._products = np.outer(self._factors, self._factors)
        if self._diagonal:
            return mean * self._factors, covariance * self._products + self._noise
        return mean @ self._carry.T, self._carry @ covariance @ self._carry.T + self._noise


class TimeFit:
    """The most likely hyper-parameters of time, by L-BFGS-B on their logarithms.

    Gradients are forward differences, which cost one likelihood per parameter.

    Args:
        model: the start of the search, with a temporal kernel and noise.
        data: observations, or series of all arms.
        learn: "temporal" for all parameters of the temporal kernel, "temporal.NAME" for one of
            them, and "noise_var".
        prior_sd: if given, the logarithm of each parameter has a normal prior around the start,
            with this standard deviation (a tenth of it for a period).
    Raises:
        InvalidInput: the model has no temporal kernel or no noise, there is nothing to learn, or a
            time is before 0 and the kernel is not stationary.
        UnknownName: a word names no parameter.
    """

    def __init__(
        self,
        model: Model,
        data: Observations | Sequence[Series],
        learn: Sequence[str],
        prior_sd: float | None = None,
    ) -> None:
        if model.temporal is None or model.noise_var <= 0.0:
            raise InvalidInput(
                "learning a temporal kernel needs a model with a temporal kernel and a noise_var "
                "above 0 to start from"
            )
        first = data.times.min() if isinstance(data, Observations) else 0.0
        if first < 0.0 and not model.temporal.stationary:
            raise InvalidInput(
                f"under the temporal kernel {model.temporal.type_name!r} time begins at 0, but the "
                f"first of the times is {first:g}: count them from the start"
            )
        self._model, self._temporal, self.evaluations = model, model.temporal, 0
        self.names = learnable_in_time(self._temporal, learn)
        kind = TimeLikelihoodOfPoints if isinstance(data, Observations) else TimeLikelihoodOfSeries
        self._likelihood: Callable[[TemporalKernel, float], float] = kind(model, data)  # type: ignore[arg-type]
        known = {f"temporal.{name}": v for name, v in self._temporal.parameters().items()}
        start = np.array([(known | {"noise_var": model.noise_var})[name] for name in self.names])
        rates = np.array([_is(name, "epsilon") for name in self.names])
        self._start = np.log(np.where(rates, np.clip(start, LEAST, MOST_EPSILON), start))
        periods = np.array([_is(name, "period") for name in self.names])
        reach = np.where(periods, PERIOD_REACH, REACH)
        top = np.where(rates, np.log(MOST_EPSILON), np.inf)
        self._bounds = np.stack([self._start - reach, np.minimum(self._start + reach, top)], axis=1)
        self._weights = np.zeros(len(start))
        if prior_sd is not None:
            self._weights = np.where(periods, 100.0, 1.0) / prior_sd**2

    def best(self, iterations: int = 60) -> tuple[Model, float]:
        """The model of the maximum, or after so many iterations, and its log likelihood."""
        end = minimize(
            self._objective,
            self._start,
            jac=True,
            method="L-BFGS-B",
            bounds=self._bounds.tolist(),
            options={"maxiter": iterations, "ftol": 1e-9, "gtol": 1e-4},
        )
        found = self._at(end.x)
        assert found.temporal is not None
        return found, self._likelihood(found.temporal, found.noise_var)

    def _at(self, u: Array) -> Model:
        """The model at the logarithms of the learned parameters."""
        values = dict(zip(self.names, np.exp(u).tolist(), strict=True))
        noise_var = values.pop("noise_var", self._model.noise_var)
        own = {name.removeprefix("temporal."): value for name, value in values.items()}
        return replace(
            self._model, temporal=self._temporal.with_parameters(own), noise_var=noise_var
        )

    def _value(self, u: Array) -> float:
        self.evaluations += 1
        model = self._at(u)
        assert model.temporal is not None
        value = self._likelihood(model.temporal, model.noise_var)
        return value - 0.5 * float(self._weights @ (u - self._start) ** 2)

    def _objective(self, u: Array) -> tuple[float, Array]:
        value = self._value(u)
        if not np.isfinite(value):
            return 1e25, np.zeros(len(u))
        # Backward at an upper bound, which a forward step would cross.
        steps = np.where(u + STEP > self._bounds[:, 1], -STEP, STEP)
        moved = [self._value(u + step) for step in np.diag(steps)]
        return -value, -(np.array(moved) - value) / steps


def learnable_in_time(temporal: TemporalKernel, learn: Sequence[str]) -> tuple[str, ...]:
    """The parameters that words stand for: "temporal.NAME" and "noise_var", in order.

    Raises:
        UnknownName: a word stands for none of these.
        InvalidInput: no parameter is named.
    """
    own = [f"temporal.{name}" for name in temporal.parameters()]
    names: list[str] = []
    for word in learn:
        one_of(word, ["temporal", "noise_var", *own], "hyper-parameter of time to learn")
        names += own if word == "temporal" else [word]
    if not names:
        raise InvalidInput("there is nothing to learn: the temporal kernel has no parameters")
    return tuple(dict.fromkeys(names))


def _is(name: str, kind: str) -> bool:
    return name.rpartition(".")[2] == kind
