"""Agents of your own, by name: "module:Class", a class of a module that can be imported."""

import inspect
from importlib import import_module

from gpbandits_env.agents.base import Agent
from gpbandits_env.errors import InvalidInput


def is_own(name: object) -> bool:
    """Whether a name is that of a class in a module, not of a registered agent."""
    return isinstance(name, str) and ":" in name


def own_class(name: str) -> type[Agent]:
    """The class that "module:Class" names.

    Raises:
        InvalidInput: the module cannot be imported, or has no such agent.
    """
    module, _, cls = name.partition(":")
    try:
        found = getattr(import_module(module), cls, None)
    except Exception as error:  # whatever the module itself raises
        raise InvalidInput(
            f"agent {name!r}: the module {module!r} cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, type) or not issubclass(found, Agent) or inspect.isabstract(found):
        raise InvalidInput(
            f"agent {name!r}: the module {module!r} has no class {cls!r} that is an Agent with all "
            "of its methods; name it as 'module:Class'"
        )
    return found
