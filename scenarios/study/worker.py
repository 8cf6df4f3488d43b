"""Processes that watch their driver: workers, and the guard of a Ray cluster.

This file is run by its path, and imports nothing of the package, because that import takes a
second, during which the driver would not be watched.
"""

import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

# The name under which `engine_local` runs the file, with two globals: "driver", the process number
# of the driver, and "connection" to it. `engine_ray` runs it as a script.
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


def guard(driver: int, folder: str) -> None:
    """Wait until the driver has ended, and kill what is left of its Ray cluster.

    Ray's agents outlive their cluster by a minute or more.

    Args:
        driver: the process number of the driver, this process's parent.
        folder: the folder of Ray's copy of psutil.
    """
    _wait_for_end(driver)
    sys.path.insert(0, folder)
    import psutil

    for process in psutil.process_iter():
        try:
            if _writes_to_session(process, driver):
                process.kill()
        except psutil.Error:  # it has ended, or is another user's
            continue


def _wait_for_end(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(LOOK)


def _end_with(driver: int) -> None:
    _wait_for_end(driver)
    os._exit(1)  # at once, even if other threads are waiting


def _writes_to_session(process: Any, driver: int) -> bool:
    """Whether a process writes to the folder of a Ray session, "session_<time>_<driver>"."""
    for file in process.open_files():
        folders = file.path.split(os.sep)
        session = any(f.startswith("session_") and f.endswith(f"_{driver}") for f in folders)
        if session and getattr(file, "mode", "w") != "r":  # only Linux knows the mode
            return True
    return False


if __name__ == RUN_NAME:
    begin(globals()["driver"])
    serve(globals()["connection"])
elif __name__ == "__main__":
    guard(int(sys.argv[1]), sys.argv[2])
