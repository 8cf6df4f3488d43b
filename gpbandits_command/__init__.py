"""The console script `gpbandits`.

Importing `gpbandits_env` registers the environments with Gymnasium, but not if this package is
imported: `gpbandits list` needs neither Gymnasium nor SciPy, and starts in half the time without.
What makes environments for the command line registers them itself (`scenarios.study.environments`).
"""

import signal
from typing import Any

__all__ = ["main"]


def main(*args: Any, **options: Any) -> Any:
    """Run the command line; Ctrl-C before it is there ends the process without a traceback."""
    heeded = signal.getsignal(signal.SIGINT) == signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gpbandits_env.scenarios.cli import main as command_line

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command_line(*args, **options)
