"""The console script `gpbandits`.

Importing `gpbandits_env` registers the environments with Gymnasium, but not if this package is
imported: `gpbandits list` needs neither Gymnasium nor SciPy, and starts in half the time without.
What makes environments for the command line registers them itself (`scenarios.study.runner`).
"""

from gpbandits_env.scenarios.cli import main

__all__ = ["main"]
