"""Environments for trials: each is used by one trial at a time, and kept for later trials."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium as gym

from gpbandits_env.errors import GPBanditsError, InvalidInput
from gpbandits_env.registration import register_all

# `import gpbandits_env` registers them too, but not on the command line (see there).
register_all()

# Environments that a thread keeps: those of a study differ only in the parameters of its grid.
MOST_KEPT = 2


class _Kept(threading.local):
    """The environments that this thread has used and that are free now."""

    def __init__(self) -> None:
        self.free: dict[tuple[str, str, int], gym.Env[Any, Any]] = {}


_kept = _Kept()


def make_env(env: str, kwargs: Mapping[str, Any], horizon: int) -> gym.Env[Any, Any]:
    """A new environment with a horizon.

    Raises:
        InvalidInput: the environment does not exist, or refuses the keywords.
    """
    try:
        return gym.make(env, max_episode_steps=horizon, disable_env_checker=True, **kwargs)
    except GPBanditsError:  # some of these are a TypeError too
        raise
    except (gym.error.Error, TypeError) as error:
        raise InvalidInput(f"environment {env!r}: {error}") from error


def forget_environments() -> None:
    """Drop all: a notebook may have changed a drift, a kernel or a file of readings."""
    _kept.free.clear()


@contextmanager
def lent(env: str, kwargs: Mapping[str, Any], horizon: int) -> Iterator[gym.Env[Any, Any]]:
    """Lend an environment exclusively; a reset with a seed determines all of its state.

    The thread keeps it for its next trial. An environment in use is never lent again, so that
    neither another thread nor a trial within a trial can change it. It is dropped after an error,
    which may have interrupted a step.

    Raises:
        InvalidInput: see `make_env`.
    """
    plain = json.dumps(dict(kwargs), sort_keys=True)
    key = (env, plain, horizon)
    found = _kept.free.pop(key, None)
    found = make_env(env, json.loads(plain), horizon) if found is None else found
    yield found
    _kept.free[key] = found
    while len(_kept.free) > MOST_KEPT:
        del _kept.free[next(iter(_kept.free))]
