"""A process that ends the processes of a Ray cluster whose driver was killed.

Ray's agents outlive their cluster by a minute or more. `engine_ray` runs this file by its path,
with the process number of the driver and the folder of Ray's copy of psutil as arguments. It
imports nothing else, so that it is ready before the cluster is.
"""

import os
import sys
import time
from typing import Any

# Seconds between two checks of the driver, this process's parent.
LOOK = 0.5


def main(driver: int, folder: str) -> None:
    """Wait until the driver has ended, and kill what is left of its cluster."""
    while os.getppid() == driver:
        time.sleep(LOOK)
    sys.path.insert(0, folder)
    import psutil

    for process in psutil.process_iter():
        try:
            if _writes_to_session(process, driver):
                process.kill()
        except psutil.Error:  # it has ended, or is another user's
            continue


def _writes_to_session(process: Any, driver: int) -> bool:
    """Whether a process writes to the folder of a Ray session, "session_<time>_<driver>"."""
    for file in process.open_files():
        folders = file.path.split(os.sep)
        session = any(f.startswith("session_") and f.endswith(f"_{driver}") for f in folders)
        if session and getattr(file, "mode", "w") != "r":  # only Linux knows the mode
            return True
    return False


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
