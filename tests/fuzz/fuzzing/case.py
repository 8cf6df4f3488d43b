"""One bad input: what is called with it, what must not change, and the verdict."""

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from gpbandits_env.errors import GPBanditsError, UnknownArgument


# Besides our own: what Gymnasium says of ids and seeds, and (see `is_of_python`) what Python says
# of arguments that a function does not have.
class Refused(Exception):
    """A command line ended with exit code 2 and a message."""


DOCUMENTED = (GPBanditsError, gym.error.Error, Refused)
SIGNATURE = ("unexpected keyword argument", "missing", "positional argument", "must be strings")

REFUSED, ACCEPTED = "refused", "accepted"


def nothing(*_: object) -> None:
    """Does nothing."""


@dataclass
class Case:
    """A call that should go wrong.

    Args:
        label: what is called.
        given: what it is given, for the message.
        call: the call.
        state: all that must be as it was before, if the call is refused.
        works: what must go on working after a refusal.
        use: puts to use what an accepted call returned; it may be refused there.
    """

    label: str
    given: Any
    call: Callable[[], Any]
    state: Callable[[], Any] = nothing
    works: Callable[[], Any] = nothing
    use: Callable[[Any], Any] = nothing


def judge(case: Case) -> str:
    """Whether the input was refused (in a documented way) or accepted.

    Raises:
        AssertionError: an undocumented exception, or a refusal after which something is not as it
            was or does not work.
    """
    before = case.state()
    try:
        made = case.call()
    except Exception as error:
        if not is_documented(error):
            raise AssertionError(f"{shown(case)} raised {type(error).__name__}") from error
        if not same(case.state(), before):
            raise AssertionError(f"{shown(case)} changed something: {error}") from error
        case.works()
        return REFUSED
    try:
        case.use(made)
    except Exception as error:
        if not is_documented(error):
            raise AssertionError(
                f"{shown(case)} was accepted, but then raised {type(error).__name__}"
            ) from error
        return REFUSED
    return ACCEPTED


def is_documented(error: BaseException) -> bool:
    """Whether docs/errors.md tells users to expect it."""
    return isinstance(error, DOCUMENTED) or is_of_python(error) or is_of_gymnasium(error)


def is_of_gymnasium(error: BaseException) -> bool:
    """Whether our refusal of an argument is lost while Gymnasium prints the others.

    `gymnasium.make` puts all arguments into the message of a TypeError, however deep they are.
    """
    return isinstance(error, RecursionError) and isinstance(error.__context__, UnknownArgument)


def is_of_python(error: BaseException) -> bool:
    """Whether Python itself refused the call, for arguments that the function does not have.

    Then the function's own code was never reached: the innermost frame is ours.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at_the_call = trace is not None and "fuzzing" in trace.tb_frame.f_code.co_filename
    text = str(error)
    return type(error) is TypeError and at_the_call and any(sign in text for sign in SIGNATURE)


def shown(case: Case) -> str:
    """The call and what it was given, cut short."""
    return f"{case.label} given {brief(case.given)}"


def brief(value: Any) -> str:
    """A short text of anything, however deep."""
    short = reprlib.Repr()
    short.maxdict = short.maxlist = short.maxtuple = 12
    short.maxstring, short.maxother = 80, 120
    return short.repr(value)


def same(a: Any, b: Any) -> bool:
    """Equal to the bit, whatever is nested in what."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(a == b or (a != a and b != b))
