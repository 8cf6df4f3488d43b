"""Fits of the model to the data at intervals.

Assumes: all data of a fit come from one function; if epsilon is learned, the function drifts.
Departures: 1. unless epsilon is learned too, a fit of the kernel ignores that the correlation with
past data changes, and ``last`` limits the data that it uses; 2. if epsilon is learned, data older
than ``window`` are dropped; 3. a temporal kernel is learned after the kernel in space, with a prior
around the given parameters, and all data are used under the new one.
"""

import numpy as np

from gpbandits_env.agents.data.learning import PRIORS, Learning
from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.arrays import Array, Plain, Points, State
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.learning import (
    InputScaling,
    Observations,
    OutputScaling,
    TimeFit,
    Winsorizer,
    fit,
    groups_of,
    learnable,
    learnable_in_time,
)
from gpbandits_env.gp.model import Model

# The least known noise variance, relative to the variance of the rewards.
LEAST_NOISE = 1e-6
# The standard deviation of the prior of the logarithm of a parameter of time, around that given.
PRIOR_SD = 1.0
# Up to FEW observations every fit has all of its starts, and above MOST_FRESH none has.
FEW, MOST_FRESH = 50, 250


class Refit:
    """Fits the model to the observations in the rounds that `Learning` states.

    Args:
        learning: what is learned and when.
        given: the model before the first fit.
        domain: the domain of the posterior; the kernel is in its units.
        reward_sd: the standard deviation of the rewards for which the model is stated, by default
            1; it matters only if rewards are standardized.

    Attributes:
        learned: one dict per fit: round, observations, lengthscale (a number or a list; for kernels
            without one, their parameters by name), variance, noise_var, mean, log_likelihood, and
            epsilon or the parameters of the temporal kernel if they are learned.
        model: the model in use.
        tails: how rewards are drawn in; None if they are not, or before the first fit.
    Raises:
        UnknownName: the model does not have a hyperparameter that is to be learned.
        InvalidInput: the noise variance is 0 and is not learned, or the kernel cannot be scaled.
    """

    tails: Winsorizer | None
    _fitted: int | None  # the round of the last fit
    _known: int  # the prior observations since then
    _seen: int  # the observations then
    _fresh: int  # the observations at the last fit with several starts

    def __init__(
        self, learning: Learning, given: Model, domain: Domain, reward_sd: float | None = None
    ) -> None:
        self.learning, self.domain = learning, domain
        self._reward_var = 1.0 if reward_sd is None or not learning.standardize else reward_sd**2
        self._names = learnable(given.kernel, learning.of_space)
        if learning.of_time:
            if given.temporal is None:
                raise InvalidInput("learning temporal needs a temporal kernel to start from")
            learnable_in_time(given.temporal, learning.of_time)
        silent = given.noise_var == 0.0 and not learning.known_noise
        needs_noise = bool(learning.of_time) or (self._names and "noise_var" not in self._names)
        if needs_noise and silent:
            raise InvalidInput(
                f"cannot learn {' and '.join(learning.what)} without noise: give a noise_var above "
                "0, or learn noise_var too"
            )
        self._given = given
        inputs = InputScaling.of(domain)
        # Errors that every fit would raise.
        given.kernel.scaled(1.0)
        if learning.ard is not False:
            groups_of(learning.ard, given.kernel, self._names, len(inputs.low))
        priors = PRIORS[learning.prior](inputs, learning.spread)
        self._priors = priors if self._names - {"epsilon"} else None
        self.learned: list[Plain] = []
        self.clear()

    @property
    def keeps_prior(self) -> bool:
        """Whether epsilon is all that fits change."""
        learning = self.learning
        return self._priors is None and not learning.standardize and not learning.of_time

    def update(self, round_: int, log: ObservationLog, known: int = 0) -> bool:
        """Fit the model to the log if a fit is due; return whether `model` changed.

        Args:
            round_: the number of rounds so far.
            log: all observations.
            known: the number of new observations that are prior data.
        """
        self._known += known
        if not self.learning.drifts:
            due = self.due(round_, log.observations)
            if due:
                self.fit(round_, *log.gathered(), self._starts(log))
                self._seen = log.observations
            return due
        ends = np.cumsum([0.0, *(entry.elapsed for entry in log.entries)]).tolist()
        timed = [(e, t) for e, t in zip(log.entries, ends, strict=False) if e.round]
        rounds = [entry for entry, _ in timed[-self.learning.window :]]
        # Rounds without an informative observation carry no information on correlations.
        counts = [len(entry.rewards) for entry in rounds]
        if round_ % self.learning.every or np.count_nonzero(counts) < 2:
            return False
        points = np.concatenate([entry.points for entry in rounds])
        rewards = np.concatenate([entry.rewards for entry in rounds])
        times = np.repeat([time for _, time in timed[-self.learning.window :]], counts)
        self.fit(round_, points, rewards, times)
        log.keep_rounds(self.learning.window, self.model.epsilon)
        return True

    def drawn_in(self, rewards: Array) -> Array:
        """The rewards (n,) for the posterior."""
        return rewards if self.tails is None else self.tails(rewards)

    def due(self, now: int, observations: int) -> bool:
        """Whether a fit is due after ``now`` rounds and with that many observations."""
        passed = None if self._fitted is None else now - self._fitted + self._known
        soon = passed is not None and passed < self.learning.every
        # There may be fewer than at the last fit: an embedding of the next stage starts anew.
        soon |= self._seen <= observations < (1.0 + self.learning.growth) * self._seen
        return not soon and observations >= self.learning.first

    def _starts(self, log: ObservationLog) -> int:
        """The number of starts of a fit to the log; 0 for a short search from the last model."""
        few = log.observations <= MOST_FRESH or not self._fresh
        doubled = few and log.observations >= 2 * self._fresh
        if not self.learning.growth or doubled or log.observations <= FEW:
            self._fresh = log.observations
            return self.learning.starts
        return 0

    def fit(
        self,
        now: int,
        points: Points,
        rewards: Array,
        times: Array | None = None,
        noise_var: Array | None = None,
        starts: int | None = None,
    ) -> Model:
        """Fit `model` to these data, and record it as the model of a round.

        Unless epsilon is learned, only the ``last`` observations are used.

        The model is kept, and nothing is recorded, if the new one has a number above the limit of a
        posterior (1e150).

        Args:
            now: the round.
            points: (n,) arms or (n, d) points of the domain.
            rewards: (n,).
            times: (n,) if epsilon or a temporal kernel is learned.
            noise_var: (n,) the variances of the noise where they are known, NaN elsewhere; None if
                none is. If all are known, that of the model is their median.
            starts: the number of starts; by default that of `Learning`.
        """
        times = np.zeros(len(rewards)) if times is None else times
        if not self.learning.drifts:
            last = slice(-self.learning.last, None)
            points, rewards, times = points[last], rewards[last], times[last]
            noise_var = None if noise_var is None else noise_var[last]
        self._fitted, self._known = now, 0
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                self.model, mean, likelihood = self._learned(
                    points,
                    rewards,
                    times,
                    self.learning.starts if starts is None else starts,
                    noise_var,
                )
        except (InvalidInput, NotPositiveDefinite):
            return self.model
        self.learned.append(
            {"round": now, "observations": len(rewards)}
            | _numbers(self.model.kernel)
            | {"noise_var": self.model.noise_var, "mean": mean, "log_likelihood": likelihood}
            | ({"epsilon": self.model.epsilon} if self.learning.drifts else {})
            | self._numbers_in_time()
        )
        return self.model

    def _learned(
        self,
        points: Points,
        rewards: Array,
        times: Array,
        starts: int,
        noise_var: Array | None = None,
    ) -> tuple[Model, float, float | None]:
        """The fitted model, the mean that it adds to the given mean, and its log-likelihood."""
        learning, given = self.learning, self._given
        base = given.prior_mean
        if learning.robust:
            self.tails = Winsorizer.of(rewards)
            rewards = self.tails(rewards)
        gap = rewards - (base[points] if isinstance(base, np.ndarray) else base)
        outputs = OutputScaling.of(gap) if learning.standardize else OutputScaling()
        factor = outputs.var / self._reward_var
        kernel, noise = given.kernel.scaled(factor), given.noise_var * factor
        if learning.known_noise:
            noise = max(given.noise_var, LEAST_NOISE * outputs.var)
        of_space, names = learning.of_space, self._names
        if noise_var is not None and not np.isnan(noise_var).any():
            noise = max(float(np.median(noise_var)), LEAST_NOISE * outputs.var)
            of_space, names = tuple(w for w in of_space if w != "noise_var"), names - {"noise_var"}
        if noise_var is not None:
            noise_var = np.maximum(noise_var, LEAST_NOISE * outputs.var)
        mean, epsilon, likelihood = outputs.mean, given.epsilon, None
        if names:
            # The fit starts from the last model; parameters that are not learned are as given.
            own = self.model.kernel.parameters()
            kept = {n: v for n, v in kernel.parameters().items() if n in own.keys() - names}
            found = fit(
                Model(
                    self.model.kernel.with_parameters(kept),
                    self.model.noise_var if "noise_var" in names else noise,
                ),
                Observations(self.domain.points(points), gap, times, noise_var),
                learn=(*of_space, *(("mean",) if learning.standardize else ())),
                priors=self._priors,
                ard=learning.ard,
                starts=starts,
            )
            kernel, noise = found.model.kernel, found.model.noise_var
            likelihood = found.log_likelihood
            mean = float(found.model.prior_mean)
            epsilon = found.model.epsilon if learning.drifts else epsilon
        temporal = given.temporal
        if learning.of_time:
            # The kernel in space is that of all rewards as one function; time is learned after it.
            start = Model(kernel, noise, temporal=self._given.temporal)
            data = Observations(self.domain.points(points), gap - mean, times)
            search = TimeFit(start, data, learning.of_time, prior_sd=PRIOR_SD)
            found_in_time, likelihood = search.best()
            noise, temporal = found_in_time.noise_var, found_in_time.temporal
        model = Model(kernel, noise, base + mean if mean else base, epsilon, temporal)
        return model, mean, likelihood

    def _numbers_in_time(self) -> dict[str, float]:
        """The parameters of the temporal kernel, for a record, if they are learned."""
        temporal = self.model.temporal
        return temporal.parameters() if temporal is not None and self.learning.of_time else {}

    def clear(self) -> None:
        """Return to the given model, and drop the record of fits."""
        self.model, self.tails, self._fitted = self._given, None, None
        self._known, self._seen, self._fresh = 0, 0, 0
        self.learned.clear()

    def snapshot(self) -> State:
        """The state, as a copy in plain data."""
        return {
            "model": self.model.to_dict(),
            "fitted": self._fitted,
            "known": self._known,
            "seen": self._seen,
            "fresh": self._fresh,
            "tails": None if self.tails is None else [self.tails.centre, self.tails.sd],
            "learned": [dict(record) for record in self.learned],
        }

    def restore(self, state: State) -> None:
        """Return to the state of a snapshot."""
        self.model = Model.from_dict(state["model"])
        self._fitted = None if state["fitted"] is None else int(state["fitted"])
        self._known, self._seen = int(state["known"]), int(state["seen"])
        self._fresh, tails = int(state["fresh"]), state["tails"]
        self.tails = None if tails is None else Winsorizer(*map(float, tails))
        self.learned[:] = [dict(record) for record in state["learned"]]


def _numbers(kernel: Kernel) -> Plain:
    """A kernel's hyper-parameters, for a record."""
    if kernel.radial is None:
        return dict(kernel.parameters())
    ell = kernel.radial.lengthscale
    more = {n: v for n, v in kernel.parameters().items() if not n.startswith("lengthscale")}
    return {"lengthscale": list(ell) if isinstance(ell, tuple) else ell} | more
