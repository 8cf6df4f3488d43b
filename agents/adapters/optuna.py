"""Optuna's samplers as agents (extra ``optuna``).

Source: Akiba et al. (2019), Optuna; its default, the tree-structured Parzen estimator, is of
Bergstra et al. (2011).
Assumes: nothing of the model; the kernel and the noise do not matter.
Departures: 1. a grid is one whole number per axis, other arms are options without an order; 2. the
first batch, before any data, is drawn at random; 3. the study is built anew at every ask, O(t), so
that what is suggested depends on the data and on a seed alone: samplers that keep a state of their
own from trial to trial (CMA-ES, the genetic ones, QMC) are left out.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpbandits_env.agents.adapters.base import Adapter, imported
from gpbandits_env.domains import Arms, Box
from gpbandits_env.errors import InvalidInput, shown, unknown
from gpbandits_env.problem import Problem

# Those that look at nothing but the trials' parameters and values.
SAMPLERS = ("TPESampler", "GPSampler", "RandomSampler", "BruteForceSampler")


class OptunaSampler(Adapter):
    """What one of Optuna's samplers suggests.

    Args:
        sampler: one of `SAMPLERS`; "GPSampler" needs torch, "BruteForceSampler" arms.
        options: its arguments, as a dict; None for its defaults.
    Raises:
        MissingExtra: optuna (or torch) is not installed.
        UnknownName: no such sampler.
        InvalidInput: a sampler that would not be itself here, or arguments that it does not take.
    """

    def __init__(
        self,
        problem: Problem,
        rng: Generator,
        *,
        sampler: str = "TPESampler",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(problem, rng)
        if options is not None and not isinstance(options, Mapping):
            raise InvalidInput(f"options are a dict, got {shown(options)}")
        self._sampler, self._given = sampler, dict(options or {})
        self._new_sampler(0)

    def choose(self, seed: int) -> NDArray[Any]:
        optuna = imported("optuna", "optuna")
        level = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            study = optuna.create_study(direction="maximize", sampler=self._new_sampler(seed))
            axes = self._distributions(optuna.distributions)
            for row, reward in zip(self._rows(), self._rewards.tolist(), strict=True):
                params = dict(zip(axes, row, strict=True))
                study.add_trial(
                    optuna.trial.create_trial(params=params, distributions=axes, value=reward)
                )
            chosen = [study.ask(axes).params for _ in range(self.batch_size)]
        finally:
            optuna.logging.set_verbosity(level)
        return self._actions_of(np.array([[params[name] for name in axes] for params in chosen]))

    def _new_sampler(self, seed: int) -> Any:
        samplers = imported("optuna", "optuna").samplers
        self._check(samplers.__all__)
        options = dict(self._given)
        if self._sampler == "TPESampler" and self.batch_size > 1:
            options.setdefault("constant_liar", True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return getattr(samplers, self._sampler)(seed=seed, **options)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{self._sampler} does not take {options}: {error}") from None

    def _check(self, of_optuna: Sequence[str]) -> None:
        """Refuse a sampler that would not be itself here."""
        name = self._sampler
        if not isinstance(name, str) or name not in of_optuna or not name.endswith("Sampler"):
            raise unknown("sampler of Optuna", name, SAMPLERS)
        if name not in SAMPLERS:
            raise InvalidInput(
                f"{name} keeps a state of its own in a study, or takes more than a seed, and here "
                f"the study is built anew from the data at every ask: take one of "
                f"{', '.join(SAMPLERS)}, or run {name} in Optuna itself"
            )
        if name == "BruteForceSampler" and isinstance(self._domain, Box):
            raise InvalidInput("BruteForceSampler tries all there is in turn: it needs arms")
        if "constraints_func" in self._given:
            raise InvalidInput("there are no constraints here: leave out constraints_func")
        if name == "GPSampler":
            imported("torch", "botorch")

    def _distributions(self, kinds: Any) -> dict[str, Any]:
        domain = self._domain
        if isinstance(domain, Box):
            ends = zip(domain.low.tolist(), domain.high.tolist(), strict=True)
            axes = [kinds.FloatDistribution(low, high) for low, high in ends]
        elif domain.axes is None:
            axes = [kinds.CategoricalDistribution(range(domain.size))]
        else:
            axes = [kinds.IntDistribution(0, n - 1) for n in domain.shape]
        return {f"x{i}": axis for i, axis in enumerate(axes)}

    def _rows(self) -> list[list[Any]]:
        """The observed actions, each as one number per axis."""
        domain, actions = self._domain, self._actions
        if isinstance(domain, Arms):
            actions = np.stack(np.unravel_index(actions, domain.shape), axis=1)
        rows: list[list[Any]] = actions.tolist()
        return rows

    def _actions_of(self, rows: NDArray[Any]) -> NDArray[Any]:
        domain = self._domain
        if isinstance(domain, Box):
            return np.clip(rows, domain.low, domain.high)
        return np.asarray(np.ravel_multi_index(tuple(rows.T), domain.shape), dtype=np.int64)
