"""Do these data drift? Static, resetting, drifting, smooth, seasonal and shifting models.

The first part of the readings determines the means and covariance of the arms, the noise, epsilon,
the temporal kernels and the block length of the resetting model. On the rest, every model predicts
each row from those before it in this part. All rows decide whether there is a shift.
"""

import warnings
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from gpbandits_env.arrays import Array, IntArray, Plain, finite_array, numbers, positive
from gpbandits_env.domains import Arms
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.learning.data import Series, time_gaps
from gpbandits_env.gp.learning.priors import MOST_EPSILON
from gpbandits_env.gp.learning.time import FIXED, fitted_in_time, with_shift, without_drift
from gpbandits_env.gp.learning.unknown_moments import MomentsSearch, epsilon_profile, markov_basis
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.temporal import TemporalKernel, epsilon_per

DATES = date, timedelta, np.datetime64, np.timedelta64
BAND = 0.95
LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)
# A shift of all arms is recommended unless another model predicts single readings, which a shift
# hardly improves, better by this per reading.
CLEAR = 0.05
# Of readings beyond this size, or below its inverse, fourth powers leave the range of a float.
MOST_SIZE = 1e35
# Columns whose standard deviations differ by a larger factor hardly have the same noise.
ALIKE = 1000.0
EQUALLY_COMPLEX = {"drifting", "smooth"}
BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class ModelScore:
    """How well one model predicts the readings that it was not trained on.

    Attributes:
        name: "static", "resetting", "drifting", "smooth" (Matern 3/2 in time), "periodic",
            "seasonal" (the sum of a periodic and a Markov part), or, if it is found, "shifting" (a
            drift, and beside it a shift that all arms share, with a drift of its own).
        epsilon: the drift that the model assumes, per unit of time.
        block: the number of rows after which the model resets; None for never.
        log_score: the mean predictive log density of a reading, in nats; larger is better. Where
            readings are missing, each row counts once, also in the coverage.
        coverage: the fraction of readings inside the 95% predictive band.
        temporal: the temporal kernel as a dict in units of time, if the model has one.
        settings: the settings of an agent that assumes this model where every row is a round, e.g.
            ``{"epsilon": 0.03}``. With time stamps, use ``epsilon`` and ``temporal`` instead. Those
            of "shifting" also have a kernel, which is a sum.
    """

    name: str
    epsilon: float
    block: int | None
    log_score: float
    coverage: float
    temporal: Plain | None = None
    settings: Plain = field(default_factory=dict)


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` found.

    Attributes:
        epsilon: the value with the largest marginal likelihood on the training rows, per unit of
            time.
        interval: the 95% likelihood-ratio interval of epsilon.
        unknown: what the training rows do not tell about epsilon, a sentence; empty if they bound
            it on both sides.
        noise_var: the noise variance of a reading under the recommended model, given or learned.
        models: the scores of the models on the test rows, from simple to complex.
        recommended: the name of the model to use.
        reason: a sentence that explains the recommendation.
        rows: the numbers of (training, test) rows.
        per_row: epsilon and the two ends of its interval for the usual time between two rows.
        gap: that time, in units of time.
    """

    epsilon: float
    interval: tuple[float, float]
    unknown: str
    noise_var: float
    models: tuple[ModelScore, ...]
    recommended: str
    reason: str
    rows: tuple[int, int]
    per_row: tuple[float, float, float]
    gap: float = 1.0

    def to_dict(self) -> Plain:
        """A dict of plain numbers and strings, for JSON."""
        return asdict(self)


def diagnose(
    values: ArrayLike,
    times: ArrayLike | None = None,
    *,
    noise_var: float | None = None,
    train_fraction: float = 0.6,
    mean: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
) -> Diagnosis:
    """Analyze how a table of readings varies in time.

    A season is looked for where the training rows have two periods of it; its period is where their
    periodogram is largest. All columns have one noise variance, so they should have one unit: which
    one does not matter, but a single column in a unit that is 10 times smaller changes epsilon. A
    warning names two columns only if one varies 1000 times as much as the other, because those of
    one unit often differ too.

    Cost: O(n^2) per reading for n arms, and with a season up to 36 times as much, for 6 temporal
    states; 500 rows of 50 arms take several seconds.

    Args:
        values: (T, n) one row per time and one column per arm; NaN where a reading is missing. The
            model is trained on rows without gaps, of which at least 10 are needed.
        times: (T,) increasing, 0, 1, ... by default. Their unit must not be much longer than the
            time from one row to the next, because epsilon is at most 0.999 per unit. Dates become
            numbers by `datasets.hours`.
        noise_var: the noise variance of a reading; learned by default.
        train_fraction: the fraction of rows, from the start, to train on.
        mean: (n,) the means of the arms, or one number; learned by default.
        covariance: (n, n) the covariance of the arms. By default mean and covariance are learned
            with epsilon by restricted likelihood (see `unknown_moments`): the sample covariance of
            a series that varies slowly is too small, and epsilon too large with it.
    Raises:
        InvalidInput: there are too few rows, a reading is infinite, the largest is above 1e35 or
            below 1e-35 in size, the times decrease, the training rows all have one time or a column
            that never varies (with a given covariance: only such columns), a shape is wrong, or the
            covariance is not symmetric.
        NotPositiveDefinite: the covariance is not positive semidefinite.
    """
    table, stamps = _checked(values, times)
    # Epsilon is at most 0.999 in one unit of the scaled times.
    unit, gap = time_gaps([stamps])
    stamps = stamps / unit
    split = round(positive(train_fraction, "train_fraction") * len(table))
    whole_rows = np.flatnonzero(np.isfinite(table[:split]).all(axis=1))
    tests = int(np.isfinite(table[split:]).any(axis=1).sum())
    if len(whole_rows) < 10 or tests < 5:
        raise InvalidInput(
            "diagnose needs at least 10 training rows without a gap and 5 test rows with a "
            f"reading, got {len(whole_rows)} and {tests}"
        )
    if stamps[whole_rows[0]] == stamps[whole_rows[-1]]:
        raise InvalidInput(
            f"all training rows have the time {stamps[0] * unit:g}: give times that differ, "
            "or none for 0, 1, ..."
        )
    train = Series(table[whole_rows], stamps[whole_rows])
    centre, spread = _moments(train.values, mean, covariance)
    sds = train.values.std(axis=0)
    if covariance is None and sds.max() > ALIKE * sds.min():
        warnings.warn(
            f"the readings of column {sds.argmax()} (from 0) vary {sds.max() / sds.min():.2g} "
            f"times as much as those of column {sds.argmin()}, but all columns share one noise "
            "variance: give them one unit, or divide each by its standard deviation",
            stacklevel=2,
        )
    learn = ["noise_var"] if noise_var is None else []
    known = None if noise_var is None else positive(noise_var, "noise_var")
    found, interval = _restricted_fit(train, centre, spread, known)
    count = np.arange(len(table))
    past = table[:split], stamps[:split], count[:split]
    future = table[split:], stamps[split:], count[split:]
    resetting = {}
    for block in BLOCKS:
        cuts = np.flatnonzero(np.diff(whole_rows // block)) + 1
        parts = zip(*(np.split(x, cuts) for x in (train.values, train.times)), strict=True)
        resetting[block] = without_drift(found, [Series(*part) for part in parts], learn)
    best_block = max(BLOCKS, key=lambda n: _score(resetting[n], *past, n)[0].mean())
    models = {"static": without_drift(found, [train], learn), "resetting": resetting[best_block]}
    models["drifting"] = found
    models |= fitted_in_time(found, train, learn)
    complete = np.isfinite(table).all(axis=1)
    _, gain = with_shift(found, Series(table[complete], stamps[complete]), learn)
    if gain > 0.0:
        models["shifting"], _ = with_shift(found, train, learn)
    blocks = dict.fromkeys(models) | {"resetting": best_block}
    scores = {name: _score(model, *future, blocks[name]) for name, model in models.items()}
    judged = tuple(
        ModelScore(
            name,
            epsilon_per(1.0 / unit, models[name].epsilon),
            blocks[name],
            float(logs.mean()),
            float(inside.mean()),
            _temporal(name, models[name].temporal, unit),
            _settings(name, models[name], blocks[name], gap / unit),
        )
        for name, (logs, inside) in scores.items()
    )
    name, reason = _recommend({n: logs for n, (logs, _) in scores.items() if n != "shifting"})
    if gain > 0.0 and (scores[name][0] - scores["shifting"][0]).mean() < CLEAR:
        name = "shifting"
        reason = (
            "the mean of all arms drifts at another rate than the differences between them, a gain "
            f"of {gain:.3g} nats on all rows after the penalty for one more parameter"
        )

    def per(time: float) -> tuple[float, float, float]:
        """Epsilon and its interval in that many units; an open end stays as it is."""
        low, high = (e if e >= MOST_EPSILON else epsilon_per(time, e) for e in interval)
        return epsilon_per(time, found.epsilon), low, high

    per_unit = per(1.0 / unit)
    return Diagnosis(
        per_unit[0],
        per_unit[1:],
        _unknown(interval),
        models[name].noise_var,
        judged,
        name,
        reason,
        (len(whole_rows), len(future[0])),
        per(gap / unit),
        gap,
    )


def _restricted_fit(
    rows: Series, mean: Array | None, covariance: Array | None, noise_var: float | None
) -> tuple[Model, tuple[float, float]]:
    """The most likely drifting model, and epsilon's interval; what is known is not learned.

    Where the readings vary by noise alone, the function is that of their means, with the
    uncertainty of these, and epsilon may have any value, unless means and covariance are known.
    """
    values = rows.values
    search = MomentsSearch(values, mean, covariance, noise_var)
    if not search.rank and (mean is None or covariance is None):
        sample = np.cov(values.T).reshape((values.shape[1],) * 2)
        noise_var = float(np.diag(sample).mean()) if noise_var is None else noise_var
        spread = sample / len(values) if covariance is None else covariance
        centre = values.mean(axis=0) if mean is None else mean
        return Model(Empirical(spread), noise_var, centre), (0.0, MOST_EPSILON)
    profile = epsilon_profile(rows.times, search)
    search.at(markov_basis(rows.times, max(profile.epsilon, float(profile.epsilons[0]))))
    return search.model(profile.epsilon), profile.interval()


def _unknown(interval: tuple[float, float]) -> str:
    """What an interval of epsilon leaves open."""
    slow, fast = interval[0] == 0.0, interval[1] >= MOST_EPSILON
    if slow and fast:
        return (
            "these rows say nothing about epsilon: what varies in them cannot be told from noise, "
            "or they are too few"
        )
    if slow:
        return (
            "these rows do not exclude epsilon = 0: they are too few to tell so slow a drift from "
            "a random walk, or from no change; only the upper end is known"
        )
    if fast:
        return (
            "these rows do not exclude a new function in every row (epsilon near 1); only the "
            "lower end is known"
        )
    return ""


def _settings(name: str, model: Model, block: int | None, gap: float) -> Plain:
    """What an agent needs to assume a model of rows that are ``gap`` units of time apart."""
    if model.temporal is not None:
        own = {"kernel": model.kernel.to_dict()} if len(model.temporal.parts) > 1 else {}
        return {"temporal": _temporal(name, model.temporal, 1.0 / gap)} | own
    if block is not None:
        return {"reset_every": block}
    return {"epsilon": epsilon_per(gap, model.epsilon)} if model.epsilon else {}


def _temporal(name: str, kernel: TemporalKernel | None, unit: float) -> Plain | None:
    """The temporal kernel of a model, as a dict; ``unit`` units of time are one of its own."""
    if kernel is None:
        return None
    own = {}
    for key, value in kernel.parameters().items():
        if key.endswith("epsilon"):
            own[key] = epsilon_per(1.0 / unit, value)
        elif key.endswith(("period", "lengthscale")) and key != FIXED.get(name):
            own[key] = value * unit
    return kernel.with_parameters(own).to_dict()


def _score(
    model: Model, rows: Array, times: Array, count: IntArray, block: int | None
) -> tuple[Array, Array]:
    """One-step predictions: the mean log density of each row, and the fraction in the band.

    Rows without a reading are skipped. ``count`` (T,) counts the rows from the start of the table,
    where the first block begins.
    """
    rows = rows - model.prior_mean
    arms = Arms(np.arange(float(rows.shape[1])))
    posterior = posterior_for(arms, model.kernel, model.noise_var, temporal=model.temporal)
    half_width = ndtri(0.5 + 0.5 * BAND)
    logs, inside = [], []
    for t, row in enumerate(rows):
        if t and block is not None and count[t] % block == 0:
            posterior.forget()
        elif t:
            posterior.advance(model.epsilon, float(times[t] - times[t - 1]))
        seen = np.flatnonzero(np.isfinite(row))
        if len(seen):
            gap = row[seen] - posterior.mean[seen]
            sd = np.sqrt(posterior.var[seen] + model.noise_var)
            logs.append(np.mean(-0.5 * (gap / sd) ** 2 - LOG_ROOT_TWO_PI - np.log(sd)))
            inside.append((np.abs(gap) <= half_width * sd).mean())
        posterior.condition(seen, row[seen])
    return np.array(logs), np.array(inside)


def _recommend(logs: dict[str, Array]) -> tuple[str, str]:
    """The best model, or a simpler one that predicts equally well, and the reason.

    The order of complexity is that of the models; a drifting and a smooth one are equally complex.
    A gain counts if it exceeds two standard errors of the paired differences.
    """
    order = tuple(logs)
    best = max(order, key=lambda name: float(logs[name].mean()))
    for simpler in order[: order.index(best)]:
        if {simpler, best} == EQUALLY_COMPLEX:
            continue
        gain = logs[best] - logs[simpler]
        error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
        if float(gain.mean()) <= 2.0 * error:
            return simpler, (
                f"{best} predicts better by {gain.mean():.3g} nats per reading, which is within "
                f"two standard errors ({error:.2g} each): the simpler model is enough"
            )
    rest = [name for name in order if name != best]
    gains = ", ".join(f"{float((logs[best] - logs[n]).mean()):.3g} over {n}" for n in rest)
    return best, f"it predicts the next readings best, by {gains} (nats per reading)"


def _moments(
    train: Array, mean: ArrayLike | None, covariance: ArrayLike | None
) -> tuple[Array | None, Array | None]:
    """The mean () or (n,) and the covariance (n, n) of the arms, if they are given."""
    n = train.shape[1]
    centre = train.mean(axis=0) if mean is None else finite_array(mean, "mean")
    spread = np.cov(train.T) if covariance is None else finite_array(covariance, "covariance")
    spread = spread.reshape(n, n) if spread.size == n * n else spread
    if centre.shape not in ((), (n,)) or spread.shape != (n, n):
        raise InvalidInput(
            f"mean must have shape ({n},) and covariance ({n}, {n}), got {centre.shape} and "
            f"{spread.shape}"
        )
    if covariance is not None:
        Empirical(spread)  # raises an error if it is no covariance
    # The sample variance of equal numbers may differ from 0 by rounding.
    varies = np.ptp(train, axis=0) > 0
    if not (varies.all() if covariance is None else varies.any()):
        column = int(np.argmin(varies))
        raise InvalidInput(
            f"column {column} (counted from 0) never varies in the training rows; leave it out"
        )
    return None if mean is None else centre, None if covariance is None else spread


def _checked(values: ArrayLike, times: ArrayLike | None) -> tuple[Array, Array]:
    table = numbers(values, "values")
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.size == 0:
        raise InvalidInput(f"values must be a table (T, n), got shape {table.shape}")
    size = np.fmax.reduce(np.abs(table), axis=None, initial=0.0)
    if np.isinf(size):
        raise InvalidInput("values must be numbers, or NaN where missing; got infinity")
    if size and not 1.0 / MOST_SIZE <= size <= MOST_SIZE:
        raise InvalidInput(
            f"the largest of the values is {size:g} in size: give them in a unit in which it is "
            f"from {1.0 / MOST_SIZE:g} to {MOST_SIZE:g}"
        )
    given = np.asarray(times)
    if given.size and isinstance(given.flat[0], DATES):
        raise InvalidInput(
            "times must be numbers: gpbandits_env.rewards.datasets.hours(times) makes them of dates"
        )
    stamps = np.arange(float(len(table))) if times is None else finite_array(times, "times", ndim=1)
    if len(stamps) != len(table) or (np.diff(stamps) < 0).any():
        raise InvalidInput(f"times must be {len(table)} increasing numbers, one per row")
    return table, stamps
