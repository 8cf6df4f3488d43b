"""The models of `diagnose` with a temporal kernel, fitted to series of all arms."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpbandits_env.arrays import Array
from gpbandits_env.gp.kernels import ConstantKernel, Empirical, Sum
from gpbandits_env.gp.learning.data import Series, time_gaps
from gpbandits_env.gp.learning.time import TimeFit
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    PeriodicTime,
    TemporalKernel,
    TemporalSum,
    TermsInTime,
)

# The harmonics of a season, and the rates from which searches start; the least one is for the time
# that usually passes between two rows.
HARMONICS, LEAST_RATE, MOST_RATE = 2, 1e-4, 0.9
MOST_FREQUENCIES = 2000
# The noise variance from which searches start, as a share of the variance of an arm.
LEAST_NOISE = 0.05
# The parameters that are not learned, and the steps of a search.
FIXED, ITERATIONS = {"periodic": "lengthscale", "seasonal": "kernels.0.lengthscale"}, 15


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
    return min(max(model.epsilon, LEAST_RATE / gap), MOST_RATE)


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

    The periods are between four median gaps and half of the series. A series without a season has
    most of its power in the longest ones. Each arm is standardized, and the times may be irregular
    (Lomb-Scargle).
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
    scaled = centred / np.maximum(centred.std(axis=0), np.finfo(float).tiny)
    power = sum(lombscargle(times, y, 2.0 * np.pi * frequencies) for y in scaled.T)
    best = int(np.argmax(power))
    return float(1.0 / frequencies[best]) if best else None
