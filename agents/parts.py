"""What an algorithm is composed of, and the settings that follow from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from gpbandits_env.agents.acquisitions.rules import AcquisitionRule, acquisition_for
from gpbandits_env.agents.batch import Batch, rule_for
from gpbandits_env.agents.batch.rule import BatchRule
from gpbandits_env.agents.data.keep import Keep, Restart, Since, Window, drift_of
from gpbandits_env.agents.embeddings.action_map import ActionMap, action_map_for, box_of
from gpbandits_env.agents.search import Search, SearchSpec, search_for
from gpbandits_env.arrays import Plain, Settings, is_number, share
from gpbandits_env.errors import InvalidInput, one_of, shown
from gpbandits_env.gp.learning import Learning, learning_for
from gpbandits_env.gp.model import Model
from gpbandits_env.gp.posterior import Posterior, posterior_for, posterior_kind
from gpbandits_env.gp.temporal import TemporalKernel, check_in_time
from gpbandits_env.problem import Problem

# The settings by which an agent forgets, and those of them by which data age.
FORGETTING = ("epsilon", "reset_every", "window", "temporal", "discount")
AGEING = ("epsilon", "temporal", "discount")
# A Nystrom posterior and a discount need arms. In a box, this is the default number of candidates.
USUAL_CANDIDATES = 1024
# The value of epsilon before the first fit, if it is learned and the problem does not state it.
FIRST_EPSILON = 0.01
# An acquisition, or what makes one; the arguments that it has by name are settings.
Scored: TypeAlias = AcquisitionRule | Callable[..., Any] | None


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What an algorithm is composed of, and the defaults of the settings of all of them.

    The first four are the algorithm's own, as `keep` may be. Each may be a `functools.partial`;
    the arguments that it states by name are settings of the agent too, with these values as
    defaults.

    Args:
        acquisition: the score of actions: an acquisition, or a rule that makes one in each round;
            None for an algorithm that draws posterior samples instead.
        action_map: for an algorithm whose posterior is on another domain than the problem's, or
            whose search follows an embedding: a function of the problem, the generator and the
            `Keep`.
        own_search: for an algorithm with a search of its own: a function of the problem, the
            generator, the `Keep` and the setting ``search``.
        repeats: for an algorithm that plays its choice for several rounds: a function of the batch
            size that makes a `Part` whose method `planned` returns the points of the next round, or
            None for a new choice. It asks for no context.
        posterior: the representation of the posterior. On arms "auto" takes the cheaper of "rows"
            (dense) and "coefficients". "nystrom", or {"type": "nystrom", "qbar": 5.0}, is the
            posterior of BKB: after each round its dictionary is redrawn and includes an arm with n
            pulls with probability min(1, qbar sigma~^2 n); with "per": "pull", each pull with
            probability min(1, qbar sigma~^2). It does not support epsilon, temporal and discount,
            and in a box it needs candidates, by default 1024.
        epsilon: if given, the correlation with past data decays at this rate (bogunovic2016, eqs.
            (7)-(8)).
        temporal: if given, the covariance in time, as a dict (see `temporal`): {"type": "periodic",
            "period": 24.0}, ... Rounds are one unit of time apart. A Markov kernel is epsilon.
        discount: if given, in (0, 1]: an observation of age j counts like one with the noise
            variance s^2 / discount^j (see `WGPUCB`). In a box it needs candidates, by default 1024.
        keep: if given, what makes a `Keep` of your own, which says what data count.
        reset_every: if given, all data are discarded after each block of this many rounds.
        window: if given, only the data of this many last rounds are used.
        compress: if given, the posterior uses only informative observations: a number, the epsilon
            of the test, or a dict, {"epsilon": 1e-4, "noise_var": 0.1} or {"alpha": 0.5} for one
            that depends on the horizon (see `data.compression`). Other observations count as a
            round but are dropped, also for a window and for fits.
        candidates: in a box, the number of points to choose among; by default the whole box is
            searched.
        search: how a box is searched, by name or as a dict (see `search`).
        batch: the batch rule, by name or as a dict (see `batch`). By default actions are chosen
            one after the other by hallucinated variance; without an acquisition, each maximizes
            its own posterior sample.
        learn: if given, hyperparameters are fitted to the rewards at intervals:
            {"every": 10, "what": ["lengthscale", "variance", "noise_var", "epsilon"], ...}, only
            their names, or True for those of the kernel and the noise variance (see `Learning`).
            `learned` lists the fits.
        standardize: whether the mean and the scale of the rewards are unknown. The problem's model
            is then that of rewards with mean 0 and variance 1.
    """

    acquisition: Scored = None
    action_map: Callable[..., ActionMap] | None = None
    own_search: Callable[..., Search] | None = None
    repeats: Callable[..., Any] | None = None
    posterior: Settings | str = "auto"
    epsilon: float | None = None
    temporal: TemporalKernel | Settings | partial[Any] | None = None
    discount: float | None = None
    keep: Callable[..., Keep] | None = None
    reset_every: int | None = None
    window: int | None = None
    compress: Settings | float | None = None
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
            InvalidInput: two parts have a setting of the same name.
            UnknownName: the algorithm has no such setting.
        """
        known, made = self.settings, {f.name: getattr(self, f.name) for f in fields(self)}
        of: dict[str, str] = {}
        for part, own in made.items():
            for name in getattr(own, "keywords", ()):
                if name in of:
                    raise InvalidInput(
                        f"{agent}: {of[name]} and {part} both have the setting {name}: rename one"
                    )
                of[name] = part
        for name, value in settings.items():
            one_of(name, known, f"setting of the agent {agent!r}")
            if name in of:
                made[of[name]] = partial(made[of[name]], **{name: value})
            elif not isinstance(made[name], partial):
                made[name] = value
            elif value is not None:
                raise InvalidInput(f"{agent} has a {name} of its own: leave out {name}")
        return Parts(**made)

    def resolved(self, problem: Problem) -> "Parts":
        """The same with the drift and what is learned as they are used for a problem."""
        temporal = self.temporal() if isinstance(self.temporal, partial) else self.temporal
        epsilon, temporal = drift_of(self.epsilon, temporal)
        learning = learning_for(self.learn, self.standardize)
        if learning is not None and learning.drifts and epsilon is None:
            epsilon = FIRST_EPSILON if problem.epsilon is None else problem.epsilon
        return replace(self, epsilon=epsilon, temporal=temporal, learn=learning)

    def _stated(self, *names: str) -> list[str]:
        return [name for name in names if getattr(self, name) is not None]

    def keep_for(self) -> Keep:
        """What counts by these settings.

        Raises:
            InvalidInput: two ways to forget are given, or a number is out of range.
        """
        named = self._stated(*FORGETTING)
        learns = isinstance(self.learn, Learning) and self.learn.drifts
        if self.keep is not None:
            try:
                made = self.keep() if callable(self.keep) else None
            except TypeError as error:
                raise InvalidInput(f"keep is called without arguments: {error}") from error
            if not isinstance(made, Keep):
                raise InvalidInput(
                    f"keep must make a Keep, got {shown(self.keep)}: give a class derived from it, "
                    "or window or reset_every"
                )
            if not is_number(first := made.first(1)):
                raise InvalidInput(f"{type(made).__name__}.first must return a number, got {first}")
            taken = () if learns or not made.masks else AGEING
            if not set(named) <= set(taken):
                refused = [name for name in FORGETTING if name not in taken]
                raise InvalidInput(
                    f"this agent forgets by a rule of its own: leave out {', '.join(refused)}, and "
                    "do not learn epsilon"
                )
        elif self.window is not None:
            made = Window(rounds=self.window)
        elif self.reset_every is not None:
            made = Restart(every=self.reset_every)
        else:
            made = Since() if learns else Keep()
        if len(named) > 1:
            raise InvalidInput(
                f"give at most one of {', '.join(FORGETTING)}, got {' and '.join(named)}"
            )
        return made

    @property
    def kind(self) -> Plain:
        """The representation of the posterior; see `posterior_kind`."""
        return posterior_kind(self.posterior, self._stated(*AGEING))

    def model(self, inner: Problem) -> Model:
        """The model of rewards before any fit, on the domain of the posterior."""
        temporal: Any = self.temporal
        made = Model(inner.kernel, inner.noise_var, inner.prior_mean, self.epsilon or 0.0, temporal)
        check_in_time(made.temporal)
        return made

    def prior(self, model: Model, mapped: ActionMap, problem: Problem, rng: Any) -> Posterior:
        """The posterior under a model before any data."""
        return posterior_for(
            mapped.inner.domain,
            mapped.kernel(model.kernel),
            model.noise_var,
            model.prior_mean,
            self.kind,
            horizon=problem.horizon,
            rng=rng,
            temporal=model.temporal,
            discount=1.0 if self.discount is None else share(self.discount, "discount"),
        )

    @property
    def is_local(self) -> bool:
        """Whether the algorithm has a map or a search of its own, which needs a box."""
        return self.action_map is not None or self.own_search is not None

    def map_for(self, problem: Problem, rng: np.random.Generator, keep: Keep) -> ActionMap:
        """The map between actions and the posterior."""
        candidates = self.candidates
        if candidates is None and (self.kind["type"] == "nystrom" or self._stated("discount")):
            candidates = USUAL_CANDIDATES
        if not self.is_local:
            return action_map_for(problem, candidates, rng)
        box_of(problem)
        if problem.contexts is not None:
            raise InvalidInput(
                "this agent searches lines or subspaces of its own and supports no contexts: use "
                "an agent such as gp-ucb, ei or ts"
            )
        if candidates is not None:
            raise InvalidInput(
                "this agent searches the whole box and supports no candidates: leave out "
                "candidates, and posterior='nystrom', which needs them"
            )
        return (
            ActionMap(problem) if self.action_map is None else self.action_map(problem, rng, keep)
        )

    def search_for(
        self, problem: Problem, mapped: ActionMap, rng: np.random.Generator, keep: Keep
    ) -> Search:
        """The search of the posterior's domain."""
        if self.own_search is not None:
            return self.own_search(problem, rng, keep, self.search)
        actions = None if problem.contexts is None else mapped.belief_domain
        return search_for(mapped.inner.domain, self.search, rng, mapped.through, actions)

    def rule_for(
        self, given: Scored, problem: Problem, inner: Problem, search: Search
    ) -> AcquisitionRule | None:
        """The acquisition with its settings, or a given one."""
        made: Any = self.acquisition if given is None else given
        made = made() if given is None and isinstance(made, partial) else made
        return acquisition_for(made, problem, inner, search)

    def batch_for(self, rule: AcquisitionRule | None, problem: Problem) -> BatchRule:
        """The rule that chooses the actions of a round."""
        usual = "thompson" if rule is None else "hallucinate"
        made = rule_for(usual if self.batch is None else self.batch)
        made.check(rule, problem)
        return made


# The parts of `Parts` that are an algorithm's own.
OWN = ("acquisition", "action_map", "own_search", "repeats")
