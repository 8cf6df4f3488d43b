"""A registered agent as a sampler of Optuna's studies (extra ``optuna``).

study = optuna.create_study(sampler=GPBanditsSampler(seed=0))
study.optimize(objective, n_trials=50)
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np

from gpbandits_env.agents.optimize.campaign import Campaign
from gpbandits_env.agents.optimize.dimensions import Choice, Dimension, Integer, Real
from gpbandits_env.agents.optimize.inputs import located
from gpbandits_env.agents.optimize.usual_agent import check_settings
from gpbandits_env.arrays import LARGEST, Plain, Settings, whole
from gpbandits_env.errors import InvalidInput, require_extra
from gpbandits_env.gp.kernels import kernel_from_dict

try:
    from optuna import distributions as kinds
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError:
    raise require_extra("optuna", "optuna") from None


class GPBanditsSampler(BaseSampler):
    """Suggests the choice of an agent, given all finished and running trials.

    The sampler keeps no observations between trials. For each trial it makes an agent, passes all
    complete and failed trials to it (as rounds, if it forgets or rounds matter to it otherwise),
    and treats running and pruned trials as pending points. It therefore works with Optuna's
    storages, with several processes, and with studies begun by another sampler; use a new sampler
    object for each study. Parameters that a complete trial does not have, or has with another
    range, are drawn at random. Trials whose value is infinite or above 1e150 in size count as
    failed, with a warning.

    Args:
        agent: a registered agent with a Gaussian-process posterior.
        seed: the seed of all randomness.
        n_initial: the number of complete trials before the agent chooses, at least 1; parameters
            until then are drawn at random.
        constraints_func: the constraints of a finished trial, as in Optuna's own samplers: a
            function that takes the trial and returns numbers, which are at most 0 where the
            constraints hold. Constraints that the objective sets by ``trial.set_constraint`` are
            used without it. See `Campaign`.
        settings: the settings of the agent, and noise and failures; see `Campaign`.
    Raises:
        UnknownName: there is no such agent or setting.
        InvalidInput: the agent has no posterior, or the settings fit no study (maximize, file
            and constraints never do). Settings that do not fit the parameters of a study raise the
            error in its second trial.
    """

    def __init__(
        self,
        agent: str = "ei",
        *,
        seed: int | None = None,
        n_initial: int = 10,
        constraints_func: "Callable[[FrozenTrial], Sequence[float]] | None" = None,
        **settings: Any,
    ) -> None:
        self._agent, self._settings = agent, settings
        self._constraints_func = constraints_func
        self._n_initial = whole(n_initial, "n_initial")
        _check_anywhere(agent, settings)
        self._rng = np.random.default_rng(None if seed is None else whole(seed, "seed", 0, None))
        self._random = RandomSampler(seed=int(self._rng.integers(2**31)))
        self._shared = IntersectionSearchSpace()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that all complete trials have, and that have more than one value."""
        return {name: d for name, d in self._shared.calculate(study).items() if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> Plain:
        """The parameters that the agent chooses next.

        Raises:
            InvalidInput: the study has several objectives, or parameters that the agent does not
                support with its settings.
        """
        if len(study.directions) > 1:
            raise InvalidInput("GPBanditsSampler supports only studies with one objective")
        trials = [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]
        early = sum(t.state == TrialState.COMPLETE for t in trials) < self._n_initial
        if not search_space:
            return {}
        parameters: dict[str, _Parameter] = {}
        for name, distribution in search_space.items():
            with located(f"the parameter {name!r}"):
                parameters[name] = _Parameter.of(distribution)
        bounds = dict.fromkeys(chain.from_iterable(map(_limits, trials)), 0.0)
        campaign = Campaign(  # raises errors of settings also early
            {name: p.dimension for name, p in parameters.items()},
            self._agent,
            maximize=study.direction == StudyDirection.MAXIMIZE,
            seed=0 if early else int(self._rng.integers(2**53)),
            n_initial=0,
            constraints=bounds,
            **self._settings,
        )
        if early:
            return {}
        _tell(campaign, parameters, trials, bounds)
        (suggestion,) = campaign.ask()
        return {name: p.outside(suggestion.params[name]) for name, p in parameters.items()}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> object:
        """A uniformly random value of one parameter."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Keep the values of ``constraints_func`` with the trial."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)

    def reseed_rng(self) -> None:
        """Reseed the generator, as Optuna requires of each of several workers."""
        self._rng = np.random.default_rng()
        self._random.reseed_rng()


def _limits(trial: FrozenTrial) -> dict[str, float]:
    """The values of the constraints of a trial by name; Optuna below 5 keeps them in a list."""
    told = getattr(trial, "constraints", None)
    if told is None:
        told = {str(i): c for i, c in enumerate(trial.system_attrs.get("constraints") or ())}
    return dict(told)


def _check_anywhere(agent: str, settings: Settings) -> None:
    """Raise an error if the settings fit neither continuous parameters nor few combinations."""
    for name in ("maximize", "file", "constraints"):
        if name in settings:
            raise InvalidInput(f"leave out {name}: the study and constraints_func determine it")
    own = [*signature(GPBanditsSampler).parameters][:-1]
    of_campaign = ["noise", "failures", "batch_size"]  # see `agent_for`
    check_settings("GPBanditsSampler", own + of_campaign, agent, settings)
    dim = 2
    if "kernel" in settings:  # several lengthscales determine the number of parameters
        dim = kernel_from_dict(settings["kernel"]).dim or 1
    try:
        Campaign([(0.0, 1.0)] * dim, agent, seed=0, n_initial=0, **settings)
    except InvalidInput as error:
        try:
            Campaign([Integer(0, 1)] * dim, agent, seed=0, n_initial=0, **settings)
        except InvalidInput:
            raise error from None


def _tell(
    campaign: Campaign,
    parameters: "Mapping[str, _Parameter]",
    trials: Sequence[FrozenTrial],
    names: Iterable[str],
) -> None:
    """Pass all complete and failed trials to a campaign first, then the others."""
    ended, running = [], []
    for t in trials:
        if not all(n in t.params and p.holds(t.params[n]) for n, p in parameters.items()):
            continue
        params = {name: p.inside(t.params[name]) for name, p in parameters.items()}
        if t.state not in (TrialState.COMPLETE, TrialState.FAIL):
            running.append(params)
            continue
        value: Any = t.value if t.state == TrialState.COMPLETE else np.nan
        if abs(value) > LARGEST:
            warnings.warn(
                f"trial {t.number} counts as failed: its value {value!r} exceeds {LARGEST:g}",
                stacklevel=2,
            )
            value = np.nan
        ended.append((params, value, {name: _limits(t).get(name, np.nan) for name in names}))
    if campaign.agent.replays:
        for params, value, limits in ended:
            campaign.tell(campaign.expect(params), value, constraints=limits)
    elif ended:
        campaign.observe_all(*zip(*ended, strict=True))
    for params in running:
        campaign.expect(params)


@dataclass(frozen=True)
class _Parameter:
    """A distribution of Optuna as a dimension; with a step, as an integer number of steps.

    ``inside`` maps values of the distribution to those of the dimension, ``outside`` back.
    """

    own: BaseDistribution
    dimension: Dimension
    inside: Callable[[Any], object]
    outside: Callable[[Any], object]

    @classmethod
    def of(cls, own: BaseDistribution) -> "_Parameter":
        if isinstance(own, kinds.CategoricalDistribution):
            options = Choice(tuple(range(len(own.choices))))
            return cls(own, options, lambda v: _option(own, v), own.to_external_repr)
        if not isinstance(own, (kinds.FloatDistribution, kinds.IntDistribution)):
            raise InvalidInput(f"GPBanditsSampler does not support the parameter {own!r}")
        low, high, step = own.low, own.high, own.step
        if step is None:
            return cls(own, Real(low, high, own.log), float, float)
        if isinstance(own, kinds.IntDistribution) and step == 1:
            return cls(own, Integer(own.low, own.high, own.log), int, int)
        steps = Integer(0, round((high - low) / step))
        # The last step may exceed the highest value by rounding, as in 0.1 + 11 * 0.1.
        return cls(
            own, steps, lambda v: round((v - low) / step), lambda n: min(low + n * step, high)
        )

    def holds(self, value: object) -> bool:
        """Whether the value of a trial lies in the present distribution."""
        if isinstance(self.own, kinds.CategoricalDistribution):
            return _option(self.own, value) is not None
        return bool(self.own._contains(self.own.to_internal_repr(value)))


def _option(own: "kinds.CategoricalDistribution", value: Any) -> int | None:
    """The index of a choice; 1 is not True, and NaN is NaN."""
    for i, choice in enumerate(own.choices):
        same = type(choice) is type(value)
        if same and (choice == value or (choice != choice and value != value)):
            return i
    return None
