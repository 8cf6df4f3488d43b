"""Optuna's samplers as agents (extra ``optuna``).

Source: Akiba et al. (2019), Optuna; its default, the tree-structured Parzen estimator, is by
Bergstra et al. (2011).
Assumes: nothing; the kernel and the noise variance have no effect.
Departures: 1. a grid has one integer parameter per axis, and other arms are options without an
order; 2. the first batch, before any data, is drawn at random; 3. the study is rebuilt at every
`ask`, O(t), so that a suggestion depends only on the data and a seed; 4. with batches and pending
actions, the estimator has the option constant_liar. Samplers with their own state between trials
(CMA-ES, genetic algorithms, QMC) are not supported.
"""

from types import ModuleType

import numpy as np
from numpy.random import Generator

from gpbandits_env.agents.adapters.adapter import Adapter, alone_and_quiet, imported
from gpbandits_env.arrays import Points, Settings, mapping
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, one_of
from gpbandits_env.problem import Problem

# The samplers that use only the parameters and values of trials.
SAMPLERS = ("TPESampler", "GPSampler", "RandomSampler", "BruteForceSampler")


class OptunaSampler(Adapter):
    """The suggestion of one of Optuna's samplers.

    Args:
        sampler: one of `SAMPLERS`; "GPSampler" needs torch, and "BruteForceSampler" needs arms.
        options: the arguments of the sampler, as a dict; None for its defaults.
    Raises:
        MissingExtra: optuna (or torch) is not installed.
        UnknownName: the sampler is not supported here.
        InvalidInput: it needs arms, or it does not take the arguments.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        sampler: str = "TPESampler",
        options: Settings | None = None,
    ) -> None:
        super().__init__(problem, rng)
        self._sampler = one_of(sampler, SAMPLERS, "sampler of Optuna without a state of its own")
        self._given = {} if options is None else mapping(options, "options")
        if sampler == "BruteForceSampler" and not self._domain.finite:
            raise InvalidInput("BruteForceSampler tries all actions in turn, so it needs arms")
        if "constraints_func" in self._given:
            raise InvalidInput("no constraints are supported here: leave out constraints_func")
        if sampler == "GPSampler":
            imported("torch", "botorch")
        self._new_sampler(0)

    def choose(self, seed: int) -> Points:
        optuna = imported("optuna", "optuna")
        level = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            study = optuna.create_study(direction="maximize", sampler=self._new_sampler(seed))
            axes = self._distributions(optuna.distributions)
            running = [(row, None) for row in self._rows(self._pending_actions)]
            told = zip(self._rows(self._data.points), self._data.rewards.tolist(), strict=True)
            for row, reward in (*told, *running):
                study.add_trial(
                    optuna.trial.create_trial(
                        state=optuna.trial.TrialState["RUNNING" if reward is None else "COMPLETE"],
                        params=dict(zip(axes, row, strict=True)),
                        distributions=axes,
                        value=reward,
                    )
                )
            chosen = [study.ask(axes).params for _ in range(self.batch_size)]
        finally:
            optuna.logging.set_verbosity(level)
        return self._actions_of(np.array([[params[name] for name in axes] for params in chosen]))

    def _new_sampler(self, seed: int) -> object:
        samplers = imported("optuna", "optuna").samplers
        options = dict(self._given)
        if self._sampler == "TPESampler" and (self.batch_size > 1 or self.pending):
            options.setdefault("constant_liar", True)
        try:
            with alone_and_quiet():
                return getattr(samplers, self._sampler)(seed=seed, **options)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{self._sampler} does not take {options}: {error}") from None

    def _distributions(self, kinds: ModuleType) -> dict[str, object]:
        domain = self._domain
        if isinstance(domain, Box):
            ends = zip(domain.low.tolist(), domain.high.tolist(), strict=True)
            axes = [kinds.FloatDistribution(low, high) for low, high in ends]
        elif domain.axes is None:
            axes = [kinds.CategoricalDistribution(range(domain.size))]
        else:
            axes = [kinds.IntDistribution(0, n - 1) for n in domain.shape]
        return {f"x{i}": axis for i, axis in enumerate(axes)}

    def _rows(self, actions: Points) -> list[list[float]]:
        """Actions with one number per axis."""
        domain = self._domain
        if isinstance(domain, Arms):
            actions = np.stack(np.unravel_index(actions, domain.shape), axis=1)
        return actions.tolist()

    def _actions_of(self, rows: Points) -> Points:
        domain = self._domain
        if isinstance(domain, Box):
            return np.clip(rows, domain.low, domain.high)
        return np.asarray(np.ravel_multi_index(tuple(rows.T), domain.shape), dtype=np.int64)
