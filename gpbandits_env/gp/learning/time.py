r"""Learning a temporal kernel from series of all arms: the marginal likelihood, and its maximum.

With K = U diag(lam) U^T, the rotated series (Y U)_i are independent, and each is a function of time
with covariance lam_i T, so that Kalman filters compute the likelihood. The models of `diagnose`
with a temporal kernel are fitted by it.

Source: Rasmussen & Williams (2006), eq. (5.8); Hartikainen and Sarkka (2010), Section 3.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.descent import descend
from gpbandits_env.gp.kernels import ConstantKernel, Empirical, Sum
from gpbandits_env.gp.learning.data import Series, time_gaps
from gpbandits_env.gp.learning.priors import LEAST_EPSILON, MOST_EPSILON, PERIOD_REACH, REACH
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    PeriodicTime,
    TemporalKernel,
    TemporalSum,
    TermsInTime,
)

STEP = 1e-7
# The harmonics of a season, and the rates from which searches start; the least one is for the time
# that usually passes between two rows.
HARMONICS, LEAST_RATE, MOST_RATE = 2, 1e-4, 0.9
MOST_FREQUENCIES = 2000
# The noise variance from which searches start, as a share of the variance of an arm.
LEAST_NOISE = 0.05
# The parameters that are not learned, and the steps of a search.
FIXED, ITERATIONS = {"periodic": "lengthscale", "seasonal": "kernels.0.lengthscale"}, 15


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
        if len({s.values.shape[1] for s in series}) != 1:
            raise InvalidInput("data must be observations, or one or more series of the same arms")
        arms = np.arange(float(series[0].values.shape[1]))[:, None]
        model.kernel.check_points(arms)
        eigenvalues, vectors = np.linalg.eigh(model.kernel(arms))
        self._eigenvalues = np.maximum(eigenvalues, 0.0)
        self._rotated = [(s.values - model.prior_mean) @ vectors for s in series]
        self._times = [s.times - s.times[0] for s in series]

    def __call__(self, temporals: Sequence[TemporalKernel], noise_vars: Array) -> Array:
        """The log densities (m,) under m temporal kernels of one kind, each with its noise."""
        pairs = zip(self._times, self._rotated, strict=True)
        found = [self._filter(temporals, noise_vars[:, None], times, y) for times, y in pairs]
        return np.sum(found, axis=0)

    def _filter(
        self, temporals: Sequence[TemporalKernel], noise: Array, times: Array, rows: Array
    ) -> Array:
        lam = self._eigenvalues[:, None, None]
        covariance = np.stack([lam * temporal.covariance(0.0) for temporal in temporals])
        mean, stationary = np.zeros(covariance.shape[:3]), all(t.stationary for t in temporals)
        gaps = np.empty((len(times), *mean.shape[:2]))
        totals, known = np.empty_like(gaps), np.nan
        for i, (t, y) in enumerate(zip(times.tolist(), rows, strict=True)):
            if i:
                dt = t - float(times[i - 1])
                if dt != known or not stationary:  # otherwise the step is the last one
                    known = dt
                    steps = [temporal.step(float(times[i - 1]), dt) for temporal in temporals]
                    carry = np.stack([carry for carry, _ in steps])[:, None]
                    added = np.stack([lam * noise for _, noise in steps])
                    factors = np.diagonal(carry, axis1=2, axis2=3)
                    diagonal = np.count_nonzero(carry) == np.count_nonzero(factors)
                    products = factors[..., None] * factors[..., None, :]
                if diagonal:
                    mean, covariance = mean * factors, covariance * products + added
                else:
                    turned = carry.swapaxes(2, 3)
                    mean, covariance = mean @ turned[:, 0], carry @ covariance @ turned + added
            row = np.stack([temporal.row(t) for temporal in temporals])[:, None]
            cross = (covariance @ row[..., None])[..., 0]
            total = (cross * row).sum(axis=-1) + noise
            gap = y - (mean * row).sum(axis=-1)
            totals[i], gaps[i] = total, gap
            gain = cross / total[..., None]
            mean = mean + gain * gap[..., None]
            covariance = covariance - gain[..., None] * cross[..., None, :]
        return -0.5 * np.sum(np.log(2.0 * np.pi * totals) + gaps * gaps / totals, axis=(0, 2))


class TimeFit:
    """The most likely hyper-parameters of time, by L-BFGS-B on their logarithms.

    The epsilon of a drift, named without "temporal.", may be 0: its square root is learned.
    Gradients are forward differences, which cost one likelihood per parameter.

    Args:
        model: the start of the search, with a temporal kernel and a noise_var above 0.
        data: series of all arms.
        learn: the names of parameters, "temporal.NAME" or "epsilon", and "noise_var".
    Raises:
        InvalidInput: the temporal kernel has several terms, or another parameter is named.
    """

    def __init__(self, model: Model, data: Sequence[Series], learn: Collection[str]) -> None:
        assert model.temporal is not None
        if len(model.temporal.parts) > 1:
            raise InvalidInput(
                "the temporal kernel 'terms' cannot be learned from Series: give the readings as "
                "Observations(points, values, times), one for each reading"
            )
        self._model, self._temporal, self.evaluations = model, model.temporal, 0
        self._likelihood = TimeLikelihoodOfSeries(model, data)
        known = {f"temporal.{name}": v for name, v in self._temporal.parameters().items()}
        known["noise_var"] = model.noise_var
        if "epsilon" in learn:
            known["epsilon"] = known.pop("temporal.epsilon")
        if more := set(learn) - known.keys():
            raise InvalidInput(
                f"series say nothing about {', '.join(sorted(more))}: they allow only epsilon or "
                "temporal, and noise_var"
            )
        self.names = [name for name in known if name in learn]
        start = np.array([known[name] for name in self.names])
        rates = np.array([name.endswith("epsilon") for name in self.names])
        self._start = np.log(np.where(rates, np.clip(start, LEAST_EPSILON, MOST_EPSILON), start))
        periods = np.array([name.endswith("period") for name in self.names])
        reach = np.where(periods, PERIOD_REACH, REACH)
        top = np.where(rates, np.log(MOST_EPSILON), np.inf)
        self._bounds = np.stack([self._start - reach, np.minimum(self._start + reach, top)], axis=1)
        self._roots = np.array([name == "epsilon" for name in self.names])
        self._start[self._roots] = np.sqrt(start[self._roots])
        self._bounds[self._roots] = 0.0, MOST_EPSILON**0.5

    def best(self, iterations: int = 60) -> tuple[Model, float]:
        """The model of the maximum, or after so many iterations, and its log likelihood."""
        options = {"maxiter": iterations, "ftol": 1e-9, "gtol": 1e-4}
        end = descend(self._objective, self._start, self._bounds.T, **options)
        return self._at(end.x), -float(end.fun)

    def _at(self, u: Array) -> Model:
        """The model at the learned parameters, given by their logarithms or square roots."""
        learned = np.where(self._roots, u * u, np.exp(u)).tolist()
        values = dict(zip(self.names, learned, strict=True))
        noise_var = values.pop("noise_var", self._model.noise_var)
        own = {name.removeprefix("temporal."): value for name, value in values.items()}
        temporal = self._temporal.with_parameters(own)
        return replace(self._model, temporal=temporal, noise_var=noise_var)

    def _objective(self, u: Array) -> tuple[float, Array]:
        # Backward at an upper bound, which a forward step would cross.
        steps = np.where(u + STEP > self._bounds[:, 1], -STEP, STEP)
        models = [self._at(u), *(self._at(u + step) for step in np.diag(steps))]
        self.evaluations += len(models)
        temporals = [model.temporal for model in models if model.temporal is not None]
        noise_vars = np.array([model.noise_var for model in models])
        value, *moved = self._likelihood(temporals, noise_vars).tolist()
        if not np.isfinite(value):
            return 1e25, np.zeros(len(u))
        return -value, -(np.array(moved) - value) / steps


def fitted_in_time(model: Model, rows: Series, learn: Sequence[str]) -> dict[str, Model]:
    """The models with a temporal kernel, from simple to complex, fitted to the training rows.

    ``learn`` is what is learned beside the parameters of time: "noise_var" or nothing.

    If the noise is learned, so is the drifting model once more, with the same means and covariance:
    the joint search may have explained all noise as drift. It is learned once more where epsilon is
    0 too: the covariance may be that of a drift too slow to return to its mean.
    """
    span = float(rows.times[-1] - rows.times[0])
    rate = _start_rate(model, rows)
    # The lengthscale of a Matern 3/2 kernel with the correlation of the Markov drift at half.
    smooth = Matern32Time(2.0 * np.log(2.0) / -np.log1p(-rate))
    starts: dict[str, TemporalKernel] = {"smooth": smooth}
    if learn or not model.epsilon:
        starts = {"drifting": MarkovTime(rate)} | starts
    if (period := dominant_period(rows)) is not None and 2.0 * period <= span:
        season = PeriodicTime(period, harmonics=HARMONICS)
        starts["periodic"] = season
        starts["seasonal"] = TemporalSum((season, MarkovTime(rate)))
    start = replace(model, epsilon=0.0)
    start = _with_some_noise(start, rows.values) if learn else start
    found = {}
    for name, kernel in starts.items():
        words = [f"temporal.{own}" for own in kernel.parameters() if own != FIXED.get(name)]
        search = TimeFit(replace(start, temporal=kernel), [rows], [*words, *learn])
        found[name] = search.best(ITERATIONS)[0]
        if isinstance(drift := found[name].temporal, MarkovTime):
            found[name] = replace(found[name], epsilon=drift.epsilon, temporal=None)
    return found


def without_drift(model: Model, series: Sequence[Series], learn: Sequence[str]) -> Model:
    """The model of independent functions that do not change, one for each of several series.

    If the noise is learned, it is the most likely one: that of a drifting model may be near 0.
    """
    if not learn:
        return replace(model, epsilon=0.0)
    start = _with_some_noise(model, np.concatenate([part.values for part in series]))
    fixed = replace(start, epsilon=0.0, temporal=MarkovTime(0.0))
    return replace(TimeFit(fixed, series, learn).best(ITERATIONS)[0], temporal=None)


def _start_rate(model: Model, rows: Series) -> float:
    """The epsilon of the model, or the nearest one from which a search may start."""
    _, gap = time_gaps([rows.times])
    return min(max(model.epsilon, LEAST_RATE / max(gap, 1.0)), MOST_RATE)


def _with_some_noise(model: Model, values: Array) -> Model:
    """The model with at least `LEAST_NOISE`: from none, a local search does not find any."""
    least = LEAST_NOISE * float(values.var(axis=0).mean())
    return replace(model, noise_var=max(model.noise_var, least))


def with_shift(model: Model, rows: Series, learn: Sequence[str]) -> tuple[Model, float]:
    """The drifting model with a shift of all arms beside it, and what it gains.

    The shift is what the mean of the arms does, and the rest is orthogonal to it, so that each is
    fitted alone, with a variance and a rate: the covariance between the two is left out. The gain
    is in log likelihood over one rate for both, the best of three, less the penalty of a parameter
    in the Bayesian information criterion for that number of readings.
    """
    n = rows.values.shape[1]
    if n == 1:
        return model, -np.inf
    basis = np.linalg.qr(np.hstack([np.ones((n, 1)), np.eye(n)]))[0][:, :n]
    spread = basis.T @ model.kernel(np.arange(float(n))[:, None]) @ basis
    values = (rows.values - model.prior_mean) @ basis
    spread.flat[:: n + 1] += LEAST_RATE * np.trace(spread) / n
    noise = (_with_some_noise(model, rows.values) if learn else model).noise_var

    def fitted(start: MarkovTime, words: Sequence[str]) -> tuple[list[TemporalSum], float, float]:
        """The variance times a drift of each part, the noise, and the log likelihood."""
        found, total, noise_var = list[TemporalSum](), 0.0, noise
        # The noise is that of the differences.
        for part, names in ((slice(1, n), [*words, *learn]), (slice(0, 1), words)):
            guess = Model(Empirical(spread[part, part]), noise_var, temporal=TemporalSum((start,)))
            search = TimeFit(guess, [Series(values[:, part], rows.times)], names)
            best, value = search.best(ITERATIONS)
            assert isinstance(best.temporal, TemporalSum)
            noise_var, total = best.noise_var, total + value
            found.append(best.temporal)
        return found, noise_var, total

    rate, weight = "temporal.kernels.0.epsilon", "temporal.weights.0"
    start = MarkovTime(_start_rate(model, rows))
    (rest, mean), noise, gain = fitted(start, (rate, weight))
    in_time = *rest.kernels, *mean.kernels
    slow, fast = (kernel.parameters()["epsilon"] for kernel in in_time)
    rates = slow, fast, float(np.sqrt(slow * fast))
    gain -= max(fitted(MarkovTime(one), (weight,))[2] for one in rates)
    gain -= 0.5 * float(np.log(values.size))
    scaled = rest.weights[0] * spread
    scaled[0, 0] = mean.weights[0] * spread[0, 0]
    apart = basis[:, 1:] @ scaled[1:, 1:] @ basis[:, 1:].T
    shared = ConstantKernel(max(scaled.item(0), np.finfo(float).tiny) / n)
    kernel = Sum((Empirical(0.5 * (apart + apart.T)), shared))
    return Model(kernel, noise, model.prior_mean, temporal=TermsInTime(in_time)), gain


def dominant_period(rows: Series) -> float | None:
    """The period with the largest mean periodogram of the arms; None if that is the longest one.

    The periods are between four median gaps and half of the series; None also if the series is
    shorter than 16 gaps. A series without a season has most of its power in the longest ones. Each
    arm is standardized, and the times may be irregular (Lomb-Scargle).
    """
    # The import takes longer than that of the whole library.
    from scipy.signal import lombscargle

    times = rows.times - rows.times[0]
    gaps = np.diff(times)
    span, gap = float(times[-1]), float(np.median(gaps[gaps > 0.0])) if gaps.any() else 0.0
    if not gap or span < 16.0 * gap:
        return None
    count = min(int(4.0 * span / (4.0 * gap)), MOST_FREQUENCIES)
    frequencies = np.linspace(2.0 / span, 1.0 / (4.0 * gap), max(count, 2))
    centred = rows.values - rows.values.mean(axis=0)
    sd = centred.std(axis=0)
    scaled = centred / np.where(sd > 0.0, sd, np.inf)
    power = sum(lombscargle(times, y, 2.0 * np.pi * frequencies) for y in scaled.T)
    best = int(np.argmax(power))
    return float(1.0 / frequencies[best]) if best else None
