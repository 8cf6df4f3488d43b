"""Fits of the model to the data at intervals.

Assumes: all data of a fit come from one function; if epsilon is learned, the function drifts.
Departures: 1. with an epsilon that is not learned too, a fit of the kernel ignores that the
correlation with past data changes, and ``last`` limits the data that it uses; 2. if epsilon is
learned, data older than ``window`` are dropped; 3. what is learned of a temporal kernel has a prior
around the given parameters, and all data are used under the new one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.data.columns import Data
from gpbandits_env.agents.data.keep import Keep
from gpbandits_env.agents.data.part import Observed, Part
from gpbandits_env.agents.embeddings.action_map import ActionMap
from gpbandits_env.arrays import Array, Plain, State
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.learning import Estimator, Learning, Winsorizer
from gpbandits_env.gp.model import Model

# With `Learning.growth`, fits to at most FEW observations have all of their starts, and of those to
# more than MOST_FRESH only the first of a model has.
FEW, MOST_FRESH = 50, 250


class Refit(Part):
    """Fits the model to the observations in the rounds that `Learning` states.

    Args:
        learning: what is learned and when.
        given: the model before the first fit.
        data: the data; those before the present stage are not used.
        keep: which of them count. If epsilon is learned, a fit moves its start.
        mapped: the map from their points to those of the posterior, and the problem there; its
            ``reward_sd`` matters if rewards are standardized.

    Attributes:
        learned: one dict per fit: round, observations, lengthscale (a number or a list; for kernels
            without one, their parameters by name), variance, noise_var, mean, log_likelihood, and
            epsilon or the parameters of the temporal kernel ("temporal.NAME") if they are learned.
        model: the model in use.
        winsorizer: how rewards are winsorized; None if they are not, or before the first fit.
    Raises:
        UnknownName: the model does not have a hyperparameter that is to be learned.
        InvalidInput: the noise variance is 0 and is not learned, or the kernel cannot be scaled.
    """

    # The round of the last fit, -1 before it; the prior observations since then, the observations
    # then, and at the last fit with several starts; and the stage of the data.
    REMEMBERS = ("_fitted", "_known", "_seen", "_fresh", "_stage", "learned")

    winsorizer: Winsorizer | None

    def __init__(
        self, learning: Learning, given: Model, data: Data, keep: Keep, mapped: ActionMap
    ) -> None:
        self._given, self._data, self._keep, self._mapped = given, data, keep, mapped
        self.learn_by(learning)
        self.begin()

    def learn_by(self, learning: Learning) -> None:
        """State what is learned and when."""
        self.learning = learning
        inner = self._mapped.inner
        self._estimator = Estimator(self._given, inner.domain, learning, inner.reward_sd or 1.0)

    def begin(self) -> None:
        """Return to the given model, and drop the record of fits."""
        self.model, self.winsorizer, self._fitted = self._given, None, -1
        self._known, self._seen, self._fresh, self._stage = 0, 0, 0, 0
        self.learned: list[Plain] = []

    def observe(self, seen: Observed, before: Any) -> None:
        """Fit the model to the data if a fit is due."""
        if seen.source == "late":
            self._repeat(seen.each_round)
            return
        if self._keep.stages != self._stage:
            self.begin()
            self._stage = self._keep.stages
        if seen.source == "prior":
            self._known += len(seen.rewards)
        rows = np.flatnonzero(self._keep.usable(self._data))
        if self.learning.drifts:
            self._fit_drift(seen.round, rows)
        elif self.due(seen.round, len(rows)):
            self._fit(seen.round, rows, self._starts(len(rows)))
            self._seen = len(rows)

    def _repeat(self, late: Array) -> None:
        """Repeat the last fit with late rewards of rounds (k,) before it, if it needs no search.

        Then only the mean and the scale of the rewards are estimated.
        """
        now, known = self._fitted, self._known
        if self._estimator.searches or not (late <= now).any():
            return
        if self.learned and self.learned[-1]["round"] == now:
            self.learned.pop()
        usable = self._keep.usable(self._data)
        self._fit(now, np.flatnonzero(usable & (self._data.rounds < now + 1.0)), 1)
        self._known = known

    def _fit_drift(self, round_: int, rows: NDArray[np.intp]) -> None:
        """Fit epsilon and what else is learned to the last rounds if a fit is due."""
        keep, rounds = self._keep, self._data.rounds
        if round_ % self.learning.every:
            return
        first = max(round_ - self.learning.window + 1.0, 1.0, keep.stage)
        # Prior data may belong to no round.
        rows = rows[(rounds[rows] >= first) & (rounds[rows] % 1.0 == 0.0)]
        rows = rows[np.argsort(rounds[rows], kind="stable")]
        # One round carries no information on correlations in time.
        if len(np.unique(rounds[rows])) < 2:
            return
        self._fit(round_, rows, self.learning.starts)
        keep.start = max(keep.start, first)

    def due(self, now: int, observations: int) -> bool:
        """Whether a fit is due after ``now`` rounds and with that many observations."""
        soon = self._fitted >= 0 and now - self._fitted + self._known < self.learning.every
        # There may be fewer than at the last fit: an embedding of the next stage starts anew.
        soon |= self._seen <= observations < (1.0 + self.learning.growth) * self._seen
        return not soon and observations >= self.learning.first

    def _starts(self, observations: int) -> int:
        """The number of starts of a fit; 0 for a short search from the last model."""
        doubled = not self._fresh or 2 * self._fresh <= observations <= MOST_FRESH
        if not self.learning.growth or doubled or observations <= FEW:
            self._fresh = observations
            return self.learning.starts
        return 0

    def _fit(self, now: int, rows: NDArray[np.intp], starts: int) -> None:
        """Fit `model` to rows of the data, and record it as the model of a round.

        Unless epsilon is learned, only the ``last`` of them are used. The model is kept, and
        nothing is recorded, if the new one has a number above the limit of a posterior (1e150).
        """
        data, learning = self._data, self.learning
        rows = rows if learning.drifts else rows[-learning.last :]
        points, rewards = self._mapped.coordinates(data.points[rows]), data.rewards[rows]
        times = data.times[rows] - min(0.0, float(data.times.min()))  # some kernels begin at 0
        noise = data.noise_of(rows)
        self._fitted, self._known = now, 0
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._estimator.fit(self.model, points, rewards, times, noise, starts)
        except (InvalidInput, NotPositiveDefinite):
            return
        model = self.model = found.model
        self.winsorizer = found.winsorizer
        in_time: Plain = {"epsilon": model.epsilon} if learning.drifts else {}
        if model.temporal is not None and learning.learns_time:
            in_time = {f"temporal.{name}": v for name, v in model.temporal.parameters().items()}
        of_kernel = {"round": now, "observations": len(rewards)} | _numbers(model.kernel)
        rest: Plain = {"noise_var": model.noise_var, "mean": found.mean}
        rest["log_likelihood"] = found.log_likelihood
        self.learned.append(of_kernel | rest | in_time)

    def state(self) -> State:
        winsorizer = self.winsorizer and [self.winsorizer.centre, self.winsorizer.sd]
        return {**super().state(), "model": self.model.to_dict(), "winsorizer": winsorizer}

    def restore(self, state: State) -> None:
        super().restore(state)
        self.model, winsorizer = Model(**state["model"]), state["winsorizer"]
        self.winsorizer = None if winsorizer is None else Winsorizer(*map(float, winsorizer))


def _numbers(kernel: Kernel) -> Plain:
    """A kernel's hyper-parameters, for a record."""
    if kernel.radial is None:
        return dict(kernel.parameters())
    ell = kernel.radial.lengthscale
    more = {n: v for n, v in kernel.parameters().items() if not n.startswith("lengthscale")}
    return {"lengthscale": list(ell) if isinstance(ell, tuple) else ell} | more
