"""What a worker process does first: it leaves signals to its driver, and watches it.

`engine_local` has this file run by its name: to import the package would take a second, in which
nobody watched. So it imports nothing of it.
"""

import os
import signal
import threading
import time

# The name under which the file is run, with a global "driver", its process number.
RUN_NAME = "gpbandits_worker"

# Seconds between two looks at the driver.
LOOK = 0.5
# What ends a run. A terminal or a scheduler sends them to workers too: the driver answers.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def begin(driver: int) -> None:
    """Leave the signals that end a run to the driver, this process's parent, and end with it.

    A driver that is killed cannot end its workers, and a worker may wait for it for ever: for a
    task, or to hand over a large result. So a thread looks whether the parent is still there.
    (On Windows a process keeps the number of a parent that has ended.)
    """
    for number in ENDING:
        # Not SIG_IGN, which programs that a trial starts would inherit.
        signal.signal(number, _left_to_the_driver)
    if hasattr(signal, "pthread_sigmask"):  # blocked by who started this process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()


def _left_to_the_driver(number: int, frame: object) -> None:
    pass


def _end_with(driver: int) -> None:
    while os.getppid() == driver:
        time.sleep(LOOK)
    os._exit(1)  # at once, whatever the other threads wait for


if __name__ == RUN_NAME:
    begin(globals()["driver"])
