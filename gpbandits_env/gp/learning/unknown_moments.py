r"""The drift rate where the mean and the covariance of the arms are unknown: restricted likelihood.

Readings of n arms at T times have the covariance

.. math:: \mathrm{Cov}(y_{ti}, y_{sj}) = K_{ij} T(t, s) + s^2 \delta_{ts} \delta_{ij}, \quad
    T(t, s) = (1 - \epsilon)^{|t - s| / 2}

and unknown means, one for each arm. The sample covariance of a series that varies slowly is that of
a few independent functions: it is far below K, and an epsilon learned with it is far too large.
Here K and the noise are those of the largest likelihood for each epsilon, and the means are
integrated out, which removes the bias of estimating them.

With T = Q diag(d) Q^T and K = U diag(lam) U^T, the entries of Q^T Y U are independent, with
variances d_j lam_i + s^2. T^-1 is tridiagonal, so that Q costs O(T^2).

Departures: 1. where n^2 > T, K is U_r diag(lam) U_r^T + tau I, with the r directions above the
noise (see `signal_rank`): a full covariance would fit the noise, and more of it with a larger
epsilon; 2. a series of more than 1500 rows is cut into independent parts with means of their own;
3. the likelihood falls within an interval by 1 + 2 r (r + 1) / T times half the quantile of a
chi-squared variable, because K is estimated from T rows. The factor was chosen in simulations.

Source: Patterson and Thompson (1971), "Recovery of inter-block information when block sizes are
unequal"; Rasmussen & Williams (2006), Section 2.7, for integrated means.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.linalg import eigh_tridiagonal

from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.gp.kernels import Empirical
from gpbandits_env.gp.learning.priors import MOST_EPSILON
from gpbandits_env.gp.model import Model

# The longest part of a series; the number of values of epsilon, and of those around the best one
# (even, so that none is there twice); the steps of a search, and the gain at which it ends.
LONGEST, RATES, FINE, STEPS, ENOUGH = 1500, 24, 8, 100, 1e-3
# The least of 1 - correlation between two rows, which keeps repeated times apart.
SMALLEST_GAP = 1e-10
# The least noise, as a share of the mean sample variance of an arm. Readings of equal columns, or
# without noise, are the more likely the less noise there is, without a limit.
LEAST_NOISE = 1e-10
TRACY_WIDOM_99 = 2.0234
# Twice the drop in log likelihood: the 95% chi-squared quantile with 1 degree of freedom.
CHI2_95 = 3.841458820694124


class Basis(NamedTuple):
    """The eigenvectors of T for each part of a series, and what they make of a constant.

    Attributes:
        parts: the vectors Q (k, k) of each part of k times.
        spread: (T,) the eigenvalues d of all parts.
        constant: (T,) the entries of Q^T 1.
        starts: the first row of each part.
    """

    parts: tuple[Array, ...]
    spread: Array
    constant: Array
    starts: IntArray

    def rotated(self, values: Array) -> Array:
        """Q^T values for rows (T, n)."""
        rows = np.split(values, self.starts[1:])
        return np.concatenate([q.T @ y for q, y in zip(self.parts, rows, strict=True)])


def markov_basis(times: Array, epsilon: float) -> Basis:
    """The basis of the Markov kernel with this epsilon in (0, 1); O(T^2)."""
    parts, spreads = [], []
    cuts = np.array_split(np.arange(len(times)), -(-len(times) // LONGEST))
    for rows in cuts:
        keep = (1.0 - epsilon) ** np.diff(times[rows])
        fresh = np.maximum(1.0 - keep, SMALLEST_GAP)
        diagonal = np.ones(len(rows))
        diagonal[1:] = 1.0 / fresh
        diagonal[:-1] += keep / fresh
        values, vectors = eigh_tridiagonal(diagonal, -np.sqrt(keep) / fresh)
        parts.append(np.asarray(vectors, dtype=np.float64))
        spreads.append(1.0 / values)
    constant = np.concatenate([vectors.sum(axis=0) for vectors in parts])
    starts = np.array([rows[0] for rows in cuts])
    return Basis(tuple(parts), np.concatenate(spreads), constant, starts)


class _State(NamedTuple):
    """Parameters, and what a step of the search needs: the weights and the residuals."""

    value: float
    vectors: Array
    levels: Array
    noise_var: float
    weights: Array
    residuals: Array
    of_means: Array
    means: Array


# A change of the eigenvalues, of K outside its diagonal, and of the noise.
Step: TypeAlias = tuple[Array, Array, float]


class MomentsSearch:
    """The restricted likelihood of one epsilon after the other, each search from the last result.

    A step is one of Fisher scoring, in closed form because the information about the entries of K
    is diagonal in its eigenvectors; it is shortened until the likelihood rises. Cost: O(T n^2 +
    n^3) a step, and O(T^2 n) for each epsilon.

    Args:
        values: (T, n) readings of all arms.
        mean: the means of the arms (n,) or one number; None if they are unknown.
        covariance: K, (n, n); None if it is unknown.
        noise_var: the noise variance; None if it is unknown.

    Attributes:
        rank: r, the number of directions in which the readings vary by more than noise.
    """

    def __init__(
        self,
        values: Array,
        mean: Array | float | None = None,
        covariance: Array | None = None,
        noise_var: float | None = None,
    ) -> None:
        self._values = values if mean is None else values - mean
        self._mean, self._learns = mean, (covariance is None, noise_var is None)
        noise, self.rank = signal_rank(values)
        count, n = values.shape
        self._free = n if n * n <= count else self.rank
        start = np.cov(values.T).reshape(n, n)
        levels, vectors = np.linalg.eigh(start if covariance is None else covariance)
        levels, self._vectors = np.maximum(levels[::-1], 0.0), vectors[:, ::-1]
        if covariance is None and self._free < n:
            levels[self._free :] = max(float(levels[self._free :].mean()) - noise, 0.0)
        self._levels = levels
        self._least = LEAST_NOISE * float(np.diag(start).mean()) if noise_var is None else 0.0
        self._noise = max(noise, self._least) if noise_var is None else noise_var

    def at(self, basis: Basis) -> float:
        """The largest log restricted likelihood with this basis, up to a constant of the data."""
        rows = basis.rotated(self._values)
        state = self._evaluated(basis, rows, self._vectors, self._levels, self._noise)
        for _ in range(STEPS):
            moved = self._climbed(basis, rows, state) if any(self._learns) else None
            if moved is None:
                break
            gain, state = moved.value - state.value, moved
            if gain < ENOUGH:
                break
        self._vectors, self._levels, self._noise = state.vectors, state.levels, state.noise_var
        self._means = state.means
        return state.value

    @property
    def inflation(self) -> float:
        """How much the unknown entries of K enlarge the likelihood ratio; 1 if K is known."""
        free = 2.0 * self.rank * (self.rank + 1.0) / len(self._values)
        return 1.0 + free if self._learns[0] else 1.0

    def model(self, epsilon: float) -> Model:
        """The model of the last search: its covariance, means and noise, with this epsilon."""
        covariance = (self._vectors * self._levels) @ self._vectors.T
        mean = self._means @ self._vectors.T if self._mean is None else self._mean
        return Model(Empirical(0.5 * (covariance + covariance.T)), self._noise, mean, epsilon)

    def _evaluated(
        self, basis: Basis, rows: Array, vectors: Array, levels: Array, noise_var: float
    ) -> _State:
        weights = 1.0 / (basis.spread[:, None] * levels + noise_var)
        seen = rows @ vectors
        value = 0.5 * float(np.log(weights).sum())
        of_means, means = np.empty((0, len(levels))), np.empty(0)
        if self._mean is None:
            one = basis.constant[:, None]
            of_means = np.add.reduceat(one * one * weights, basis.starts)
            centres = np.add.reduceat(one * weights * seen, basis.starts) / of_means
            sizes = [len(part) for part in basis.parts]
            seen = seen - one * np.repeat(centres, sizes, axis=0)
            value -= 0.5 * float(np.log(of_means).sum())
            means = (of_means * centres).sum(axis=0) / of_means.sum(axis=0)
        value -= 0.5 * float(np.sum(seen * seen * weights))
        return _State(value, vectors, levels, noise_var, weights, seen, of_means, means)

    def _climbed(self, basis: Basis, rows: Array, state: _State) -> _State | None:
        """The state after a step along which the likelihood rises; None if there is none."""
        step, share = self._scoring(basis, state), 1.0
        for _ in range(8):
            moved = self._evaluated(basis, rows, *self._moved(state, step, share))
            if moved.value > state.value:
                return moved
            share *= 0.3
        return None

    def _scoring(self, basis: Basis, state: _State) -> Step:
        """The score times the inverse of the expected information."""
        d, r, weights = basis.spread[:, None], self._free, state.weights
        squares, scores = weights * weights, state.residuals * weights
        in_levels = np.sum(d * scores * scores, axis=0) - np.sum(d * weights, axis=0)
        in_noise = float(np.sum(scores * scores) - weights.sum())
        if self._mean is None:
            one = (basis.constant**2)[:, None] * squares
            in_levels += np.sum(np.add.reduceat(d * one, basis.starts) / state.of_means, axis=0)
            in_noise += float(np.sum(np.add.reduceat(one, basis.starts) / state.of_means))
        information = (d * d * weights[:, :r]).T @ weights
        mixing = ((d * scores[:, :r]).T @ scores) / information
        mixing[:, :r] *= 1.0 - np.eye(r)
        # The eigenvalues below the rank are one parameter, tau.
        of_levels, both = np.sum(d * d * squares, axis=0), np.sum(d * squares, axis=0)
        slope, bend, cross = (_joined(x, r) for x in (in_levels, of_levels, both))
        levels = state.levels[: len(slope)]
        free = ((levels > 1e-9 * state.levels[0]) | (slope > 0.0)) & self._learns[0]
        of_noise = float(squares.sum())
        rest = of_noise - float(np.sum(cross[free] ** 2 / bend[free]))
        change = 0.0
        if self._learns[1] and rest > 1e-6 * of_noise:
            change = (in_noise - float(np.sum(cross[free] * slope[free] / bend[free]))) / rest
            change = change if state.noise_var > self._least else max(change, 0.0)
        return (slope - cross * change) / bend, mixing, change

    def _moved(self, state: _State, step: Step, share: float) -> tuple[Array, Array, float]:
        """The eigenvectors, the eigenvalues and the noise after a share of a step."""
        (in_levels, mixing, in_noise), n, r = step, len(state.levels), self._free
        factor = np.exp(np.clip(share * in_noise / state.noise_var, -1.0, 1.0))
        noise_var = max(float(state.noise_var * factor), self._least)
        if not self._learns[0]:
            return state.vectors, state.levels, noise_var
        inner, levels = np.zeros((n, n)), state.levels.copy()
        levels[:r] += share * in_levels[:r]
        if r < n:
            levels[r:] = max(levels[r] + share * float(in_levels[r]), 0.0)
        inner[:r] = share * mixing
        inner[:r, :r] = 0.5 * (inner[:r, :r] + inner[:r, :r].T)
        inner[r:, :r] = inner[:r, r:].T
        inner[np.diag_indices(n)] = levels
        found, turn = np.linalg.eigh(inner)
        least = float(levels[r]) if r < n else 0.0
        new = np.full(n, least)
        new[:r] = np.maximum(found[::-1][:r], least)
        return state.vectors @ turn[:, ::-1], new, noise_var


def _joined(values: Array, rank: int) -> Array:
    """The values of the first directions, and the sum of those of the others, if there are any."""
    rest = values[rank:].sum(keepdims=True) if rank < len(values) else values[rank:]
    return np.concatenate([values[:rank], rest])


def signal_rank(values: Array) -> tuple[float, int]:
    """A first guess of the noise variance, and the number r of directions above the noise.

    The guess comes from the median eigenvalue of the covariance of differences between rows. A
    direction counts if its sample variance is above the 99% quantile of the largest one of pure
    noise. Rows of pure noise seldom have any, but with about as many arms as rows, or more, the
    guess may be a tenth too low, and some may count.

    Source: Johnstone (2001), "On the distribution of the largest eigenvalue in principal components
    analysis", Theorem 1.1.
    """
    count, n = values.shape
    steps = np.cov(np.diff(values, axis=0).T).reshape(n, n)
    # Differences count as 2 T / 3 rows, and the median of n / T -> g is about 1 - g / 3. Of more
    # than T arms, T - 2 eigenvalues are not 0, whose median was found by simulation.
    median = max(1.0 - 0.5 * n / count, n / count - 0.5)
    noise = 0.5 * float(np.median(np.linalg.eigvalsh(steps)[2 - count :])) / median
    noise = max(noise, float(np.finfo(float).tiny))
    own = np.linalg.eigvalsh(np.cov(values.T).reshape(n, n))
    a, b = np.sqrt(count), np.sqrt(n)
    edge = noise * ((a + b) ** 2 + TRACY_WIDOM_99 * (a + b) * (1.0 / a + 1.0 / b) ** (1.0 / 3.0))
    return noise, int(np.sum(own > edge / count))


@dataclass(frozen=True, eq=False)
class EpsilonProfile:
    """The largest log restricted likelihood at each of some values of epsilon.

    Attributes:
        epsilons: (k,) increasing, from a drift that the series cannot tell from none.
        values: (k,) in nats, up to a constant.
        drop: how far the likelihood falls within the 95% interval.
    """

    epsilons: Array
    values: Array
    drop: float = 0.5 * CHI2_95

    @cached_property
    def _curve(self) -> tuple[Array, Array]:
        """Many values of epsilon, and the likelihood there."""
        rates = np.log(-np.log1p(-self.epsilons))
        fine = np.linspace(rates[0], rates[-1], 100 * len(rates))
        curve = np.asarray(PchipInterpolator(rates, self.values)(fine))
        best = int(np.argmax(self.values))
        if 0 < best < len(rates) - 1:  # a parabola through the three best
            near = slice(best - 1, best + 2)
            bend, slope, top = np.polyfit(rates[near] - rates[best], self.values[near], 2)
            inside = (fine > rates[best - 1]) & (fine < rates[best + 1])
            parabola = np.polyval([bend, slope, top], fine - rates[best])
            curve = np.where(inside, np.maximum(curve, parabola), curve)
        return -np.expm1(-np.exp(fine)), curve

    @property
    def epsilon(self) -> float:
        """The value with the largest likelihood; 0 if that is the smallest one."""
        epsilons, curve = self._curve
        best = int(np.argmax(curve))
        return float(epsilons[best]) if best else 0.0

    def interval(self) -> tuple[float, float]:
        """The 95% likelihood-ratio interval; 0 or 0.999 where the data exclude no end."""
        epsilons, curve = self._curve
        inside = np.flatnonzero(curve >= curve.max() - self.drop)
        low, high = epsilons[inside[[0, -1]]].tolist()
        last = len(epsilons) - 1
        return (low if inside[0] else 0.0), (high if inside[-1] < last else MOST_EPSILON)


def epsilon_profile(times: Array, search: MomentsSearch) -> EpsilonProfile:
    """The profile of a series with these times (T,); the search is left at its most likely value.

    It begins where the series shows about five changes, which is where its sample covariance is of
    the right size, and goes from there to smaller and to larger values of epsilon. More values lie
    around the largest likelihood, which is narrow for a long series.

    Cost: O(T^2 n), and O(T n^2 + n^3) a step, for each of 32 values; about 3 s for 1200 rows of 46
    arms.
    """
    epsilons = epsilons_for(times).tolist()
    found: dict[float, tuple[float, MomentsSearch]] = {}

    def walk(own: MomentsSearch, order: Sequence[float]) -> None:
        for epsilon in order:
            found[epsilon] = own.at(markov_basis(times, epsilon)), copy(own)

    changes = int(np.searchsorted(epsilons, 5.0 / (times[-1] - times[0])))
    middle = min(changes, len(epsilons) - 1)
    walk(search, epsilons[middle : middle + 1])
    walk(copy(search), epsilons[:middle][::-1])
    walk(search, epsilons[middle + 1 :])
    best = int(np.argmax([found[epsilon][0] for epsilon in epsilons]))
    low, high = epsilons[max(best - 1, 0)], epsilons[min(best + 1, len(epsilons) - 1)]
    walk(copy(found[low][1]), _between(low, high, FINE + 2)[1:-1].tolist())
    order = sorted(found)
    curve = np.array([found[epsilon][0] for epsilon in order])
    # The last epsilon, a new function in every row, leaves no noise, and from none there is hardly
    # a way back.
    vars(search).update(vars(found[order[int(np.argmax(curve))]][1]))
    return EpsilonProfile(np.array(order), curve, 0.5 * CHI2_95 * search.inflation)


def epsilons_for(times: Array) -> Array:
    """Values of epsilon from one hundredth of a change over the series to the largest one."""
    most = -np.log1p(-MOST_EPSILON)
    least = min(0.01 / (times[-1] - times[0]), 0.1 * most)
    return _between(-np.expm1(-least), -np.expm1(-most), RATES)


def _between(low: float, high: float, count: int) -> Array:
    """Values of epsilon from low to high whose rates -log(1 - epsilon) have equal ratios."""
    rates = np.geomspace(-np.log1p(-low), -np.log1p(-high), count)
    return np.asarray(-np.expm1(-rates))
