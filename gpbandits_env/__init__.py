"""Gaussian-process bandits: Gymnasium environments, agents and the papers' experiments."""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpbandits_env.agents import Campaign as Campaign
    from gpbandits_env.agents import maximize as maximize
    from gpbandits_env.agents import minimize as minimize
    from gpbandits_env.agents.optimize import Categorical as Categorical
    from gpbandits_env.agents.optimize import Choice as Choice
    from gpbandits_env.agents.optimize import Integer as Integer
    from gpbandits_env.agents.optimize import Real as Real
    from gpbandits_env.domains import Arms as Arms
    from gpbandits_env.domains import Box as Box
    from gpbandits_env.gp.kernels import Empirical as Empirical
    from gpbandits_env.gp.kernels import Linear as Linear
    from gpbandits_env.gp.kernels import Matern as Matern
    from gpbandits_env.gp.kernels import Matern12 as Matern12
    from gpbandits_env.gp.kernels import Matern32 as Matern32
    from gpbandits_env.gp.kernels import Matern52 as Matern52
    from gpbandits_env.gp.kernels import SquaredExponential as SquaredExponential
    from gpbandits_env.problem import Problem as Problem
    from gpbandits_env.rewards.functions import benchmark_function as benchmark_function

_root = Path(__file__).resolve().parent.parent
if (_root / "pyproject.toml").exists() and (_root / "agents").is_dir():
    # Python started in a checkout finds this folder before any installed copy; the agents and
    # scenarios stand next to it there, and must import as gpbandits_env.agents and .scenarios.
    __path__.append(str(_root))

__version__ = "1.0.0rc1"

# What is imported from here, and the module that has it: imported on first use.
_EXPORTS = {
    **dict.fromkeys(("Arms", "Box"), "domains"),
    **dict.fromkeys(("Empirical", "Linear", "Matern", "Matern12", "Matern32"), "gp.kernels"),
    **dict.fromkeys(("Matern52", "SquaredExponential"), "gp.kernels"),
    **dict.fromkeys(("Campaign", "maximize", "minimize"), "agents"),
    **dict.fromkeys(("Categorical", "Choice", "Integer", "Real"), "agents.optimize"),
    "Problem": "problem",
    "benchmark_function": "rewards.functions",
}


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})


if "gpbandits_command" not in sys.modules:  # which see
    from gpbandits_env.registration import register_all

    register_all()
