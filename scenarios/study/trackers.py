"""The processes of the standard library and of joblib that clean up after killed processes."""

import sys
from typing import Any

# The warning of a tracker that finds something to clean up.
SAYING = "ignore:resource_tracker:UserWarning"


def start_quietly(tracker: Any) -> None:
    """Start the tracker of a module ``resource_tracker`` without the warnings that it prints.

    It prints them after its driver was killed, into whatever the terminal shows next.
    """
    sys.warnoptions.append(SAYING)  # a new interpreter gets it on its command line
    try:
        tracker.ensure_running()
    finally:
        sys.warnoptions.remove(SAYING)
