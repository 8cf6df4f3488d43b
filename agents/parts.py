"""What an algorithm is composed of, and the settings that follow from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.agents.acquisitions.functions import Acquisition
from gpbandits_env.agents.acquisitions.rules import AcquisitionRule
from gpbandits_env.agents.batch import Batch
from gpbandits_env.agents.data.compression import Budget
from gpbandits_env.agents.data.keep import Keep, Restart, Since, Window, drift_of
from gpbandits_env.agents.data.learning import Learning
from gpbandits_env.agents.embeddings.action_map import (
    ActionMap,
    action_map_for,
    box_of,
    check_own_search,
)
from gpbandits_env.agents.search import Search, SearchSpec, search_for
from gpbandits_env.arrays import Plain, Settings
from gpbandits_env.errors import InvalidInput, unknown
from gpbandits_env.gp.posterior import posterior_kind
from gpbandits_env.gp.temporal import TemporalKernel
from gpbandits_env.problem import Problem

# A Nystrom posterior and a temporal kernel need arms. In a box, this is the default number of
# candidates.
USUAL_CANDIDATES = 1024
# The value of epsilon before the first fit, if it is learned and the problem does not state it.
FIRST_EPSILON = 0.01
# An acquisition, or what makes one; the arguments that it has by name are settings.
Scored: TypeAlias = AcquisitionRule | Acquisition | Callable[..., Any] | None


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What an algorithm is composed of, and the defaults of the settings of all of them.

    The first four are the algorithm's own. Each may be a `functools.partial`; the arguments that it
    states by name are settings of the agent too, with these values as defaults.

    Args:
        acquisition: the score of actions: an acquisition, or a rule that makes one in each round;
            None for an algorithm that draws posterior samples instead.
        keep: what data count, by a rule of the algorithm: a function of no other arguments.
        action_map: for an algorithm whose posterior is on another domain than the problem's, or
            whose search follows an embedding: a function of the problem, the generator and the
            `Keep`.
        own_search: for an algorithm with a search of its own: a function of the problem, the
            generator, the `Keep` and the setting ``search``.
        posterior: the representation of the posterior. On arms "auto" takes the cheaper of "rows"
            (dense) and "coefficients". "nystrom", or {"type": "nystrom", "qbar": 5.0}, is the
            posterior of BKB: after each round its dictionary is redrawn and includes an arm with n
            pulls with probability min(1, qbar sigma~^2 n); with "per": "pull", each pull with
            probability min(1, qbar sigma~^2). It does not support epsilon, and in a box it needs
            candidates, by default 1024.
        epsilon: if given, the correlation with past data decays at this rate (bogunovic2016, eqs.
            (7)-(8)).
        temporal: if given, the covariance in time, as a dict (see `temporal`): {"type": "periodic",
            "period": 24.0}, ... Rounds are one unit of time apart. A Markov kernel is epsilon. In a
            box the others need candidates, by default 1024.
        discount: if given, in (0, 1]: an observation of age j counts like one with the noise
            variance s^2 / discount^j (see `WGPUCB`). In a box it needs candidates, by default 1024.
        reset_every: if given, all data are discarded after each block of this many rounds.
        window: if given, only the data of this many last rounds are used.
        compress: if given, the posterior uses only informative observations (see
            `data.compression`). A rule as a dict, {"type": "constant", "epsilon": 1e-4} or
            {"type": "horizon", "alpha": 0.5}, or a number, which is a constant epsilon. Other
            observations count as a round but are dropped, also for a window and for fits.
        candidates: in a box, the number of points to choose among; by default the whole box is
            searched.
        search: how a box is searched, as a dict (see `search`).
        batch: the batch rule, by name or as a dict (see `batch`). By default actions are chosen
            one after the other by hallucinated variance; without an acquisition, each maximizes
            its own posterior sample.
        learn: if given, hyperparameters are fitted to the rewards at intervals:
            {"every": 10, "what": ["lengthscale", "variance", "noise_var", "epsilon"], ...}, or
            True for those of the kernel and the noise variance (see `data.learning`). `learned`
            lists the fits.
        standardize: whether the mean and the scale of the rewards are unknown. The problem's model
            is then that of rewards with mean 0 and variance 1.
    """

    acquisition: Scored = None
    keep: Callable[..., Keep] | None = None
    action_map: Callable[..., ActionMap] | None = None
    own_search: Callable[..., Search] | None = None
    posterior: Settings | str = "auto"
    epsilon: float | None = None
    temporal: TemporalKernel | Settings | partial[Any] | None = None
    discount: float | None = None
    reset_every: int | None = None
    window: int | None = None
    compress: Settings | Budget | float | None = None
    candidates: int | None = None
    search: SearchSpec = None
    batch: Batch | None = None
    learn: Learning | Settings | Sequence[str] | bool | None = None
    standardize: bool = False

    @property
    def settings(self) -> Plain:
        """The settings of an algorithm with these parts, with their defaults."""
        found: Plain = {}
        for field in fields(self):
            part = getattr(self, field.name)
            if isinstance(part, partial):
                found = part.keywords | found
            if field.name not in OWN:
                found.setdefault(field.name, None if isinstance(part, partial) else part)
        return found

    def given(self, settings: Settings, agent: str) -> "Parts":
        """The parts with some settings.

        Raises:
            UnknownName: the algorithm has no such setting.
        """
        known = self.settings
        changed: Plain = {}
        for name, value in settings.items():
            if name not in known:
                raise unknown(f"setting of the agent {agent!r}", name, list(known))
            if isinstance(getattr(self, name, None), partial) and name not in OWN:
                if value is not None:
                    raise InvalidInput(f"{agent} has a {name} of its own: leave out {name}")
                continue
            for part in (*OWN, "temporal"):
                made = changed.get(part, getattr(self, part))
                if isinstance(made, partial) and name in made.keywords:
                    changed[part] = partial(made, **{name: value})
                    break
            else:
                changed[name] = value
        return replace(self, **changed)

    def drift(self, problem: Problem, learning: Learning | None) -> tuple[float | None, Any]:
        """The rate of a Markov drift and the temporal kernel, each None if it is not used."""
        temporal = self.temporal() if isinstance(self.temporal, partial) else self.temporal
        epsilon, temporal = drift_of(self.epsilon, temporal)
        if learning is not None and learning.drifts and epsilon is None:
            epsilon = FIRST_EPSILON if problem.epsilon is None else problem.epsilon
        return epsilon, temporal

    def keep_for(self, epsilon: float | None, temporal: object, learning: Learning | None) -> Keep:
        """What counts by these settings.

        Raises:
            InvalidInput: two ways to forget are given, or a number is out of range.
        """
        given = {
            "epsilon": epsilon,
            "reset_every": self.reset_every,
            "window": self.window,
            "temporal": temporal,
            "discount": self.discount,
        }
        named = [name for name, value in given.items() if value is not None]
        made = None if self.keep is None else self.keep()
        if made is not None:
            drifts = learning is not None and learning.drifts
            taken = () if drifts or not made.ages else ("epsilon", "temporal", "discount")
            if not set(named) <= set(taken):
                refused = [name for name in given if name not in taken]
                raise InvalidInput(
                    f"this agent forgets by a rule of its own: leave out {', '.join(refused)}, and "
                    "do not learn epsilon"
                )
        if len(named) > 1:
            raise InvalidInput(f"give at most one of {', '.join(given)}, got {' and '.join(named)}")
        if made is not None:
            return made
        if self.window is not None:
            return Window(self.window)
        if self.reset_every is not None:
            return Restart(self.reset_every)
        return Since() if learning is not None and learning.drifts else Keep()

    def kind_for(self, epsilon: float | None, temporal: object) -> Plain:
        """The representation of the posterior; see `posterior_kind`."""
        drifts = {"epsilon": epsilon, "temporal": temporal, "discount": self.discount}
        return posterior_kind(self.posterior, [k for k, v in drifts.items() if v is not None])

    @property
    def is_local(self) -> bool:
        """Whether the algorithm has a map or a search of its own, which needs a box."""
        return self.action_map is not None or self.own_search is not None

    def map_for(
        self, problem: Problem, rng: np.random.Generator, keep: Keep, arms: bool
    ) -> ActionMap:
        """The map between actions and the posterior, which needs arms if ``arms`` says so."""
        candidates = self.candidates
        if candidates is None and arms:
            candidates = USUAL_CANDIDATES
        if not self.is_local:
            return action_map_for(problem, candidates, rng)
        box_of(problem)
        check_own_search(problem, candidates)
        return (
            ActionMap(problem) if self.action_map is None else self.action_map(problem, rng, keep)
        )

    def search_for(
        self, problem: Problem, mapped: ActionMap, rng: np.random.Generator, keep: Keep
    ) -> Search:
        """The search of the posterior's domain."""
        if self.own_search is not None:
            return self.own_search(problem, rng, keep, self.search)
        actions = None if problem.contexts is None else mapped.shown
        return search_for(mapped.inner.domain, self.search, rng, mapped.through, actions)

    def rule(self) -> AcquisitionRule | Acquisition | None:
        """The acquisition with its settings."""
        made: Any = self.acquisition
        return made() if isinstance(made, partial) else made


# The parts of `Parts` that are an algorithm's own.
OWN = ("acquisition", "keep", "action_map", "own_search")
