"""Signals that end a command: SIGTERM and SIGHUP are handled like Ctrl-C."""

import os
import signal
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

# A scheduler sends the first at its time limit; a closed terminal sends the second.
ALIKE = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

_received = signal.SIGINT


@contextmanager
def answered() -> Iterator[None]:
    """Raise KeyboardInterrupt once at those signals. Ignored ones (nohup) stay ignored."""
    global _received
    _received = signal.SIGINT
    with _handlers(dict.fromkeys(ALIKE, _stop), signal.SIG_DFL):
        yield


@contextmanager
def dying_quietly() -> Iterator[None]:
    """Let Ctrl-C end the process at once, because an interrupted import prints a traceback."""
    with _handlers({signal.SIGINT: signal.SIG_DFL}, signal.default_int_handler):
        yield


def exit_code() -> int:
    """128 plus the number of the last signal, which is the convention of shells."""
    return 128 + _received


def _stop(number: int, frame: FrameType | None) -> None:
    global _received
    _received = signal.Signals(number)
    for other in ALIKE:  # a second signal must not disturb the shutdown
        signal.signal(other, signal.SIG_IGN)
    for stream in (1, 2):
        _without_terminal(stream)
    raise KeyboardInterrupt


def _without_terminal(stream: int) -> None:
    """Discard output to a terminal that has closed, because writing to it raises an error."""
    with suppress(OSError):
        if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream)
            os.close(nowhere)


@contextmanager
def _handlers(wanted: Mapping[signal.Signals, Any], instead_of: Any) -> Iterator[None]:
    """Use other handlers meanwhile, where the present ones are ``instead_of``."""
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
