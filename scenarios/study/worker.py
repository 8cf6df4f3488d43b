"""Code that a worker process runs first: it leaves signals to its driver, and watches it.

`engine_local` runs this file by its path and it imports nothing of the package, because that import
takes a second, during which the driver would not be watched.
"""

import os
import signal
import threading
import time

# The name under which the file is run, with a global "driver", the process number of the driver.
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
        signal.signal(number, _left_to_the_driver)
    if hasattr(signal, "pthread_sigmask"):  # blocked by the parent process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()


def _left_to_the_driver(number: int, frame: object) -> None:
    pass


def _end_with(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(LOOK)
    os._exit(1)  # at once, even if other threads are waiting


if __name__ == RUN_NAME:
    begin(globals()["driver"])
