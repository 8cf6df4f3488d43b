"""The processes of the standard library and of joblib that clean up behind killed ones."""

import sys
from typing import Any

# What a tracker says that finds something to clean up.
SAYING = "ignore:resource_tracker:UserWarning"


def start_quietly(tracker: Any) -> None:
    """Start the tracker of a module ``resource_tracker`` without the warnings that it prints.

    Its driver was killed then, and the warnings would come into whatever the terminal shows next.
    """
    sys.warnoptions.append(SAYING)  # what a new interpreter gets on its command line
    try:
        tracker.ensure_running()
    finally:
        sys.warnoptions.remove(SAYING)
