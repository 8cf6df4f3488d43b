r"""Learning a temporal kernel from series of all arms: the marginal likelihood, and its maximum.

With K = U diag(lam) U^T, the rotated series (Y U)_i are independent, and each is a function of time
with covariance lam_i T, so that Kalman filters compute the likelihood.

Source: Rasmussen & Williams (2006), eq. (5.8); Hartikainen and Sarkka (2010), Section 3.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.descent import descend
from gpbandits_env.gp.learning.climbs import REACH
from gpbandits_env.gp.learning.data import Series
from gpbandits_env.gp.learning.likelihood import rotated
from gpbandits_env.gp.learning.priors import LEAST_EPSILON, MOST_EPSILON, PERIOD_REACH
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import TemporalKernel

STEP = 1e-5


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
        data: series of all arms.
        learn: the names of parameters, "temporal.NAME" and "noise_var".
    Raises:
        InvalidInput: the model has no temporal kernel or no noise, or another parameter is named.
    """

    def __init__(self, model: Model, data: Sequence[Series], learn: Collection[str]) -> None:
        if model.temporal is not None and len(model.temporal.parts) > 1:
            raise InvalidInput(
                "the temporal kernel 'terms' cannot be learned from Series: give the readings as "
                "Observations(points, values, times), one for each reading"
            )
        if model.temporal is None or model.noise_var <= 0.0:
            raise InvalidInput(
                "learning a temporal kernel needs a model with a temporal kernel and a noise_var "
                "above 0 to start from"
            )
        self._model, self._temporal, self.evaluations = model, model.temporal, 0
        self._likelihood = TimeLikelihoodOfSeries(model, data)
        known = {f"temporal.{name}": v for name, v in self._temporal.parameters().items()}
        known["noise_var"] = model.noise_var
        if more := set(learn) - known.keys():
            raise InvalidInput(f"series say nothing about {', '.join(sorted(more))}")
        self.names = [name for name in known if name in learn]
        start = np.array([known[name] for name in self.names])
        rates = np.array([_is(name, "epsilon") for name in self.names])
        self._start = np.log(np.where(rates, np.clip(start, LEAST_EPSILON, MOST_EPSILON), start))
        periods = np.array([_is(name, "period") for name in self.names])
        reach = np.where(periods, PERIOD_REACH, REACH)
        top = np.where(rates, np.log(MOST_EPSILON), np.inf)
        self._bounds = np.stack([self._start - reach, np.minimum(self._start + reach, top)], axis=1)

    def best(self, iterations: int = 60) -> tuple[Model, float]:
        """The model of the maximum, or after so many iterations, and its log likelihood."""
        options = {"maxiter": iterations, "ftol": 1e-9, "gtol": 1e-4}
        end = descend(self._objective, self._start, self._bounds.T, **options)
        return self._at(end.x), -float(end.fun)

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
        return self._likelihood(model.temporal, model.noise_var)

    def _objective(self, u: Array) -> tuple[float, Array]:
        value = self._value(u)
        if not np.isfinite(value):
            return 1e25, np.zeros(len(u))
        # Backward at an upper bound, which a forward step would cross.
        steps = np.where(u + STEP > self._bounds[:, 1], -STEP, STEP)
        moved = [self._value(u + step) for step in np.diag(steps)]
        return -value, -(np.array(moved) - value) / steps


def _is(name: str, kind: str) -> bool:
    return name.rpartition(".")[2] == kind
