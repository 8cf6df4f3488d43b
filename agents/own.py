"""Agents of your own, by name: "module:Class", a class of a module that can be imported."""

from gpbandits_env.agents.base import Agent
from gpbandits_env.specs import class_named


def is_own(name: object) -> bool:
    """Whether a name is that of a class in a module, not of a registered agent."""
    return isinstance(name, str) and ":" in name


def own_class(name: str) -> type[Agent]:
    """The class that "module:Class" names.

    Raises:
        InvalidInput: the module cannot be imported, or has no such agent.
    """
    return class_named(name, Agent, "agent")  # type: ignore[type-abstract]
