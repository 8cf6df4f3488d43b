"""What ends a command from outside: Ctrl-C, and SIGTERM and SIGHUP in the same way."""

import os
import signal
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

# A scheduler's time limit sends the first, a terminal that is closed the second.
ALIKE = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

_received = signal.SIGINT


@contextmanager
def answered() -> Iterator[None]:
    """Raise KeyboardInterrupt at those signals, once; what is ignored (nohup) stays ignored."""
    global _received
    _received = signal.SIGINT
    with _handlers(dict.fromkeys(ALIKE, _stop), signal.SIG_DFL):
        yield


@contextmanager
def dying_quietly() -> Iterator[None]:
    """Let Ctrl-C end the process at once: an import that is interrupted prints a traceback."""
    with _handlers({signal.SIGINT: signal.SIG_DFL}, signal.default_int_handler):
        yield


def exit_code() -> int:
    """128 and the number of the signal that came last, as shells have it."""
    return 128 + _received


def _stop(number: int, frame: FrameType | None) -> None:
    global _received
    _received = signal.Signals(number)
    for other in ALIKE:  # a second one shall not disturb the end
        signal.signal(other, signal.SIG_IGN)
    for stream in (1, 2):
        _without_terminal(stream)
    raise KeyboardInterrupt


def _without_terminal(stream: int) -> None:
    """Let what is said to a terminal that has gone vanish: to write to it is an error."""
    with suppress(OSError):
        if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream)
            os.close(nowhere)


@contextmanager
def _handlers(wanted: Mapping[signal.Signals, Any], instead_of: Any) -> Iterator[None]:
    """Other handlers for a while, where the present ones are ``instead_of``."""
    main = threading.current_thread() is threading.main_thread()
    before = {n: signal.getsignal(n) for n in wanted} if main else {}
    changed = [number for number, handler in before.items() if handler == instead_of]
    for number in changed:
        signal.signal(number, wanted[number])
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])
