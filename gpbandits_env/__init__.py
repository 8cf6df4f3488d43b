"""Gaussian-process bandits: Gymnasium environments, agents and the papers' experiments."""

from pathlib import Path

from gpbandits_env.registration import register_all as _register_all

_root = Path(__file__).resolve().parent.parent
if (_root / "pyproject.toml").exists() and (_root / "agents").is_dir():
    # Python started in a checkout finds this folder before any installed copy; the learners and
    # scenarios stand beside it there, and must import as gpbandits_env.agents and .scenarios.
    __path__.append(str(_root))

__version__ = "0.1.0"
_register_all()
