"""A worker process, which watches its driver.

This file is run by its path, and imports nothing of the package, because that import takes a
second, during which the driver would not be watched.
"""

import os
import pickle
import signal
import threading
import time
from contextlib import suppress
from typing import Any

# The name under which `engine_local` runs the file, with two globals: "driver", the process number
# of the driver, and "connection" to it.
RUN_NAME = "gpbandits_worker"

# Seconds between two checks of the driver.
LOOK = 0.5
# Signals that end a run. Terminals send them to workers too, but the driver handles them.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def begin(driver: int) -> None:
    """Leave the signals that end a run to the driver, this process's parent, and end with it.

    A killed driver cannot end its workers, and a worker may wait for it forever: for a task, or to
    return a large result. So a thread checks whether the parent still exists. (On Windows a
    process keeps the number of a parent that has ended.)
    """
    for number in ENDING:
        # Not SIG_IGN, because programs that a trial starts would inherit it.
        signal.signal(number, lambda number, frame: None)
    if hasattr(signal, "pthread_sigmask"):  # blocked by the parent process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()


def serve(connection: Any) -> None:
    """Receive a function with its argument and return its result, and end with the driver."""
    with suppress(EOFError, ConnectionError):
        while True:
            function, argument = pickle.loads(connection.recv_bytes())
            connection.send(function(argument))
    os._exit(1)


def _end_with(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(LOOK)
    os._exit(1)  # at once, even if other threads are waiting


if __name__ == RUN_NAME:
    begin(globals()["driver"])
    serve(globals()["connection"])
