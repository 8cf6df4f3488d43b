"""The errors that this library raises on purpose, and their messages."""

import reprlib
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING


class GPBanditsError(Exception):
    """The base class of all errors of this library."""


class InvalidInput(GPBanditsError, ValueError):
    """An argument has the wrong shape, type or value; nothing was changed."""


class UnknownName(GPBanditsError, ValueError):
    """A name is not in a registry."""


class UnknownArgument(UnknownName, TypeError):
    """An environment has no such keyword argument; also a `TypeError`, as in any Python call."""

    def __init__(self, message: str) -> None:
        # `gymnasium.make` raises the TypeError again and appends all arguments, however long.
        super().__init__(message.partition(" was raised from the environment creator")[0])


if TYPE_CHECKING:
    from gymnasium.error import ResetNeeded

    class NotReset(GPBanditsError, ResetNeeded):
        """An environment was stepped, read or rendered before its first `reset`."""

else:

    def __getattr__(name: str) -> type:
        # The base class is Gymnasium's, which takes a second to import: made on first use.
        if name != "NotReset":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from gymnasium.error import ResetNeeded

        said = {"__module__": __name__, "__doc__": "An environment was used before its `reset`."}
        return globals().setdefault(name, type(name, (GPBanditsError, ResetNeeded), said))


class NotPositiveDefinite(GPBanditsError, ValueError):
    """A covariance matrix is not positive semidefinite."""


class LawBroken(GPBanditsError, AssertionError):
    """A component of your own (such as a kernel) breaks a law that the message names."""


class MissingData(GPBanditsError, FileNotFoundError):
    """A data file is not there; the message says how to get it."""


class MissingExtra(GPBanditsError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class StoreError(GPBanditsError, OSError):
    """A results file cannot be read or written."""


class ClusterLost(GPBanditsError, ConnectionError):
    """The cluster of a study was lost, or its workers cannot run it; finished trials are kept."""


_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 10
_SHORT.maxstring = _SHORT.maxother = 200


def shown(value: object) -> str:
    """The repr of a value for an error message, shortened if it is long or deeply nested."""
    try:
        return _SHORT.repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits has no repr
        return f"<{type(value).__name__}>"


def unknown(
    kind: str,
    name: object,
    known: Iterable[str],
    hint: str = "",
    more: str = "",
) -> UnknownName:
    """The error for a name that is not one of the known ones, with the nearest of these.

    ``hint`` says how to list them; ``more`` is what may be given instead of a known name.
    """
    return UnknownName(f"no {kind} named {shown(name)}{_nearest(name, known, hint, more)}")


def unknown_argument(name: object, known: Iterable[str]) -> UnknownArgument:
    """The error for a keyword argument that an environment does not have.

    The message begins with Python's own words, because other libraries look for them: torchrl then
    retries without its ``frameskip``.
    """
    nearest = _nearest(name, known)
    return UnknownArgument(
        f"the environment got an unexpected keyword argument {shown(name)}{nearest}"
    )


# Of more known names than this, an error lists the five nearest.
FEW = 8
# What other libraries call the same thing.
ELSEWHERE = {
    "n_calls": ("n_trials", "n_iter", "maxiter", "max_evals", "budget"),
    "n_initial": ("n_initial_points", "n_random_starts", "init_points", "n_startup_trials"),
    "maximize": ("direction",),
    "on_error": ("catch",),
    "file": ("storage",),
    "beta": ("kappa",),
    "margin": ("xi",),
    "seed": ("random_state", "rng", "random_seed"),
    "agent": ("acq_func", "acquisition_function", "sampler", "method"),
    "parallel": ("n_jobs", "workers"),
    "bounds": ("dimensions", "pbounds", "space"),
    "fun": ("func", "objective"),
    "callback": ("callbacks",),
    "batch": ("batch_size",),
    "se": ("rbf", "gaussian", "squared-exponential", "squared_exponential"),
    "kernel": ("lengthscale", "length_scale"),
    "max_episode_steps": ("horizon", "steps", "n_steps", "rounds", "n_rounds"),
    "horizon": ("steps", "n_steps", "rounds", "n_rounds", "max_episode_steps"),
    "trials": ("seeds", "n_seeds", "runs", "n_runs", "repeats", "repetitions", "episodes"),
    "grid": ("n_arms", "n_actions"),
    "box": ("bounds",),
    "epsilon": ("eps",),
    "sep": ("delimiter", "delim_whitespace"),
    "time_column": ("parse_dates", "index_col"),
    "date_format": ("dayfirst",),
    "task": ("function",),
}


def _nearest(name: object, known: Iterable[str], hint: str = "", more: str = "") -> str:
    """The known names that resemble ``name``; the hint, or all known names if they are few."""
    names = sorted(known)
    lower = {one.lower(): one for one in names}
    word = name[:100].lower() if isinstance(name, str) else ""
    word = next((one for one in ELSEWHERE if one in lower and word in ELSEWHERE[one]), word)
    close = [word] if word in lower else get_close_matches(word, lower, n=3, cutoff=0.5)
    near = [lower[one] for one in close]
    guess = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    if hint:
        return f"{guess} ({hint})"
    also = [more] if more else []
    if len(names) <= FEW:
        return f"{guess} (known: {', '.join([*names, *also])})"
    five = [lower[one] for one in get_close_matches(word, lower, n=5, cutoff=0.0)]
    return f"{guess} (the nearest of {len(names)}: {', '.join([*five, *also])})"


def one_of(word: object, known: Iterable[str], kind: str, hint: str = "", more: str = "") -> str:
    """The word if it is known; otherwise raises the `UnknownName` of `unknown`."""
    if not isinstance(word, str) or word not in known:
        raise unknown(kind, word, known, hint, more)
    return word


def all_known(words: Iterable[object], known: Collection[str], kind: str, hint: str = "") -> None:
    """Raises the `UnknownName` of `one_of` for the first word that is not known."""
    for word in words:
        one_of(word, known, kind, hint)


def optional(module: str, extra: str) -> ModuleType:
    """A module of an optional dependency; raises `MissingExtra` if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise require_extra(module.partition(".")[0], extra) from None


def require_extra(module: str, extra: str) -> MissingExtra:
    """The error for an optional dependency that is not installed."""
    return MissingExtra(
        f"this needs the package {module!r}, which is not installed: "
        f"pip install 'gpbandits-env[{extra}]'"
    )
