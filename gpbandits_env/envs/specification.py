"""Gymnasium's specification of an environment, which is saved as JSON."""

from dataclasses import asdict, replace

import numpy as np
from gymnasium.envs.registration import EnvSpec

from gpbandits_env.arrays import Plain, Settings
from gpbandits_env.domains import Domain
from gpbandits_env.envs.delays import Delays
from gpbandits_env.errors import InvalidInput
from gpbandits_env.specs import described


class Specified:
    """Keeps the specification with dicts in place of kernels, drifts, domains and delays.

    Gymnasium writes objects as dicts without their type, which make no environment again.
    """

    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """How `gymnasium.make` made the environment; None if it did not."""
        return self._spec

    @spec.setter
    def spec(self, given: EnvSpec | None) -> None:
        plain = None if given is None else replace(given, kwargs=declared(given.kwargs))
        self._spec = plain


def declared(arguments: Settings) -> Plain:
    """Keyword arguments with the dicts that stand for objects; what has no dict stays as it is."""
    return {name: _declared(value) for name, value in arguments.items()}


def _declared(value: object) -> object:
    if isinstance(value, np.ndarray):  # it may be large, and specifications are copied
        return value
    if isinstance(value, Domain):
        return value.to_dict()
    if isinstance(value, Delays):
        return asdict(value)
    try:
        return described(value)
    except InvalidInput:
        return value
