"""A model learned as the data come in: refitted every so many rounds, and recorded.

Assumes: a stationary kernel, one function for all the data it learns from.
Departures: 1. data that fade (`epsilon`) are learned from as if they did not; ``last`` bounds how
far back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpbandits_env.agents.data.log import ObservationLog
from gpbandits_env.arrays import Array, finite_array, flag, listed, positive, whole
from gpbandits_env.domains import Domain
from gpbandits_env.errors import InvalidInput, NotPositiveDefinite, unknown
from gpbandits_env.kernels import Kernel
from gpbandits_env.learning import HyperPriors, InputScaling, Observations, OutputScaling, fit
from gpbandits_env.model import Model
from gpbandits_env.problem import Problem

WHAT = ("lengthscale", "variance", "noise_var")


@dataclass(frozen=True)
class Learning:
    """What to learn and when: the agent's settings ``learn`` and ``standardize``.

    Args:
        every: rounds from one fit to the next.
        what: of "lengthscale", "variance" and "noise_var"; empty to learn none of them.
        starts: of each fit; the first is what was learned before (see `learn`).
        ard: a lengthscale per coordinate.
        standardize: the prior mean and the scale of what is not learned come from the rewards too:
            the model is that of the problem for rewards of mean 0 and variance 1, brought to the
            units of the rewards told. (Rewards themselves are never changed.)
        first: observations before the first fit.
        last: a fit looks at so many last observations, since it costs O(n^3).
    """

    every: int = 10
    what: tuple[str, ...] = WHAT
    starts: int = 2
    ard: bool = False
    standardize: bool = False
    first: int = 5
    last: int = 500

    def __post_init__(self) -> None:
        for name, least in (("every", 1), ("starts", 1), ("first", 2), ("last", 2)):
            whole(getattr(self, name), name, least)
        object.__setattr__(self, "what", listed(self.what, "what to learn"))
        flag(self.ard, "ard")
        for word in self.what:
            if not isinstance(word, str) or word not in WHAT:
                raise unknown("hyper-parameter to learn", word, WHAT)


def learning_for(
    spec: Mapping[str, Any] | Sequence[str] | bool | None, standardize: bool
) -> Learning | None:
    """What the settings ``learn`` and ``standardize`` of an agent say; None for a fixed model.

    Args:
        spec: {"every": 10, "what": ["lengthscale"], ...}, the list of ``what`` alone, True for the
            defaults, or None.
        standardize: see `Learning`.
    Raises:
        InvalidInput: a number out of range, or a spec of another kind.
        UnknownName: a field that is not one of `Learning`.
    """
    standardize = flag(standardize, "standardize")
    if spec is None or spec is False:
        return Learning(what=(), standardize=True) if standardize else None
    if spec is True:
        return Learning(standardize=standardize)
    if isinstance(spec, Mapping):
        known = [name for name in Learning.__dataclass_fields__ if name != "standardize"]
        for name in spec:
            if name not in known:
                raise unknown("field of the setting 'learn'", name, known)
        return Learning(**{**spec, "standardize": standardize})
    if isinstance(spec, Sequence) and not isinstance(spec, str):
        return Learning(what=tuple(spec), standardize=standardize)
    raise InvalidInput(f"learn is a dict, a list of names or true, got {spec!r}")


@dataclass
class Refit:
    """Fits a better model to the observations at times.

    Args:
        learning: what and when.
        problem: whose model is where it starts.
        domain: of the posterior, in whose units the kernel is.

    Attributes:
        learned: one dict a fit: round, observations, lengthscale (a number or a list), variance,
            noise_var, mean, log_likelihood.
        model: the model in use.
    """

    learning: Learning
    problem: Problem
    domain: Domain
    learned: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        self._given = Model(problem.kernel, problem.noise_var, problem.prior_mean)
        if self.learning.what:
            if problem.kernel.radial is None:
                raise InvalidInput(
                    "learn needs a stationary kernel (se, matern), the problem's is a "
                    f"{problem.kernel.type_name!r}"
                )
            if problem.noise_var == 0.0 and "noise_var" not in self.learning.what:
                raise InvalidInput(
                    "there is no likelihood without noise: learn noise_var too, or give a noise_var"
                )
        self._inputs = InputScaling.of(self.domain)
        self.model = self._given
        self._fitted: int | None = None

    def update(self, round_: int, log: ObservationLog) -> bool:
        """Fit a model to what is logged, if it is time for it; whether `model` is a new one.

        Args:
            round_: the number of rounds so far.
            log: in the points of the posterior's domain.
        """
        if not self.due(round_, log.observations):
            return False
        self.fit(round_, *log.last(self.learning.last))
        return True

    def due(self, now: int, observations: int) -> bool:
        """Whether it is time for a fit, after so many rounds and with so many observations."""
        soon = self._fitted is not None and now - self._fitted < self.learning.every
        return not soon and observations >= self.learning.first

    def fit(self, now: int, points: NDArray[Any], rewards: Array) -> Model:
        """The model learned of these data, recorded as that of a round; it is `model` from now on.

        Where these data would make a model of numbers beyond those that a posterior takes (of size
        1e150), the model stays as it is, and nothing is recorded.

        Args:
            now: the round.
            points: (n,) arms or (n, d) points of the domain; the last so many count.
            rewards: (n,).
        """
        last = self.learning.last
        points, rewards = points[-last:], rewards[-last:]
        self._fitted = now
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                model, mean, likelihood = self._learned(points, rewards)
        except (InvalidInput, NotPositiveDefinite):
            return self.model
        self.model = model
        self.learned.append(_record(model, now, len(rewards), mean, likelihood))
        return model

    def _learned(self, points: NDArray[Any], rewards: Array) -> tuple[Model, float, float | None]:
        """A better model, the mean it adds to that of the start, and its likelihood.

        Raises:
            InvalidInput: it has numbers beyond those that a posterior takes.
        """
        learning, given = self.learning, self._given
        base = given.prior_mean
        base_here = base[points] if isinstance(base, np.ndarray) else base
        gap = rewards - base_here
        outputs = OutputScaling.of(gap) if learning.standardize else OutputScaling()
        kernel, noise = given.kernel.scaled(outputs.var), given.noise_var * outputs.var
        mean, likelihood = outputs.mean, None
        if learning.what:
            start = self.model.noise_var if "noise_var" in learning.what else noise
            found = fit(
                Model(self._start(kernel), start),
                Observations(self.domain.points(points), gap),
                learn=(*learning.what, *(("mean",) if learning.standardize else ())),
                priors=HyperPriors.default(self._inputs),
                ard=learning.ard,
                starts=learning.starts,
            )
            kernel, noise = found.model.kernel, found.model.noise_var
            assert isinstance(found.model.prior_mean, float)
            mean = found.model.prior_mean
            likelihood = found.log_likelihood
        level = base + mean if mean else base
        finite_array(level, "prior_mean")
        return Model(kernel, positive(noise, "noise_var", zero=True), level), mean, likelihood

    def _start(self, scaled: Kernel) -> Kernel:
        """What was learned before, and what is never learned as given."""
        before = self.model.kernel
        if "lengthscale" not in self.learning.what:
            before = scaled.with_parameters({"variance": before.parameters()["variance"]})
        if "variance" not in self.learning.what:
            before = before.with_parameters({"variance": scaled.parameters()["variance"]})
        return before

    def clear(self) -> None:
        """Back to the model of the start, with nothing learned."""
        self.model, self._fitted = self._given, None
        self.learned.clear()

    def snapshot(self) -> dict[str, Any]:
        """All that changes, as plain copied data."""
        return {
            "model": self.model.to_dict(),
            "fitted": self._fitted,
            "learned": [dict(record) for record in self.learned],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Back to a snapshot."""
        self.model = Model.from_dict(state["model"])
        self._fitted = None if state["fitted"] is None else int(state["fitted"])
        self.learned[:] = [dict(record) for record in state["learned"]]


def _record(
    model: Model, now: int, observations: int, mean: float, likelihood: float | None
) -> dict[str, Any]:
    kernel = model.kernel
    ell = kernel.radial.lengthscale if kernel.radial else None
    return {
        "round": now,
        "observations": observations,
        "lengthscale": list(ell) if isinstance(ell, tuple) else ell,
        "variance": kernel.parameters().get("variance"),
        "noise_var": model.noise_var,
        "mean": mean,
        "log_likelihood": likelihood,
    }
