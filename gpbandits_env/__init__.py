"""Gaussian-process bandits: Gymnasium environments, agents and the papers' experiments."""

import sys
from pathlib import Path

_root = Path(__file__).resolve().parent.parent
if (_root / "pyproject.toml").exists() and (_root / "agents").is_dir():
    # Python started in a checkout finds this folder before any installed copy; the agents and
    # scenarios stand next to it there, and must import as gpbandits_env.agents and .scenarios.
    __path__.append(str(_root))

__version__ = "0.1.0"
if "gpbandits_command" not in sys.modules:  # which see
    from gpbandits_env.registration import register_all

    register_all()
