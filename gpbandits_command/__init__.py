"""The console script `gpbandits`.

Importing `gpbandits_env` registers the environments with Gymnasium, unless this package has been
imported: `gpbandits list` needs neither Gymnasium nor SciPy, and starts in half the time without
them. `scenarios.study.runner` registers the environments for the command line.
"""

import signal
from typing import Any

__all__ = ["main"]


def main(*args: Any, **options: Any) -> Any:
    """Run the command line. Ctrl-C during its import ends the process without a traceback."""
    heeded = signal.getsignal(signal.SIGINT) == signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gpbandits_env.scenarios.cli import main as command_line

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command_line(*args, **options)
